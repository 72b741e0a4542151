//! The stage `[stage.memory]`, which supplies the entries that have changed since the last run.

use std::collections::BTreeSet;

use aurora_pipeline::{Registry, StageContext, StageError};
use aurora_project::RedactSettings;
use aurora_redact::{has_secret, masked};
use aurora_stages::columns::Document;
use aurora_stages::document_source::{self, DocumentSource, Documents};

use super::chunks::EntryChunks;
use super::indexed_entry::{DIRECTORY, ENTRY_LANGUAGE, IndexedEntry, indexed_path};
use crate::error::MemoryError;
use crate::session::NewTurn;
use crate::store::{EntryStore, EntryView, Version};

/// Maximum number of bytes of a turn's text that are indexed as context of each adjacent turn.
const MAX_ADJACENT_BYTES: usize = 2048;

/// Returns the stage types of a memory's pipeline.
pub(crate) fn registry() -> Registry {
    let mut registry = document_source::registry::<EntryStore>();
    registry.register::<EntryChunks>();
    registry
}

/// Identifies the store that an index was built from, and the newest change of the store that the index includes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct IndexedState {
    /// The random id of the store.
    pub(super) store: String,
    /// The number of the newest indexed change.
    pub(super) change: u64,
    /// The versions of the rules that masked the texts in the index; empty if an earlier version of the program wrote it.
    pub(super) masks: String,
}

impl IndexedState {
    /// Name of the stage that saves this state in the index, where the next run reads it.
    pub(super) const STAGE: &'static str = EntryStore::TYPE;

    pub(super) fn from_view(view: &EntryView) -> Result<Self, MemoryError> {
        let personal = if RedactSettings::masks_personal_data() { aurora_redact::PERSONAL_VERSION } else { 0 };
        let masks = format!("{}.{personal}", aurora_redact::VERSION);
        Ok(Self { store: view.store_id().to_owned(), change: view.newest_change()?, masks })
    }

    pub(super) fn parse(text: &str) -> Option<Self> {
        let (store, rest) = text.split_once(' ')?;
        let (change, masks) = rest.split_once(' ').unwrap_or((rest, ""));
        Some(Self { store: store.to_owned(), change: change.parse().ok()?, masks: masks.to_owned() })
    }

    fn to_text(&self) -> String {
        format!("{} {} {}", self.store, self.change, self.masks)
    }
}

/// Supplies the entries of the store to the stage `[stage.memory]`.
impl DocumentSource for EntryStore {
    const TYPE: &'static str = "memory";
    const VERSION: u32 = 2;
    const PIPELINE: &'static str = "memory";
    // `redact` is off, because masking secrets in JSON could make the JSON invalid. The stage `memory-chunks` masks
    // secrets in the texts of the entry.
    const STAGES: &'static str = "redact = false\n[stage.memory-chunks]\n";
    const LANGUAGE: &'static str = ENTRY_LANGUAGE;
    const DIRECTORY: &'static str = DIRECTORY;
    const MAX_BATCH: usize = 256;

    fn supply(&self, out: &mut Documents<'_, '_, Self>, cx: &StageContext<'_>) -> Result<(), StageError> {
        // This run already holds the index lock when it creates the view. Therefore the index cannot contain a change
        // that is newer than the view.
        let view = &self.view()?;
        let now = IndexedState::from_view(view)?;
        let before = cx
            .kept()
            .and_then(IndexedState::parse)
            .filter(|before| (&before.store, &before.masks) == (&now.store, &now.masks));
        let changed = before.map(|before| view.changed_since(before.change)).transpose()?.flatten();
        match changed {
            Some(ids) => {
                // The adjacent turns are indexed again, because their context contains the text of the changed turn.
                let adjacent = ids.iter().flat_map(|id| NewTurn::adjacent(id)).flatten();
                let ids: BTreeSet<String> = ids.iter().cloned().chain(adjacent).collect();
                for id in &ids {
                    let changed = view.get(id)?.map(|version| document(view, id, version)).transpose()?;
                    out.push(indexed_path(id), changed.unwrap_or(Document::Deleted))?;
                }
                out.keep_others()?;
            }
            None => {
                for entry in view.from("")? {
                    let (id, version) = entry?;
                    if version.document.is_some() {
                        out.push(indexed_path(id), document(view, id, version)?)?;
                    }
                }
            }
        }
        cx.keep(&now.to_text());
        Ok(())
    }
}

fn document(view: &EntryView, id: &str, version: Version) -> Result<Document, StageError> {
    // An earlier version of the program accepted secrets in ids. An entry with such an id can be listed and removed,
    // but it is not indexed.
    if has_secret(id) {
        return Ok(Document::Deleted);
    }
    let Some(mut entry) = IndexedEntry::new(id, version) else { return Ok(Document::Deleted) };
    for other in NewTurn::adjacent(id).into_iter().flatten() {
        entry.beside.extend(view.get(&other)?.and_then(|other| adjacent_text(&entry, other)));
    }
    let text = serde_json::to_string(&entry).map_err(StageError::from_error)?;
    Ok(Document::Text(text.into()))
}

/// Returns the beginning of the text of an adjacent turn. Returns `None` if that turn was removed, or has another scope
/// or session than the entry. Secrets are masked before the text is cut, because part of a secret would not be
/// recognised.
fn adjacent_text(entry: &IndexedEntry, other: Version) -> Option<String> {
    let is_alike = (other.scope, &other.session) == (entry.scope, &entry.session);
    let document = other.document.filter(|_| is_alike)?;
    let text = document.get("content")?.get("text")?.as_str()?;
    let mut text = masked(text.to_owned());
    text.truncate(text.floor_char_boundary(MAX_ADJACENT_BYTES));
    Some(text)
}

#[cfg(test)]
mod tests {
    use aurora_memory_policy::Scope;
    use serde_json::json;

    use super::*;
    use crate::store::Change;

    #[test]
    fn cutting_a_turn_leaves_no_part_of_a_secret() {
        let secret = format!("ghp_{}", "k3Yq9ZtB7wXc2LmN5vRd8HsJ4pTfG6aQeUoW");
        let turn = |text: String| Version {
            number: 1,
            before: 0,
            change: Change::Add,
            time: 0,
            created: 0,
            edited: 0,
            scope: Scope::Session,
            session: Some("s".to_owned()),
            document: json!({ "content": { "text": text } }).as_object().cloned(),
        };
        let entry = IndexedEntry::new("turn:s:2", turn("entry".to_owned())).expect("the version has a document");
        let text = format!("{}{secret} and more", "word ".repeat(MAX_ADJACENT_BYTES / 5 - 3));
        assert!(text[..MAX_ADJACENT_BYTES].contains(&secret[..10]) && !text[..MAX_ADJACENT_BYTES].contains(&secret));
        let adjacent = adjacent_text(&entry, turn(text.clone())).expect("both turns have the same session");
        assert!(adjacent.len() <= MAX_ADJACENT_BYTES && !adjacent.contains(&secret[..10]), "{adjacent}");
        let elsewhere = Version { session: Some("other".to_owned()), ..turn(text) };
        assert_eq!(adjacent_text(&entry, elsewhere), None);
    }
}
