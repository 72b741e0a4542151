//! Why a call is held to mean a definition, and how often that is right.

use serde::Serialize;

/// The way in which a reference was resolved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// A name of an enclosing scope, of the same file, or a member of the own type.
    Scope,
    /// A member that the own type inherits.
    Inherited,
    /// A name that the file imports.
    Import,
    /// A name in the same package or namespace.
    Package,
    /// A member of the type that the receiver is declared with or made from.
    Receiver,
    /// A type that has every method of an interface.
    Methods,
    /// No import is needed in the language, and definitions have this name.
    Global,
    /// The type of the receiver is unknown; one member has the name.
    OnlyMember,
    /// The type of the receiver is unknown; several members have the name.
    Namesakes,
}

impl Reason {
    /// Every reason.
    pub const ALL: [Self; 9] = [
        Self::Scope,
        Self::Inherited,
        Self::Import,
        Self::Package,
        Self::Receiver,
        Self::Methods,
        Self::Global,
        Self::OnlyMember,
        Self::Namesakes,
    ];

    /// The name in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Scope => "scope",
            Self::Inherited => "inherited",
            Self::Import => "import",
            Self::Package => "package",
            Self::Receiver => "receiver",
            Self::Methods => "methods",
            Self::Global => "global",
            Self::OnlyMember => "only-member",
            Self::Namesakes => "namesakes",
        }
    }

    /// The share of references resolved for this reason that a compiler or type checker resolves in the same way, if
    /// one definition was found; several share it.
    pub(crate) fn precision(self) -> f32 {
        match self {
            Self::Scope | Self::Receiver => 0.98,
            Self::Inherited => 0.95,
            Self::Import | Self::Package => 0.99,
            Self::Methods | Self::Global => 0.8,
            Self::OnlyMember => 0.45,
            Self::Namesakes => 0.5,
        }
    }
}
