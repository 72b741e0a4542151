//! Reads an entry from JSON.

mod parse;
mod place;
mod rules;
mod shapes;
mod texts;

use aurora_diagnostics::Diagnostics;

use crate::draft::Draft;
use crate::kind::Kind;
use crate::report::Report;

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
    let Some((document, root)) = parse::parse(&mut report, text) else { return Err(report.mistakes()) };
    texts::check(&mut report, &root);
    shapes::check(&mut report, kind, &root);
    rules::check(&mut report, kind, &root, &check_rule);
    let mistakes = report.mistakes();
    if mistakes.is_empty() { Ok(Draft::new(kind, document)) } else { Err(mistakes) }
}
