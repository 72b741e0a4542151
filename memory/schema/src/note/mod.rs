//! Reads a note from Markdown or plain text.

mod front_matter;
mod values;

use aurora_diagnostics::Diagnostics;
use aurora_diagnostics::document::{Report, is_blank};
use serde_json::{Map, Value, json};

use crate::code;
use crate::draft::Draft;
use crate::kind::Kind;
use crate::limit::TEXT_BYTES;
use front_matter::RawField;

const BYTE_ORDER_MARK: char = '\u{feff}';

/// Reads a note from Markdown or plain text.
///
/// The text can begin with front matter, which consists of lines `key: value` between two lines `---`. The keys
/// `title`, `tags` (a list, or separated by commas), `domain`, `id`, and `created` or `date` are interpreted. Other
/// keys are stored unchanged in `metadata.front_matter`. If the first line after the first `---` has no key, the text
/// has no front matter.
///
/// The rest of the text is stored unchanged as the text of the note, without a byte order mark. If the front matter has
/// no `title`, [`crate::Entry::title`] is the first heading, or the first line, shortened to 80 characters. The id and
/// the metadata are derived as in [`crate::read_json`].
///
/// # Errors
/// Returns all mistakes in the order of the text. Mistakes are malformed lines and invalid values in the front matter,
/// and a text that is blank, too long, or contains a NUL character.
pub fn read_note(source_name: &str, text: &str) -> Result<Draft, Diagnostics> {
    let mut report = Report::new(source_name, text);
    if text.len() > TEXT_BYTES {
        let message = format!("the note has {} bytes; at most {TEXT_BYTES} are allowed", text.len());
        report.error(code::LIMIT, 0..0, message, None);
        return Err(report.finish().err().unwrap_or_default());
    }
    let start = text.len() - text.trim_start_matches(BYTE_ORDER_MARK).len();
    let (front_matter, body_start) = front_matter::parse(&mut report, text, start);
    let document = document(&mut report, &front_matter, &text[body_start..]);
    if let Some(at) = text.find('\0') {
        report.error(code::INVALID_VALUE, at..at + 1, "a note must not contain NUL characters", None);
    }
    if is_blank(&text[body_start..]) {
        let end = text.trim_end().len();
        report.error(code::MISSING_FIELD, end..end, "the note has no text", None);
    }
    report.finish().map(|()| Draft::new(Kind::Note, document))
}

fn document(report: &mut Report<'_>, front_matter: &[RawField<'_>], body: &str) -> Map<String, Value> {
    let mut content = Map::new();
    let mut metadata = Map::new();
    let mut governance = Map::new();
    let mut document = Map::new();
    let mut others = Map::new();
    content.insert("text".to_owned(), json!(body));
    let has_created = front_matter.iter().any(|field| field.key == "created");
    for field in front_matter {
        let (section, name, value) = match field.key.as_str() {
            "title" => (&mut content, "title", values::title(report, field)),
            "tags" => (&mut governance, "compliance_tags", values::tags(report, field)),
            "domain" => (&mut metadata, "domain", values::domain(report, field)),
            "id" => (&mut document, "id", values::id(report, field)),
            "created" => (&mut metadata, "created", values::time(report, field)),
            "date" if !has_created => (&mut metadata, "created", values::time(report, field)),
            other => (&mut others, other, Some(json!(field.raw.trim()))),
        };
        if let Some(value) = value {
            section.insert(name.to_owned(), value);
        }
    }
    if !others.is_empty() {
        metadata.insert("front_matter".to_owned(), Value::Object(others));
    }
    for (name, section) in [("content", content), ("metadata", metadata), ("governance", governance)] {
        if !section.is_empty() {
            document.insert(name.to_owned(), Value::Object(section));
        }
    }
    document
}
