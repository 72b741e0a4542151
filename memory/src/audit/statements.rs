//! Entries that state different values for the same key.
//!
//! The key and the value of a statement are:
//!
//! - title of knowledge and id of a fact: the fact. Ids that only number the facts, such as `F1`, do not count;
//! - title of knowledge with one fact: the fact;
//! - title of a note and name in a line `name: value` or `name = value`: the value;
//! - title of a note with only one other line: this line;
//! - name in the only line of a note without a title, if the name has several words or a mark such as `.` or `_`: the
//!   value.
//!
//! Keys and values are compared without regard to case and white space. Entries of different kinds, scopes or sessions
//! do not contradict each other.

use std::collections::{BTreeMap, HashMap};

use aurora_memory_schema::{Entry, Kind, normalized};
use serde_json::Value;

use super::finding::quoted;
use super::similar::hash;
use crate::store::Version;

/// Maximum number of words in a name.
const MAX_NAME_WORDS: usize = 5;
/// Maximum length of a name in bytes.
const MAX_NAME_BYTES: usize = 60;
/// Words before a colon that introduce a sentence and name nothing.
const LABELS: &[&str] = &[
    "author",
    "date",
    "e.g",
    "example",
    "fixme",
    "hint",
    "i.e",
    "important",
    "note",
    "notes",
    "ps",
    "see",
    "source",
    "tip",
    "todo",
    "update",
    "warning",
];

/// The statements of all entries, by key.
#[derive(Default)]
pub(super) struct Statements(HashMap<u64, Vec<Statement>>);

struct Statement {
    index: u32,
    /// The time at which the entry was edited, in Unix seconds.
    edited: i64,
    value: u64,
    /// The value as it is quoted in a finding.
    quoted: String,
    /// The name as it is quoted in a finding.
    name: String,
    is_only_statement: bool,
}

/// A statement of an entry that a statement of a newer entry contradicts.
pub(super) struct Contradiction {
    pub(super) older: u32,
    pub(super) newer: u32,
    /// The older statement, such as `` `port` is `8080` ``.
    pub(super) old: String,
    /// The newer value.
    pub(super) new: String,
    /// Whether the older entry states nothing else.
    pub(super) is_only_statement: bool,
}

impl Statements {
    pub(super) fn add(&mut self, index: u32, entry: &Entry, version: &Version) {
        let (statements, is_only_statement) = match entry.kind() {
            Kind::Knowledge => knowledge(entry),
            Kind::Note => note(entry),
            Kind::Reasoning | Kind::Turn | Kind::Code => return,
        };
        // A name that occurs twice in an entry names a list.
        let mut by_name: BTreeMap<String, Vec<(String, String)>> = BTreeMap::new();
        for (key, name, value) in statements {
            by_name.entry(normalized(&key)).or_default().push((name, value));
        }
        for (key, values) in by_name {
            let [(name, value)] = &values[..] else { continue };
            let group = (entry.kind().name(), version.scope.as_str(), version.session.as_deref());
            self.0.entry(hash(&(group, key))).or_default().push(Statement {
                index,
                edited: version.edited,
                value: hash(normalized(value).as_str()),
                quoted: quoted(value),
                name: quoted(name),
                is_only_statement,
            });
        }
    }

    /// Compares each statement with the newest statement about the same key.
    pub(super) fn contradictions(self) -> Vec<Contradiction> {
        let mut found = Vec::new();
        for statements in self.0.into_values() {
            let Some(newest) = statements.iter().max_by_key(|statement| (statement.edited, statement.index)) else {
                continue;
            };
            let others = statements.iter().filter(|other| other.index != newest.index && other.value != newest.value);
            found.extend(others.map(|older| Contradiction {
                older: older.index,
                newer: newest.index,
                old: format!("{} is {}", older.name, older.quoted),
                new: newest.quoted.clone(),
                is_only_statement: older.is_only_statement,
            }));
        }
        found
    }
}

/// Keys, names and values of statements, and whether the entry has no other content.
type Found = (Vec<(String, String, String)>, bool);

fn knowledge(entry: &Entry) -> Found {
    let title = entry.text("content", "title").or_else(|| entry.text("content", "topic"));
    let facts = entry.content("facts").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let Some(title) = title else { return (Vec::new(), false) };
    let text = |fact: &Value, field: &str| fact.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
    let statements = facts.iter().filter_map(|fact| {
        let (id, statement) = (text(fact, "id"), text(fact, "statement"));
        match is_numbering(&id) {
            false => Some((format!("{title}\0{id}"), id, statement)),
            true if facts.len() == 1 => Some((title.to_owned(), title.to_owned(), statement)),
            true => None,
        }
    });
    (statements.collect(), facts.len() == 1 && entry.text("content", "summary").is_none())
}

/// Whether an id only numbers the facts of an entry, such as `F1`.
fn is_numbering(id: &str) -> bool {
    let word = id.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end_matches(['-', '_', '.']);
    id.is_empty() || word.len() < id.len() && ["", "f", "fact"].contains(&word.to_lowercase().as_str())
}

fn note(entry: &Entry) -> Found {
    let text = entry.text("content", "text").unwrap_or_default();
    let mut lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let given = entry.text("content", "title");
    let heading = lines.first().and_then(|line| line.strip_prefix("# ")).map(str::trim);
    if heading.is_some() {
        lines.remove(0);
    }
    let named = |line: &&str| assignment(line).map(|(name, value)| (name.to_owned(), value.to_owned()));
    let found = match (given.or(heading), &lines[..]) {
        (Some(title), [line]) => match named(line) {
            Some((name, value)) => vec![(format!("{title}\0{name}"), name, value)],
            None => vec![(title.to_owned(), title.to_owned(), (*line).to_owned())],
        },
        (Some(title), lines) => {
            let found = lines.iter().filter_map(named);
            found.map(|(name, value)| (format!("{title}\0{name}"), name, value)).collect()
        }
        (None, [line]) => {
            let found = named(line).filter(|(name, _)| name.contains([' ', '.', '_', '-', '/']));
            found.map(|(name, value)| (name.clone(), name, value)).into_iter().collect()
        }
        (None, _) => Vec::new(),
    };
    let is_only = lines.len() == 1;
    (found, is_only)
}

/// Splits a line `name: value` or `name = value`, perhaps in a list. Returns `None` for any other line.
fn assignment(line: &str) -> Option<(&str, &str)> {
    let line = ["- ", "* ", "+ "].iter().find_map(|mark| line.strip_prefix(mark)).unwrap_or(line);
    let (name, value) = match (line.split_once(": "), line.split_once(" = ")) {
        (Some(colon), Some(equals)) if equals.0.len() < colon.0.len() => equals,
        (Some(colon), _) => colon,
        (None, equals) => equals?,
    };
    let (name, value) = (name.trim_matches(['`', '*', ' ']), value.trim());
    let is_name = name.len() <= MAX_NAME_BYTES
        && name.split_whitespace().count() <= MAX_NAME_WORDS
        && name.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_alphanumeric() || " ._-/".contains(c))
        && !LABELS.contains(&name.to_lowercase().as_str());
    (is_name && !value.is_empty()).then_some((name, value))
}
