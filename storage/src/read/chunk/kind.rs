//! The closed set of chunk types.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The type of a chunk: a piece of source code, a section of a document, or a memory.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[repr(u8)]
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
    /// A section of a Markdown knowledge base.
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
    pub const ALL: [Self; 14] = [
        Self::Function,
        Self::Method,
        Self::Class,
        Self::Interface,
        Self::Type,
        Self::Struct,
        Self::Enum,
        Self::Code,
        Self::Kb,
        Self::Doc,
        Self::Reasoning,
        Self::Knowledge,
        Self::Note,
        Self::Turn,
    ];

    /// Returns the lower-case name, as in the option `--type`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Function => "function",
            Self::Method => "method",
            Self::Class => "class",
            Self::Interface => "interface",
            Self::Type => "type",
            Self::Struct => "struct",
            Self::Enum => "enum",
            Self::Code => "code",
            Self::Kb => "kb",
            Self::Doc => "doc",
            Self::Reasoning => "reasoning",
            Self::Knowledge => "knowledge",
            Self::Note => "note",
            Self::Turn => "turn",
        }
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

impl fmt::Display for ChunkType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A name that is not a chunk type.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown chunk type `{0}`")]
pub struct UnknownChunkType(
    /// The given name.
    pub String,
);

impl FromStr for ChunkType {
    type Err = UnknownChunkType;

    /// Parses a name, ignoring ASCII case.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|kind| kind.as_str().eq_ignore_ascii_case(text))
            .ok_or_else(|| UnknownChunkType(text.to_owned()))
    }
}
