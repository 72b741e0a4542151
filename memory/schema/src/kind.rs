//! The kinds of entries.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What an entry is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// How a problem was divided and solved, with a score.
    Reasoning,
    /// Facts with their sources.
    Knowledge,
    /// A text that somebody wrote.
    Note,
    /// What one side said in a conversation.
    Turn,
    /// A piece of code, or what is noted about one.
    Code,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 5] = [Self::Reasoning, Self::Knowledge, Self::Note, Self::Turn, Self::Code];

    /// The value of the field `type`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Reasoning => "reasoning",
            Self::Knowledge => "knowledge",
            Self::Note => "note",
            Self::Turn => "turn",
            Self::Code => "code",
        }
    }

    /// What the ids of the kind begin with.
    pub const fn prefix(self) -> &'static str {
        match self {
            Self::Reasoning => "reas:",
            Self::Knowledge => "know:",
            Self::Note => "note:",
            Self::Turn => "turn:",
            Self::Code => "code:",
        }
    }

    /// The kind whose field `type` has this value.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// The kind of an id, by its prefix.
    pub fn of_id(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| id.starts_with(kind.prefix()))
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
