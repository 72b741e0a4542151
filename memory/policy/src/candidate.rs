//! The policies, rules and settings that can determine the retention of an entry, in the order of evaluation.

use std::fmt;

use crate::condition::Condition;
use crate::layer::Layer;
use crate::lifespan::{Decay, Lifespan};
use crate::policies::Policies;
use crate::rules::{EntryRules, LifespanPolicy};

/// The escalation flag that the action `escalation_candidate` sets. The policy `high_usage` sets the same
/// flag.
const ESCALATION_FLAG: &str = "candidate_for_fine_tuning";

/// A policy, a rule of the entry, or a setting that overrides all policies and rules.
pub(crate) struct Candidate<'a> {
    pub(crate) source: Source<'a>,
    pub(crate) layer: Layer,
    pub(crate) condition: Option<&'a Condition>,
    /// The lifespan and decay of the entry if the candidate decides; `None` if the candidate only sets a flag.
    pub(crate) outcome: Option<(Lifespan, Decay)>,
    pub(crate) escalation: Option<&'a str>,
}

/// The policy, rule or setting of a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source<'a> {
    /// The setting `enabled = false`.
    Disabled,
    /// The setting `lifespan_policy = "indefinite"` of the entry.
    Indefinite,
    /// The rule at this index in the rules of the entry.
    Rule(usize),
    /// The policy with this name, which is not the default policy.
    Policy(&'a str),
    /// The default policy, which has this name.
    DefaultPolicy(&'a str),
}

impl fmt::Display for Source<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Disabled => f.write_str("memory.policies.enabled"),
            Self::Indefinite => f.write_str("governance.lifespan_policy"),
            Self::Rule(index) => write!(f, "governance.retention_rules[{index}]"),
            Self::Policy(name) | Self::DefaultPolicy(name) => f.write_str(name),
        }
    }
}

/// Returns the candidates in the order of evaluation. The last candidate decides if no earlier candidate does.
pub(crate) fn candidates<'a>(policies: &'a Policies, rules: &'a EntryRules) -> impl Iterator<Item = Candidate<'a>> {
    let enabled = policies.is_enabled();
    let keep = |source, layer| Candidate {
        source,
        layer,
        condition: None,
        outcome: Some((Lifespan::Indefinite, Decay::Logarithmic)),
        escalation: None,
    };
    let disabled = (!enabled).then(|| keep(Source::Disabled, policies.enabled_in()));
    let indefinite =
        (rules.lifespan_policy == LifespanPolicy::Indefinite).then(|| keep(Source::Indefinite, Layer::Entry));
    let used_rules = match rules.lifespan_policy {
        LifespanPolicy::Conditional => rules.rules.as_slice(),
        LifespanPolicy::TimeBased | LifespanPolicy::Indefinite => &[],
    };
    let of_entry = used_rules.iter().enumerate().map(|(index, rule)| {
        let outcome = rule.action.retention();
        let escalation = outcome.is_none().then_some(ESCALATION_FLAG);
        Candidate {
            source: Source::Rule(index),
            layer: Layer::Entry,
            condition: Some(&rule.condition),
            outcome,
            escalation,
        }
    });
    let of_layers = policies.iter().map(|policy| {
        let is_default = std::ptr::eq(policy, policies.default_policy());
        Candidate {
            source: if is_default { Source::DefaultPolicy(&policy.name) } else { Source::Policy(&policy.name) },
            layer: policy.layer,
            condition: policy.condition.as_ref(),
            outcome: Some((policy.lifespan, policy.decay)),
            escalation: policy.escalation.as_deref(),
        }
    });
    let evaluated = indefinite.into_iter().chain(of_entry).chain(of_layers);
    disabled.into_iter().chain(evaluated.filter(move |_| enabled))
}
