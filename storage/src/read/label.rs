//! Labels: properties by which a search filters chunks and follows relationships. They are stored as postings without
//! frequencies.

use std::ops::Range;

use aurora_inverted::{HashedTerm, LABEL_PREFIX, TfVector};

use crate::column::ColumnDeclaration;
use crate::read::chunk::{ChunkType, MetaValue, NewChunk, last_component};

/// Maximum length in bytes of a label payload that is stored unchanged.
const MAX_PAYLOAD_BYTES: usize = 240;
/// Length in bytes of the stored prefix of a longer payload. A digest of the whole payload follows.
const PAYLOAD_PREFIX_BYTES: usize = 200;
/// Maximum length in bytes of a float that is formatted without an exponent.
const MAX_FLOAT_BYTES: usize = 26;

/// A property of chunks, for filtering them or following a relationship to them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, strum::EnumDiscriminants)]
#[strum_discriminants(
    name(LabelKind),
    derive(Hash),
    doc = "The kind of a [`Label`], for listing the labels in an index. Labels of metadata are listed as `key=value`."
)]
#[repr(u8)]
pub enum Label<'a> {
    /// Chunks of a type.
    Type(ChunkType) = b't',
    /// Chunks in a language.
    Language(&'a str) = b'l',
    /// Chunks whose metadata has the value under the key, see [`MetaValue`]. For a list, each text of the list is a
    /// value.
    Meta {
        /// Name of the column.
        key: &'a str,
        /// The value as text: `true`, `42`, `0.5`, `payments`.
        value: &'a str,
    } = b'm',
    /// Chunks that have this name or qualified name, or contain a definition of this name, ignoring case.
    Defines(&'a str) = b'd',
    /// Chunks that call the name, or a name that ends in `.name` or `::name`, ignoring case.
    Calls(&'a str) = b'c',
    /// Chunks whose definition extends, implements or embeds a type of this name, ignoring case.
    Extends(&'a str) = b'e',
    /// Chunks that import the name or module, or a path that ends in it, ignoring case.
    Imports(&'a str) = b'i',
    /// Chunks with a [`crate::Binding`] that renames this name, ignoring case.
    Renames(&'a str) = b'r',
    /// Chunks that are enclosed by the chunk with this key.
    Contains(&'a str) = b'p',
    /// The chunk with this key.
    Key(&'a str) = b'k',
}

impl Label<'_> {
    /// Returns the label as a dictionary entry.
    pub fn to_bytes(self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.put(&mut bytes);
        bytes
    }

    /// Appends the label to `bytes` as a dictionary entry.
    fn put(self, bytes: &mut Vec<u8>) {
        let kind = LabelKind::from(self);
        match self {
            Self::Type(chunk_type) => put_entry(bytes, kind, chunk_type.as_str().as_bytes()),
            Self::Language(text) | Self::Contains(text) | Self::Key(text) => put_entry(bytes, kind, text.as_bytes()),
            Self::Meta { key, value } => put_entry(bytes, kind, format!("{key}={value}").as_bytes()),
            Self::Defines(name)
            | Self::Calls(name)
            | Self::Extends(name)
            | Self::Imports(name)
            | Self::Renames(name) => {
                put_lower(bytes, kind, name);
            }
        }
    }
}

/// Appends an entry with a name in lower case.
fn put_lower(bytes: &mut Vec<u8>, kind: LabelKind, name: &str) {
    if name.is_ascii() && name.len() <= MAX_PAYLOAD_BYTES {
        let start = bytes.len();
        put_entry(bytes, kind, name.as_bytes());
        bytes[start..].make_ascii_lowercase();
    } else {
        put_entry(bytes, kind, name.to_lowercase().as_bytes());
    }
}

fn put_entry(bytes: &mut Vec<u8>, kind: LabelKind, payload: &[u8]) {
    bytes.extend_from_slice(&[LABEL_PREFIX, kind as u8]);
    if payload.len() <= MAX_PAYLOAD_BYTES {
        bytes.extend_from_slice(payload);
    } else {
        bytes.extend_from_slice(&payload[..PAYLOAD_PREFIX_BYTES]);
        bytes.extend_from_slice(blake3::hash(payload).as_bytes());
    }
}

/// The labels of a chunk, sorted and unique.
#[derive(Debug, Default)]
pub(crate) struct Labels {
    bytes: Vec<u8>,
    /// Range of each label in `bytes`.
    ranges: Vec<Range<usize>>,
}

impl Labels {
    /// Creates all labels of a chunk. Values of `columns` have no labels, because [`crate::read::values`] stores them.
    pub(crate) fn new(chunk: &NewChunk<'_>, columns: &[ColumnDeclaration]) -> Self {
        let mut labels = Self { bytes: Vec::with_capacity(512), ranges: Vec::with_capacity(24) };
        labels.push(Label::Type(chunk.chunk_type));
        labels.push(Label::Language(&chunk.language));
        labels.push(Label::Key(&chunk.key));
        for name in [&chunk.name, &chunk.qualified_name].into_iter().chain(&chunk.definitions) {
            if !name.is_empty() {
                labels.push(Label::Defines(name));
            }
        }
        for call in &chunk.calls {
            labels.push_with_last(call, Label::Calls);
        }
        for base in &chunk.bases {
            labels.push(Label::Extends(base));
        }
        for import in &chunk.imports {
            labels.push_with_last(import, Label::Imports);
        }
        for binding in chunk.bindings.iter().filter(|binding| binding.is_renamed()) {
            labels.push(Label::Renames(binding.target()));
        }
        if let Some(parent) = &chunk.parent {
            labels.push(Label::Contains(parent));
        }
        let is_declared = |key: &str| columns.iter().any(|column| column.name == key);
        for (key, value) in chunk.metadata.iter().filter(|(key, _)| !is_declared(key)) {
            for value in filter_texts(value) {
                labels.push(Label::Meta { key, value: &value });
            }
        }
        let Self { bytes, ranges } = &mut labels;
        ranges.sort_unstable_by(|a, b| bytes[a.clone()].cmp(&bytes[b.clone()]));
        ranges.dedup_by(|a, b| bytes[a.clone()] == bytes[b.clone()]);
        labels
    }

    /// Returns the labels as dictionary entries.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &[u8]> + Clone {
        self.ranges.iter().map(|range| &self.bytes[range.clone()])
    }

    /// Returns the labels as terms without frequencies.
    pub(crate) fn postings(&self) -> impl Iterator<Item = (HashedTerm<'_>, TfVector)> + Clone {
        self.iter().map(|label| (HashedTerm::new(label), TfVector::default()))
    }

    fn push(&mut self, label: Label<'_>) {
        let start = self.bytes.len();
        label.put(&mut self.bytes);
        self.ranges.push(start..self.bytes.len());
    }

    /// Adds the label of a name. If the name has several components, also adds the label of the last component.
    fn push_with_last<'n>(&mut self, name: &'n str, label: fn(&'n str) -> Label<'n>) {
        self.push(label(name));
        let last = last_component(name);
        if last.len() < name.len() {
            self.push(label(last));
        }
    }
}

/// Returns the texts of a value that a filter can match.
pub(crate) fn filter_texts(value: &MetaValue) -> Vec<String> {
    match value {
        MetaValue::Bool(value) => vec![value.to_string()],
        MetaValue::Integer(value) => vec![value.to_string()],
        MetaValue::Float(value) => vec![float_text(*value)],
        MetaValue::String(value) => vec![value.clone()],
        MetaValue::Strings(values) => values.clone(),
    }
}

/// Formats a float as text that parses to the same float, short enough for a label.
fn float_text(value: f64) -> String {
    let text = value.to_string();
    if text.len() <= MAX_FLOAT_BYTES { text } else { format!("{value:e}") }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn floats_round_trip_through_their_labels(value in any::<f64>()) {
            let text = float_text(value);
            prop_assert!(text.len() <= MAX_FLOAT_BYTES);
            prop_assert_eq!(text.parse::<f64>().map(f64::to_bits), Ok(value.to_bits()));
        }
    }
}
