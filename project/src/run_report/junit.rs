//! The report as JUnit XML: a test case for the run, and one for each requirement.

use std::collections::HashMap;
use std::io;

use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};

use super::check::Check;
use super::escape::plain;
use super::report::{IndexReport, ReportStatus};

/// Name of the suite, and class of its test cases.
const SUITE: &str = "aur mem index";
const CLASS: &str = "aurora.index";

/// Formats a report.
///
/// # Errors
/// Returns an error only if writing to memory fails, which does not happen.
pub(super) fn text(report: &IndexReport) -> io::Result<String> {
    let mut writer = Writer::new_with_indent(Vec::new(), b' ', 2);
    writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let count = |is_counted: fn(&Check) -> bool| report.checks.iter().filter(|check| is_counted(check)).count();
    let failures = count(|check| check.violation.is_some()).to_string();
    let skipped = count(|check| check.measured.is_none()).to_string();
    let has_error = report.status == ReportStatus::Failed || report.error.is_some();
    let (tests, errors) = ((report.checks.len() + 1).to_string(), u8::from(has_error).to_string());
    let time = seconds(report);
    let ended = crate::stamp(report.run.ended);
    let timestamp = ended.trim_end_matches('Z');
    let numbers = [
        ("name", SUITE),
        ("tests", &tests),
        ("failures", &failures),
        ("errors", &errors),
        ("skipped", &skipped),
        ("time", &time),
    ];
    writer.create_element("testsuites").with_attributes(numbers).write_inner_content(|writer| {
        let suite = writer.create_element("testsuite").with_attributes(numbers);
        suite.with_attribute(("timestamp", timestamp)).write_inner_content(|writer| write_suite(writer, report))?;
        Ok(())
    })?;
    let mut bytes = writer.into_inner();
    bytes.push(b'\n');
    String::from_utf8(bytes).map_err(io::Error::other)
}

fn seconds(report: &IndexReport) -> String {
    format!("{:.3}", report.run.elapsed_ms as f64 / 1e3)
}

fn write_suite(writer: &mut Writer<Vec<u8>>, report: &IndexReport) -> io::Result<()> {
    writer.create_element("properties").write_inner_content(|writer| {
        let commit = report.run.commit.as_deref().unwrap_or_default();
        for (name, value) in [("root", report.root.as_str()), ("commit", commit)] {
            let property = writer.create_element("property").with_attribute(("name", name));
            property.with_attribute(("value", plain(value).as_str())).write_empty()?;
        }
        Ok(())
    })?;
    let case = |writer: &mut Writer<Vec<u8>>, name: &str, time: &str, result: Option<(&str, &str)>| {
        let attributes = [("classname", CLASS), ("name", name), ("time", time)];
        let element = writer.create_element("testcase").with_attributes(attributes);
        match result {
            None => element.write_empty().map(drop),
            Some(("skipped", _)) => {
                element.write_inner_content(|writer| writer.create_element("skipped").write_empty().map(drop)).map(drop)
            }
            Some((kind, message)) => element
                .write_inner_content(|writer| {
                    let result = writer.create_element(kind).with_attribute(("message", message));
                    result.with_attribute(("type", "violation")).write_text_content(BytesText::new(message))?;
                    Ok(())
                })
                .map(drop),
        }
    };
    let error = report.error.as_deref().map(plain);
    case(writer, "run", &seconds(report), error.as_deref().map(|error| ("error", error)))?;
    let mut names: HashMap<&str, u32> = HashMap::new();
    for check in &report.checks {
        let number = names.entry(&check.name).or_default();
        *number += 1;
        // Readers of the format merge test cases with the same name.
        let name = if *number > 1 { format!("{} ({number})", check.name) } else { check.name.clone() };
        let violation = check.violation.as_deref().map(plain);
        let result = match (&violation, &check.measured) {
            (Some(violation), _) => Some(("failure", violation.as_str())),
            (None, None) => Some(("skipped", "")),
            (None, Some(_)) => None,
        };
        case(writer, &plain(&name), "0", result)?;
    }
    let skipped = report.skipped.iter().map(|skipped| {
        let examples = skipped.examples.join(", ");
        format!("skipped: {} {} ({examples})", skipped.count, skipped.reason)
    });
    let out: Vec<String> = skipped.map(|line| plain(&line)).collect();
    writer.create_element("system-out").write_text_content(BytesText::new(&out.join("\n")))?;
    let messages = report.errors.iter().map(|text| format!("error: {text}"));
    let messages = messages.chain(report.warnings.iter().map(|text| format!("warning: {text}")));
    let messages: Vec<String> = messages.map(|line| plain(&line)).collect();
    writer.create_element("system-err").write_text_content(BytesText::new(&messages.join("\n")))?;
    Ok(())
}
