//! The rules of memories for a search: who may find an entry, and how it ages.

use std::sync::Arc;

use aurora_memory_policy::{Decay, DecayRates, Policies, State, temporal_weight};
use aurora_query::{Aging, Forgetting, Retention};
use aurora_storage::{AccessRecord, ChunkRecord, Label, Snapshot, StorageError};
use roaring::RoaringBitmap;

use crate::facts::EntryFacts;
use crate::index::column;
use crate::scope::Scope;

/// Seconds of an hour.
const HOUR: f64 = 3_600.0;

/// Policies and rates of a configuration.
#[derive(Debug, Clone)]
pub struct MemoryRules {
    /// Which entries are kept, for how long, and how their activation falls.
    pub policies: Policies,
    /// What age takes from a score.
    pub rates: DecayRates,
}

impl Default for MemoryRules {
    fn default() -> Self {
        Self { policies: Policies::built_in(), rates: DecayRates::default() }
    }
}

/// Which entries a search sees.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Visibility {
    /// How wide it looks: `session` sees the entries of the session; `project` those of the project; `user` the user's own and
    /// those of all sessions; `global` all. Without a scope, it sees all but those of other sessions.
    pub scope: Option<Scope>,
    /// The session of the search.
    pub session: Option<String>,
    /// Whether archived entries are found too.
    pub with_archived: bool,
}

impl Visibility {
    /// The rules of a search that sees these entries. An opened memory can be searched with others than those that it was opened
    /// with.
    pub fn search_rules(&self, rules: &Arc<MemoryRules>) -> Arc<dyn Retention> {
        Arc::new(SearchRules { rules: Arc::clone(rules), visibility: self.clone() })
    }
}

/// The rules of a search in one memory.
pub(crate) struct SearchRules {
    pub(crate) rules: Arc<MemoryRules>,
    pub(crate) visibility: Visibility,
}

impl Retention for SearchRules {
    fn visible(&self, snapshot: &Snapshot) -> Result<Option<RoaringBitmap>, StorageError> {
        let Visibility { scope, session, .. } = &self.visibility;
        let of_scope = |scope: Scope| snapshot.label(Label::Meta { key: column::SCOPE, value: scope.as_str() });
        let of_session = || {
            let name = session.as_deref().filter(|name| !name.is_empty());
            name.map(|value| snapshot.label(Label::Meta { key: column::SESSION, value })).transpose()
        };
        Ok(match scope {
            Some(Scope::Session) => Some(of_session()?.unwrap_or_default()),
            Some(Scope::Project) => Some(of_scope(Scope::Project)?),
            Some(Scope::User) => {
                let own = of_scope(Scope::User)? | of_scope(Scope::Session)?;
                // As a rule it is all that there is, and no filter is quicker than one that keeps everything.
                Some(own).filter(|own| !snapshot.live().is_subset(own))
            }
            Some(Scope::Global) => None,
            None => {
                let of_sessions = of_scope(Scope::Session)?;
                if of_sessions.is_empty() {
                    return Ok(None);
                }
                Some((snapshot.live() - of_sessions) | of_session()?.unwrap_or_default())
            }
        })
    }

    fn aging(&self, chunk: ChunkRecord<'_>, access: Option<&AccessRecord>, now: i64) -> Aging {
        let facts = EntryFacts::of_chunk(chunk, access, now);
        let kept = facts.retention(&self.rules.policies);
        let hours = now.saturating_sub(chunk.date().unwrap_or(now)).max(0) as f64 / HOUR;
        let lambda = self.rules.rates.lambda(facts.kind, facts.scope);
        let weight = temporal_weight(lambda, hours);
        Aging {
            is_expired: !self.visibility.with_archived && matches!(kept.state, State::Expired { .. }),
            forgetting: forgetting(kept.decay),
            weight: weight as f32,
            reason: format!("{hours:.1} hours old: exp(−{lambda} · {hours:.1}) = {weight:.3}"),
        }
    }
}

/// How an activation falls, as ranking calls it.
pub(crate) fn forgetting(decay: Decay) -> Forgetting {
    match decay {
        Decay::Logarithmic => Forgetting::Logarithmic,
        Decay::Exponential => Forgetting::Exponential,
        Decay::None => Forgetting::None,
    }
}
