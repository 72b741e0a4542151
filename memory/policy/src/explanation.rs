//! Explanations of decisions, as sentences.

use crate::candidate::{Candidate, Source};
use crate::facts::Facts;
use crate::lifespan::{Decay, Lifespan};
use crate::retention::{Retention, State};

/// The role of a candidate in a decision.
pub(crate) enum Role<'a> {
    /// The candidate is evaluated before the deciding candidate.
    Before,
    /// The candidate decides.
    Decides(Retention),
    /// The candidate is evaluated after the given candidate, which decides.
    After(&'a Candidate<'a>),
}

/// Explains the contribution of a candidate to a decision. `flag` is the escalation flag that the candidate sets.
pub(crate) fn explain(
    candidate: &Candidate<'_>,
    held: bool,
    flag: Option<&str>,
    role: &Role<'_>,
    facts: &Facts<'_>,
) -> String {
    let mut sentences = match candidate.source {
        Source::Disabled => vec!["The evaluation of policies is switched off.".to_owned()],
        Source::Indefinite => vec!["The entry's lifespan policy is `indefinite`.".to_owned()],
        Source::Rule(_) | Source::Policy(_) => vec![condition(candidate, held, facts)],
        Source::DefaultPolicy(_) => vec![default_policy(candidate, held, role, facts)],
    };
    match role {
        Role::Decides(retention) => {
            sentences.push(retention_sentence(retention));
            sentences.push(decay_sentence(retention.decay).to_owned());
        }
        Role::After(deciding) if held && candidate.outcome.is_some() => {
            sentences.push(format!("`{}` has already decided.", deciding.source));
        }
        Role::After(_) | Role::Before => {}
    }
    sentences.extend(flag.map(|flag| format!("The entry gets the escalation flag `{flag}`.")));
    sentences.join(" ")
}

fn condition(candidate: &Candidate<'_>, held: bool, facts: &Facts<'_>) -> String {
    let values = candidate.condition.map(|condition| condition.values(facts)).unwrap_or_default();
    let holds = if held { "The condition holds" } else { "The condition does not hold" };
    if values.is_empty() { format!("{holds}.") } else { format!("{holds}: {values}.") }
}

fn default_policy(candidate: &Candidate<'_>, held: bool, role: &Role<'_>, facts: &Facts<'_>) -> String {
    match role {
        Role::Decides(_) => "No earlier condition decides, so the default policy applies.".to_owned(),
        _ if candidate.condition.is_some() => condition(candidate, held, facts),
        _ => "The default policy applies only if no condition holds.".to_owned(),
    }
}

fn retention_sentence(retention: &Retention) -> String {
    let Lifespan::Days(lifespan) = retention.lifespan else {
        return match retention.lifespan {
            Lifespan::Decay => "The entry is kept in the decayed state, and search ranks it low.".to_owned(),
            _ => "The entry is kept forever.".to_owned(),
        };
    };
    let lifespan = days(f64::from(lifespan));
    let end = match (retention.state, retention.expires_in_days) {
        (State::Expired { since_days }, _) => format!("it expired {} ago", days(since_days)),
        (_, left) => format!("it expires in {}", days(left.unwrap_or_default())),
    };
    format!("The entry is kept for {lifespan} after its creation or last edit; {end}.")
}

fn decay_sentence(decay: Decay) -> &'static str {
    match decay {
        Decay::Logarithmic => "Its activation falls with the logarithm of the days without use.",
        Decay::Exponential => {
            "Its activation falls with the logarithm of the days without use, and by ln 2 with every half-life of further disuse."
        }
        Decay::None => "Its activation does not fall.",
    }
}

/// Formats a number of days with at most one decimal.
fn days(days: f64) -> String {
    let rounded = (days * 10.0).round() / 10.0;
    if rounded == 1.0 { "1 day".to_owned() } else { format!("{rounded} days") }
}
