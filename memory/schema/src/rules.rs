//! Checks of an entry that depend on the kind or on several fields, and checks of retention rules.

use aurora_diagnostics::document::{Node, Report, Value, is_blank, quoted};

use crate::kind::Kind;
use crate::{code, id};

/// Reports an invalid id or type, a missing name or content, line numbers in descending order, and retention rules that
/// `check_rule` rejects.
pub(super) fn check(
    report: &mut Report<'_>,
    kind: Kind,
    root: &Node<'_>,
    check_rule: &dyn Fn(&str, &str) -> Result<(), String>,
) {
    let id = root.get("id");
    if let Some((node, problem)) = id.and_then(|node| Some((node, id::new_problem(kind, node.text()?)?))) {
        report.error(code::INVALID_ID, node.span.clone(), format!("`id` {}", problem.message), problem.help);
    }
    if let Some((node, name)) =
        root.get("type").and_then(|node| Some((node, node.text()?))).filter(|(_, name)| *name != kind.name())
    {
        let problem = format!("`type` must be \"{kind}\", not {}", quoted(name));
        report.error(code::INVALID_VALUE, node.span.clone(), problem, None);
    }
    let content = root.get("content");
    match (kind, content) {
        (Kind::Reasoning, Some(content)) if id.is_none() && is_object(content) && content.get("pattern").is_none() => {
            missing(report, root, "`id` and `content.pattern` are both missing; one of them must name the entry");
        }
        (Kind::Knowledge, Some(content)) if is_object(content) && lacks_knowledge(content) => {
            let problem = "`content` must have a `topic`, a `summary`, or at least one of the `facts`";
            missing(report, content, problem);
        }
        (Kind::Code, content) => {
            if id.is_none() && content.is_none_or(|content| is_object(content) && content.get("file").is_none()) {
                missing(report, root, "`id` and `content.file` are both missing; one of them must name the entry");
            }
            check_line_order(report, content);
        }
        _ => {}
    }
    let rules = root.get("governance").and_then(|governance| governance.get("retention_rules"));
    for (index, rule) in rules.into_iter().flat_map(Node::items).enumerate() {
        let text = |name| rule.get(name).and_then(|node| Some((node, node.text().filter(|text| !is_blank(text))?)));
        let (Some((node, condition)), Some((_, action))) = (text("if"), text("then")) else { continue };
        if let Err(problem) = check_rule(condition, action) {
            let message = format!("`governance.retention_rules[{index}]`: {problem}");
            report.error(code::RETENTION_RULE, node.span.clone(), message, None);
        }
    }
}

fn is_object(node: &Node<'_>) -> bool {
    matches!(node.value, Value::Table(_))
}

fn missing(report: &mut Report<'_>, object: &Node<'_>, problem: &str) {
    let start = object.span.start;
    report.error(code::MISSING_FIELD, start..start + 1, problem, None);
}

fn lacks_knowledge(content: &Node<'_>) -> bool {
    // A value of the wrong type counts as present, because the check of the fields already reports it.
    let has_facts =
        content.get("facts").is_some_and(|facts| !matches!(&facts.value, Value::List(items) if items.is_empty()));
    !has_facts && content.get("topic").is_none() && content.get("summary").is_none()
}

fn check_line_order(report: &mut Report<'_>, content: Option<&Node<'_>>) {
    let line =
        |name| content.and_then(|content| content.get(name)).and_then(|node| Some((node, node.number::<u32>()?)));
    if let (Some((_, first)), Some((node, last))) = (line("line_start"), line("line_end"))
        && first > last
    {
        let problem = format!("`content.line_end` is {last}, less than `content.line_start`, which is {first}");
        report.error(code::INVALID_VALUE, node.span.clone(), problem, None);
    }
}
