//! What happens to an entry, and which policy or rule says so.

use serde::Serialize;

use crate::candidate::candidates;
use crate::condition::Condition;
use crate::explanation::{Role, explain};
use crate::facts::Facts;
use crate::layer::Layer;
use crate::lifespan::{Decay, Lifespan};
use crate::policies::Policies;
use crate::retention::{State, first_that_decides};
use crate::rules::EntryRules;

/// What happens to an entry, and why.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Decision {
    /// The name of the policy that decides, or a key: `governance.retention_rules[N]` with N from 0, `governance.lifespan_policy`,
    /// or `memory.policies.enabled` where evaluation is switched off.
    pub policy: String,
    /// Where that comes from.
    pub layer: Layer,
    /// How long the entry is kept.
    pub lifespan: Lifespan,
    /// How its activation falls.
    pub decay: Decay,
    /// The escalation flags of all policies and rules whose condition holds, each once.
    pub escalation: Vec<String>,
    /// Its state now.
    pub state: State,
    /// Days until it expires; `None` if it never does or has expired.
    pub expires_in_days: Option<f64>,
    /// Every policy and rule, in the order of evaluation.
    pub steps: Vec<Step>,
}

/// How one policy or rule was evaluated.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Step {
    /// Its name, as in [`Decision::policy`].
    pub name: String,
    /// Where it comes from.
    pub layer: Layer,
    /// Its condition in canonical form; `None` if it has none.
    pub condition: Option<String>,
    /// Whether its condition holds; without a condition, whether it decides.
    pub held: bool,
    /// Whether it decides.
    pub decides: bool,
    /// What follows from it, in sentences.
    pub explanation: String,
}

/// Decides what happens to an entry, and explains it.
///
/// The first of the entry's rules and the policies whose condition holds decides lifespan and decay; if there is none, the default
/// policy does. A lifespan in days begins with the creation or the last edit of the entry, and is over when `age_days` reaches
/// it. Escalation flags are collected from all rules and policies, also from those behind the one that decides.
pub fn decide(policies: &Policies, rules: &EntryRules, facts: &Facts<'_>) -> Decision {
    let (deciding, retention) = first_that_decides(policies, rules, facts);
    let mut escalation: Vec<String> = Vec::new();
    let mut steps = Vec::new();
    let mut has_decided = false;
    for candidate in candidates(policies, rules) {
        let decides = candidate.source == deciding.source;
        let held = candidate.condition.map_or(decides, |condition| condition.holds(facts));
        let flag = candidate.escalation.filter(|_| held || decides);
        escalation.extend(flag.filter(|flag| !escalation.iter().any(|known| known == flag)).map(str::to_owned));
        let role = match (decides, has_decided) {
            (true, _) => Role::Decides(retention),
            (false, true) => Role::Behind(&deciding),
            (false, false) => Role::Before,
        };
        has_decided |= decides;
        steps.push(Step {
            name: candidate.source.to_string(),
            layer: candidate.layer,
            condition: candidate.condition.map(Condition::to_string),
            held,
            decides,
            explanation: explain(&candidate, held, flag, &role, facts),
        });
    }
    Decision {
        policy: deciding.source.to_string(),
        layer: deciding.layer,
        lifespan: retention.lifespan,
        decay: retention.decay,
        escalation,
        state: retention.state,
        expires_in_days: retention.expires_in_days,
        steps,
    }
}
