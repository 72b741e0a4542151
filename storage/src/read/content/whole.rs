//! Encoding of whole chunks, for artefacts and digests.
//!
//! Layout: key · path · language · name · qualified name, each after its length · type and exported (a byte each) ·
//! first line · last line minus first line · packed numbers · definitions · metadata · governance · date · texts ·
//! relations. An optional field is a list with at most one item.

use aurora_codec::{ByteReader, put_list, put_sized, put_varint, put_zigzag};

use super::codec::{decode_relations, decode_text, encode_relations, encode_text};
use crate::read::chunk::{
    Chunk, ChunkHistory, ChunkType, Governance, MetaValue, NewChunk, Numbers, StoredTokens, are_lines, encode_numbers,
    key_base,
};

/// Serialises a chunk.
pub(crate) fn encode_whole(chunk: &Chunk) -> Vec<u8> {
    let mut out = Vec::with_capacity(chunk.text.len() + chunk.doc.len() + 512);
    for text in [&chunk.key, &chunk.path, &chunk.language, &chunk.name, &chunk.qualified_name] {
        put_sized(&mut out, text.as_bytes());
    }
    out.push(chunk.chunk_type as u8);
    out.push(u8::from(chunk.exported));
    put_varint(&mut out, u64::from(chunk.line_start));
    put_varint(&mut out, u64::from(chunk.line_end.saturating_sub(chunk.line_start)));
    let history = match &chunk.git {
        ChunkHistory::Tracked(history) => Some(history),
        _ => None,
    };
    let mut numbers = Vec::new();
    encode_numbers(&mut numbers, &chunk.tokens, history);
    put_sized(&mut out, &numbers);
    put_list(&mut out, &chunk.definitions, |out, name| put_sized(out, name.as_bytes()));
    put_list(&mut out, &chunk.metadata, |out, (name, value)| {
        put_sized(out, name.as_bytes());
        put_value(out, value);
    });
    put_list(&mut out, chunk.governance.as_slice(), |out, governance| {
        put_list(out, &governance.tags, |out, tag| put_sized(out, tag.as_bytes()));
        put_list(out, governance.lifespan.as_slice(), |out, name| put_sized(out, name.as_bytes()));
    });
    put_list(&mut out, chunk.date.as_slice(), |out, date| put_zigzag(out, *date));
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
    let mut text = || reader.string();
    let (key, path, language, name, qualified_name) = (text()?, text()?, text()?, text()?, text()?);
    let chunk_type = *ChunkType::ALL.get(usize::from(reader.byte()?))?;
    let exported = match reader.byte()? {
        0 => false,
        1 => true,
        _ => return None,
    };
    let line_start = reader.varint32()?;
    let line_end = line_start.checked_add(reader.varint32()?).filter(|end| are_lines(line_start, *end))?;
    let numbers = Numbers::new(reader.sized()?)?;
    let definitions = reader.list(ByteReader::string)?;
    let metadata = reader.list(|reader| Some((reader.string()?, value(reader)?)))?;
    let governance = reader.list(|reader| {
        let tags = reader.list(ByteReader::string)?;
        Some(Governance { tags, lifespan: reader.list(ByteReader::string)?.pop() })
    })?;
    let date = reader.list(ByteReader::zigzag)?;
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
        governance: governance.into_iter().next(),
        date: date.into_iter().next(),
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
        MetaValue::Bool(value) => out.extend_from_slice(&[0, u8::from(*value)]),
        MetaValue::Integer(value) => {
            out.push(1);
            put_zigzag(out, *value);
        }
        MetaValue::Float(value) => {
            out.push(2);
            out.extend_from_slice(&value.to_le_bytes());
        }
        MetaValue::String(value) => {
            out.push(3);
            put_sized(out, value.as_bytes());
        }
        MetaValue::Strings(values) => {
            out.push(4);
            put_list(out, values, |out, value| put_sized(out, value.as_bytes()));
        }
    }
}

fn value(reader: &mut ByteReader<'_>) -> Option<MetaValue> {
    Some(match reader.byte()? {
        0 => MetaValue::Bool(reader.byte()? != 0),
        1 => MetaValue::Integer(reader.zigzag()?),
        2 => MetaValue::Float(f64::from_le_bytes(reader.take(size_of::<f64>())?.try_into().ok()?)),
        3 => MetaValue::String(reader.string()?),
        4 => MetaValue::Strings(reader.list(ByteReader::string)?),
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
