//! The possible meanings of a name.

use std::rc::Rc;

use super::index::{Definition, Definitions};
use super::reason::Reason;

/// The meaning of a name.
#[derive(Debug, Clone)]
pub(crate) enum Meaning {
    /// Definitions, with the reason for resolving the name to them.
    Definitions(Definitions, Reason),
    /// A module, by the name that the file of the definition uses for it.
    Module(String, Rc<Definition>),
    /// A variable at the top of a file: the path of the file and the name of the variable.
    Variable(String, String),
    /// A name that is defined outside of the repository.
    External,
    /// Unknown.
    Unknown,
}

impl Meaning {
    /// Returns the definitions, or `otherwise` if `found` is empty.
    pub(crate) fn from_found(found: Definitions, reason: Reason, otherwise: Self) -> Self {
        if found.is_empty() { otherwise } else { Self::Definitions(found, reason) }
    }
}

/// The role of a name, which restricts the definitions that it can refer to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NameRole {
    /// A base type of a definition.
    Base,
    Type,
    Callable,
}

impl NameRole {
    pub(crate) fn accepts(self, definition: &Definition) -> bool {
        match self {
            Self::Base | Self::Type => definition.is_type(),
            Self::Callable => definition.is_type() || (definition.is_function() && !definition.is_named_as_its_type()),
        }
    }
}
