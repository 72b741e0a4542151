//! The retention decision for an entry, with the policy or rule that determines it.

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
    /// The name of the policy that decides, or the key of the setting that decides. Keys are
    /// `governance.retention_rules[N]` with N from 0, `governance.lifespan_policy`, and, if evaluation is switched off,
    /// `memory.policies.enabled`.
    pub policy: String,
    /// The layer that contains the policy or setting.
    pub layer: Layer,
    /// The lifespan of the entry.
    pub lifespan: Lifespan,
    /// The decay of the entry's activation.
    pub decay: Decay,
    /// The escalation flags of the policies and rules whose condition holds, and of the deciding policy, without
    /// duplicates.
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
    /// The layer that contains the policy or rule.
    pub layer: Layer,
    /// The condition in canonical form; `None` if there is no condition.
    pub condition: Option<String>,
    /// Whether the condition holds. Without a condition, equal to `decides`.
    pub held: bool,
    /// Whether the policy or rule decides.
    pub decides: bool,
    /// The consequences for the entry, as one or more sentences.
    pub explanation: String,
}

/// Decides the retention of an entry and explains the decision.
///
/// The rules of the entry are evaluated first, and then the policies. The first rule or policy whose condition holds
/// determines the lifespan and the decay, except rules that only set a flag. If no condition holds, the default policy
/// decides. A lifespan in days begins with the creation or the last edit of the entry, and ends when `age_days` reaches
/// the lifespan. Escalation flags are collected from all rules and policies, even after the deciding one.
pub fn decide(policies: &Policies, rules: &EntryRules, facts: &Facts<'_>) -> Decision {
    let (deciding, retention) = find_deciding(policies, rules, facts);
    let mut escalation: Vec<String> = Vec::new();
    let mut steps = Vec::new();
    let mut has_decided = false;
    for candidate in candidates(policies, rules) {
        let decides = candidate.source == deciding.source;
        let held = candidate.condition.map_or(decides, |condition| condition.holds(facts));
        let flag = candidate.escalation.filter(|_| held || decides);
        escalation.extend(flag.filter(|flag| !escalation.iter().any(|other| other == flag)).map(str::to_owned));
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
