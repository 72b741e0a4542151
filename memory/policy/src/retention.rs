//! The retention of an entry, without an explanation.

use serde::Serialize;

use crate::candidate::{Candidate, Source, candidates};
use crate::facts::Facts;
use crate::lifespan::{Decay, Lifespan};
use crate::policies::Policies;
use crate::rules::EntryRules;

/// The retention of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Retention {
    /// The lifespan of the entry.
    pub lifespan: Lifespan,
    /// The decay of the entry's activation.
    pub decay: Decay,
    /// The current state of the entry.
    pub state: State,
    /// Days until the entry expires; `None` if it never expires or has expired.
    pub expires_in_days: Option<f64>,
}

/// The state of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum State {
    /// The entry is kept, and searches find it.
    Active,
    /// The entry is kept, but searches rank it low.
    Decayed,
    /// The lifespan of the entry is over.
    Expired {
        /// Days since the end of the lifespan, at least 0.
        since_days: f64,
    },
}

/// Returns the retention that [`decide`](crate::decide) determines, without names, flags and explanations.
/// Ranking calls this function for every search candidate.
pub fn retention(policies: &Policies, rules: &EntryRules, facts: &Facts<'_>) -> Retention {
    find_deciding(policies, rules, facts).1
}

/// Returns the deciding candidate and the resulting retention.
pub(crate) fn find_deciding<'a>(
    policies: &'a Policies,
    rules: &'a EntryRules,
    facts: &Facts<'_>,
) -> (Candidate<'a>, Retention) {
    let found = candidates(policies, rules).find_map(|candidate| {
        let is_default = matches!(candidate.source, Source::DefaultPolicy(_));
        let applies = is_default || candidate.condition.is_none_or(|condition| condition.holds(facts));
        let (lifespan, decay) = candidate.outcome.filter(|_| applies)?;
        Some((candidate, Retention::at(lifespan, decay, facts.age_days)))
    });
    found.expect("the default policy, or the setting that switches policies off, always decides")
}

impl Retention {
    fn at(lifespan: Lifespan, decay: Decay, age_days: f64) -> Self {
        let left = |days: u32| f64::from(days) - age_days;
        let (state, expires_in_days) = match lifespan {
            Lifespan::Indefinite => (State::Active, None),
            Lifespan::Decay => (State::Decayed, None),
            Lifespan::Days(days) if left(days) <= 0.0 => {
                (State::Expired { since_days: age_days - f64::from(days) }, None)
            }
            Lifespan::Days(days) => (State::Active, Some(left(days))),
        };
        Self { lifespan, decay, state, expires_in_days }
    }
}
