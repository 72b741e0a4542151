//! `[stage.memory]`: emits the entries that have changed since the last run.

use std::collections::BTreeSet;
use std::sync::Arc;

use aurora_pipeline::{
    Access, BuildContext, Emitter, Fingerprint, Registry, Stage, StageConfig, StageContext, StageError, Worker,
    producer,
};
use aurora_redact::{has_secret, masked};
use aurora_stages::columns::{DOCUMENT, Document, LANGUAGE, MTIME, PATH, SIZE};
use aurora_stages::emit_documents;
use aurora_stages::index::PipelineChoice;
use serde::Deserialize;

use super::chunks::EntryChunks;
use super::indexed_entry::{DIRECTORY, ENTRY_LANGUAGE, IndexedEntry, indexed_path};
use crate::error::MemoryError;
use crate::session::NewTurn;
use crate::store::{EntryStore, EntryView, Version};

/// Maximum number of entries in a batch.
const BATCH: usize = 256;

/// Maximum number of bytes of a turn that are indexed with each adjacent turn.
const MAX_ADJACENT_BYTES: usize = 2048;

/// Returns the pipeline of a memory.
pub(super) fn pipeline() -> PipelineChoice {
    // `redact` is off, because masking could break the JSON of a document. Secrets are masked later, in the text of the entry.
    let text = "[stage.memory]\n[stage.incremental-check]\ngit = false\nredact = false\n[stage.memory-chunks]\n\
                [stage.embed]\nmodel = \"static\"\n[stage.store]\n[stage.bm25]\n";
    PipelineChoice::Text { name: "memory".to_owned(), text: text.to_owned() }
}

/// Returns the stage types of the pipeline.
pub(crate) fn registry() -> Registry {
    let mut registry = aurora_stages::registry();
    registry.register::<MemorySource>();
    registry.register::<EntryChunks>();
    registry
}

/// The last change of a store that an index contains.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Followed {
    pub(super) store: String,
    /// The number of the newest change.
    pub(super) change: u64,
}

impl Followed {
    /// The stage that keeps the value for the next run.
    pub(super) const STAGE: &'static str = MemorySource::TYPE;

    pub(super) fn from_view(view: &EntryView) -> Result<Self, MemoryError> {
        Ok(Self { store: view.store_id().to_owned(), change: view.newest_change()? })
    }

    pub(super) fn parse(text: &str) -> Option<Self> {
        let (store, change) = text.split_once(' ')?;
        Some(Self { store: store.to_owned(), change: change.parse().ok()? })
    }

    fn to_text(&self) -> String {
        format!("{} {}", self.store, self.change)
    }
}

/// `[stage.memory]`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MemorySource {}

impl StageConfig for MemorySource {
    const TYPE: &'static str = "memory";

    fn access(&self) -> Access {
        Access::source().writes([PATH.spec(), SIZE.spec(), MTIME.spec(), LANGUAGE.spec(), DOCUMENT.spec()])
    }

    fn build(self, cx: &BuildContext<'_>) -> Result<Box<dyn Stage>, StageError> {
        let entries = cx.services.get::<EntryStore>();
        let entries = entries.ok_or_else(|| StageError::new("this stage runs for a memory only"))?;
        Ok(Box::new(MemorySourceStage(entries)))
    }
}

struct MemorySourceStage(Arc<EntryStore>);

impl Stage for MemorySourceStage {
    fn open(&self) -> Box<dyn Worker + '_> {
        producer(|out: &mut Emitter<'_>, cx: &StageContext<'_>| {
            // The view is taken while no other process writes the index, so no other run can have indexed a later change.
            let view = &self.0.view()?;
            let now = Followed::from_view(view)?;
            let before = cx.kept().and_then(Followed::parse).filter(|before| before.store == now.store);
            let changed = before.map(|before| view.changed_since(before.change)).transpose()?.flatten();
            match changed {
                Some(ids) => emit_changes(view, &ids, out)?,
                None => emit_all(view, out)?,
            }
            cx.keep(&now.to_text());
            Ok(())
        })
    }

    fn fingerprint(&self) -> Fingerprint {
        Fingerprint::new(MemorySource::TYPE, 2)
    }
}

/// Emits the entries that have changed and the turns adjacent to them. All other entries are unchanged.
fn emit_changes(view: &EntryView, ids: &[String], out: &mut Emitter<'_>) -> Result<(), StageError> {
    let adjacent = ids.iter().flat_map(|id| NewTurn::adjacent(id)).flatten();
    let ids: BTreeSet<String> = ids.iter().cloned().chain(adjacent).collect();
    let ids: Vec<String> = ids.into_iter().collect();
    for ids in ids.chunks(BATCH) {
        let mut rows = Vec::with_capacity(ids.len());
        for id in ids {
            let document = match view.get(id)? {
                Some(version) => document(view, id, version)?,
                None => Document::Deleted,
            };
            rows.push((indexed_path(id), document));
        }
        emit_documents(rows, ENTRY_LANGUAGE, out)?;
    }
    emit_documents(vec![(DIRECTORY.to_owned(), Document::Rest)], ENTRY_LANGUAGE, out)
}

/// Emits all entries. Any other indexed entry is deleted.
fn emit_all(view: &EntryView, out: &mut Emitter<'_>) -> Result<(), StageError> {
    let mut rows = Vec::with_capacity(BATCH);
    for entry in view.from("")? {
        let (id, version) = entry?;
        if version.document.is_some() {
            rows.push((indexed_path(id), document(view, id, version)?));
        }
        if rows.len() == BATCH {
            emit_documents(std::mem::take(&mut rows), ENTRY_LANGUAGE, out)?;
        }
    }
    emit_documents(rows, ENTRY_LANGUAGE, out)
}

fn document(view: &EntryView, id: &str, version: Version) -> Result<Document, StageError> {
    // An earlier version of the program stored ids with secrets. Such an entry can be listed and removed, but search does not
    // find it.
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

/// Returns the beginning of the text of an adjacent turn; `None` if it has another scope or session than the entry. Secrets are
/// masked before the text is cut, because a part of a secret would not be recognised.
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
        let entry = IndexedEntry::new("turn:s:2", turn("entry".to_owned())).expect("a document");
        let text = format!("{}{secret} and more", "word ".repeat(MAX_ADJACENT_BYTES / 5 - 3));
        assert!(text[..MAX_ADJACENT_BYTES].contains(&secret[..10]) && !text[..MAX_ADJACENT_BYTES].contains(&secret));
        let adjacent = adjacent_text(&entry, turn(text.clone())).expect("both turns have the same session");
        assert!(adjacent.len() <= MAX_ADJACENT_BYTES && !adjacent.contains(&secret[..10]), "{adjacent}");
        let elsewhere = Version { session: Some("other".to_owned()), ..turn(text) };
        assert_eq!(adjacent_text(&entry, elsewhere), None);
    }
}
