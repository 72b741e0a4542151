//! An entry that was read, and is not stored yet.

use serde_json::{Map, Value};

use crate::derive;
use crate::entry::{Entry, without_secrets};
use crate::id;
use crate::kind::Kind;
use crate::verdict::{Outcome, Verdict};

/// An entry without mistakes. Its score decides whether it is stored.
#[derive(Clone, Debug, PartialEq)]
pub struct Draft {
    entry: Entry,
    has_derived_id: bool,
}

impl Draft {
    /// Of a checked document: its secrets are masked, then an id and metadata are derived where they are missing.
    pub(crate) fn of(kind: Kind, document: Map<String, Value>) -> Self {
        let document = without_secrets(document);
        let id = document.get("id").and_then(Value::as_str).map(str::to_owned);
        let mut entry = Entry::new(kind, id.clone().unwrap_or_default(), document);
        if id.is_none() {
            // A derived id is one of the kind.
            let _ = entry.set_id(&derived_id(&entry));
        }
        derive::complete(&mut entry);
        Self { entry, has_derived_id: id.is_none() }
    }

    /// The entry.
    pub fn entry(&self) -> &Entry {
        &self.entry
    }

    /// The entry, to change its tags, its links or its id.
    pub fn entry_mut(&mut self) -> &mut Entry {
        &mut self.entry
    }

    /// Whether the document has no id, so that it got a derived one.
    pub fn has_derived_id(&self) -> bool {
        self.has_derived_id
    }

    /// Whether the entry is stored, and whether it is a pattern.
    pub fn verdict(&self) -> Verdict {
        Verdict::of(self.entry.score())
    }

    /// What becomes of the entry, with the reason.
    pub fn outcome(&self) -> Outcome {
        let verdict = self.verdict();
        Outcome {
            id: self.entry.id().to_owned(),
            stored: verdict.is_stored(),
            is_pattern: verdict.is_pattern(),
            reason: verdict.reason(),
        }
    }

    /// The entry, if it is to be stored.
    ///
    /// # Errors
    /// The outcome, if it is not.
    pub fn into_entry(self) -> Result<Entry, Outcome> {
        if self.verdict().is_stored() { Ok(self.entry) } else { Err(self.outcome()) }
    }
}

fn derived_id(entry: &Entry) -> String {
    let content = entry.document().get("content").unwrap_or(&Value::Null);
    if entry.kind() == Kind::Code
        && let Some(id) = id_of_code(entry)
    {
        return id;
    }
    id::derived(entry.kind(), entry.given_title().as_deref(), content)
}

/// `code:auth.py:login`, if that is an id.
fn id_of_code(entry: &Entry) -> Option<String> {
    let file = entry.text("content", "file")?;
    let function = entry.text("content", "function").map(|name| format!(":{name}")).unwrap_or_default();
    let id = format!("{}{file}{function}", Kind::Code.prefix());
    id::new_problem(Kind::Code, &id).is_none().then_some(id)
}
