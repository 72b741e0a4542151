//! The lifespan of an entry and the decay of its activation.

use std::fmt;

use aurora_suggest::did_you_mean;
use serde::{Serialize, Serializer};
use strum::VariantNames;

/// Maximum number of days in a lifespan and in `inactive_for_N_days`: a hundred years.
pub(crate) const MAX_DAYS: u32 = 36_500;

/// The time for which an entry is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lifespan {
    /// The entry is kept forever.
    Indefinite,
    /// The entry is kept for this number of days after its creation or last edit.
    Days(u32),
    /// The entry is kept forever, but in the decayed state, in which search ranks it low.
    Decay,
}

/// The decay of the activation of an unused entry; see [`activation_loss`](crate::activation_loss).
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, strum::Display, strum::EnumString, strum::VariantNames,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Decay {
    /// The activation falls with the logarithm of the days without use.
    #[default]
    Logarithmic,
    /// The activation falls as with `Logarithmic`. In addition, it falls by `ln 2` with every half-life, once the entry
    /// counts as inactive.
    Exponential,
    /// The activation does not fall.
    None,
}

impl Lifespan {
    /// Description of the valid lifespans, for messages.
    pub(crate) const RULE: &str =
        "must be \"indefinite\", \"decay\" or \"N_days\" with a whole number N from 1 to 36500";

    /// Parses a lifespan such as `365_days`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        match text {
            "indefinite" => Some(Self::Indefinite),
            "decay" => Some(Self::Decay),
            other => other.strip_suffix("_days").and_then(parse_days).map(Self::Days),
        }
    }

    /// Returns a suggestion for an invalid lifespan; `None` if no valid lifespan is similar.
    pub(crate) fn suggestion(text: &str) -> Option<String> {
        let digits = text.len() - text.trim_start_matches(|digit: char| digit.is_ascii_digit()).len();
        let unit = text[digits..].trim_matches([' ', '_', '-']).to_ascii_lowercase();
        let is_days = ["", "d", "day", "days"].contains(&unit.as_str());
        match parse_days(&text[..digits]) {
            Some(days) if is_days => Some(format!("did you mean `{}`?", Self::Days(days))),
            _ => did_you_mean(text, ["indefinite", "decay"]),
        }
    }

    /// Returns the decay of a policy with this lifespan, if the policy does not set `decay`.
    pub(crate) fn default_decay(self) -> Decay {
        if self == Self::Decay { Decay::Exponential } else { Decay::Logarithmic }
    }
}

impl fmt::Display for Lifespan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Indefinite => f.write_str("indefinite"),
            Self::Days(days) => write!(f, "{days}_days"),
            Self::Decay => f.write_str("decay"),
        }
    }
}

/// Serialises a lifespan in the form of a configuration file, such as `365_days`.
impl Serialize for Lifespan {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Decay {
    /// Description of the valid decays, for messages.
    pub(crate) const RULE: &str = "must be \"logarithmic\", \"exponential\" or \"none\"";

    /// Returns a suggestion for an invalid decay; `None` if no valid decay is similar.
    pub(crate) fn suggestion(text: &str) -> Option<String> {
        did_you_mean(text, Self::VARIANTS.iter().copied())
    }
}

/// Parses a number of days from 1 to [`MAX_DAYS`]. The text must consist of decimal digits.
pub(crate) fn parse_days(digits: &str) -> Option<u32> {
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|days| is_number && (1..=MAX_DAYS).contains(days))
}
