//! Reasoning chunks: patterns of past problem solving, with one JSON document per pattern.

use std::fmt::Write;

use aurora_storage::{Chunk, ChunkType, Governance, MetaValue};
use serde::Deserialize;
use thiserror::Error;

use crate::chunk::date;

/// Minimum score of attempts that are stored.
pub const MIN_SCORE: f64 = 0.5;

/// Minimum score of attempts that are patterns.
pub const PATTERN_SCORE: f64 = 0.8;

/// Reason why a document is not stored.
#[derive(Debug, Error)]
pub enum ReasoningError {
    /// The document is not JSON, or does not match the schema.
    #[error("not a reasoning document: {0}")]
    Schema(#[from] serde_json::Error),
    /// The document has another type.
    #[error("type is `{0}`, not `reasoning`")]
    Type(String),
    /// The document has neither an id nor a pattern.
    #[error("`id` and `content.pattern` are both missing")]
    Unnamed,
    /// The score is not between 0 and 1.
    #[error("`success_score` is {0}, not between 0 and 1")]
    Score(f64),
    /// The attempt failed.
    #[error("`success_score` is {0}: attempts below {MIN_SCORE} are not stored")]
    Failed(f64),
}

/// Returns the chunk of a reasoning document. `path` is the location of the document relative to the root.
///
/// The text consists of the searchable fields: pattern, query, subgoals, tools and keywords. The other fields are
/// metadata.
///
/// # Errors
/// See [`ReasoningError`].
pub fn chunk_of(path: &str, json: &str) -> Result<Chunk, ReasoningError> {
    let document: Document = serde_json::from_str(json)?;
    if let Some(other) = document.kind.as_deref().filter(|kind| !matches!(*kind, "reasoning" | "reas")) {
        return Err(ReasoningError::Type(other.to_owned()));
    }
    let score = document.content.success_score;
    if !(0.0..=1.0).contains(&score) {
        return Err(ReasoningError::Score(score));
    }
    if score < MIN_SCORE {
        return Err(ReasoningError::Failed(score));
    }
    let pattern = document.content.pattern.clone().unwrap_or_default();
    let id = document.id.as_deref().map(|id| id.strip_prefix("reas:").unwrap_or(id)).filter(|id| !id.is_empty());
    let name = id.unwrap_or(&pattern).to_owned();
    if name.is_empty() {
        return Err(ReasoningError::Unnamed);
    }
    let text = document.text(&pattern);
    let lines = json.lines().count().max(1) as u32;
    let key = format!("reas:{name}");
    Ok(Chunk {
        path: path.to_owned(),
        language: "json".to_owned(),
        qualified_name: if pattern.is_empty() { name.clone() } else { pattern },
        name,
        line_start: 1,
        line_end: lines,
        byte_end: u32::try_from(json.len()).unwrap_or(u32::MAX),
        doc: document.content.original_query.clone().unwrap_or_default(),
        text,
        calls: document.content.tools(),
        content_hash: Chunk::digest(json),
        date: document.metadata.timestamp.as_deref().and_then(date::unix_seconds),
        metadata: document.metadata_fields(),
        governance: document
            .governance
            .map(|governance| Governance { tags: governance.compliance_tags, lifespan: governance.lifespan_policy }),
        exported: true,
        ..Chunk::empty(key, ChunkType::Reasoning)
    })
}

#[derive(Deserialize)]
struct Document {
    id: Option<String>,
    #[serde(rename = "type")]
    kind: Option<String>,
    content: ReasoningContent,
    #[serde(default)]
    metadata: ReasoningMetadata,
    governance: Option<GovernanceFields>,
    conversation_log_reference: Option<LogReference>,
}

#[derive(Deserialize)]
struct ReasoningContent {
    pattern: Option<String>,
    original_query: Option<String>,
    complexity: Option<String>,
    #[serde(default)]
    subgoals: Vec<Subgoal>,
    #[serde(default)]
    tools_used: Vec<ToolUse>,
    #[serde(default)]
    tool_sequence: Vec<String>,
    success_score: f64,
    verification_option: Option<String>,
}

#[derive(Deserialize)]
struct Subgoal {
    id: Option<String>,
    description: Option<String>,
    agent: Option<String>,
}

#[derive(Deserialize)]
struct ToolUse {
    #[serde(default)]
    tools: Vec<String>,
}

#[derive(Deserialize, Default)]
struct ReasoningMetadata {
    timestamp: Option<String>,
    semantic_role: Option<String>,
    #[serde(default)]
    keywords: Vec<String>,
    domain: Option<String>,
    usage_count: Option<i64>,
    execution_time_ms: Option<i64>,
    total_cost_usd: Option<f64>,
}

#[derive(Deserialize)]
struct GovernanceFields {
    #[serde(default)]
    compliance_tags: Vec<String>,
    lifespan_policy: Option<String>,
}

#[derive(Deserialize)]
struct LogReference {
    file: Option<String>,
    section: Option<String>,
}

impl Document {
    fn text(&self, pattern: &str) -> String {
        let mut text = String::new();
        let mut line = |label: &str, value: &str| {
            if !value.is_empty() {
                // Writing to a string does not fail.
                let _ = writeln!(text, "{label}: {value}");
            }
        };
        line("Pattern", pattern);
        line("Query", self.content.original_query.as_deref().unwrap_or_default());
        line("Role", self.metadata.semantic_role.as_deref().unwrap_or_default());
        line("Domain", self.metadata.domain.as_deref().unwrap_or_default());
        line("Keywords", &self.metadata.keywords.join(", "));
        for subgoal in &self.content.subgoals {
            let id = subgoal.id.as_deref().unwrap_or("Subgoal");
            let agent = subgoal.agent.as_deref().map(|agent| format!(" ({agent})")).unwrap_or_default();
            line(id, &format!("{}{agent}", subgoal.description.as_deref().unwrap_or_default()));
        }
        line("Tools", &self.content.tools().join(", "));
        text.truncate(text.trim_end().len());
        text
    }

