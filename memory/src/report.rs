//! Reports on entries. A report contains the document of an entry and the facts that the memory has about the entry.

use aurora_memory_policy::{Decision, Scope, State};
use aurora_memory_schema::{Entry, Kind};
use aurora_query::SearchConfig;
use aurora_query::activation::{UseHistory, from_history};
use aurora_storage::AccessRecord;
use jiff::Timestamp;
use serde::Serialize;

use crate::error::MemoryError;
use crate::facts::EntryFacts;
use crate::memory::{Memory, entry_of};
use crate::place::Owner;
use crate::rules::{MemoryRules, forgetting};
use crate::store::Version;

/// An entry and the facts about the entry. The fields of the document and of the facts are serialised into one object.
#[derive(Debug, Clone, Serialize)]
pub struct EntryReport {
    /// The document.
    #[serde(flatten)]
    pub entry: Entry,
    /// The facts about the entry.
    #[serde(flatten)]
    pub facts: ReportedFacts,
}

/// The facts that a memory has about an entry.
#[derive(Debug, Clone, Serialize)]
pub struct ReportedFacts {
    /// The owner of the memory that contains the entry.
    pub memory: Owner,
    /// The scope of the entry.
    pub scope: Scope,
    /// The session that the entry belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Activation of the entry, independent of a query: the base-level activation `ln Σ t^(−d)`, minus the decay since
    /// the last use, plus the gain or loss from judgements.
    pub activation: f64,
    /// Number of times that a search returned the entry.
    pub access_count: u64,
    /// The time at which the entry was added.
    #[serde(serialize_with = "time")]
    pub created_at: i64,
    /// The time at which the document was last replaced. Changes of tags and links do not count.
    #[serde(serialize_with = "time")]
    pub edited_at: i64,
    /// The time at which a search last returned the entry. If no search has returned it, the time at which it was
    /// added.
    #[serde(serialize_with = "time")]
    pub last_accessed: i64,
    /// The policy or rule that determines the lifespan of the entry.
    pub policy: String,
    /// `active`, `decayed` or `archived`.
    pub state: &'static str,
    /// The time at which the entry will be archived; `None` if the entry is already archived or will never be.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "optional_time")]
    pub expires_at: Option<i64>,
    /// Escalation flags that policies have set, such as `candidate_for_fine_tuning`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub escalation: Vec<String>,
    /// The number of the entry's newest version.
    pub version: u32,
    /// Whether the score of the entry is high enough for a pattern.
    pub is_pattern: bool,
}

impl EntryReport {
    /// Returns the kind of the entry.
    pub fn kind(&self) -> Kind {
        self.entry.kind()
    }
}

impl Memory {
    /// Returns the report on an entry at `now`; `None` if the entry does not exist or was removed.
    ///
    /// # Errors
    /// Fails if the entry cannot be read.
    pub fn report(
        &self,
        id: &str,
        (rules, config): (&MemoryRules, &SearchConfig),
        now: i64,
    ) -> Result<Option<EntryReport>, MemoryError> {
        let Some(version) = self.get(id)?.filter(|version| version.document.is_some()) else { return Ok(None) };
        let access = self.accesses(&[id]).pop().flatten();
        self.report_of(id, &version, access.as_ref(), (rules, config), now).map(Some)
    }

    /// Explains why an entry is active, decayed or archived at `now`. Returns `None` if the entry does not exist or was
    /// removed.
    ///
    /// # Errors
    /// Fails if the entry cannot be read.
    pub fn decision(&self, id: &str, rules: &MemoryRules, now: i64) -> Result<Option<Decision>, MemoryError> {
        let Some(version) = self.get(id)?.filter(|version| version.document.is_some()) else { return Ok(None) };
        let access = self.accesses(&[id]).pop().flatten();
        let entry = entry_of(id, &version)?;
        Ok(Some(EntryFacts::from_entry(&entry, &version, access.as_ref(), now).decision(&rules.policies)))
    }

    pub(crate) fn report_of(
        &self,
        id: &str,
        version: &Version,
        access: Option<&AccessRecord>,
        (rules, config): (&MemoryRules, &SearchConfig),
        now: i64,
    ) -> Result<EntryReport, MemoryError> {
        let entry = entry_of(id, version)?;
        let decision = EntryFacts::from_entry(&entry, version, access, now).decision(&rules.policies);
        let shown = access.filter(|access| access.count > 0).map(|access| access.last);
        let facts = ReportedFacts {
            memory: self.place().owner(),
            scope: version.scope,
            session: version.session.clone(),
            activation: activation(&entry, version, access, &decision, config, now),
            access_count: access.map_or(0, |access| access.count),
            created_at: version.created,
            edited_at: version.edited,
            last_accessed: shown.unwrap_or(version.created),
            policy: decision.policy,
            state: match decision.state {
                State::Active => "active",
                State::Decayed => "decayed",
                State::Expired { .. } => "archived",
            },
            expires_at: decision.expires_in_days.map(|days| now.saturating_add((days * 86_400.0) as i64)),
            escalation: decision.escalation,
            version: version.number,
            is_pattern: entry.is_pattern(),
        };
        Ok(EntryReport { entry, facts })
    }

    /// Returns the access records of entries. If the access history cannot be read, all records are `None`.
    pub(crate) fn accesses(&self, ids: &[&str]) -> Vec<Option<AccessRecord>> {
        let found = self.access_log().and_then(|log| log.get_many(ids).ok());
        found.unwrap_or_else(|| vec![None; ids.len()])
    }
}

fn activation(
    entry: &Entry,
    version: &Version,
    access: Option<&AccessRecord>,
    decision: &Decision,
    config: &SearchConfig,
    now: i64,
) -> f64 {
    let date = entry.created().unwrap_or(version.created);
    let (accesses, shown) = access.map(|access| (access.recent.clone(), access.count)).unwrap_or_default();
    let uses = UseHistory { commits: vec![date], accesses, shown };
    let rate = config.activation.type_decay.of(crate::index::chunk_type(entry.kind()));
    let parts = from_history(&config.activation, &uses, (forgetting(decision.decay), rate), now);
    let learned = access.map_or(0.0, |access| config.activation.learning.learned(&access.judgements));
    // The git prior is not part of the sum, because it applies only to code.
    let history = parts.base_level.unwrap_or(0.0) - parts.decay.unwrap_or(0.0);
    let rounded = (f64::from(history + learned) * 1e4).round() / 1e4;
    // Avoids a negative zero.
    if rounded == 0.0 { 0.0 } else { rounded }
}

/// Formats a time as RFC 3339.
pub(crate) fn rfc3339(seconds: i64) -> String {
    Timestamp::from_second(seconds).map_or_else(|_| seconds.to_string(), |time| time.to_string())
}

fn time<S: serde::Serializer>(seconds: &i64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&rfc3339(*seconds))
}

fn optional_time<S: serde::Serializer>(seconds: &Option<i64>, serializer: S) -> Result<S::Ok, S::Error> {
    seconds.map(rfc3339).serialize(serializer)
}
