//! Rules of a search in a memory: the visibility and the aging of entries.

use std::sync::Arc;

use aurora_memory_policy::{Decay, DecayRates, Policies, Scope, State, temporal_weight};
use aurora_query::{Aging, Forgetting, Retention};
use aurora_storage::{AccessRecord, ChunkRecord, Label, Snapshot, StorageError};
use roaring::RoaringBitmap;

use crate::facts::EntryFacts;
use crate::index::column;

/// Seconds per hour.
const HOUR: f64 = 3_600.0;

/// The configured retention policies and decay rates.
#[derive(Debug, Clone)]
pub struct MemoryRules {
    /// The retention policies.
    pub policies: Policies,
    /// The rates at which the scores of entries decay with age.
    pub rates: DecayRates,
}

impl Default for MemoryRules {
    fn default() -> Self {
        Self { policies: Policies::built_in(), rates: DecayRates::default() }
    }
}

/// Conditions for the entries that a search can return.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Visibility {
    /// The scope of the search. `session` includes the entries of the session, `project` the entries of the project,
    /// `user` the entries of scopes `user` and `session`, and `global` all entries. `None` includes all entries except
    /// the entries of other sessions.
    pub scope: Option<Scope>,
    /// The session of the search.
    pub session: Option<String>,
    /// Whether the search also returns archived entries.
    pub with_archived: bool,
    /// Whether the entries of other sessions are hidden in every scope. Searches of agents hide them, because only the
    /// user may read all sessions.
    pub is_confined: bool,
}

impl Visibility {
    /// Returns the retention rules of a search with this visibility.
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
        let of_others = || Ok::<_, StorageError>(of_scope(Scope::Session)? - of_session()?.unwrap_or_default());
        Ok(match scope {
            Some(Scope::User | Scope::Global) if self.visibility.is_confined => {
                let others = of_others()?;
                let own = match scope {
                    Some(Scope::User) => of_scope(Scope::User)? | of_scope(Scope::Session)?,
                    _ => snapshot.live().clone(),
                };
                Some(own - others)
            }
            Some(Scope::Session) => Some(of_session()?.unwrap_or_default()),
            Some(Scope::Project) => Some(of_scope(Scope::Project)?),
            Some(Scope::User) => {
                let own = of_scope(Scope::User)? | of_scope(Scope::Session)?;
                // If these are all entries, as is usual, no filter is returned, because a search without a filter is
                // faster.
                Some(own).filter(|own| !snapshot.live().is_subset(own))
            }
            Some(Scope::Global) => None,
            None => {
                let others = of_others()?;
                (!others.is_empty()).then(|| snapshot.live() - others)
            }
        })
    }

    fn aging(&self, chunk: ChunkRecord<'_>, access: Option<&AccessRecord>, now: i64) -> Aging {
        let facts = EntryFacts::from_chunk(chunk, access, now);
        let retention = facts.retention(&self.rules.policies);
        let hours = now.saturating_sub(chunk.date().unwrap_or(now)).max(0) as f64 / HOUR;
        let lambda = self.rules.rates.lambda(facts.kind.name(), facts.scope);
        let weight = temporal_weight(lambda, hours);
        Aging {
            is_expired: !self.visibility.with_archived && matches!(retention.state, State::Expired { .. }),
            forgetting: forgetting(retention.decay),
            weight: weight as f32,
            reason: format!("{hours:.1} hours old: exp(−{lambda} · {hours:.1}) = {weight:.3}"),
        }
    }
}

/// Converts a policy's decay to the type that ranking uses.
pub(crate) fn forgetting(decay: Decay) -> Forgetting {
    match decay {
        Decay::Logarithmic => Forgetting::Logarithmic,
        Decay::Exponential => Forgetting::Exponential,
        Decay::None => Forgetting::None,
    }
}
