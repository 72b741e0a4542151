//! Documents as commands read them.

use std::io::{self, Read as _};
use std::path::Path;

use aurora_confined::read_regular_to_string;
use aurora_memory_policy::check_rule;
use aurora_memory_schema::{Draft, Kind, limit, read_json, read_note};

use crate::context::failure::{Failure, Outcome};
use crate::context::findings;
use crate::context::terminal::Terminal;

/// Standard input, as an argument names it.
const STANDARD_INPUT: &str = "-";

/// A text with the name that messages give it.
pub(crate) struct NamedText {
    pub(crate) name: String,
    pub(crate) text: String,
}

/// Reads a file, or standard input.
pub(crate) fn read(path: &Path) -> Outcome<NamedText> {
    let most = limit::DOCUMENT_BYTES as u64;
    let (name, read) = if path.as_os_str() == STANDARD_INPUT {
        let mut text = String::new();
        let read = io::stdin().lock().take(most + 1).read_to_string(&mut text).map(|_| text);
        ("standard input".to_owned(), read)
    } else {
        (path.display().to_string(), read_regular_to_string(path, most))
    };
    let text = read.map_err(|error| Failure::new(format!("cannot read {name}: {error}")))?;
    if text.len() as u64 > most {
        return Err(Failure::new(format!("{name} has more than {most} bytes")));
    }
    Ok(NamedText { name, text })
}

/// The entry that a text is. What is wrong with it is printed, all at once.
pub(crate) fn draft(kind: Kind, document: &NamedText, terminal: &Terminal) -> Outcome<Draft> {
    let NamedText { name, text } = document;
    let is_json = kind != Kind::Note || text.trim_start().starts_with('{');
    let draft = if is_json { read_json(kind, name, text, check_rule) } else { read_note(name, text) };
    draft.map_err(|errors| findings::report(name, &errors, terminal))
}
