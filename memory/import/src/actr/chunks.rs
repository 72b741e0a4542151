//! Chunks, as entries.

use std::path::Path;

use aurora_memory_schema::{Kind, limit, read_json};
use rusqlite::Connection;
use serde_json::{Map, Value};

use super::content::{Context, Sections, sections};
use super::error::ActrError;
use super::ids::{Ids, LONGEST, kind_of};
use super::options::ActrOptions;
use super::relations::shown;
use super::table::{Cell, Column, Row, Scan};
use super::times;
use crate::problem::{ImportEffect, ImportProblem};
use crate::record::ImportedEntry;

const COLUMNS: [Column; 6] = [
    ("id", LONGEST),
    ("type", 1 << 10),
    ("content", limit::DOCUMENT_BYTES),
    ("metadata", limit::DOCUMENT_BYTES),
    ("created_at", 256),
    ("updated_at", 256),
];

/// The relation of a part to the whole.
const PART_OF: &str = "part_of";

/// The table of chunks.
pub(super) struct Chunks(Scan);

impl Chunks {
    pub(super) fn of(connection: &Connection, path: &Path) -> Result<Self, ActrError> {
        Scan::of(connection, path, ("chunks", true), &COLUMNS).map(Self)
    }

    pub(super) fn scan(&self) -> Scan {
        self.0.clone()
    }

    /// The entry of a row with the id of its chunk, or why it is none; and what differs in it.
    pub(super) fn entry(
        &self,
        row: &Row,
        ids: &Ids,
        options: ActrOptions<'_>,
    ) -> (Result<(String, ImportedEntry), ImportProblem>, Vec<ImportProblem>) {
        let mut problems = Vec::new();
        let entry = read(row, ids, options, &mut problems);
        if entry.is_err() {
            // What differs in something that is no entry does not matter.
            problems.clear();
        }
        (entry, problems)
    }
}

fn read(
    row: &Row,
    ids: &Ids,
    options: ActrOptions<'_>,
    problems: &mut Vec<ImportProblem>,
) -> Result<(String, ImportedEntry), ImportProblem> {
    let unmapped = |reason, why: String| ImportProblem::unmapped(format!("chunk {}", row.number), reason, why);
    let [id, chunk_type, content, metadata, created_at, updated_at] = &row.cells[..] else {
        return Err(unmapped("damaged", "the row has no values".to_owned()));
    };
    let original = id.text().map_err(|instead| unmapped("id", format!("`id` is {instead}")))?.to_owned();
    let unmapped = |reason, why| unmapped(reason, why).about(&original);
    let chunk_type = chunk_type.text().map_err(|instead| unmapped("type", format!("`type` is {instead}")))?;
    let kind = kind_of(chunk_type);
    let kind = kind.ok_or_else(|| unmapped("type", format!("no entries are of type {}", shown(chunk_type))))?;
    let id = ids.get(&original);
    let id = id.ok_or_else(|| unmapped("id", "the tables say different things of it".to_owned()))?.to_owned();
    let what = format!("chunk {}", shown(&original));
    let mut alter = |reason, why: String| problems.push(ImportProblem::altered(&what, reason, why).about(&id));
    if id != original {
        alter("id", format!("the entry has the id {id}, which begins with the prefix of its kind"));
    }
    let content = object(content, "content").map_err(|why| unmapped("json", why))?;
    let metadata = match metadata {
        Cell::Null => Map::new(),
        cell => object(cell, "metadata").unwrap_or_else(|why| {
            alter("metadata", format!("{why}, and is left out"));
            Map::new()
        }),
    };
    let Sections { content, mut metadata, reference, parent, lost } =
        sections(kind, content, metadata, Context { ids, root: options.root });
    for why in lost {
        alter("field", why);
    }
    let mut time = |cell: &Cell, column: &str| {
        let time = times::of_cell(cell);
        if time.is_none() && *cell != Cell::Null {
            alter("time", format!("`{column}` is no time"));
        }
        time
    };
    let (added, edited) = (time(created_at, "created_at"), time(updated_at, "updated_at"));
    let mut given = ["created", "timestamp", "acquired"].iter().filter_map(|field| metadata.get(*field)?.as_str());
    let given = given.next().and_then(times::seconds);
    let created = given.or(added).or(edited);
    if let Some(created) = created.filter(|_| given.is_none()).and_then(times::rfc3339) {
        metadata.insert("created".to_owned(), created.into());
    }
    let document = document(kind, &id, [("content", content), ("metadata", metadata)], reference);
    let draft = read_json(kind, &what, &document, options.check_rule).map_err(|mistakes| {
        let mut problem = ImportProblem::mistaken(&what, "document", mistakes).about(&original);
        // Their places are those in a text that nobody has written.
        problem.mistakes = Default::default();
        problem
    })?;
    let mut entry = draft.into_entry().map_err(|outcome| ImportProblem {
        effect: ImportEffect::NotStored,
        ..ImportProblem::unmapped(&what, "score", outcome.reason).about(&original)
    })?;
    if let Some(parent) = parent {
        let linked = match ids.get(&parent) {
            Some(to) => entry.add_link(to, PART_OF, 1.0).map(drop).map_err(|error| error.to_string()),
            None => Err("it is no chunk that is an entry".to_owned()),
        };
        if let Err(why) = linked {
            alter("link", format!("the link to its parent {} is left out: {why}", shown(&parent)));
        }
    }
    let edited = edited.or(created);
    Ok((original, ImportedEntry { entry, created, edited, access: None, source: what.clone() }))
}

fn object(cell: &Cell, column: &str) -> Result<Map<String, Value>, String> {
    let text = cell.text().map_err(|instead| format!("`{column}` is {instead}"))?;
    match serde_json::from_str(text) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err(format!("`{column}` is no JSON object")),
        Err(error) => Err(format!("`{column}` is not JSON: {error}")),
    }
}

fn document(kind: Kind, id: &str, sections: [(&str, Map<String, Value>); 2], reference: Map<String, Value>) -> String {
    let mut document =
        Map::from_iter([("id".to_owned(), Value::from(id)), ("type".to_owned(), Value::from(kind.name()))]);
    for (name, section) in sections.into_iter().chain([("conversation_log_reference", reference)]) {
        if !section.is_empty() {
            document.insert(name.to_owned(), Value::Object(section));
        }
    }
    Value::Object(document).to_string()
}
