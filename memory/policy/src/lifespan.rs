//! How long an entry is kept, and how its activation falls meanwhile.

use std::fmt;

use aurora_suggest::did_you_mean;
use serde::{Serialize, Serializer};

/// Most days of a lifespan and of `inactive_for_N_days`: a hundred years.
pub(crate) const MOST_DAYS: u32 = 36_500;

/// How long an entry is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lifespan {
    /// For ever.
    Indefinite,
    /// For this many days after its creation or last edit.
    Days(u32),
    /// It is kept in the decayed state, and search ranks it low.
    Decay,
}

/// How the activation of an unused entry falls; see [`activation_loss`](crate::activation_loss).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Decay {
    /// With the logarithm of the days without use.
    #[default]
    Logarithmic,
    /// That, and by `ln 2` with every half-life of further disuse, which halves its strength.
    Exponential,
    /// Not at all.
    None,
}

impl Lifespan {
    /// What a text must be to name a lifespan.
    pub(crate) const RULE: &str =
        "must be \"indefinite\", \"decay\" or \"N_days\" with a whole number N from 1 to 36500";

    /// The lifespan of a text such as `365_days`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        match text {
            "indefinite" => Some(Self::Indefinite),
            "decay" => Some(Self::Decay),
            other => other.strip_suffix("_days").and_then(days_of).map(Self::Days),
        }
    }

    /// The lifespan that a wrong text most likely stands for.
    pub(crate) fn suggestion(text: &str) -> Option<String> {
        let digits = text.len() - text.trim_start_matches(|digit: char| digit.is_ascii_digit()).len();
        let unit = text[digits..].trim_matches([' ', '_', '-']).to_ascii_lowercase();
        let is_days = ["", "d", "day", "days"].contains(&unit.as_str());
        match days_of(&text[..digits]) {
            Some(days) if is_days => Some(format!("did you mean `{}`?", Self::Days(days))),
            _ => did_you_mean(text, ["indefinite", "decay"]),
        }
    }

    /// The decay of a policy with this lifespan that names none.
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

/// A lifespan is serialised as it is written in a configuration.
impl Serialize for Lifespan {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Decay {
    /// What a text must be to name a decay.
    pub(crate) const RULE: &str = "must be \"logarithmic\", \"exponential\" or \"none\"";
    const ALL: [Self; 3] = [Self::Logarithmic, Self::Exponential, Self::None];

    /// The decay of a text.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|decay| decay.name() == text)
    }

    /// The decay that a wrong text most likely stands for.
    pub(crate) fn suggestion(text: &str) -> Option<String> {
        did_you_mean(text, Self::ALL.map(Self::name))
    }

    fn name(self) -> &'static str {
        match self {
            Self::Logarithmic => "logarithmic",
            Self::Exponential => "exponential",
            Self::None => "none",
        }
    }
}

impl fmt::Display for Decay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The number of days that `digits` write, if it is a whole number from 1 to [`MOST_DAYS`].
pub(crate) fn days_of(digits: &str) -> Option<u32> {
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|days| is_number && (1..=MOST_DAYS).contains(days))
}
