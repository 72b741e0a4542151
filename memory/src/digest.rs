//! Hashes of documents and memories. A hash depends only on the content, not on the formatting or the order of keys.

use std::fmt;

use serde_json::{Map, Value};

use crate::store::Version;

/// The BLAKE3 hash of a document as JSON without white space and with keys in byte order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DocumentHash(blake3::Hash);

impl DocumentHash {
    pub(crate) fn new(document: &Map<String, Value>) -> Self {
        Self(blake3::hash(&canonical(document)))
    }
}

impl fmt::Display for DocumentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.to_hex())
    }
}

/// Computes the digest of a memory incrementally, from one entry after the other; see [`crate::Memory::digest`].
#[derive(Default)]
pub(crate) struct MemoryHasher(blake3::Hasher);

impl MemoryHasher {
    /// Adds an entry, unless it was removed. Entries must be added in the order of their ids.
    pub(crate) fn add(&mut self, id: &str, version: &Version) {
        let Version { scope, session, created, edited, document: Some(document), .. } = version else { return };
        self.text(id.as_bytes());
        self.text(scope.as_str().as_bytes());
        self.text(session.as_deref().unwrap_or_default().as_bytes());
        self.0.update(&created.to_le_bytes());
        self.0.update(&edited.to_le_bytes());
        self.text(&canonical(document));
    }

    /// Returns the digest in hexadecimal digits.
    pub(crate) fn finish(&self) -> String {
        self.0.finalize().to_hex().to_string()
    }

    fn text(&mut self, bytes: &[u8]) {
        self.0.update(&(bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
    }
}

fn canonical(document: &Map<String, Value>) -> Vec<u8> {
    let mut out = Vec::new();
    write_object(document, &mut out);
    out
}

fn write(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Object(object) => write_object(object, out),
        Value::Array(values) => {
            out.push(b'[');
            for (index, value) in values.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                write(value, out);
            }
            out.push(b']');
        }
        Value::String(text) => write_text(text, out),
        scalar => out.extend_from_slice(scalar.to_string().as_bytes()),
    }
}

fn write_object(object: &Map<String, Value>, out: &mut Vec<u8>) {
    // The order of keys in a `serde_json` map depends on a feature that other crates can enable, so the keys are
    // sorted.
    let mut keys: Vec<&String> = object.keys().collect();
    keys.sort_unstable();
    out.push(b'{');
    for (index, key) in keys.into_iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        write_text(key, out);
        out.push(b':');
        write(&object[key], out);
    }
    out.push(b'}');
}

fn write_text(text: &str, out: &mut Vec<u8>) {
    serde_json::to_writer(out, text).expect("writing a string to a `Vec` does not fail");
}
