//! Packed form of the fields that every chunk record has.
//!
//! Layout: type · flags · first line · last line minus first line · key · qualified name · name · numbers
//! ([`super::numbers`]). Each file has a key base, the common prefix of the keys of its chunks. A key that begins with
//! the key base is stored without it, any other key is stored whole. If the stored key contains a name, the name is
//! stored as an offset and a length in that key, and otherwise as a text. Numbers are variable-length integers. Each
//! text follows its length.

use aurora_codec::{ByteReader, put};
use strum::VariantArray as _;

use super::kind::ChunkType;
use super::new_chunk::NewChunk;
use super::numbers::{self, Numbers};
use super::record::GitState;

/// Flag: the symbol can be used from outside its file.
const EXPORTED: u8 = 1;
/// Flag: the key does not begin with the key base of the file.
const WHOLE_KEY: u8 = 1 << 1;
/// Flag: the qualified name is stored as a text.
const QUALIFIED_NAME_APART: u8 = 1 << 2;
/// Flag: the name is stored as a text.
const NAME_APART: u8 = 1 << 3;
/// Index of the first bit of the [`GitState`] in the flags.
const GIT_SHIFT: u32 = 4;

/// The unpacked fields, borrowed from the record.
#[derive(Clone, Copy)]
pub(super) struct PackedFields<'a> {
    pub(super) chunk_type: ChunkType,
    pub(super) exported: bool,
    pub(super) git: GitState,
    pub(super) line_start: u32,
    pub(super) line_end: u32,
    /// The whole key, or the rest after the key base of the file.
    pub(super) key: &'a str,
    pub(super) has_whole_key: bool,
    pub(super) qualified_name: &'a str,
    pub(super) name: &'a str,
    pub(super) numbers: Numbers<'a>,
}

/// Packs the fields of a chunk whose lines have been checked. `key_tail` is the rest of the chunk's key after the
/// file's key base; `None` if the key does not begin with the key base.
pub(super) fn encode(chunk: &NewChunk<'_>, key_tail: Option<&str>) -> Vec<u8> {
    let stored_key = key_tail.unwrap_or(&chunk.key);
    let offset_of = |name: &str| stored_key.rfind(name);
    let (qualified_name, name) = (offset_of(&chunk.qualified_name), offset_of(&chunk.name));
    let flag = |flag: u8, is_set: bool| if is_set { flag } else { 0 };
    let flags = flag(EXPORTED, chunk.exported)
        | flag(WHOLE_KEY, key_tail.is_none())
        | flag(QUALIFIED_NAME_APART, qualified_name.is_none())
        | flag(NAME_APART, name.is_none())
        | (GitState::from(chunk.git) as u8) << GIT_SHIFT;
    let (mut out, lines) = (Vec::new(), chunk.line_end.saturating_sub(chunk.line_start));
    put(&mut out, &(chunk.chunk_type, flags, chunk.line_start, lines, stored_key));
    for (name, offset) in [(&chunk.qualified_name, qualified_name), (&chunk.name, name)] {
        match offset {
            Some(offset) => put(&mut out, &(offset, name.len())),
            None => put(&mut out, name),
        }
    }
    numbers::encode(&mut out, chunk.tokens, chunk.git);
    out
}

/// Whether a chunk can have these first and last lines. Neither the line count nor the number of the line after the
/// last one may overflow.
pub(crate) fn are_lines(first: u32, last: u32) -> bool {
    first <= last && last < u32::MAX
}

impl<'a> PackedFields<'a> {
    /// Reads the fields. Returns `None` if the bytes are invalid. The contents of [`Numbers`] are not checked.
    pub(super) fn new(bytes: &'a [u8]) -> Option<Self> {
        let mut reader = ByteReader::new(bytes);
        let chunk_type = *ChunkType::ALL.get(usize::from(reader.byte()?))?;
        let flags = reader.byte()?;
        let line_start = reader.varint32()?;
        let line_end = line_start.checked_add(reader.varint32()?).filter(|end| are_lines(line_start, *end))?;
        let stored_key = reader.text()?;
        let mut name = |flag: u8| {
            if flags & flag != 0 {
                return reader.text();
            }
            let (offset, length) = (reader.length()?, reader.length()?);
            stored_key.get(offset..offset.checked_add(length)?)
        };
        Some(Self {
            chunk_type,
            exported: flags & EXPORTED != 0,
            git: *GitState::VARIANTS.get(usize::from(flags >> GIT_SHIFT))?,
            line_start,
            line_end,
            key: stored_key,
            has_whole_key: flags & WHOLE_KEY != 0,
            qualified_name: name(QUALIFIED_NAME_APART)?,
            name: name(NAME_APART)?,
            numbers: Numbers::new(reader.rest())?,
        })
    }
}
