//! Kinds and scopes of memories.

use serde::Serialize;

/// Kinds of memories.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum MemoryKind {
    /// A turn of a conversation.
    Turn,
    /// A note.
    Note,
    /// Knowledge.
    Knowledge,
    /// A reasoning pattern.
    Reasoning,
    /// A conversation log.
    Log,
    /// Code.
    Code,
}

/// Scopes of memories.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum MemoryScope {
    /// One session.
    Session,
    /// One user.
    User,
    /// One project.
    Project,
    /// All projects.
    Global,
}

impl MemoryKind {
    /// All kinds.
    pub const ALL: [Self; 6] = [Self::Turn, Self::Note, Self::Knowledge, Self::Reasoning, Self::Log, Self::Code];

    /// The name in a configuration.
    pub fn name(self) -> &'static str {
        match self {
            Self::Turn => "turn",
            Self::Note => "note",
            Self::Knowledge => "knowledge",
            Self::Reasoning => "reasoning",
            Self::Log => "log",
            Self::Code => "code",
        }
    }

    /// Returns the kind with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

impl MemoryScope {
    /// All scopes.
    pub const ALL: [Self; 4] = [Self::Session, Self::User, Self::Project, Self::Global];

    /// The name in a configuration.
    pub fn name(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::User => "user",
            Self::Project => "project",
            Self::Global => "global",
        }
    }

    /// Returns the scope with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.name() == name)
    }
}
