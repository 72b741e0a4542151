//! Reasons for resolving a call to a definition, and the precision of each reason.

use serde::Serialize;
use strum::VariantArray;

/// The reason for resolving a reference to a definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, strum::IntoStaticStr, VariantArray)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Reason {
    /// A name from an enclosing scope or from the same file, or a member of the enclosing type.
    Scope,
    /// A member that the enclosing type inherits.
    Inherited,
    /// A name that the file imports.
    Import,
    /// A name in the same package or namespace.
    Package,
    /// A member of the type with which the receiver is declared or constructed.
    Receiver,
    /// A type that has every method of an interface.
    Methods,
    /// A name that needs no import in the language.
    Global,
    /// The type of the receiver is unknown, and only one member has the name.
    OnlyMember,
    /// The type of the receiver is unknown, and several members have the name.
    Namesakes,
}

impl Reason {
    /// Every reason.
    pub const ALL: &[Self] = Self::VARIANTS;

    /// The name in JSON.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Share of references with this reason that a compiler or type checker resolves in the same way, if a single
    /// definition was found. If several definitions were found, the share is divided among them.
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
