//! Labels: what a chunk can be filtered and followed by, kept as postings without frequencies.

use aurora_inverted::LABEL_PREFIX;

use crate::chunk::{ChunkType, MetaValue, NewChunk, last_component};
use crate::column::ColumnDeclaration;

/// Longest label payload, in bytes, that is stored as it is.
const MAX_PAYLOAD: usize = 240;
/// How much of a longer payload is kept in front of the digest of the whole.
const KEPT: usize = 200;
/// Longest float that is written without an exponent.
const LONGEST_FLOAT: usize = 26;

/// A property that a set of chunks shares: a filter, or the near end of a relationship.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Label<'a> {
    /// Chunks of a type.
    Type(ChunkType),
    /// Chunks in a language.
    Language(&'a str),
    /// Chunks whose metadata holds the value under the key, see [`MetaValue`]; a list holds each of its texts.
    Meta {
        /// Name of the column.
        key: &'a str,
        /// The value as text: `true`, `42`, `0.5`, `payments`.
        value: &'a str,
    },
    /// Chunks whose name or qualified name this is, or which define it inside, without regard to case.
    Defines(&'a str),
    /// Chunks that call the name, or something that ends in `.name` or `::name`, without regard to case.
    Calls(&'a str),
    /// Chunks whose definition extends, implements or embeds a type of this name, without regard to case.
    Extends(&'a str),
    /// Chunks that import the name or module, or something that ends in it, without regard to case.
    Imports(&'a str),
    /// Chunks with a [`crate::Binding`] that gives this name another one, without regard to case.
    Renames(&'a str),
    /// Chunks that are enclosed by the chunk with this key.
    Contains(&'a str),
    /// The chunk with this key.
    Key(&'a str),
}

/// The kinds of [`Label`], for listing the labels that exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum LabelKind {
    /// [`Label::Type`]
    Type = b't',
    /// [`Label::Language`]
    Language = b'l',
    /// [`Label::Meta`], listed as `key=value`
    Meta = b'm',
    /// [`Label::Defines`]
    Defines = b'd',
    /// [`Label::Calls`]
    Calls = b'c',
    /// [`Label::Extends`]
    Extends = b'e',
    /// [`Label::Imports`]
    Imports = b'i',
    /// [`Label::Renames`]
    Renames = b'r',
    /// [`Label::Contains`]
    Contains = b'p',
    /// [`Label::Key`]
    Key = b'k',
}

impl Label<'_> {
    /// The label as an entry of the dictionary.
    pub fn to_bytes(self) -> Vec<u8> {
        match self {
            Self::Type(kind) => entry(LabelKind::Type, kind.as_str().as_bytes()),
            Self::Language(name) => entry(LabelKind::Language, name.as_bytes()),
            Self::Meta { key, value } => entry(LabelKind::Meta, format!("{key}={value}").as_bytes()),
            Self::Defines(name) => entry(LabelKind::Defines, name.to_lowercase().as_bytes()),
            Self::Calls(name) => entry(LabelKind::Calls, name.to_lowercase().as_bytes()),
            Self::Extends(name) => entry(LabelKind::Extends, name.to_lowercase().as_bytes()),
            Self::Imports(name) => entry(LabelKind::Imports, name.to_lowercase().as_bytes()),
            Self::Renames(name) => entry(LabelKind::Renames, name.to_lowercase().as_bytes()),
            Self::Contains(parent) => entry(LabelKind::Contains, parent.as_bytes()),
            Self::Key(key) => entry(LabelKind::Key, key.as_bytes()),
        }
    }
}

fn entry(kind: LabelKind, payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![LABEL_PREFIX, kind as u8];
    if payload.len() <= MAX_PAYLOAD {
        bytes.extend_from_slice(payload);
    } else {
        bytes.extend_from_slice(&payload[..KEPT]);
        bytes.extend_from_slice(blake3::hash(payload).as_bytes());
    }
    bytes
}

/// Every label of a chunk, sorted and unique. The values of `columns` are not among them: [`crate::values`] has these.
pub(crate) fn labels_of(chunk: &NewChunk<'_>, columns: &[ColumnDeclaration]) -> Vec<Vec<u8>> {
    let mut labels = vec![
        Label::Type(chunk.chunk_type).to_bytes(),
        Label::Language(&chunk.language).to_bytes(),
        Label::Key(&chunk.key).to_bytes(),
    ];
    for name in [&chunk.name, &chunk.qualified_name].into_iter().chain(&chunk.definitions) {
        if !name.is_empty() {
            labels.push(Label::Defines(name).to_bytes());
        }
    }
    for call in &chunk.calls {
        labels.push(Label::Calls(call).to_bytes());
        labels.push(Label::Calls(last_component(call)).to_bytes());
    }
    for base in &chunk.bases {
        labels.push(Label::Extends(base).to_bytes());
    }
    for import in &chunk.imports {
        labels.push(Label::Imports(import).to_bytes());
        labels.push(Label::Imports(last_component(import)).to_bytes());
    }
    for binding in chunk.bindings.iter().filter(|binding| binding.is_renamed()) {
        labels.push(Label::Renames(binding.target()).to_bytes());
    }
    if let Some(parent) = &chunk.parent {
        labels.push(Label::Contains(parent).to_bytes());
    }
    let is_declared = |key: &str| columns.iter().any(|column| column.name == key);
    for (key, value) in chunk.metadata.iter().filter(|(key, _)| !is_declared(key)) {
        for value in texts_of(value) {
            labels.push(Label::Meta { key, value: &value }.to_bytes());
        }
    }
    labels.sort_unstable();
    labels.dedup();
    labels
}

/// The texts that a value is filtered by.
pub(crate) fn texts_of(value: &MetaValue) -> Vec<String> {
    match value {
        MetaValue::Bool(value) => vec![value.to_string()],
        MetaValue::Integer(value) => vec![value.to_string()],
        MetaValue::Float(value) => vec![float_text(*value)],
        MetaValue::String(value) => vec![value.clone()],
        MetaValue::Strings(values) => values.clone(),
    }
}

/// A float as text that gives the same float when it is parsed, short enough for a label.
fn float_text(value: f64) -> String {
    let text = value.to_string();
    if text.len() <= LONGEST_FLOAT { text } else { format!("{value:e}") }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn floats_come_back_from_their_labels(value in any::<f64>()) {
            let text = float_text(value);
            prop_assert!(text.len() <= LONGEST_FLOAT);
            prop_assert_eq!(text.parse::<f64>().map(f64::to_bits), Ok(value.to_bits()));
        }
    }
}
