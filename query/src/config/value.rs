//! The types of values that a parameter can have.

use std::ops::RangeInclusive;

use aurora_analysis::is_model_name;

/// Name of a model in the user's directory; `None` for no model.
pub type ModelName = Option<String>;

/// Method of combining the scores of candidates into one order.
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fusion {
    /// Weighted sum of the components, each min-max normalised within the candidates.
    Weighted,
    /// Reciprocal rank fusion (Cormack, Clarke and Büttcher, 2009) of the keyword and the semantic order.
    Rrf,
}

impl Fusion {
    /// The names of the methods.
    pub(super) const NAMES: [&'static str; 2] = ["weighted", "rrf"];

    /// Returns the name in a configuration.
    pub fn as_str(self) -> &'static str {
        Self::NAMES[self as usize]
    }
}

/// The kind of a parameter's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A number.
    Number,
    /// A whole number.
    Count,
    /// A whole number that limits the program's work and does not affect ranking.
    Limit,
    /// `true` or `false`.
    Switch,
    /// The name of a fusion method.
    Fusion,
    /// The name of a model, or [`OFF`].
    Model,
}

/// The value that means "no model".
const OFF: &str = "off";
/// Words that are not accepted as names of models, because a user who writes them expects a switch.
const SWITCHES: [&str; 2] = ["true", "false"];

/// The value of a parameter.
pub(crate) trait Value: Sized {
    /// The kind of all values of this type.
    const KIND: Kind;

    /// Reads a value from the syntax of flags. Returns `None` if `text` is invalid or is a number outside `range`.
    fn parse(text: &str, range: &RangeInclusive<f64>) -> Option<Self>;

    /// Returns the value in the syntax of flags.
    fn show(&self) -> String;
}

macro_rules! number {
    ($type:ident, $kind:ident) => {
        impl Value for $type {
            const KIND: Kind = Kind::$kind;

            fn parse(text: &str, range: &RangeInclusive<f64>) -> Option<Self> {
                let is_valid = |new: &$type| (*new as f64).is_finite() && range.contains(&(*new as f64));
                text.trim().parse().ok().filter(is_valid)
            }

            fn show(&self) -> String {
                self.to_string()
            }
        }
    };
}

number!(f32, Number);
number!(usize, Count);
number!(u64, Limit);

impl Value for bool {
    const KIND: Kind = Kind::Switch;

    fn parse(text: &str, _: &RangeInclusive<f64>) -> Option<Self> {
        text.trim().parse().ok()
    }

    fn show(&self) -> String {
        self.to_string()
    }
}

impl Value for Fusion {
    const KIND: Kind = Kind::Fusion;

    fn parse(text: &str, _: &RangeInclusive<f64>) -> Option<Self> {
        let name = text.trim().trim_matches('"');
        [Self::Weighted, Self::Rrf].into_iter().find(|fusion| fusion.show() == name)
    }

    fn show(&self) -> String {
        Self::NAMES[*self as usize].to_owned()
    }
}

impl Value for ModelName {
    const KIND: Kind = Kind::Model;

    fn parse(text: &str, _: &RangeInclusive<f64>) -> Option<Self> {
        match text.trim().trim_matches('"') {
            OFF => Some(None),
            name => (is_model_name(name) && !SWITCHES.contains(&name)).then(|| Some(name.to_owned())),
        }
    }

    fn show(&self) -> String {
        self.clone().unwrap_or_else(|| OFF.to_owned())
    }
}
