//! The facts about an entry that retention policies use. They come from its document or from its chunk in the index.

use std::borrow::Cow;

use aurora_memory_policy::{Decision, EntryRules, Facts, Policies, Retention, Scope, decide, retention};
use aurora_memory_schema::{Entry, Kind};
use aurora_storage::{AccessRecord, ArchivedMetaValue, ChunkRecord, ChunkType};

use crate::index::{DIRECTORY, chunk_type as chunk_type_of, column};
use crate::store::Version;

/// Seconds per day.
const DAY: f64 = 86_400.0;

/// The facts about an entry at a point in time. An entry's document and each of its chunks yield the same facts.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct EntryFacts<'e> {
    /// All facts except the id, the tags, the kind and the scope, which `facts()` fills in.
    facts: Facts<'e>,
    id: Cow<'e, str>,
    pub(crate) kind: Kind,
    pub(crate) scope: Scope,
    tags: Vec<&'e str>,
    lifespan: Option<&'e str>,
    rules: Vec<(&'e str, &'e str)>,
}

impl<'e> EntryFacts<'e> {
    /// Collects the facts from an entry, its newest version and its access record.
    pub(crate) fn from_entry(entry: &'e Entry, version: &Version, access: Option<&AccessRecord>, now: i64) -> Self {
        let facts = Facts {
            score: entry.score(),
            domain: entry.domain(),
            semantic_role: entry.semantic_role(),
            is_pattern: entry.is_pattern(),
            ..Facts::default()
        };
        Self {
            facts,
            id: Cow::Borrowed(entry.id()),
            kind: entry.kind(),
            scope: version.scope,
            tags: entry.tags(),
            lifespan: entry.lifespan_policy(),
            rules: entry.retention_rules(),
        }
        .with_age(version.edited, access, now)
    }

    /// Collects the facts from a chunk in the index and the access record of its entry.
    pub(crate) fn from_chunk(chunk: ChunkRecord<'e>, access: Option<&AccessRecord>, now: i64) -> Self {
        let governance = chunk.governance();
        let tags = governance.into_iter().flat_map(|governance| governance.tags.iter());
        let lifespan = governance.and_then(|governance| governance.lifespan.as_ref());
        let mut edited = chunk.date().unwrap_or(now);
        let mut entry = Self {
            facts: Facts::default(),
            // The id is taken from the path, because the pieces of a long text have different keys.
            id: chunk.path().strip_prefix(DIRECTORY).map_or_else(|| chunk.key(), Cow::Borrowed),
            kind: kind_of_chunk(chunk.chunk_type()),
            scope: Scope::User,
            tags: tags.map(|tag| tag.as_str()).collect(),
            lifespan: lifespan.map(|name| name.as_str()),
            rules: Vec::new(),
        };
        let facts = &mut entry.facts;
        for (name, value) in chunk.metadata() {
            match (name, value) {
                (column::SCOPE, ArchivedMetaValue::String(scope)) => {
                    entry.scope = scope.parse().unwrap_or(entry.scope);
                }
                (column::SCORE, ArchivedMetaValue::Float(score)) => facts.score = Some(score.to_native()),
                (column::EDITED, ArchivedMetaValue::Integer(time)) => edited = time.to_native(),
                (column::RULES, ArchivedMetaValue::Strings(rules)) => {
                    // The last line break separates the condition from the action. A condition can contain line breaks,
                    // but an action cannot.
                    let pair = |rule: &'e str| rule.rsplit_once(column::RULE_SEPARATOR);
                    entry.rules = rules.iter().filter_map(|rule| pair(rule.as_str())).collect();
                }
                (column::DOMAIN, ArchivedMetaValue::String(domain)) => facts.domain = Some(domain.as_str()),
                (column::ROLE, ArchivedMetaValue::String(role)) => facts.semantic_role = Some(role.as_str()),
                (column::PATTERN, ArchivedMetaValue::Bool(is_pattern)) => facts.is_pattern = *is_pattern,
                _ => {}
            }
        }
        entry.with_age(edited, access, now)
    }

    /// Sets the facts that depend on the time and on the access record.
    fn with_age(mut self, edited: i64, access: Option<&AccessRecord>, now: i64) -> Self {
        let days = |time: i64| now.saturating_sub(time).max(0) as f64 / DAY;
        let used = access.and_then(AccessRecord::newest).map_or(edited, |time| time.max(edited));
        self.facts.access_count = access.map_or(0, |access| access.count);
        self.facts.age_days = days(edited);
        self.facts.inactive_days = days(used);
        self
    }

    /// Returns the retention of the entry.
    pub(crate) fn retention(&self, policies: &Policies) -> Retention {
        retention(policies, &self.rules(), &self.facts())
    }

    /// Returns the retention of the entry, with the evaluation of every policy and rule.
    pub(crate) fn decision(&self, policies: &Policies) -> Decision {
        decide(policies, &self.rules(), &self.facts())
    }

    fn rules(&self) -> EntryRules {
        // Parsing does not fail, because the rules were checked when the entry was written.
        EntryRules::parse(self.lifespan, self.rules.iter().copied()).unwrap_or_default()
    }

    fn facts(&self) -> Facts<'_> {
        let (kind, scope) = (self.kind.name(), self.scope.as_str());
        Facts { id: &self.id, kind, scope, tags: &self.tags, ..self.facts }
    }
}

fn kind_of_chunk(chunk_type: ChunkType) -> Kind {
    Kind::ALL.iter().copied().find(|kind| chunk_type_of(*kind) == chunk_type).unwrap_or(Kind::Code)
}

#[cfg(test)]
mod tests;
