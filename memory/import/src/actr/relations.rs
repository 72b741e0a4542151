//! Relationships, as links.

use std::collections::HashMap;
use std::path::Path;

use aurora_memory_schema::Entry;
use rusqlite::Connection;

use super::error::ActrError;
use super::ids::{Ids, LONGEST};
use super::table::{Cell, Column, Row, Rows, Scan};
use crate::problem::ImportProblem;

const COLUMNS: [Column; 4] =
    [("from_chunk", LONGEST), ("to_chunk", LONGEST), ("relationship_type", 1 << 10), ("weight", 64)];

/// A relationship between two chunks that are entries.
pub(super) struct Relation {
    from: String,
    to: String,
    name: String,
    weight: f64,
}

/// What a row is: a relationship, a problem, or both.
pub(super) struct FoundRelation {
    relation: Option<Relation>,
    pub(super) problem: Option<ImportProblem>,
}

/// The links of chunks, by their ids there: targets with relation and weight.
pub(super) struct Relations {
    scan: Scan,
    links: HashMap<String, Vec<(String, String, f64)>>,
}

impl Relations {
    /// All relationships between chunks that are entries.
    pub(super) fn of(connection: &Connection, path: &Path, ids: &Ids) -> Result<Self, ActrError> {
        let scan = Scan::of(connection, path, ("relationships", false), &COLUMNS)?;
        let mut links: HashMap<String, Vec<(String, String, f64)>> = HashMap::new();
        let mut reading = scan.clone();
        while let Rows::Some(rows) = reading.next(connection) {
            for found in rows.iter().filter_map(|row| relation(row, ids).relation) {
                links.entry(found.from).or_default().push((found.to, found.name, found.weight));
            }
        }
        Ok(Self { scan, links })
    }

    /// A reading of the table, for what is to be reported.
    pub(super) fn scan(&self) -> Scan {
        self.scan.clone()
    }

    /// Links the entry of a chunk to others. Of two links to one entry with one relation, the stronger one stays.
    pub(super) fn link(&mut self, original: &str, entry: &mut Entry) -> Vec<ImportProblem> {
        let mut problems = Vec::new();
        let mut links = self.links.remove(original).unwrap_or_default();
        links.sort_by(|(.., a), (.., b)| a.total_cmp(b));
        for (to, name, weight) in links {
            if let Err(error) = entry.add_link(&to, &name, weight) {
                let why = format!("the link to {to} is left out: {error}");
                problems
                    .push(ImportProblem::altered(format!("chunk {}", shown(original)), "link", why).about(entry.id()));
            }
        }
        problems
    }
}

/// What a row says.
pub(super) fn relation(row: &Row, ids: &Ids) -> FoundRelation {
    let what = || format!("relationship {}", row.number);
    let lost = |why: String| {
        let problem = ImportProblem::altered(what(), "relationship", why);
        FoundRelation { relation: None, problem: Some(problem) }
    };
    let [from, to, name, weight] = &row.cells[..] else { return lost("the row has no values".to_owned()) };
    let chunk = |cell: &Cell, column: &str| match cell.text() {
        Err(instead) => Err(format!("`{column}` is {instead}")),
        Ok(id) => match ids.get(id) {
            Some(known) => Ok((id.to_owned(), known.to_owned())),
            None => Err(format!("`{column}` is no chunk that is an entry: {}", shown(id))),
        },
    };
    let (from, to) = match (chunk(from, "from_chunk"), chunk(to, "to_chunk")) {
        (Ok((from, _)), Ok((_, to))) => (from, to),
        (Err(why), _) | (_, Err(why)) => return lost(why),
    };
    let name = match name.text() {
        Ok(name) => name.to_owned(),
        Err(instead) => return lost(format!("`relationship_type` is {instead}")),
    };
    let (weight, problem) = match weight {
        Cell::Null => (1.0, None),
        Cell::Real(weight) => within(*weight),
        Cell::Integer(weight) => within(*weight as f64),
        other => (1.0, Some(format!("`weight` is {}, and counts as 1", other.describe()))),
    };
    let problem = problem.map(|why| ImportProblem::altered(what(), "weight", why));
    FoundRelation { relation: Some(Relation { from, to, name, weight }), problem }
}

/// A weight from 0 to 1, and what was wrong with the one that was given.
fn within(weight: f64) -> (f64, Option<String>) {
    match weight {
        0.0..=1.0 => (weight, None),
        _ => {
            let nearest = if weight > 1.0 { 1.0 } else { 0.0 };
            (nearest, Some(format!("`weight` is {weight}, and counts as {nearest}")))
        }
    }
}

/// A text in quotes, cut.
pub(super) fn shown(text: &str) -> String {
    let cut: String = text.chars().take(60).collect();
    let more = if cut.len() < text.len() { "…" } else { "" };
    format!("{cut:?}{more}")
}
