//! Removal of entries whose lifespan is over.

use aurora_memory_policy::State;
use serde::Serialize;

use crate::error::MemoryError;
use crate::facts::EntryFacts;
use crate::memory::{Memory, entry_of};
use crate::rules::MemoryRules;
use crate::store::Change;

/// An archived entry, which a prune removes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Pruned {
    /// The id of the entry.
    pub id: String,
    /// The policy or rule that archived the entry.
    pub policy: String,
    /// Days since the end of the lifespan.
    pub expired_days: f64,
    /// The reason, as one sentence.
    pub reason: String,
}

impl Memory {
    /// Removes the entries that are archived at `now`. A dry run only lists them.
    ///
    /// Returns the archived entries and the number of remaining entries. An entry that another process changes in the
    /// meantime is not removed. Until a compaction, [`Memory::undo`] can restore removed entries.
    ///
    /// # Errors
    /// Fails if the entries cannot be read or written.
    pub fn prune(&self, rules: &MemoryRules, is_dry_run: bool, now: i64) -> Result<(Vec<Pruned>, usize), MemoryError> {
        let view = self.view()?;
        let (mut pruned, mut numbers, mut kept) = (Vec::new(), Vec::new(), 0);
        self.visit_entries(&view, |id, version, access| {
            let entry = entry_of(id, version)?;
            let facts = EntryFacts::from_entry(&entry, version, access, now);
            let State::Expired { since_days } = facts.retention(&rules.policies).state else {
                kept += 1;
                return Ok(());
            };
            let decision = facts.decision(&rules.policies);
            let step = decision.steps.into_iter().find(|step| step.decides);
            let reason = step.map(|step| step.explanation).unwrap_or_default();
            numbers.push(version.number);
            pruned.push(Pruned { id: id.to_owned(), policy: decision.policy, expired_days: since_days, reason });
            Ok(())
        })?;
        if !is_dry_run && !pruned.is_empty() {
            let judged = pruned.iter().zip(numbers).map(|(pruned, number)| (pruned.id.as_str(), number));
            let mut removed = self.remove_unchanged(judged, Change::Prune, now)?.into_iter();
            let judged = pruned.len();
            pruned.retain(|_| removed.next().unwrap_or_default());
            kept += judged - pruned.len();
        }
        Ok((pruned, kept))
    }
}
