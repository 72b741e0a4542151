//! How often and when chunks were used.

use std::collections::HashMap;
use std::path::Path;

use rusqlite::Connection;
use serde_json::Value;

use super::error::ActrError;
use super::ids::{Ids, LONGEST};
use super::relations::shown;
use super::table::{Cell, Column, Row, Rows, Scan};
use super::times;
use crate::problem::ImportProblem;
use crate::record::ImportedAccess;

/// Most times that are kept.
const RECENT: usize = 32;

const COLUMNS: [Column; 4] =
    [("chunk_id", LONGEST), ("last_access", 256), ("access_count", 64), ("access_history", 8 << 20)];

/// What a row is: the history of a chunk, a problem, or both.
pub(super) struct FoundAccess {
    access: Option<(String, ImportedAccess)>,
    pub(super) problem: Option<ImportProblem>,
}

/// The histories of chunks, by their ids there.
pub(super) struct Accesses {
    scan: Scan,
    found: HashMap<String, ImportedAccess>,
}

impl Accesses {
    pub(super) fn of(connection: &Connection, path: &Path, ids: &Ids) -> Result<Self, ActrError> {
        let scan = Scan::of(connection, path, ("activations", false), &COLUMNS)?;
        let mut found = HashMap::new();
        let mut reading = scan.clone();
        while let Rows::Some(rows) = reading.next(connection) {
            found.extend(rows.iter().filter_map(|row| access(row, ids).access));
        }
        Ok(Self { scan, found })
    }

    /// A reading of the table, for what is to be reported.
    pub(super) fn scan(&self) -> Scan {
        self.scan.clone()
    }

    /// The history of a chunk.
    pub(super) fn take(&mut self, original: &str) -> Option<ImportedAccess> {
        self.found.remove(original)
    }
}

/// What a row says. A chunk that was never used has no history.
pub(super) fn access(row: &Row, ids: &Ids) -> FoundAccess {
    let report = |why: String| Some(ImportProblem::altered(format!("activation {}", row.number), "access", why));
    let [chunk, last, count, history] = &row.cells[..] else { return FoundAccess { access: None, problem: None } };
    let chunk = match chunk.text() {
        Ok(id) if ids.get(id).is_some() => id.to_owned(),
        Ok(id) => {
            let why = format!("`chunk_id` is no chunk that is an entry: {}", shown(id));
            return FoundAccess { access: None, problem: report(why) };
        }
        Err(instead) => return FoundAccess { access: None, problem: report(format!("`chunk_id` is {instead}")) },
    };
    let mut wrong = Vec::new();
    let count = match count {
        Cell::Integer(count @ 0..) => *count as u64,
        Cell::Null => 0,
        Cell::Integer(count) => {
            wrong.push(format!("`access_count` is {count}, and counts as 0"));
            0
        }
        other => {
            wrong.push(format!("`access_count` is {}, and counts as 0", other.describe()));
            0
        }
    };
    let (mut recent, unread) = match times_of(history) {
        Ok(found) => found,
        Err(why) => {
            wrong.push(why);
            (Vec::new(), 0)
        }
    };
    if unread > 0 {
        wrong.push(format!("{unread} of the times in `access_history` are none"));
    }
    let count = count.max(recent.len() as u64);
    let time = times::of_cell(last);
    if time.is_none() && count > 0 {
        wrong.push("`last_access` is no time".to_owned());
    }
    recent.sort_unstable();
    let last = time.max(recent.last().copied());
    recent.drain(..recent.len().saturating_sub(RECENT));
    let access = last.filter(|_| count > 0).map(|last| {
        let recent = if recent.is_empty() { vec![last] } else { recent };
        (chunk, ImportedAccess { count, last, recent })
    });
    FoundAccess { access, problem: if wrong.is_empty() { None } else { report(wrong.join("; ")) } }
}

/// The times of a history, and how many of its items are none.
fn times_of(history: &Cell) -> Result<(Vec<i64>, usize), String> {
    let text = match history {
        Cell::Null => return Ok((Vec::new(), 0)),
        cell => cell.text().map_err(|instead| format!("`access_history` is {instead}"))?,
    };
    match serde_json::from_str::<Value>(text) {
        Ok(Value::Array(items)) => {
            let times: Vec<i64> = items.iter().filter_map(time_of).collect();
            let unread = items.len() - times.len();
            Ok((times, unread))
        }
        Ok(Value::Null) => Ok((Vec::new(), 0)),
        _ => Err("`access_history` is no list".to_owned()),
    }
}

/// The time of an item: `{"timestamp": …}`, or a time alone.
fn time_of(item: &Value) -> Option<i64> {
    let time = item.get("timestamp").unwrap_or(item);
    match time {
        Value::String(text) => times::seconds(text),
        Value::Number(number) => times::of_cell(&Cell::Real(number.as_f64()?)),
        _ => None,
    }
}
