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
/// `source_name` is the name of the file in messages. `check_rule` is given the `if` and the `then` of every retention rule and
/// says what is wrong with them; it may be called for documents with other mistakes. Unknown fields are kept, but for those of
/// the entry itself, of `governance` and of links.
///
/// An entry without an id gets one from its pattern, topic, title or file, or from a hash of its content. Keywords, semantic role
/// and domain are derived where they are missing; `metadata.derived` names them.
///
/// # Errors
/// All mistakes in the order of the text, each with its code (see [`crate::code`]), line and column. If the text is no JSON, or
/// exceeds a bound of the document in [`crate::limit`], that is the only one.
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
    if mistakes.is_empty() { Ok(Draft::of(kind, document)) } else { Err(mistakes) }
}
