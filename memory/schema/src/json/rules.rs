//! Checks rules between fields, and retention rules.

use jsonc_parser::ast::{Object, Value};

use super::place::span;
use crate::blank::is_blank;
use crate::code;
use crate::kind::Kind;
use crate::report::Report;

/// Reports entries without a name or content, lines in the wrong order, and retention rules that `check_rule` rejects.
pub(super) fn check(
    report: &mut Report<'_>,
    kind: Kind,
    root: &Object<'_>,
    check_rule: &dyn Fn(&str, &str) -> Result<(), String>,
) {
    let is_named = root.get("id").is_some();
    match (kind, root.get_object("content")) {
        (Kind::Reasoning, Some(content)) if !is_named && content.get("pattern").is_none() => {
            missing(report, root, "`id` and `content.pattern` are both missing; one of them must name the entry");
        }
        (Kind::Knowledge, Some(content)) if lacks_knowledge(content) => {
            let problem = "`content` must have a `topic`, a `summary`, or at least one of the `facts`";
            missing(report, content, problem);
        }
        (Kind::Code, content) => {
            let is_absent = root.get("content").is_none();
            let lacks_file = content.map_or(is_absent, |content| content.get("file").is_none());
            if !is_named && lacks_file {
                missing(report, root, "`id` and `content.file` are both missing; one of them must name the entry");
            }
            if let Some(content) = content {
                check_line_order(report, content);
            }
        }
        _ => {}
    }
    if let Some(rules) = root.get_object("governance").and_then(|governance| governance.get_array("retention_rules")) {
        for (index, rule) in rules.elements.iter().enumerate() {
            retention_rule(report, index, rule, check_rule);
        }
    }
}

fn missing(report: &mut Report<'_>, object: &Object<'_>, problem: &str) {
    let start = object.range.start;
    report.error(code::MISSING_FIELD, start..start + 1, problem, None);
}

fn lacks_knowledge(content: &Object<'_>) -> bool {
    let has_facts = match content.get("facts").map(|facts| &facts.value) {
        Some(Value::Array(facts)) => !facts.elements.is_empty(),
        // A wrong type is reported elsewhere.
        Some(_) => true,
        None => false,
    };
    !has_facts && content.get("topic").is_none() && content.get("summary").is_none()
}

fn check_line_order(report: &mut Report<'_>, content: &Object<'_>) {
    let (Some(start), Some(end)) = (content.get_number("line_start"), content.get_number("line_end")) else { return };
    if let (Ok(first), Ok(last)) = (start.value.parse::<u32>(), end.value.parse::<u32>())
        && first > last
    {
        let problem = format!("`content.line_end` is {last}, less than `content.line_start`, which is {first}");
        report.error(code::INVALID_VALUE, span(end.range), problem, None);
    }
}

fn retention_rule(
    report: &mut Report<'_>,
    index: usize,
    rule: &Value<'_>,
    check_rule: &dyn Fn(&str, &str) -> Result<(), String>,
) {
    let Value::Object(rule) = rule else { return };
    let text = |name| rule.get_string(name).filter(|text| !is_blank(&text.value));
    let (Some(condition), Some(action)) = (text("if"), text("then")) else { return };
    if let Err(problem) = check_rule(&condition.value, &action.value) {
        report.error(
            code::RETENTION_RULE,
            span(condition.range),
            format!("`governance.retention_rules[{index}]`: {problem}"),
            None,
        );
    }
}
