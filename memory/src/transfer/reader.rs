//! A reader for lines of JSON. Each line is a line of an export, or a document with the schema of an entry.

use std::io::BufRead;

use aurora_diagnostics::document::quoted;
use aurora_memory_policy::{Scope, check_rule};
use aurora_memory_schema::{Draft, Entry, Kind, code, read_json};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::entry::{Transfer, TransferredEntry};
use super::lines::{Line, Lines};
use super::located::DocumentPlace;
use super::problem::TransferProblem;
use super::record::{ENTRY, EntryLine, HEADER, Header, Time, VERSION};
use crate::memory::Placement;
use crate::session::check_session;

/// Maximum number of consecutive lines that are not entries. A file with more such lines is probably not a list of
/// entries, or the input is endless.
const MAX_LINES_WITHOUT_ENTRY: u32 = 20_000;

/// Values for documents that do not specify them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineDefaults {
    /// The scope and session. A turn that specifies a session belongs to that session instead.
    pub placement: Placement,
    /// The time at which the documents were edited, in Unix seconds. It is also the creation time of a document whose
    /// metadata has no creation time.
    pub time: i64,
}

/// An iterator over the entries in lines of JSON. Each line is a line of an export, or a document with the schema of an
/// entry.
///
/// The `type` of a document determines its kind. Without `type`, the id determines the kind. Blank lines are skipped. A
/// line that is not a valid entry yields a problem that lists all mistakes in the line, and reading continues with the
/// next line.
pub struct JsonLines<'f, R> {
    lines: Lines<R>,
    /// Name of the file for messages.
    file: &'f str,
    defaults: LineDefaults,
    /// Total number of entries according to the headers; `None` without a header.
    announced: Option<u64>,
    /// Number of entry lines of exports so far.
    found: u64,
    /// Number of consecutive lines without a valid entry so far.
    lines_without_entry: u32,
    is_over: bool,
}

impl<'f, R: BufRead> JsonLines<'f, R> {
    /// Creates a reader. Messages contain `file` as the name of the file.
    pub fn new(reader: R, file: &'f str, defaults: LineDefaults) -> Self {
        Self {
            lines: Lines::new(reader),
            file,
            defaults,
            announced: None,
            found: 0,
            lines_without_entry: 0,
            is_over: false,
        }
    }

    fn source(&self) -> String {
        format!("{}:{}", self.file, self.lines.number)
    }

    fn problem(&self, reason: &'static str, why: impl Into<String>) -> TransferProblem {
        TransferProblem::unmapped(self.source(), reason, why)
    }

