//! Reasoning chunks: patterns of past problem solving, with one JSON document per pattern.

use aurora_memory_schema::{Entry, Kind, PatternError, read_pattern, searchable};
use aurora_storage::{Chunk, ChunkType, Governance, MetaValue};

use crate::chunk::date;

/// Returns the chunk of a reasoning document. `path` is the location of the document relative to the root.
///
/// The text consists of the searchable fields: pattern, query, domain, keywords, subgoals and tools. Fields for
/// filters, such as the score and the domain, are metadata.
///
/// # Errors
/// Returns a [`PatternError`] if a pattern is invalid.
pub fn chunk_of(path: &str, json: &str) -> Result<Chunk, PatternError> {
    let entry = read_pattern(json)?;
    let name = entry.id().strip_prefix(Kind::Reasoning.prefix()).unwrap_or_default().to_owned();
    let owned = |texts: Vec<&str>| texts.into_iter().map(str::to_owned).collect();
    let governance = entry.document().get("governance").filter(|governance| governance.is_object());
    Ok(Chunk {
        path: path.to_owned(),
        language: "json".to_owned(),
        qualified_name: entry.text("content", "pattern").map_or_else(|| name.clone(), str::to_owned),
        name,
        line_start: 1,
        line_end: json.lines().count().max(1) as u32,
        byte_end: u32::try_from(json.len()).unwrap_or(u32::MAX),
        doc: entry.text("content", "original_query").unwrap_or_default().to_owned(),
        text: searchable(&entry).text,
        calls: owned(entry.tools()),
        content_hash: Chunk::digest(json),
        date: entry.text("metadata", "timestamp").and_then(date::unix_seconds),
        metadata: metadata(&entry),
        governance: governance
            .map(|_| Governance { tags: owned(entry.tags()), lifespan: entry.lifespan_policy().map(str::to_owned) }),
        exported: true,
        ..Chunk::empty(entry.id().to_owned(), ChunkType::Reasoning)
    })
}

fn metadata(entry: &Entry) -> Vec<(String, MetaValue)> {
    let text = |section, name| entry.text(section, name).map(|text| MetaValue::String(text.to_owned()));
    let count = |name| entry.field("metadata", name).and_then(|value| value.as_i64()).map(MetaValue::Integer);
    let keywords: Vec<String> = entry.keywords().into_iter().map(str::to_owned).collect();
    let cost = entry.field("metadata", "total_cost_usd").and_then(|value| value.as_f64());
    let fields = [
        ("success_score", entry.score().map(MetaValue::Float)),
        ("is_pattern", Some(MetaValue::Bool(entry.is_pattern()))),
        ("pattern_type", text("content", "pattern")),
        ("complexity", text("content", "complexity")),
        ("verification_option", text("content", "verification_option")),
        ("semantic_role", text("metadata", "semantic_role")),
        ("domain", text("metadata", "domain")),
        ("keywords", Some(keywords).filter(|keywords| !keywords.is_empty()).map(MetaValue::Strings)),
        ("usage_count", count("usage_count")),
        ("created_at", text("metadata", "timestamp")),
        ("execution_time_ms", count("execution_time_ms")),
        ("total_cost_usd", cost.map(MetaValue::Float)),
        ("conversation_log", text("conversation_log_reference", "file")),
        ("conversation_section", text("conversation_log_reference", "section")),
    ];
    fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
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
    fn the_score_decides_whether_a_document_is_a_pattern() {
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
        insta::assert_snapshot!(check(r#"{"content": {"pattern": "x"}}"#), @"`content.success_score` is missing, or not a number");
        insta::assert_snapshot!(check(r#"{"type": "code", "content": {"pattern": "x", "success_score": 0.9}}"#), @"type is `code`, not `reasoning`");
    }
}
