//! Encoding of the texts and relations of one chunk.
//!
//! Layout of texts: text · documentation · signature · first byte · length of the span · branches · loops · score (f32)
//! · content hash, if it is not [`Chunk::digest`] of the text · git history (a number for its variant, and the fields
//! of that variant).
//!
//! Layout of relations: parent · calls · bases · imports · bindings (name, path, member) · dependencies, where each
//! list follows its length. Parent and dependencies are keys. The lowest bit of the length of a key is 0 if only the
//! rest after the key base of the chunk's file is stored, and 1 if the whole key is stored.
//!
//! Numbers are variable-length integers.

use aurora_codec::{ByteReader, put, put_list, put_varint};

use crate::read::chunk::{Chunk, ChunkText, Complexity, NewChunk, Relations};

/// Appends the texts of a chunk.
pub(crate) fn encode_text(out: &mut Vec<u8>, chunk: &NewChunk<'_>) {
    let length = chunk.byte_end.saturating_sub(chunk.byte_start);
    let is_usual = chunk.content_hash == Chunk::digest(&chunk.text);
    let other_hash = (!is_usual).then_some(chunk.content_hash);
    let texts = (&chunk.text, &chunk.doc, &chunk.signature);
    put(out, &(texts, chunk.byte_start, length, chunk.complexity, other_hash, chunk.git));
}

/// Reads texts. Returns `None` if the bytes are invalid.
pub(crate) fn decode_text(bytes: &[u8]) -> Option<ChunkText> {
    let mut reader = ByteReader::new(bytes);
    let (text, doc, signature) = reader.read()?;
    let (byte_start, length): (u32, u32) = reader.read()?;
    let byte_end = byte_start.checked_add(length)?;
    let (complexity, other_hash, git) = reader.read()?;
    let read = ChunkText { text, doc, signature, byte_start, byte_end, complexity, other_hash, git };
    reader.is_empty().then_some(read)
}

/// Reads only the complexity of a chunk. Returns `None` if the bytes before it are invalid.
pub(crate) fn decode_complexity(bytes: &[u8]) -> Option<Complexity> {
    let mut reader = ByteReader::new(bytes);
    // The text, the documentation and the signature.
    for _ in 0..3 {
        reader.text()?;
    }
    let _span: (u32, u32) = reader.read()?;
    reader.read()
}

/// Reads only the text of a chunk, in place. Returns `None` if its bytes are invalid.
pub(crate) fn decode_text_body(bytes: &[u8]) -> Option<&str> {
    ByteReader::new(bytes).text()
}

/// Appends the relations of a chunk. `key_base` is the key base of its file.
pub(crate) fn encode_relations(out: &mut Vec<u8>, chunk: &Chunk, key_base: &str) {
    put_list(out, chunk.parent.as_slice(), |out, key| put_key(out, key, key_base));
    put(out, &(&chunk.calls, &chunk.bases, &chunk.imports, &chunk.bindings));
    put_list(out, &chunk.dependencies, |out, key| put_key(out, key, key_base));
}

/// Reads relations. Returns `None` if the bytes are invalid.
pub(crate) fn decode_relations(bytes: &[u8], key_base: &str) -> Option<Relations> {
    let mut reader = ByteReader::new(bytes);
    let mut parents = reader.list(|reader| key(reader, key_base))?;
    let (calls, bases, imports, bindings) = reader.read()?;
    let dependencies = reader.list(|reader| key(reader, key_base))?;
    let relations = Relations { parent: parents.pop(), calls, bases, imports, bindings, dependencies };
    (reader.is_empty() && parents.is_empty()).then_some(relations)
}

fn put_key(out: &mut Vec<u8>, key: &str, key_base: &str) {
    let tail = key.strip_prefix(key_base);
    let bytes = tail.unwrap_or(key).as_bytes();
    put_varint(out, 2 * bytes.len() as u64 + u64::from(tail.is_none()));
    out.extend_from_slice(bytes);
}

fn key(reader: &mut ByteReader<'_>, key_base: &str) -> Option<String> {
    let length = reader.varint()?;
    let text = std::str::from_utf8(reader.take((length / 2).try_into().ok()?)?).ok()?;
    Some(if length % 2 == 0 { [key_base, text].concat() } else { text.to_owned() })
}
