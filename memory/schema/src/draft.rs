//! A valid entry that is not stored yet.

use serde_json::{Map, Value};

use crate::derive;
use crate::entry::{Entry, without_secrets};
use crate::id;
use crate::kind::Kind;
use crate::verdict::{Outcome, Verdict};

/// A valid entry that is not stored yet. The score of the entry determines whether it will be stored.
#[derive(Clone, Debug, PartialEq)]
pub struct Draft {
    entry: Entry,
    has_derived_id: bool,
}

impl Draft {
    /// Creates a draft from a checked document. Masks secrets, and then derives the id and the metadata if they are
    /// missing.
    pub(crate) fn new(kind: Kind, document: Map<String, Value>) -> Self {
        let document = without_secrets(document);
        let id = document.get("id").and_then(Value::as_str).map(str::to_owned);
        let mut entry = Entry::new(kind, id.clone().unwrap_or_default(), document);
        if id.is_none() {
            // Setting the id does not fail, because a derived id is always valid for its kind.
            let _ = entry.set_id(&derive_id(&entry));
        }
        derive::complete(&mut entry);
        Self { entry, has_derived_id: id.is_none() }
    }

    /// Returns the entry.
    pub fn entry(&self) -> &Entry {
        &self.entry
    }

    /// Returns the entry, to change its tags, links or id.
    pub fn entry_mut(&mut self) -> &mut Entry {
        &mut self.entry
    }

    /// Returns `true` if the id was derived, because the document has no id.
    pub fn has_derived_id(&self) -> bool {
        self.has_derived_id
    }

    /// Returns the verdict on the entry, which depends on its score.
    pub fn verdict(&self) -> Verdict {
        Verdict::from_score(self.entry.score())
    }

    /// Returns the outcome of the verdict, with the id and the reason.
    pub fn outcome(&self) -> Outcome {
        let verdict = self.verdict();
        Outcome {
            id: self.entry.id().to_owned(),
            stored: verdict.is_stored(),
            is_pattern: verdict.is_pattern(),
            reason: verdict.reason(),
        }
    }

    /// Returns the entry if its score is high enough to be stored.
    ///
    /// # Errors
    /// Returns the outcome if the score is too low.
    pub fn into_entry(self) -> Result<Entry, Outcome> {
        if self.verdict().is_stored() { Ok(self.entry) } else { Err(self.outcome()) }
    }
}

fn derive_id(entry: &Entry) -> String {
    let content = entry.document().get("content").unwrap_or(&Value::Null);
    if entry.kind() == Kind::Code
        && let Some(id) = code_id(entry)
    {
        return id;
    }
    id::derive(entry.kind(), entry.title_for_id().as_deref(), content)
}

/// Returns the id of a code entry, such as `code:auth.py:login`; `None` if the entry has no file, or if the id is not
/// valid.
fn code_id(entry: &Entry) -> Option<String> {
    let file = entry.text("content", "file")?;
    let function = entry.text("content", "function").map(|name| format!(":{name}")).unwrap_or_default();
    let id = format!("{}{file}{function}", Kind::Code.prefix());
    id::new_problem(Kind::Code, &id).is_none().then_some(id)
}
