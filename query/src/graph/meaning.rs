//! What a name can mean.

use std::rc::Rc;

use super::index::Definition;
use super::reason::Reason;

/// What a name means.
#[derive(Debug, Clone)]
pub(crate) enum Meaning {
    /// Definitions, and how they were found.
    Definitions(Vec<Rc<Definition>>, Reason),
    /// A module, as the file of the definition names it.
    Module(String, Rc<Definition>),
    /// A variable of a file.
    Variable(String, String),
    /// Something outside of the repository.
    External,
    /// Nothing that is known.
    Unknown,
}

/// Which definitions a name can mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// A base type of the definition.
    Base,
    Type,
    Callable,
}

impl Wanted {
    pub(crate) fn accepts(self, definition: &Definition) -> bool {
        match self {
            Self::Base | Self::Type => definition.is_type(),
            Self::Callable => definition.is_type() || (definition.is_function() && !definition.is_named_as_its_type()),
        }
    }
}