    fn metadata_fields(&self) -> Vec<(String, MetaValue)> {
        let string = |value: &Option<String>| value.clone().map(MetaValue::String);
        let content = &self.content;
        let log = self.conversation_log_reference.as_ref();
        let metadata_fields = [
            ("success_score", Some(MetaValue::Float(content.success_score))),
            ("is_pattern", Some(MetaValue::Bool(content.success_score >= PATTERN_SCORE))),
            ("pattern_type", string(&content.pattern)),
            ("complexity", string(&content.complexity)),
            ("verification_option", string(&content.verification_option)),
            ("semantic_role", string(&self.metadata.semantic_role)),
            ("domain", string(&self.metadata.domain)),
            ("keywords", Some(self.metadata.keywords.clone()).filter(|k| !k.is_empty()).map(MetaValue::Strings)),
            ("usage_count", self.metadata.usage_count.map(MetaValue::Integer)),
            ("created_at", string(&self.metadata.timestamp)),
            ("execution_time_ms", self.metadata.execution_time_ms.map(MetaValue::Integer)),
            ("total_cost_usd", self.metadata.total_cost_usd.map(MetaValue::Float)),
            ("conversation_log", log.and_then(|log| string(&log.file))),
            ("conversation_section", log.and_then(|log| string(&log.section))),
        ];
        metadata_fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
    }
}

impl ReasoningContent {
    /// Returns the tools in the order of their first use.
    fn tools(&self) -> Vec<String> {
        let mut found: Vec<String> = Vec::new();
        for tool in self.tool_sequence.iter().chain(self.tools_used.iter().flat_map(|u| &u.tools)) {
            if !found.contains(tool) {
                found.push(tool.clone());
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::chunk_of;

    fn document(score: &str) -> String {
        format!(
            r#"{{"id": "reas:auth-flow-1", "type": "reasoning",
            "content": {{"pattern": "authentication-setup", "original_query": "Build OAuth2", "complexity": "complex",
              "subgoals": [{{"id": "SG1", "description": "Research providers", "agent": "researcher"}}],
              "tools_used": [{{"subgoal": "SG1", "tools": ["grep", "read"]}}], "tool_sequence": ["read"],
              "success_score": {score}}},
            "metadata": {{"timestamp": "2025-12-12T14:20:00Z", "keywords": ["oauth2"], "domain": "security"}},
            "governance": {{"compliance_tags": ["tested"], "lifespan_policy": "conditional", "retention_rules": []}}}}"#
        )
    }

    fn check(json: &str) -> String {
        match chunk_of(".aurora/reasoning/a.json", json) {
            Ok(c) => format!("{} {:?} {:?}\n{}\n{:?}\n{:?}", c.key, c.date, c.calls, c.text, c.metadata, c.governance),
            Err(problem) => problem.to_string(),
        }
    }

    #[test]
    fn scores_decide_which_documents_are_stored_and_are_patterns() {
        insta::assert_snapshot!(check(&document("0.92")), @r#"
    reas:auth-flow-1 Some(1765549200) ["read", "grep"]
    Pattern: authentication-setup
    Query: Build OAuth2
    Domain: security
    Keywords: oauth2
    SG1: Research providers (researcher)
    Tools: read, grep
    [("success_score", Float(0.92)), ("is_pattern", Bool(true)), ("pattern_type", String("authentication-setup")), ("complexity", String("complex")), ("domain", String("security")), ("keywords", Strings(["oauth2"])), ("created_at", String("2025-12-12T14:20:00Z"))]
    Some(Governance { tags: ["tested"], lifespan: Some("conditional") })
    "#);
        assert!(check(&document("0.5")).contains(r#"("is_pattern", Bool(false))"#));
        assert!(check(&document("0.8")).contains(r#"("is_pattern", Bool(true))"#));
    }

    #[test]
    fn errors_contain_the_reason() {
        insta::assert_snapshot!(check(&document("0.49")), @"`success_score` is 0.49: attempts below 0.5 are not stored");
        insta::assert_snapshot!(check(&document("1.5")), @"`success_score` is 1.5, not between 0 and 1");
        insta::assert_snapshot!(check(r#"{"content": {"success_score": 0.9}}"#), @"`id` and `content.pattern` are both missing");
        insta::assert_snapshot!(check(r#"{"content": {"pattern": "x"}}"#), @"not a reasoning document: missing field `success_score` at line 1 column 28");
        insta::assert_snapshot!(check(r#"{"type": "code", "content": {"pattern": "x", "success_score": 0.9}}"#), @"type is `code`, not `reasoning`");
    }
}
