//! The retention rules of one entry, from `governance.lifespan_policy` and `governance.retention_rules`.

use std::fmt;

use aurora_suggest::did_you_mean;
use thiserror::Error;

use crate::condition::Condition;
use crate::lifespan::{Decay, Lifespan, MAX_DAYS, parse_days};

/// The retention settings of a single entry. An entry without `governance` has the [`Default`] settings, which contain
/// no rules.
///
/// `lifespan_policy` determines whether the rules are used:
///
/// - With `conditional`, the rules are evaluated before all policies. If no rule decides, the policies decide. An entry
///   without `lifespan_policy` is treated in the same way.
/// - With `time-based`, the rules are ignored, and the policies decide.
/// - With `indefinite`, the rules are ignored, and the entry is kept forever.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct EntryRules {
    pub(crate) lifespan_policy: LifespanPolicy,
    pub(crate) rules: Vec<RetentionRule>,
}

/// The value of `governance.lifespan_policy`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum LifespanPolicy {
    #[default]
    Conditional,
    TimeBased,
    Indefinite,
}

/// A retention rule: a condition (`if`) and an action (`then`).
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RetentionRule {
    pub(crate) condition: Condition,
    pub(crate) action: Action,
}

/// The action of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    RetainIndefinitely,
    RetainForDays(u32),
    RetainWhileActive,
    DecayToInactive,
    EscalationCandidate,
}

/// All errors in the retention rules of an entry.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{}", messages.join("; "))]
pub struct RulesError {
    /// The messages, one per error. Each message contains the key of the invalid value.
    pub messages: Vec<String>,
}

impl EntryRules {
    /// Parses `governance.lifespan_policy` and `governance.retention_rules`. `rules` contains the values of `if` and
    /// `then`.
    ///
    /// # Errors
    /// Returns all errors at once: an unknown lifespan policy, invalid conditions, and unknown actions.
    pub fn parse<'a>(
        lifespan_policy: Option<&str>,
        rules: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Self, RulesError> {
        let mut messages = Vec::new();
        let lifespan_policy = match lifespan_policy.map(LifespanPolicy::parse).transpose() {
            Ok(policy) => policy.unwrap_or_default(),
            Err(message) => {
                messages.push(message);
                LifespanPolicy::default()
            }
        };
        let mut parsed = Vec::new();
        for (index, (condition, action)) in rules.into_iter().enumerate() {
            match RetentionRule::parse(condition, action) {
                Ok(rule) => parsed.push(rule),
                Err(errors) => {
                    messages.extend(
                        errors.into_iter().map(|(key, error)| format!("`retention_rules[{index}].{key}`{error}")),
                    );
                }
            }
        }
        if messages.is_empty() { Ok(Self { lifespan_policy, rules: parsed }) } else { Err(RulesError { messages }) }
    }
}

/// Checks one retention rule.
///
/// # Errors
/// Returns one message with all errors in the condition and the action. The caller must add the location of the rule.
pub fn check_rule(condition: &str, action: &str) -> Result<(), String> {
    RetentionRule::parse(condition, action).map(|_| ()).map_err(|errors| {
        let messages: Vec<String> = errors.into_iter().map(|(key, error)| format!("`{key}`{error}")).collect();
        messages.join("; ")
    })
}

impl LifespanPolicy {
    const ALL: [(&str, Self); 3] =
        [("conditional", Self::Conditional), ("time-based", Self::TimeBased), ("indefinite", Self::Indefinite)];

    fn parse(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|(name, _)| *name == text);
        found.map(|(_, policy)| policy).ok_or_else(|| {
            let suggestion = in_parentheses(did_you_mean(text, Self::ALL.map(|(name, _)| name)));
            format!("`lifespan_policy` must be `conditional`, `time-based` or `indefinite`, not `{text}`{suggestion}")
        })
    }
}

impl RetentionRule {
    /// Parses a rule. An error is a pair of a key and the text that follows the key in a message.
    fn parse(condition: &str, action: &str) -> Result<Self, Vec<(&'static str, String)>> {
        let condition = Condition::parse(condition).map_err(|error| ("if", format!(": {error}")));
        let action = Action::parse(action).map_err(|error| ("then", format!(" {error}")));
        match (condition, action) {
            (Ok(condition), Ok(action)) => Ok(Self { condition, action }),
            (condition, action) => Err(condition.err().into_iter().chain(action.err()).collect()),
        }
    }
}

impl Action {
    const NAMES: [&str; 5] = [
        "retain_indefinitely",
        "retain_for_N_days",
        "retain_while_active",
        "decay_to_inactive",
        "escalation_candidate",
    ];

    fn parse(text: &str) -> Result<Self, String> {
        match text {
            "retain_indefinitely" => return Ok(Self::RetainIndefinitely),
            "retain_while_active" => return Ok(Self::RetainWhileActive),
            "decay_to_inactive" => return Ok(Self::DecayToInactive),
            "escalation_candidate" => return Ok(Self::EscalationCandidate),
            _ => {}
        }
        let days = text.strip_prefix("retain_for_").and_then(|rest| rest.strip_suffix("_days"));
        if let Some(days) = days {
            return parse_days(days)
                .map(Self::RetainForDays)
                .ok_or_else(|| format!("must have a whole number of days from 1 to {MAX_DAYS}, not `{text}`"));
        }
        let suggestion = in_parentheses(did_you_mean(text, Self::NAMES));
        Err(format!("must be `{}`, not `{text}`{suggestion}", Self::NAMES.join("`, `")))
    }

    /// Returns the lifespan and decay that the action sets; `None` if the action only sets an escalation flag.
    pub(crate) fn retention(self) -> Option<(Lifespan, Decay)> {
        let lifespan = match self {
            Self::RetainIndefinitely | Self::RetainWhileActive => Lifespan::Indefinite,
            Self::RetainForDays(days) => Lifespan::Days(days),
            Self::DecayToInactive => Lifespan::Decay,
            Self::EscalationCandidate => return None,
        };
        Some((lifespan, lifespan.default_decay()))
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RetainIndefinitely => f.write_str("retain_indefinitely"),
            Self::RetainForDays(days) => write!(f, "retain_for_{days}_days"),
            Self::RetainWhileActive => f.write_str("retain_while_active"),
            Self::DecayToInactive => f.write_str("decay_to_inactive"),
            Self::EscalationCandidate => f.write_str("escalation_candidate"),
        }
    }
}

fn in_parentheses(suggestion: Option<String>) -> String {
    suggestion.map(|text| format!(" ({text})")).unwrap_or_default()
}
