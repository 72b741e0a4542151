//! Encoding of whole chunks, for artefacts and digests.
//!
//! Layout: key · path · language · name · qualified name, each after its length · type and exported (a byte each) ·
//! first line · last line minus first line · packed numbers · definitions · metadata · governance · date · texts ·
//! relations. An optional field is a list with at most one item.

use aurora_codec::{ByteReader, put, put_list, put_sized};

use super::codec::{decode_relations, decode_text, encode_relations, encode_text};
use crate::read::chunk::{
    Chunk, ChunkHistory, MetaValue, NewChunk, Numbers, StoredTokens, are_lines, encode_numbers, key_base,
};

/// Serialises a chunk.
pub(crate) fn encode_whole(chunk: &Chunk) -> Vec<u8> {
    let mut out = Vec::with_capacity(chunk.text.len() + chunk.doc.len() + 512);
    put(&mut out, &(&chunk.key, &chunk.path, &chunk.language, &chunk.name, &chunk.qualified_name));
    let lines = chunk.line_end.saturating_sub(chunk.line_start);
    put(&mut out, &(chunk.chunk_type, chunk.exported, chunk.line_start, lines));
    let mut numbers = Vec::new();
    encode_numbers(&mut numbers, &chunk.tokens, &chunk.git);
    put_sized(&mut out, &numbers);
    put(&mut out, &chunk.definitions);
    put_list(&mut out, &chunk.metadata, |out, (name, value)| {
        put_sized(out, name.as_bytes());
        put_value(out, value);
    });
    put(&mut out, &(&chunk.governance, chunk.date));
    let (mut texts, mut relations) = (Vec::new(), Vec::new());
    encode_text(&mut texts, &NewChunk::from(chunk));
    encode_relations(&mut relations, chunk, key_base(&chunk.key, &chunk.path));
    put_sized(&mut out, &texts);
    put_sized(&mut out, &relations);
    out
}

/// Reads a chunk. Returns `None` if the bytes are invalid.
pub(crate) fn decode_whole(bytes: &[u8]) -> Option<Chunk> {
    let mut reader = ByteReader::new(bytes);
    let (key, path, language, name, qualified_name): (String, String, _, _, _) = reader.read()?;
    let (chunk_type, exported, line_start, lines): (_, _, u32, u32) = reader.read()?;
    let line_end = line_start.checked_add(lines).filter(|end| are_lines(line_start, *end))?;
    let numbers = Numbers::new(reader.sized()?)?;
    let definitions = reader.read()?;
    let metadata = reader.list(|reader| Some((reader.string()?, value(reader)?)))?;
    let (governance, date) = reader.read()?;
    let texts = decode_text(reader.sized()?)?;
    let relations = decode_relations(reader.sized()?, key_base(&key, &path))?;
    let mut chunk = Chunk {
        path,
        language,
        name,
        qualified_name,
        line_start,
        line_end,
        exported,
        definitions,
        metadata,
        governance,
        date,
        tokens: StoredTokens { code: numbers.code().collect(), doc: numbers.doc().collect() },
        ..Chunk::empty(key, chunk_type)
    };
    let has_history = matches!(texts.git, ChunkHistory::Tracked(_));
    let is_valid = numbers.is_valid(has_history) && reader.is_empty();
    chunk.set_content(texts, relations, numbers.times().filter(|_| has_history));
    is_valid.then_some(chunk)
}

/// Serialises a value of metadata.
pub(crate) fn encode_value(value: &MetaValue) -> Vec<u8> {
    let mut out = Vec::new();
    put_value(&mut out, value);
    out
}

/// Reads a value of metadata. Returns `None` if the bytes are invalid.
pub(crate) fn decode_value(bytes: &[u8]) -> Option<MetaValue> {
    let mut reader = ByteReader::new(bytes);
    value(&mut reader).filter(|_| reader.is_empty())
}

