//! `[stage.memory]`: supplies the entries that have changed since the last run.

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
use super::indexed_entry::{DIRECTORY, IndexedEntry, LANGUAGE_OF_ENTRIES, path_of};
use crate::error::MemoryError;
use crate::session::NewTurn;
use crate::store::{EntryStore, EntryView, Version};

/// Most entries in one batch.
const BATCH: usize = 256;

/// Most bytes of a turn that are indexed with the turns beside it.
const MOST_BESIDE: usize = 2048;

/// The pipeline of a memory.
pub(super) fn pipeline() -> PipelineChoice {
    // Secrets are masked where the text of an entry is taken from its document: a mask must not cut a JSON string.
    let text = "[stage.memory]\n[stage.incremental-check]\ngit = false\nredact = false\n[stage.memory-chunks]\n\
                [stage.embed]\nmodel = \"static\"\n[stage.store]\n[stage.bm25]\n";
    PipelineChoice::Text { name: "memory".to_owned(), text: text.to_owned() }
}

/// The stage types of that pipeline.
pub(crate) fn registry() -> Registry {
    let mut registry = aurora_stages::registry();
    registry.register::<MemorySource>();
    registry.register::<EntryChunks>();
    registry
}

/// How far an index has followed the changes of a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Followed {
    pub(super) store: String,
    /// Number of the newest change.
    pub(super) change: u64,
}

impl Followed {
    /// What a run keeps for the next one.
    pub(super) const STAGE: &'static str = MemorySource::TYPE;

    pub(super) fn of(view: &EntryView) -> Result<Self, MemoryError> {
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
            // Read now that no other process writes the index: no run has followed more than this one sees.
            let view = &self.0.view()?;
            let now = Followed::of(view)?;
            let before = cx.kept().and_then(Followed::parse).filter(|before| before.store == now.store);
            let changed = before.map(|before| view.changed_since(before.change)).transpose()?.flatten();
            match changed {
                Some(ids) => changes(view, &ids, out)?,
                None => everything(view, out)?,
            }
            cx.keep(&now.to_text());
            Ok(())
        })
    }

    fn fingerprint(&self) -> Fingerprint {
        Fingerprint::new(MemorySource::TYPE, 2)
    }
}

/// The entries that have changed, and the turns beside them; all others are as they were.
fn changes(view: &EntryView, ids: &[String], out: &mut Emitter<'_>) -> Result<(), StageError> {
    let beside = ids.iter().flat_map(|id| NewTurn::beside(id)).flatten();
    let ids: BTreeSet<String> = ids.iter().cloned().chain(beside).collect();
    let ids: Vec<String> = ids.into_iter().collect();
    for ids in ids.chunks(BATCH) {
        let mut rows = Vec::with_capacity(ids.len());
        for id in ids {
            let document = match view.get(id)? {
                Some(version) => document(view, id, version)?,
                None => Document::Deleted,
            };
            rows.push((path_of(id), document));
        }
        emit_documents(rows, LANGUAGE_OF_ENTRIES, out)?;
    }
    emit_documents(vec![(DIRECTORY.to_owned(), Document::Rest)], LANGUAGE_OF_ENTRIES, out)
}

/// All entries; others that are indexed are gone.
fn everything(view: &EntryView, out: &mut Emitter<'_>) -> Result<(), StageError> {
    let mut rows = Vec::with_capacity(BATCH);
    for entry in view.from("")? {
        let (id, version) = entry?;
        if version.document.is_some() {
            rows.push((path_of(id), document(view, id, version)?));
        }
        if rows.len() == BATCH {
            emit_documents(std::mem::take(&mut rows), LANGUAGE_OF_ENTRIES, out)?;
        }
    }
    emit_documents(rows, LANGUAGE_OF_ENTRIES, out)
}

fn document(view: &EntryView, id: &str, version: Version) -> Result<Document, StageError> {
    // An earlier version has stored ids with secrets. Such an entry can be listed and removed, but is not found by a search.
    if has_secret(id) {
        return Ok(Document::Deleted);
    }
    let Some(mut entry) = IndexedEntry::of(id, version) else { return Ok(Document::Deleted) };
    for other in NewTurn::beside(id).into_iter().flatten() {
        entry.beside.extend(view.get(&other)?.and_then(|other| said_beside(&entry, other)));
    }
    let text = serde_json::to_string(&entry).map_err(StageError::from_error)?;
    Ok(Document::Text(text.into()))
}

/// The beginning of the text of a turn beside an entry, `None` if the two have not the same scope and session. Secrets are masked
/// before it is cut: a part of one would not be recognised.
fn said_beside(entry: &IndexedEntry, other: Version) -> Option<String> {
    let is_alike = (other.scope, &other.session) == (entry.scope, &entry.session);
    let document = other.document.filter(|_| is_alike)?;
    let text = document.get("content")?.get("text")?.as_str()?;
    let mut text = masked(text.to_owned());
    text.truncate(text.floor_char_boundary(MOST_BESIDE));
    Some(text)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::scope::Scope;
    use crate::store::Change;

    #[test]
    fn no_part_of_a_secret_is_left_where_a_turn_is_cut() {
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
        let entry = IndexedEntry::of("turn:s:2", turn("entry".to_owned())).expect("a document");
        let text = format!("{}{secret} and more", "word ".repeat(MOST_BESIDE / 5 - 3));
        assert!(text[..MOST_BESIDE].contains(&secret[..10]) && !text[..MOST_BESIDE].contains(&secret));
        let said = said_beside(&entry, turn(text.clone())).expect("of the same session");
        assert!(said.len() <= MOST_BESIDE && !said.contains(&secret[..10]), "{said}");
        let elsewhere = Version { session: Some("other".to_owned()), ..turn(text) };
        assert_eq!(said_beside(&entry, elsewhere), None);
    }
}
