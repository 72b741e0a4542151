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

use aurora_codec::{ByteReader, put_list, put_sized, put_varint, put_zigzag};

use crate::read::chunk::{
    Binding, Chunk, ChunkHistory, ChunkText, Complexity, GitHistory, HistoryTier, NewChunk, Relations,
};

/// Appends the texts of a chunk.
pub(crate) fn encode_text(out: &mut Vec<u8>, chunk: &NewChunk<'_>) {
    for text in [&chunk.text, &chunk.doc, &chunk.signature] {
        put_sized(out, text.as_bytes());
    }
    put_varint(out, u64::from(chunk.byte_start));
    put_varint(out, u64::from(chunk.byte_end.saturating_sub(chunk.byte_start)));
    put_varint(out, u64::from(chunk.complexity.branches));
    put_varint(out, u64::from(chunk.complexity.loops));
    out.extend_from_slice(&chunk.complexity.score.to_le_bytes());
    let is_usual = chunk.content_hash == Chunk::digest(&chunk.text);
    let other = (!is_usual).then_some(chunk.content_hash);
    put_list(out, other.as_slice(), |out, hash| out.extend_from_slice(hash));
    match chunk.git {
        ChunkHistory::None => out.push(0),
        ChunkHistory::Untracked => out.push(1),
        ChunkHistory::Pending => out.push(2),
        ChunkHistory::Unavailable { reason } => {
            out.push(3);
            put_sized(out, reason.as_bytes());
        }
        ChunkHistory::Tracked(history) => {
            out.push(4);
            out.push(history.tier as u8);
            put_varint(out, u64::from(history.commits));
            put_varint(out, u64::from(history.touches));
            put_sized(out, history.newest_commit.as_bytes());
            put_zigzag(out, history.first_time);
            put_list(out, &history.authors, |out, author| put_sized(out, author.as_bytes()));
        }
    }
}

/// Reads texts. Returns `None` if the bytes are invalid.
pub(crate) fn decode_text(bytes: &[u8]) -> Option<ChunkText> {
    let mut reader = ByteReader::new(bytes);
    let [text, doc, signature] = [reader.string()?, reader.string()?, reader.string()?];
    let byte_start = reader.varint32()?;
    let byte_end = byte_start.checked_add(reader.varint32()?)?;
    let (branches, loops) = (reader.varint32()?, reader.varint32()?);
    let score = f32::from_le_bytes(reader.take(size_of::<f32>())?.try_into().ok()?);
    let other_hash = reader.list(|reader| reader.take(16)?.try_into().ok())?.first().copied();
    let git = match reader.byte()? {
        0 => ChunkHistory::None,
        1 => ChunkHistory::Untracked,
        2 => ChunkHistory::Pending,
        3 => ChunkHistory::Unavailable { reason: reader.string()? },
        4 => ChunkHistory::Tracked(GitHistory {
            tier: match reader.byte()? {
                0 => HistoryTier::File,
                1 => HistoryTier::Line,
                _ => return None,
            },
            commits: reader.varint32()?,
            touches: reader.varint32()?,
            newest_commit: reader.string()?,
            newest_time: 0,
            first_time: reader.zigzag()?,
            authors: reader.list(ByteReader::string)?,
            commit_times: Vec::new(),
        }),
        _ => return None,
    };
    let complexity = Complexity { branches, loops, score };
    let read = ChunkText { text, doc, signature, byte_start, byte_end, complexity, other_hash, git };
    reader.is_empty().then_some(read)
}

/// Reads only the text of a chunk, in place. Returns `None` if its bytes are invalid.
pub(crate) fn decode_text_body(bytes: &[u8]) -> Option<&str> {
    ByteReader::new(bytes).text()
}

/// Appends the relations of a chunk whose file's keys begin with `key_base`.
pub(crate) fn encode_relations(out: &mut Vec<u8>, chunk: &Chunk, key_base: &str) {
    put_list(out, chunk.parent.as_slice(), |out, key| put_key(out, key, key_base));
    put_list(out, &chunk.calls, |out, name| put_sized(out, name.as_bytes()));
    put_list(out, &chunk.bases, |out, name| put_sized(out, name.as_bytes()));
    put_list(out, &chunk.imports, |out, name| put_sized(out, name.as_bytes()));
    put_list(out, &chunk.bindings, |out, Binding { name, path, member }| {
        for part in [name, path, member] {
            put_sized(out, part.as_bytes());
        }
    });
    put_list(out, &chunk.dependencies, |out, key| put_key(out, key, key_base));
}

/// Reads relations. Returns `None` if the bytes are invalid.
pub(crate) fn decode_relations(bytes: &[u8], key_base: &str) -> Option<Relations> {
    let mut reader = ByteReader::new(bytes);
    let mut parents = reader.list(|reader| key(reader, key_base))?;
    let relations = Relations {
        parent: parents.pop(),
        calls: reader.list(ByteReader::string)?,
        bases: reader.list(ByteReader::string)?,
        imports: reader.list(ByteReader::string)?,
        bindings: reader.list(|reader| {
            Some(Binding { name: reader.string()?, path: reader.string()?, member: reader.string()? })
        })?,
        dependencies: reader.list(|reader| key(reader, key_base))?,
    };
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
