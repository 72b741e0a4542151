//! The key by which duplicates of an entry are found.

use aurora_memory_policy::Scope;
use aurora_memory_schema::{Entry, Kind, normalized_text};

use super::version::Version;

/// Number of bytes of a key.
const KEY_BYTES: usize = 16;

/// A hash of the kind, scope, session and normalised text of an entry. Two entries with the same key are duplicates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ContentKey([u8; KEY_BYTES]);

impl ContentKey {
    /// Returns the key of an entry. Returns `None` for a turn, because people repeat themselves, and for an entry
    /// without text.
    pub(crate) fn new(entry: &Entry, scope: Scope, session: Option<&str>) -> Option<Self> {
        let text = (entry.kind() != Kind::Turn).then(|| normalized_text(entry)).filter(|text| !text.is_empty())?;
        let mut hasher = blake3::Hasher::new();
        for part in [entry.kind().name(), scope.as_str(), session.unwrap_or_default()] {
            hasher.update(part.as_bytes()).update(&[0]);
        }
        let hash = hasher.update(text.as_bytes()).finalize();
        hash.as_bytes().first_chunk().copied().map(Self)
    }

    /// Returns the key of a stored entry; `None` if the entry was removed or cannot be decoded.
    pub(super) fn from_version(version: &Version) -> Option<Self> {
        let entry = Entry::from_document(version.document.clone()?).ok()?;
        Self::new(&entry, version.scope, version.session.as_deref())
    }

    /// Returns the key of the record in the table `contents` for an entry with this content.
    pub(super) fn record(self, id: &str) -> Vec<u8> {
        [&self.0, id.as_bytes()].concat()
    }

    /// Returns the id in the key of a record; `None` if the record has another content key.
    pub(super) fn id_of(self, record: &[u8]) -> Option<&[u8]> {
        record.strip_prefix(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use aurora_memory_schema::{Draft, read_json};
    use serde_json::json;
    use tempfile::TempDir;

    use super::*;
    use crate::memory::{Memory, Placement};
    use crate::place::Owner;
    use crate::session::NewTurn;
    use crate::store::CONTENTS;

    const NOW: i64 = 1_800_000_000;

    fn note(id: Option<&str>, text: &str) -> Draft {
        let mut document = json!({"content": {"text": text}});
        if let Some(id) = id {
            document["id"] = id.into();
        }
        read_json(Kind::Note, "a note", &document.to_string(), |_, _| Ok(())).expect("a valid note")
    }

    /// Adds a note, and returns its id, or the id of the stored note with the same text.
    fn add(memory: &Memory, draft: Draft, session: Option<&str>) -> Result<String, String> {
        let scope = if session.is_some() { Scope::Session } else { Scope::User };
        let placement = Placement { scope, session: session.map(str::to_owned) };
        let outcome = memory.add(draft, &placement, NOW).expect("the memory can be written");
        if outcome.stored { Ok(outcome.id) } else { Err(outcome.id) }
    }

    fn memory() -> (TempDir, Memory) {
        let directory = TempDir::new().expect("a temporary directory");
        let memory = Memory::for_test(Owner::User, directory.path());
        (directory, memory)
    }

    #[test]
    fn a_text_is_refused_as_long_as_an_entry_has_it() {
        let (_directory, memory) = memory();
        let first = Ok("note:a".to_owned());
        let refused = Err("note:a".to_owned());
        assert_eq!(add(&memory, note(Some("note:a"), "Reset on Sunday"), None), first);
        for text in ["Reset on Sunday", "  reset ON\n\nsunday\t", "\u{ff32}eset on Sunday"] {
            assert_eq!(add(&memory, note(Some("note:b"), text), None), refused, "{text}");
            assert_eq!(add(&memory, note(None, text), None), refused, "{text}");
        }
        // Other scopes, sessions and texts are unaffected.
        assert_eq!(add(&memory, note(None, "Reset on Sunday"), Some("s1")), Ok("note:reset-on-sunday".to_owned()));
        assert_eq!(add(&memory, note(None, "Reset on Sunday"), Some("s2")), Ok("note:reset-on-sunday-2".to_owned()));
        assert_eq!(add(&memory, note(None, "Reset on Sunday"), Some("s2")), Err("note:reset-on-sunday-2".to_owned()));
        assert_eq!(add(&memory, note(None, "Reset on Monday"), None), Ok("note:reset-on-monday".to_owned()));
        // A removed or edited entry does not have the text any more.
        memory.remove("note:a", NOW).expect("the entry exists");
        assert_eq!(add(&memory, note(Some("note:b"), "Reset on Sunday"), None), Ok("note:b".to_owned()));
        memory.edit("note:b", note(None, "Reset on Tuesday"), NOW).expect("the entry exists");
        assert_eq!(add(&memory, note(Some("note:c"), "Reset on Sunday"), None), Ok("note:c".to_owned()));
        assert_eq!(add(&memory, note(Some("note:d"), "reset on tuesday"), None), Err("note:b".to_owned()));
        // An undo restores the text.
        memory.undo("note:a", NOW).expect("the removal can be undone");
        memory.remove("note:c", NOW).expect("the entry exists");
        assert_eq!(add(&memory, note(None, "Reset on Sunday"), None), refused);
        memory.compact().expect("the memory can be compacted");
        assert_eq!(add(&memory, note(None, "Reset on Sunday"), None), refused);
    }

    #[test]
    fn turns_may_repeat_a_text() {
        let (_directory, memory) = memory();
        let turn = NewTurn { session: "s", speaker: "user", text: "Yes", reply_to: None, time: NOW };
        for id in ["turn:s:1", "turn:s:2"] {
            assert_eq!(memory.add_turn(&turn, Scope::Session, NOW).expect("the turn is valid"), id);
        }
    }

    #[test]
    fn duplicates_of_entries_that_an_earlier_version_wrote_are_refused() {
        let (_directory, memory) = memory();
        for id in ["note:a", "note:b"] {
            assert_eq!(add(&memory, note(Some(id), &format!("The text of {id}")), None), Ok(id.to_owned()));
        }
        // The program of an earlier version leaves the table as it is, or has never written it.
        let forget = |keys: usize| {
            memory.store().0.write(|records| {
                for _ in 0..keys {
                    let key = records.next_key(CONTENTS, &[0])?.expect("the table has records");
                    records.delete(CONTENTS, &key)?;
                }
                Ok::<_, crate::MemoryError>(())
            })
        };
        forget(3).expect("the store can be written");
        assert!(memory.verify().expect("the store can be read").problems.is_empty());
        assert_eq!(add(&memory, note(None, "the text of note:b"), None), Err("note:b".to_owned()));
        assert_eq!(add(&memory, note(Some("note:c"), "Another text"), None), Ok("note:c".to_owned()));
        assert_eq!(add(&memory, note(None, "the text of note:a"), None), Err("note:a".to_owned()));
    }
}