    fn location<'l>(&self, before: &'l str) -> DocumentPlace<'l> {
        DocumentPlace { line: self.lines.number, start: self.lines.start, before }
    }

    /// Parses a line. Returns `None` if the line is a valid header.
    fn line(&mut self, text: &str) -> Option<Transfer> {
        match serde_json::from_str::<Map<String, Value>>(text) {
            Ok(fields) if fields.contains_key(HEADER) => self.header(text).err().map(Err),
            Ok(fields) if fields.contains_key(ENTRY) => {
                self.found += 1;
                Some(self.entry_of_export(text))
            }
            Ok(fields) => Some(self.kind_of(&fields, text, "").and_then(|kind| self.document(kind, text))),
            // The line is not a JSON object. Parsing it as an entry of any kind reports the mistakes.
            Err(_) => Some(self.document(Kind::Note, text)),
        }
    }

    fn header(&mut self, text: &str) -> Result<(), TransferProblem> {
        match serde_json::from_str::<Header>(text) {
            Ok(Header { aurora_memory: VERSION, entries }) => {
                self.announced = Some(self.announced.unwrap_or(0).saturating_add(entries));
                Ok(())
            }
            Ok(Header { aurora_memory, .. }) => {
                self.is_over = true;
                let why = format!("an export of version {aurora_memory}; this program reads version {VERSION}");
                Err(self.problem("version", why))
            }
            Err(error) => Err(self.problem("header", format!("invalid export header: {}", cause(&error)))),
        }
    }

    fn entry_of_export(&self, text: &str) -> Transfer {
        let line: EntryLine<'_, &RawValue> =
            serde_json::from_str(text).map_err(|error| self.problem("line", cause(&error)))?;
        let document = line.entry.get();
        let before = text.find(document).map_or("", |at| &text[..at]);
        let entry = serde_json::from_str(document).map_err(|error| self.problem("line", cause(&error)));
        let entry: Map<String, Value> = entry?;
        let kind = self.kind_of(&entry, document, before)?;
        // The draft is only created to report mistakes. It is not stored, because an export already contains the
        // derived metadata.
        self.draft(kind, document, before).map_err(|problem| problem.about(&*line.id))?;
        let entry = Entry::from_document(entry).map(Entry::without_secrets);
        let entry = entry.map_err(|error| self.problem("document", error.to_string()).about(&*line.id))?;
        if entry.id() != line.id {
            let why = format!("the line has the id {:?}, but its entry has the id {:?}", line.id, entry.id());
            return Err(self.problem("line", why).about(&*line.id));
        }
        let EntryLine { scope, session, created_at: Time(created), edited_at: Time(edited), access, .. } = line;
        Ok(TransferredEntry {
            entry,
            has_derived_id: false,
            placement: Placement { scope, session },
            created,
            edited,
            is_current: false,
            access: access.map(|access| access.into_record()),
            source: self.source(),
        })
    }

    fn document(&self, kind: Kind, text: &str) -> Transfer {
        let draft = self.draft(kind, text, "")?;
        let has_derived_id = draft.has_derived_id();
        let stored = draft.into_entry();
        let entry =
            stored.map_err(|outcome| TransferProblem::not_stored(self.source(), &outcome.id, outcome.reason))?;
        let edited = self.defaults.time;
        Ok(TransferredEntry {
            placement: self.placement(&entry),
            has_derived_id,
            created: entry.created().unwrap_or(edited),
            edited,
            is_current: false,
            access: None,
            source: self.source(),
            entry,
        })
    }

    fn draft(&self, kind: Kind, document: &str, before: &str) -> Result<Draft, TransferProblem> {
        read_json(kind, self.file, document, check_rule).map_err(|mistakes| {
            let is_json = !mistakes.iter().any(|mistake| mistake.code == code::SYNTAX);
            let reason = if is_json { "document" } else { "json" };
            TransferProblem::invalid_document(self.source(), reason, self.location(before).relocate(&mistakes))
        })
    }

    /// Returns the kind of a document, from its `type` or from its id.
    fn kind_of(&self, fields: &Map<String, Value>, document: &str, before: &str) -> Result<Kind, TransferProblem> {
        let kinds = Kind::ALL.iter().map(|kind| format!("{:?}", kind.name())).collect::<Vec<_>>().join(", ");
        let wrong = |code, message| {
            let mistakes = self.location(before).mistake(self.file, document, code, message);
            Err(TransferProblem::invalid_document(self.source(), "type", mistakes))
        };
        let from_id = || fields.get("id").and_then(Value::as_str).and_then(Kind::from_id);
        match fields.get("type") {
            Some(Value::String(name)) => match Kind::from_name(name) {
                Some(kind) => Ok(kind),
                None => wrong(code::INVALID_VALUE, format!("`type` must be one of {kinds}, not {}", quoted(name))),
            },
            Some(_) => wrong(code::INVALID_VALUE, format!("`type` must be one of {kinds}")),
            None => match from_id() {
                Some(kind) => Ok(kind),
                None => wrong(code::MISSING_FIELD, format!("`type` is missing; it must be one of {kinds}")),
            },
        }
    }

    /// Returns the scope and session for a document that is not part of an export.
    fn placement(&self, entry: &Entry) -> Placement {
        let default = &self.defaults.placement;
        let session = entry.content("session").and_then(Value::as_str).filter(|_| entry.kind() == Kind::Turn);
        match session.filter(|session| check_session(session).is_ok()) {
            Some(session) => {
                let scope = if default.scope == Scope::User { Scope::Session } else { default.scope };
                Placement { scope, session: Some(session.to_owned()) }
            }
            None => default.clone(),
        }
    }

    /// Ends the iteration. Returns a problem if the number of entries differs from the number in the headers.
    fn end(&mut self) -> Option<Transfer> {
        self.is_over = true;
        let announced = self.announced.filter(|announced| *announced != self.found)?;
        let why = format!("the header announces {announced} entries, but the file has {}", self.found);
        Some(Err(TransferProblem::unmapped(self.file, "header", why)))
    }
}

impl<R: BufRead> Iterator for JsonLines<'_, R> {
    type Item = Transfer;

    fn next(&mut self) -> Option<Transfer> {
        while !self.is_over {
            let found = match self.lines.next() {
                Ok(Some(Line::Text(text))) if text.trim().is_empty() => None,
                Ok(Some(Line::Text(text))) => self.line(&text),
                Ok(Some(Line::NotText)) => Some(Err(self.problem("utf-8", "the line is not UTF-8"))),
                Ok(Some(Line::TooLong)) => Some(Err(self.problem("too-long", "the line is too long for an entry"))),
                Ok(None) => self.end(),
                Err(error) => {
                    self.is_over = true;
                    Some(Err(TransferProblem::unmapped(self.file, "unreadable", error.to_string())))
                }
            };
            self.lines_without_entry =
                if matches!(found, Some(Ok(_))) { 0 } else { self.lines_without_entry.saturating_add(1) };
            if self.lines_without_entry > MAX_LINES_WITHOUT_ENTRY && !self.is_over {
                self.is_over = true;
                let why = format!("more than {MAX_LINES_WITHOUT_ENTRY} consecutive lines are not entries");
                return Some(Err(self.problem("unreadable", why)));
            }
            if found.is_some() {
                return found;
            }
        }
        None
    }
}

/// Returns the message of a `serde_json` error, without the line number and shortened to 200 characters.
fn cause(error: &serde_json::Error) -> String {
    let whole = error.to_string();
    let shown = whole.rsplit_once(" at line ").map_or(whole.as_str(), |(cause, _)| cause);
    shown.chars().take(200).collect()
}
