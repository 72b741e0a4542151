//! The kind of an entry.

use serde::{Deserialize, Serialize};
use strum::VariantArray;

/// The kind of an entry.
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[derive(strum::Display, strum::EnumString, strum::IntoStaticStr, VariantArray)]
#[strum(serialize_all = "lowercase")]
pub enum Kind {
    /// A solution of a problem and its subgoals, with a score.
    Reasoning,
    /// Facts with their sources.
    Knowledge,
    /// A text written by a person.
    Note,
    /// One turn of a conversation.
    Turn,
    /// A piece of code, or a note about one.
    Code,
}

impl Kind {
    /// All kinds.
    pub const ALL: &[Self] = Self::VARIANTS;

    /// Returns the name of the kind, which is the value of the field `type`.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Returns the prefix of the ids of this kind.
    pub const fn prefix(self) -> &'static str {
        match self {
            Self::Reasoning => "reas:",
            Self::Knowledge => "know:",
            Self::Note => "note:",
            Self::Turn => "turn:",
            Self::Code => "code:",
        }
    }

    /// Returns the kind with a name; `None` if the name is unknown.
    pub fn from_name(name: &str) -> Option<Self> {
        name.parse().ok()
    }

    /// Returns the kind of an id, which its prefix determines; `None` if the prefix is unknown.
    pub fn from_id(id: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| id.starts_with(kind.prefix()))
    }
}
