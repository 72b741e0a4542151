//! The scope of an entry or of a search.

use serde::{Deserialize, Serialize};
use strum::VariantArray;

/// The searches that find an entry, or the breadth of a search.
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[derive(strum::Display, strum::EnumString, strum::IntoStaticStr, VariantArray)]
#[strum(serialize_all = "lowercase")]
#[strum(parse_err_ty = UnknownScope, parse_err_fn = UnknownScope::new)]
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
    pub const ALL: &[Self] = Self::VARIANTS;

    /// Returns the name of the scope.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// The error of an unknown scope.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown scope `{0}`; expected session, project, user or global")]
pub struct UnknownScope(pub String);

impl UnknownScope {
    fn new(given: &str) -> Self {
        Self(given.to_owned())
    }
}
