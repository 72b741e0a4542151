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

/// The form of the document of an entry.
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
/// `source_name` is the name of the file in messages. `check_rule` receives the `if` and `then` of every retention rule and returns
/// the problem of an invalid rule; it may also be called for documents with other mistakes. Unknown fields are kept, except in the
/// entry itself, in `governance` and in links, where they are mistakes.
///
/// The id of an entry without one is derived from its pattern, topic, title or file, or from a hash of its content. Missing
/// keywords, semantic role and domain are derived; `metadata.derived` lists the derived fields.
///
/// # Errors
/// Returns all mistakes in the order of the text, each with its code (see [`crate::code`]), line and column. If the text is not JSON
/// or exceeds a document limit in [`crate::limit`], that is the only mistake.
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
