//! The closed set of chunk types.

use serde::{Deserialize, Serialize};
use strum::VariantArray;

/// The type of a chunk: a piece of source code, a section of a document, or a memory.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[repr(u8)]
#[derive(strum::Display, strum::EnumString, strum::IntoStaticStr, VariantArray)]
#[strum(serialize_all = "lowercase", ascii_case_insensitive)]
#[strum(parse_err_ty = UnknownChunkType, parse_err_fn = UnknownChunkType::new)]
pub enum ChunkType {
    /// A free function.
    Function,
    /// A function that belongs to a type.
    Method,
    /// A class.
    Class,
    /// An interface, protocol or trait.
    Interface,
    /// A type alias or other named type.
    Type,
    /// A struct or record.
    Struct,
    /// An enumeration.
    Enum,
    /// Source code outside every named symbol.
    #[default]
    Code,
    /// A section of a document with headings: Markdown, HTML, reStructuredText, AsciiDoc, Org.
    Kb,
    /// A section of a document (`.pdf`, `.docx`, `.txt`).
    Doc,
    /// A stored reasoning pattern.
    Reasoning,
    /// A phase of a conversation log, or facts with their sources.
    Knowledge,
    /// A text that somebody wrote down for later.
    Note,
    /// The words of one side in a conversation.
    Turn,
}

impl ChunkType {
    /// All types, in the order of listings.
    pub const ALL: &[Self] = Self::VARIANTS;

    /// Returns the lower-case name, as in the option `--type`.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Whether chunks of this type come from source code.
    pub const fn is_source_code(self) -> bool {
        !self.is_memory() && !matches!(self, Self::Kb | Self::Doc)
    }

    /// Whether chunks of this type are memories. Memories have no lines in a file that a reader could open.
    pub const fn is_memory(self) -> bool {
        matches!(self, Self::Reasoning | Self::Knowledge | Self::Note | Self::Turn)
    }
}

/// A name that is not a chunk type.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown chunk type `{0}`")]
pub struct UnknownChunkType(
    /// The given name.
    pub String,
);

impl UnknownChunkType {
    fn new(given: &str) -> Self {
        Self(given.to_owned())
    }
}
