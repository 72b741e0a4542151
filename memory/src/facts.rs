//! The facts about an entry for retention policies, from its document or from its chunk in the index.

use std::borrow::Cow;

use aurora_memory_policy::{
    Decision, EntryRules, Facts, MemoryKind, MemoryScope, Policies, Retention, decide, retention,
};
use aurora_memory_schema::{Entry, Kind};
use aurora_storage::{AccessRecord, ArchivedMetaValue, ChunkRecord, ChunkType};

use crate::index::{DIRECTORY, column};
use crate::scope::Scope;
use crate::store::Version;

/// Seconds per day.
const DAY: f64 = 86_400.0;

/// The facts about an entry at a point in time. The document and the chunk of an entry yield the same facts.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct EntryFacts<'e> {
    id: Cow<'e, str>,
    pub(crate) kind: MemoryKind,
    pub(crate) scope: MemoryScope,
    score: Option<f64>,
    tags: Vec<&'e str>,
    domain: Option<&'e str>,
    semantic_role: Option<&'e str>,
    is_pattern: bool,
    lifespan: Option<Cow<'e, str>>,
    rules: Vec<(Cow<'e, str>, Cow<'e, str>)>,
    accesses: u64,
    age_days: f64,
    inactive_days: f64,
}

impl<'e> EntryFacts<'e> {
    /// Collects the facts from an entry and its newest version.
    pub(crate) fn from_entry(entry: &'e Entry, version: &Version, access: Option<&AccessRecord>, now: i64) -> Self {
        let rules = entry.retention_rules();
        Self {
            id: Cow::Borrowed(entry.id()),
            kind: kind_of_entry(entry.kind()),
            scope: scope_of(version.scope),
            score: entry.score(),
            tags: entry.tags(),
            domain: entry.domain(),
            semantic_role: entry.semantic_role(),
            is_pattern: entry.is_pattern(),
            lifespan: entry.lifespan_policy().map(|policy| policy.name().into()),
            rules: rules.into_iter().map(|rule| (rule.condition.into(), rule.action.into())).collect(),
            accesses: 0,
            age_days: 0.0,
            inactive_days: 0.0,
        }
        .aged(version.edited, access, now)
    }

    /// Collects the facts from a chunk of the index.
    pub(crate) fn from_chunk(chunk: ChunkRecord<'e>, access: Option<&AccessRecord>, now: i64) -> Self {
        let governance = chunk.governance();
        let tags = governance.into_iter().flat_map(|governance| governance.tags.iter());
        let lifespan = governance.and_then(|governance| governance.lifespan.as_ref());
        let mut edited = chunk.date().unwrap_or(now);
        let mut facts = Self {
            // The path has the id of the entry; the pieces of a long text have different keys.
            id: chunk.path().strip_prefix(DIRECTORY).map_or_else(|| chunk.key(), Cow::Borrowed),
            kind: kind_of_chunk(chunk.chunk_type()),
            scope: MemoryScope::User,
            score: None,
            tags: tags.map(|tag| tag.as_str()).collect(),
            domain: None,
            semantic_role: None,
            is_pattern: false,
            lifespan: lifespan.map(|name| name.as_str().into()),
            rules: Vec::new(),
            accesses: 0,
            age_days: 0.0,
            inactive_days: 0.0,
        };
        for (name, value) in chunk.metadata() {
            match (name, value) {
                (column::SCOPE, ArchivedMetaValue::String(scope)) => {
                    facts.scope = MemoryScope::from_name(scope.as_str()).unwrap_or(facts.scope);
                }
                (column::SCORE, ArchivedMetaValue::Float(score)) => facts.score = Some(score.to_native()),
                (column::EDITED, ArchivedMetaValue::Integer(time)) => edited = time.to_native(),
                (column::RULES, ArchivedMetaValue::Strings(rules)) => {
                    // A condition can have several lines, but an action has only one.
                    let pair = |rule: &'e str| rule.rsplit_once(column::RULE_SEPARATOR);
                    let pairs = rules.iter().filter_map(|rule| pair(rule.as_str()));
                    facts.rules = pairs.map(|(condition, action)| (condition.into(), action.into())).collect();
                }
                (column::DOMAIN, ArchivedMetaValue::String(domain)) => facts.domain = Some(domain.as_str()),
                (column::ROLE, ArchivedMetaValue::String(role)) => facts.semantic_role = Some(role.as_str()),
                (column::PATTERN, ArchivedMetaValue::Bool(is_pattern)) => facts.is_pattern = *is_pattern,
                _ => {}
            }
        }
        facts.aged(edited, access, now)
    }

    fn aged(self, edited: i64, access: Option<&AccessRecord>, now: i64) -> Self {
        let days = |time: i64| now.saturating_sub(time).max(0) as f64 / DAY;
        let used = access.and_then(AccessRecord::newest).map_or(edited, |time| time.max(edited));
        Self {
            accesses: access.map_or(0, |access| access.count),
            age_days: days(edited),
            inactive_days: days(used),
            ..self
        }
    }

    /// Returns the retention of the entry.
    pub(crate) fn retention(&self, policies: &Policies) -> Retention {
        retention(policies, &self.rules(), &self.facts())
    }

    /// Returns the retention with the evaluation of every policy and rule.
    pub(crate) fn decision(&self, policies: &Policies) -> Decision {
        decide(policies, &self.rules(), &self.facts())
    }

    fn rules(&self) -> EntryRules {
        let pairs = self.rules.iter().map(|(condition, action)| (&**condition, &**action));
        // The rules were checked when the entry was written.
        EntryRules::parse(self.lifespan.as_deref(), pairs).unwrap_or_default()
    }

    fn facts(&self) -> Facts<'_> {
        Facts {
            id: &self.id,
            kind: self.kind.name(),
            scope: self.scope.name(),
            score: self.score,
            tags: &self.tags,
            domain: self.domain,
            semantic_role: self.semantic_role,
            is_pattern: self.is_pattern,
            access_count: self.accesses,
            age_days: self.age_days,
            inactive_days: self.inactive_days,
        }
    }
}

pub(crate) fn scope_of(scope: Scope) -> MemoryScope {
    match scope {
        Scope::Session => MemoryScope::Session,
        Scope::Project => MemoryScope::Project,
        Scope::User => MemoryScope::User,
        Scope::Global => MemoryScope::Global,
    }
}

fn kind_of_entry(kind: Kind) -> MemoryKind {
    match kind {
        Kind::Turn => MemoryKind::Turn,
        Kind::Note => MemoryKind::Note,
        Kind::Knowledge => MemoryKind::Knowledge,
        Kind::Reasoning => MemoryKind::Reasoning,
        Kind::Code => MemoryKind::Code,
    }
}

fn kind_of_chunk(chunk_type: ChunkType) -> MemoryKind {
    match chunk_type {
        ChunkType::Turn => MemoryKind::Turn,
        ChunkType::Note => MemoryKind::Note,
        ChunkType::Knowledge => MemoryKind::Knowledge,
        ChunkType::Reasoning => MemoryKind::Reasoning,
        _ => MemoryKind::Code,
    }
}

#[cfg(test)]
mod tests;
