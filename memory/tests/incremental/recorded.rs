//! Recorded changes, which can be replayed in another memory.

use aurora_memory::{Memory, NewTurn, Placement, Scope, TransferredEntry};
use aurora_memory_schema::{Entry, Kind};
use aurora_storage::Verdict;
use serde_json::Value;

use crate::content::draft;

/// A change of an entry.
#[derive(Debug, Clone)]
pub(crate) struct Recorded {
    pub(crate) id: String,
    pub(crate) time: i64,
    pub(crate) change: Change,
}

#[derive(Debug, Clone)]
pub(crate) enum Change {
    Add { kind: Kind, document: Value, placement: Placement },
    Turn { session: String, text: String, scope: Scope, reply_to: Option<String> },
    Edit { document: Value },
    Tag { add: Vec<&'static str>, remove: Vec<&'static str> },
    Link { to: String, weight: Option<f64> },
}

/// Relation of all links.
pub(crate) const RELATION: &str = "explains";
/// Speaker of all turns.
pub(crate) const SPEAKER: &str = "user";

/// A recorded access to an entry.
#[derive(Debug, Clone)]
pub(crate) struct Access {
    pub(crate) id: String,
    pub(crate) time: i64,
    /// The verdict on the entry; `None` if a search only returned the entry.
    pub(crate) verdict: Option<Verdict>,
}

impl Recorded {
    /// Replays the change in another memory. The change must have the same effect there.
    pub(crate) fn repeat(&self, memory: &Memory) {
        let Self { id, time, change } = self;
        match change {
            Change::Add { kind, document, placement } => {
                let draft = draft(*kind, document, Some(id));
                let outcome = memory.add(draft.clone(), placement, *time).expect("the entry is valid");
                if outcome.reason.contains("has the same text") {
                    // An undo can restore an entry whose text was added again after its removal. An import can create
                    // such duplicates too.
                    let entry = draft.into_entry().expect("the score is high enough");
                    import(memory, entry, placement, *time);
                } else {
                    assert!(outcome.stored && outcome.id == *id, "{outcome:?}");
                }
            }
            Change::Turn { session, text, scope, reply_to } => {
                let (speaker, reply_to) = (SPEAKER, reply_to.as_deref());
                let turn = NewTurn { session, speaker, text, reply_to, time: *time };
                assert_eq!(memory.add_turn(&turn, *scope, *time).expect("the entry is valid"), *id);
            }
            Change::Edit { document } => {
                let kind = Kind::from_id(id).expect("the id has a kind");
                memory.edit(id, draft(kind, document, None), *time).expect("the document is valid");
            }
            Change::Tag { add, remove } => drop(memory.tag(id, add, remove, *time).expect("the tags are valid")),
            Change::Link { to, weight } => memory.link(id, to, RELATION, *weight, *time).expect("the link is valid"),
        }
    }
}

fn import(memory: &Memory, entry: Entry, placement: &Placement, time: i64) {
    let entry = TransferredEntry {
        entry,
        has_derived_id: false,
        placement: placement.clone(),
        created: time,
        edited: time,
        is_current: false,
        access: None,
        source: "a recorded change".to_owned(),
    };
    let report = memory.put_all(&mut std::iter::once(Ok(entry)), time).expect("the entry can be imported");
    assert_eq!(report.added, 1, "{report:?}");
}

impl Access {
    pub(crate) fn repeat(&self, memory: &Memory) {
        let log = memory.access_log().expect("the access history can be opened");
        let shown = [(self.id.as_str(), self.time)];
        match self.verdict {
            Some(verdict) => log.judge(verdict, &shown),
            None => log.record(&shown),
        }
        .expect("the access can be recorded");
    }
}
