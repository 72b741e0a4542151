//! Values of the resolution of calls, which the caches of the index contain.

use std::rc::Rc;

use aurora_storage::ChunkId;
use rustc_hash::FxHashMap;

use super::definition::Definition;
use super::reason::Reason;

/// A definition to which a call refers.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    pub(crate) definition: Rc<Definition>,
    pub(crate) reason: Reason,
    /// Probability that a compiler finds the same target, 0..=1.
    pub(crate) confidence: f32,
    /// The types of the objects on which the calls are made; `None` if a type is unknown.
    pub(crate) receivers: Option<Vec<Receiver>>,
    /// The parts of the definition that contain the calls or mentions.
    pub(crate) parts: Vec<Part>,
}

impl Target {
    pub(crate) fn new(definition: Rc<Definition>, reason: Reason, confidence: f32) -> Self {
        Self { definition, reason, confidence, receivers: None, parts: Vec::new() }
    }
}

/// The type of an object on which a call is made.
#[derive(Debug, Clone)]
pub(crate) struct Receiver {
    pub(crate) of: Rc<Definition>,
    /// Whether the object has exactly this type, and not a subtype.
    pub(crate) is_exact: bool,
}

impl PartialEq for Receiver {
    fn eq(&self, other: &Self) -> bool {
        (self.of.id, self.is_exact) == (other.of.id, other.is_exact)
    }
}

/// A part of a definition.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Part {
    /// The whole definition, or an unknown part.
    Whole,
    /// A member of a type.
    Member(String),
    /// A constructor of a type, or the initial value of a field.
    Constructor,
    /// The declaration of a field or of the type itself.
    Declaration,
}

/// The resolved calls of one name.
#[derive(Default)]
pub(super) struct Calls {
    /// The callers of each called definition.
    pub(super) by_callee: FxHashMap<ChunkId, Vec<Target>>,
    pub(super) is_cut: bool,
}

/// The module of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Module {
    /// The directory of the crate.
    pub(super) directory: String,
    /// The compilation target within the crate: `src`, `tests`, `src/bin/tool`.
    pub(super) target: String,
    pub(super) path: Vec<String>,
}
