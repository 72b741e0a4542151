//! Interprets the fields of front matter.

use aurora_diagnostics::document::{Report, quoted};
use serde_json::{Value, json};

use super::front_matter::RawField;
use crate::kind::Kind;
use crate::limit::LIST_VALUES;
use crate::{code, id, label, time};

/// Reads the title. Returns `None` if it is blank.
pub(super) fn title(report: &mut Report<'_>, field: &RawField<'_>) -> Option<Value> {
    one_line(report, field).map(Value::from)
}

/// Reads the domain, which must be a label. Returns `None` if it is blank.
pub(super) fn domain(report: &mut Report<'_>, field: &RawField<'_>) -> Option<Value> {
    let domain = one_line(report, field)?;
    check_label(report, field, domain);
    Some(json!(domain))
}

/// Reads the id of the note. Returns `None` if it is blank.
pub(super) fn id(report: &mut Report<'_>, field: &RawField<'_>) -> Option<Value> {
    let id = one_line(report, field)?;
    if let Some(problem) = id::new_problem(Kind::Note, id) {
        report.error(code::INVALID_ID, field.at.clone(), format!("`id` {}", problem.message), problem.help);
    }
    Some(json!(id))
}

/// Reads a date or a time. Returns `None` if it is blank.
pub(super) fn time(report: &mut Report<'_>, field: &RawField<'_>) -> Option<Value> {
    let text = one_line(report, field)?;
    if time::unix_seconds(text).is_none() {
        let message = format!("`{}` must be {}, not {}", field.key, time::EXPECTED, quoted(text));
        report.error(code::INVALID_VALUE, field.at.clone(), message, time::help(text));
    }
    Some(json!(text))
}

/// Reads tags. They can be written as `a, b`, as `[a, b]`, or on the following lines, each after a hyphen.
pub(super) fn tags(report: &mut Report<'_>, field: &RawField<'_>) -> Option<Value> {
    let value = field.value;
    let listed = value.strip_prefix('[').map_or(value, |open| open.strip_suffix(']').unwrap_or(open));
    let is_open = value.starts_with('[') != value.ends_with(']');
    let continuation = field.continuation.iter().map(|line| line.strip_prefix('-').unwrap_or(line));
    let is_list = field.continuation.iter().all(|line| line.starts_with('-'));
    if is_open || !is_list || (!value.is_empty() && !field.continuation.is_empty()) {
        let message = "`tags` must be a list, `[a, b]`, or separated by commas";
        report.error(code::INVALID_VALUE, field.at.clone(), message, None);
        return None;
    }
    let all = listed.split(',').chain(continuation).map(|tag| unquoted(tag.trim()));
    let mut tags: Vec<&str> = Vec::new();
    for tag in all.map(|tag| tag.strip_prefix('#').unwrap_or(tag)).filter(|tag| !tag.is_empty()) {
        check_label(report, field, tag);
        if !tags.contains(&tag) {
            tags.push(tag);
        }
        if tags.len() > LIST_VALUES {
            let message = format!("`tags` has more than {LIST_VALUES} values");
            report.error(code::LIMIT, field.at.clone(), message, None);
            break;
        }
    }
    (!tags.is_empty()).then(|| json!(tags))
}

/// Reads a value that must be on one line. Returns `None` if it is blank.
fn one_line<'t>(report: &mut Report<'_>, field: &RawField<'t>) -> Option<&'t str> {
    if !field.continuation.is_empty() {
        let message = format!("`{}` must be on one line", field.key);
        report.error(code::INVALID_VALUE, field.at.clone(), message, None);
    }
    Some(unquoted(field.value)).filter(|value| !value.trim().is_empty())
}

fn check_label(report: &mut Report<'_>, field: &RawField<'_>, text: &str) {
    if !label::is_label(text) {
        let message = format!("`{}` must be {}, not {}", field.key, label::EXPECTED, quoted(text));
        report.error(code::INVALID_VALUE, field.at.clone(), message, None);
    }
}

/// Removes the quotes around a text, if there are any.
fn unquoted(text: &str) -> &str {
    let within = |quote: char| text.strip_prefix(quote)?.strip_suffix(quote);
    within('"').or_else(|| within('\'')).unwrap_or(text)
}
