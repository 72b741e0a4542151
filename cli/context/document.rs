//! Reads documents for commands.

use std::io::{self, Read as _};
use std::path::Path;

use aurora_confined::read_regular_to_string;
use aurora_memory_policy::check_rule;
use aurora_memory_schema::{Draft, Kind, limit, read_json, read_note};

use crate::context::{Failure, Outcome};

/// Argument that selects standard input.
const STANDARD_INPUT: &str = "-";

/// A text and its name in messages.
pub(crate) struct NamedText {
    pub(crate) name: String,
    pub(crate) text: String,
}

/// Reads a file or standard input.
pub(crate) fn read(path: &Path) -> Outcome<NamedText> {
    let max_bytes = limit::DOCUMENT_BYTES as u64;
    let (name, read) = if path.as_os_str() == STANDARD_INPUT {
        let mut text = String::new();
        let read = io::stdin().lock().take(max_bytes + 1).read_to_string(&mut text).map(|_| text);
        ("standard input".to_owned(), read)
    } else {
        (path.display().to_string(), read_regular_to_string(path, max_bytes))
    };
    let text = read.map_err(|error| Failure::new(format!("cannot read {name}: {error}")))?;
    if text.len() as u64 > max_bytes {
        return Err(Failure::new(format!("{name} exceeds {max_bytes} bytes")));
    }
    Ok(NamedText { name, text })
}

/// Parses a text as an entry. A note that does not begin with `{` is Markdown or plain text.
pub(crate) fn draft(kind: Kind, document: &NamedText) -> Outcome<Draft> {
    let NamedText { name, text } = document;
    let is_json = kind != Kind::Note || text.trim_start().starts_with('{');
    let draft = if is_json { read_json(kind, name, text, check_rule) } else { read_note(name, text) };
    draft.map_err(|errors| Failure::findings(name, &errors))
}
