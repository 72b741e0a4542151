//! The kind of an entry.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The kind of an entry.
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
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
    pub const ALL: [Self; 5] = [Self::Reasoning, Self::Knowledge, Self::Note, Self::Turn, Self::Code];

    /// Returns the name of the kind, which is the value of the field `type`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Reasoning => "reasoning",
            Self::Knowledge => "knowledge",
            Self::Note => "note",
            Self::Turn => "turn",
            Self::Code => "code",
        }
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
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Returns the kind of an id, which its prefix determines; `None` if the prefix is unknown.
    pub fn from_id(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| id.starts_with(kind.prefix()))
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
