//! Which id an entry gets for a chunk.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use aurora_memory_schema::{Entry, Kind, limit};
use rusqlite::Connection;
use serde_json::{Map, Value};

use super::error::ActrError;
use super::table::{Column, Row, Rows, Scan};

/// Longest id of a chunk that is read, in bytes.
pub(super) const LONGEST: usize = 4 << 10;
/// Hexadecimal digits of an id that is made of a hash.
const HASH_DIGITS: usize = 12;

const COLUMNS: [Column; 2] = [("id", LONGEST), ("type", 64)];

/// The ids of entries by those of chunks.
pub(super) struct Ids(HashMap<String, String>);

impl Ids {
    /// Of all chunks that a kind of entries stands for. Ids that fit stay; the others are made in the order of the chunks.
    pub(super) fn of(connection: &Connection, path: &Path) -> Result<Self, ActrError> {
        let scan = Scan::of(connection, path, ("chunks", true), &COLUMNS)?;
        let mut ids = HashMap::new();
        let mut taken = HashSet::new();
        for fits in [true, false] {
            let mut scan = scan.clone();
            while let Rows::Some(rows) = scan.next(connection) {
                for (original, kind) in rows.iter().filter_map(chunk) {
                    if is_id(kind, original) == fits && !ids.contains_key(original) {
                        let id = if fits { original.to_owned() } else { made(kind, original, &taken) };
                        taken.insert(id.clone());
                        ids.insert(original.to_owned(), id);
                    }
                }
            }
        }
        Ok(Self(ids))
    }

    /// The id of the entry for a chunk.
    pub(super) fn get(&self, original: &str) -> Option<&str> {
        self.0.get(original).map(String::as_str)
    }
}

/// The kind of entries for a type of chunks.
pub(super) fn kind_of(chunk_type: &str) -> Option<Kind> {
    match chunk_type {
        "code" => Some(Kind::Code),
        "reasoning" | "soar" => Some(Kind::Reasoning),
        "knowledge" | "kb" | "doc" => Some(Kind::Knowledge),
        _ => None,
    }
}

/// Id and kind of a chunk.
fn chunk(row: &Row) -> Option<(&str, Kind)> {
    let [id, chunk_type] = &row.cells[..] else { return None };
    Some((id.text().ok()?, kind_of(chunk_type.text().ok()?)?))
}

fn is_id(kind: Kind, id: &str) -> bool {
    let field = |name: &str, value: &str| (name.to_owned(), Value::from(value));
    Entry::from_document(Map::from_iter([field("id", id), field("type", kind.name())])).is_ok()
}

/// The id with the prefix of the kind, or a hash where that is none, and a number where another chunk has it.
fn made(kind: Kind, original: &str, taken: &HashSet<String>) -> String {
    let prefix = kind.prefix();
    let plain = format!("{prefix}{original}");
    let has_room = plain.len() + HASH_DIGITS < limit::ID_BYTES;
    let hash = || blake3::hash(original.as_bytes()).to_hex()[..HASH_DIGITS].to_owned();
    let id = if has_room && is_id(kind, &plain) { plain } else { format!("{prefix}entry-{}", hash()) };
    if taken.contains(&id) { format!("{id}-{}", hash()) } else { id }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_get_the_prefix_of_their_kind() {
        let taken = HashSet::from(["reas:b".to_owned()]);
        assert_eq!(made(Kind::Reasoning, "summary_1", &taken), "reas:summary_1");
        assert_eq!(made(Kind::Reasoning, "know:a", &taken), "reas:know:a");
        assert_eq!(made(Kind::Reasoning, "b", &taken).len(), "reas:b-".len() + HASH_DIGITS);
        for odd in ["", " ", "a\nb", &"x".repeat(500)] {
            let id = made(Kind::Knowledge, odd, &taken);
            assert!(id.starts_with("know:entry-") && is_id(Kind::Knowledge, &id), "{id}");
        }
    }
}
