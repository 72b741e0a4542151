//! Recorded changes, which can be replayed in another memory.

use aurora_memory::{Memory, NewTurn, Placement, Scope};
use aurora_memory_schema::Kind;
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
                let outcome =
                    memory.add(draft(*kind, document, Some(id)), placement, *time).expect("the entry is valid");
                assert!(outcome.stored && outcome.id == *id, "{outcome:?}");
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
