//! The retention decision for an entry and the policy or rule behind it.

use serde::Serialize;

use crate::candidate::candidates;
use crate::condition::Condition;
use crate::explanation::{Role, explain};
use crate::facts::Facts;
use crate::layer::Layer;
use crate::lifespan::{Decay, Lifespan};
use crate::policies::Policies;
use crate::retention::{State, find_deciding};
use crate::rules::EntryRules;

/// The retention decision for an entry, with the reasons.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Decision {
    /// The name of the policy that decides, or a key: `governance.retention_rules[N]` with N from 0, `governance.lifespan_policy`,
    /// or `memory.policies.enabled` if evaluation is switched off.
    pub policy: String,
    /// The layer that the policy or rule comes from.
    pub layer: Layer,
    /// The lifespan of the entry.
    pub lifespan: Lifespan,
    /// The decay of the entry's activation.
    pub decay: Decay,
    /// The escalation flags of all policies and rules whose condition holds, without duplicates.
    pub escalation: Vec<String>,
    /// The current state of the entry.
    pub state: State,
    /// Days until the entry expires; `None` if it never expires or has expired.
    pub expires_in_days: Option<f64>,
    /// Every policy and rule, in the order of evaluation.
    pub steps: Vec<Step>,
}

/// The evaluation of one policy or rule.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Step {
    /// The name of the policy or rule, as in [`Decision::policy`].
    pub name: String,
    /// The layer that it comes from.
    pub layer: Layer,
    /// Its condition in canonical form, if it has one.
    pub condition: Option<String>,
    /// Whether its condition holds. Without a condition, whether it decides.
    pub held: bool,
    /// Whether it decides.
    pub decides: bool,
    /// The consequences for the entry, in sentences.
    pub explanation: String,
}

/// Decides the retention of an entry and explains the decision.
///
/// The entry's rules come first, then the policies. The first one whose condition holds decides lifespan and decay; if no
/// condition holds, the default policy decides. A lifespan in days begins with the creation or the last edit of the entry and
/// ends when `age_days` reaches it. Escalation flags are collected from all rules and policies, including those after the
/// deciding one.
pub fn decide(policies: &Policies, rules: &EntryRules, facts: &Facts<'_>) -> Decision {
    let (deciding, retention) = find_deciding(policies, rules, facts);
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
            (false, true) => Role::After(&deciding),
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