fn put_value(out: &mut Vec<u8>, value: &MetaValue) {
    match value {
        MetaValue::Bool(value) => put(out, &(0u8, value)),
        MetaValue::Integer(value) => put(out, &(1u8, value)),
        MetaValue::Float(value) => put(out, &(2u8, value)),
        MetaValue::String(value) => put(out, &(3u8, value)),
        MetaValue::Strings(values) => put(out, &(4u8, values)),
    }
}

fn value(reader: &mut ByteReader<'_>) -> Option<MetaValue> {
    Some(match reader.byte()? {
        0 => MetaValue::Bool(reader.byte()? != 0),
        1 => MetaValue::Integer(reader.read()?),
        2 => MetaValue::Float(reader.read()?),
        3 => MetaValue::String(reader.read()?),
        4 => MetaValue::Strings(reader.read()?),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::read::chunk::{self, ChunkRecord, SourceRecord};
    use crate::sample::chunk;

    proptest! {
        #[test]
        fn chunks_round_trip(whole in chunk()) {
            prop_assert_eq!(decode_whole(&encode_whole(&whole)), Some(whole));
        }

        #[test]
        fn damaged_chunks_are_read_or_refused(whole in chunk(), at in any::<prop::sample::Index>(), bit in 0..8u8) {
            let mut bytes = encode_whole(&whole);
            let at = at.index(bytes.len());
            bytes[at] ^= 1 << bit;
            if let Some(read) = decode_whole(&bytes) {
                prop_assert_eq!(decode_whole(&encode_whole(&read)).map(|again| again.key), Some(read.key));
            }
            prop_assert!(decode_whole(&bytes[..at]).is_none());
        }

        #[test]
        fn records_and_contents_restore_the_chunk(whole in chunk(), first in chunk()) {
            let source = SourceRecord::from_first_chunk(&first);
            let whole = Chunk { path: first.path.clone(), language: first.language.clone(), ..whole };
            let (source_bytes, bytes) = (source.encode().expect("the record can be encoded"), chunk::encode(&NewChunk::from(&whole), 7, &source).expect("the record can be encoded"));
            let archived = SourceRecord::decode(&source_bytes).expect("the data is valid");
            let record = ChunkRecord::new(chunk::decode(&bytes).expect("the data is valid"), archived).expect("the record is unchanged");
            let (mut texts, mut relations) = (Vec::new(), Vec::new());
            encode_text(&mut texts, &NewChunk::from(&whole));
            encode_relations(&mut relations, &whole, "code:");
            let mut again = record.to_chunk();
            let (texts, relations) = (decode_text(&texts).expect("the data is valid"), decode_relations(&relations, "code:").expect("the data is valid"));
            again.set_content(texts, relations, record.times());
            prop_assert_eq!(again, whole);
        }

        #[test]
        fn damaged_records_are_read_or_refused(whole in chunk(), at in any::<prop::sample::Index>(), bit in 0..8u8) {
            let source = SourceRecord::from_first_chunk(&whole);
            let source_bytes = source.encode().expect("the record can be encoded");
            let archived = SourceRecord::decode(&source_bytes).expect("the data is valid");
            let mut bytes = chunk::encode(&NewChunk::from(&whole), 0, &source).expect("the record can be encoded");
            let at = at.index(bytes.len());
            bytes[at] ^= 1 << bit;
            if let Some(read) = chunk::decode(&bytes) {
                let read = ChunkRecord::new(read, archived).expect("the record is unchanged");
                prop_assert!(read.name().len() <= bytes.len() && read.qualified_name().len() <= bytes.len());
                prop_assert_eq!(read.to_chunk().tokens.code.len(), read.code_tokens().count());
            }
        }

        #[test]
        fn a_chunk_that_ends_before_it_begins_is_not_encoded(whole in chunk(), lines in any::<(u32, u32)>()) {
            let (line_start, line_end) = lines;
            let source = SourceRecord::from_first_chunk(&whole);
            let whole = Chunk { line_start, line_end, ..whole };
            let is_valid = line_start <= line_end && line_end != u32::MAX;
            prop_assert_eq!(chunk::encode(&NewChunk::from(&whole), 0, &source).is_ok(), is_valid);
        }
    }
}
