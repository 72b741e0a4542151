//! What happens to an entry, and which policy or rule says so.

use std::fmt;

use serde::Serialize;

use crate::condition::Condition;
use crate::explanation::{Role, explain};
use crate::facts::Facts;
use crate::layer::Layer;
use crate::lifespan::{Decay, Lifespan};
use crate::policies::Policies;
use crate::rules::{EntryRules, LifespanPolicy};

/// The escalation flag of the action `escalation_candidate`; `high_usage` of seed 004, §6.7.1 sets the same.
const ESCALATION_FLAG: &str = "candidate_for_fine_tuning";

/// What happens to an entry.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Retention {
    /// How long it is kept.
    pub lifespan: Lifespan,
    /// How its activation falls.
    pub decay: Decay,
    /// Its state now.
    pub state: State,
    /// Days until it expires; `None` if it never does or has expired.
    pub expires_in_days: Option<f64>,
}

/// The state of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum State {
    /// It is kept, and search finds it.
    Active,
    /// It is kept, and search ranks it low.
    Decayed,
    /// Its lifespan is over.
    Expired {
        /// Days since the end of its lifespan, 0 or more.
        since_days: f64,
    },
}

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

/// What [`decide`] decides, without names, flags and explanation: for ranking, where it is asked for every candidate.
pub fn retention(policies: &Policies, rules: &EntryRules, facts: &Facts<'_>) -> Retention {
    first_that_decides(policies, rules, facts).1
}

/// A policy or rule, or a setting that takes the place of all of them.
pub(crate) struct Candidate<'a> {
    pub(crate) source: Source<'a>,
    pub(crate) layer: Layer,
    pub(crate) condition: Option<&'a Condition>,
    /// What follows if it decides; `None` if it only sets a flag.
    pub(crate) outcome: Option<(Lifespan, Decay)>,
    pub(crate) escalation: Option<&'a str>,
}

/// What a candidate is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source<'a> {
    /// `enabled = false`.
    SwitchedOff,
    /// `lifespan_policy = "indefinite"`.
    KeptForEver,
    /// A rule of the entry, from 0.
    Rule(usize),
    Policy(&'a str),
    DefaultPolicy(&'a str),
}

impl fmt::Display for Source<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SwitchedOff => f.write_str("memory.policies.enabled"),
            Self::KeptForEver => f.write_str("governance.lifespan_policy"),
            Self::Rule(index) => write!(f, "governance.retention_rules[{index}]"),
            Self::Policy(name) | Self::DefaultPolicy(name) => f.write_str(name),
        }
    }
}

/// The candidates in the order of evaluation. The last one decides if no other does.
fn candidates<'a>(policies: &'a Policies, rules: &'a EntryRules) -> impl Iterator<Item = Candidate<'a>> {
    let enabled = policies.is_enabled();
    let kept = |source, layer| Candidate {
        source,
        layer,
        condition: None,
        outcome: Some((Lifespan::Indefinite, Decay::Logarithmic)),
        escalation: None,
    };
    let switched_off = (!enabled).then(|| kept(Source::SwitchedOff, policies.enabled_in()));
    let kept_for_ever =
        (rules.lifespan_policy == LifespanPolicy::Indefinite).then(|| kept(Source::KeptForEver, Layer::Entry));
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
    let evaluated = kept_for_ever.into_iter().chain(of_entry).chain(of_layers);
    switched_off.into_iter().chain(evaluated.filter(move |_| enabled))
}

fn first_that_decides<'a>(
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
