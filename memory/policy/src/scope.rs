//! The scope of an entry or of a search.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The searches that find an entry, or the breadth of a search.
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// Searches of one session.
    Session,
    /// Searches in one project.
    Project,
    /// All searches of the user.
    User,
    /// All searches, including searches over the entries of several users.
    Global,
}

impl Scope {
    /// All scopes, narrowest first.
    pub const ALL: [Self; 4] = [Self::Session, Self::Project, Self::User, Self::Global];

    /// Returns the name of the scope.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::Project => "project",
            Self::User => "user",
            Self::Global => "global",
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// The error of an unknown scope.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown scope `{0}`; expected session, project, user or global")]
pub struct UnknownScope(pub String);

impl FromStr for Scope {
    type Err = UnknownScope;

    fn from_str(text: &str) -> Result<Self, UnknownScope> {
        Self::ALL.into_iter().find(|scope| scope.as_str() == text).ok_or_else(|| UnknownScope(text.to_owned()))
    }
}
