//! Reads an entry from JSON.

use aurora_diagnostics::Diagnostics;
use aurora_diagnostics::document::{Document, Form, Report, check};
use serde_json::{Map, Value};

use crate::draft::Draft;
use crate::field::entry_fields;
use crate::kind::Kind;
use crate::limit::{DEPTH, DOCUMENT_BYTES, LIST_VALUES, TEXT_BYTES};
use crate::{code, rules};

const BYTE_ORDER_MARK: char = '\u{feff}';

/// Limits and error codes for the document of an entry.
const FORM: Form = Form {
    noun: "an entry",
    syntax: code::SYNTAX,
    unknown: code::UNKNOWN_FIELD,
    invalid: code::INVALID_VALUE,
    missing: code::MISSING_FIELD,
    duplicate: code::DUPLICATE_KEY,
    limit: code::LIMIT,
    max_depth: DEPTH,
    levels: DEPTH,
    max_text_bytes: TEXT_BYTES,
    max_list_values: LIST_VALUES,
    null_is_missing: false,
    limits_all_values: true,
};

/// Reads an entry of a kind from a JSON document (RFC 8259).
///
/// Messages contain `source_name` as the name of the file. `check_rule` is called with the values of `if` and `then` of
/// every retention rule, and returns the problem of an invalid rule. `check_rule` is also called for the rules of a
/// document that has other mistakes.
///
/// Unknown fields of `content`, `metadata` and `conversation_log_reference` are preserved. Other unknown fields,
/// including unknown fields of links, are mistakes.
///
/// If the entry has no id, the id is derived from the pattern, topic, title or file, or from a hash of the content.
/// Missing keywords, semantic roles and domains are also derived, and `metadata.derived` lists the derived fields.
///
/// # Errors
/// Returns all mistakes in the order of the text. Each mistake has a code (see [`crate::code`]), a line and a column.
/// If the text is not JSON or exceeds a limit for documents (see [`crate::limit`]), no other mistakes are reported.
pub fn read_json(
    kind: Kind,
    source_name: &str,
    text: &str,
    check_rule: impl Fn(&str, &str) -> Result<(), String>,
) -> Result<Draft, Diagnostics> {
    let mut report = Report::new(source_name, text);
    let mut document = Map::new();
    if text.len() > DOCUMENT_BYTES {
        let message = format!("the document has {} bytes; at most {DOCUMENT_BYTES} are allowed", text.len());
        report.error(code::LIMIT, 0..0, message, None);
    } else if text.starts_with(BYTE_ORDER_MARK) {
        let help = "save the file as UTF-8 without a byte order mark".to_owned();
        report.error(code::SYNTAX, 0..0, "not JSON: the text begins with a byte order mark", Some(help));
    } else if let Some((located, Value::Object(fields))) = Document::from_json(&mut report, &FORM) {
        check(&mut report, &FORM, &located, entry_fields(kind));
        rules::check(&mut report, kind, &located.root, &check_rule);
        document = fields;
    }
    report.finish().map(|()| Draft::new(kind, document))
}
