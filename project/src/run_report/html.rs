//! The report as a page without scripts and without other files.

use std::fmt::Write as _;
use std::time::Duration;

use super::escape::html;
use super::report::{IndexReport, ReportStatus};
use super::{chart, timeline};
use crate::units;

/// The only style of the page. The policy of the page contains its hash.
const STYLE: &str = include_str!("page.css");
/// SHA-256 of [`STYLE`] in Base64.
const STYLE_HASH: &str = "mWoH6eLVTgZ7xXcrp5mjVN/lQfoUwVg7RuGPTQXCP9Q=";

/// Maximum number of changed values that are shown before the rest is folded.
const MAX_LISTED: usize = 50;

/// Headings of columns with numbers.
const FIGURES: [&str; 11] = [
    "Before",
    "Now",
    "Difference",
    "Workers",
    "At work",
    "Starved",
    "Blocked",
    "Took",
    "Files",
    "Chunks",
    "Index size",
];

/// Formats a report.
pub(super) fn page(report: &IndexReport) -> String {
    let title = report.title();
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'sha256-{STYLE_HASH}'; \
         base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
    );
    push_head(&mut out, report);
    push_checks(&mut out, report);
    push_changes(&mut out, report);
    push_timeline(&mut out, report);
    push_trend(&mut out, report);
    push_skipped(&mut out, report);
    push_messages(&mut out, "Errors", &report.errors);
    push_messages(&mut out, "Warnings", &report.warnings);
    out.push_str("</body>\n</html>\n");
    out
}

fn push_head(out: &mut String, report: &IndexReport) {
    let run = &report.run;
    let class = if report.status == ReportStatus::Good { "good" } else { "bad" };
    let _ = writeln!(out, "<header class=\"{class}\">\n<h1>{}</h1>\n<p>{}</p>", report.title(), text(&report.root));
    if let Some(error) = &report.error {
        let _ = writeln!(out, "<p class=\"violation\">{}</p>", text(error));
    }
    let violations: Vec<&str> = report.violations().collect();
    if !violations.is_empty() {
        out.push_str("<ul>\n");
        violations
            .iter()
            .for_each(|violation| out.push_str(&format!("<li class=\"violation\">{}</li>\n", text(violation))));
        out.push_str("</ul>\n");
    }
    out.push_str("<dl>\n");
    let mut figures = vec![
        ("Ended", crate::stamp(run.ended)),
        ("Took", units::duration(Duration::from_millis(run.elapsed_ms))),
        ("Commit", run.commit.clone().unwrap_or_default()),
    ];
    if report.error.is_none() {
        figures.extend([
            ("Generation", units::count(run.generation)),
            ("Files in the index", units::count(run.files)),
            ("Chunks", units::count(run.chunks)),
            ("Index size", units::bytes(run.index_bytes)),
            ("Files indexed", units::count(run.indexed)),
            ("Unchanged", units::count(run.unchanged)),
            ("Removed", units::count(run.deleted)),
            ("Skipped", units::count(run.skipped)),
            ("Secrets masked", units::count(run.secrets)),
            ("Processor time", run.cpu_seconds.map_or_else(String::new, |seconds| format!("{seconds:.1} s"))),
            ("Peak memory", run.peak_memory_bytes.map_or_else(String::new, units::bytes)),
        ]);
    }
    for (name, value) in figures.iter().filter(|(_, value)| !value.is_empty()) {
        let _ = writeln!(out, "<div><dt>{name}</dt><dd>{}</dd></div>", html(value));
    }
    out.push_str("</dl>\n</header>\n");
}

fn push_checks(out: &mut String, report: &IndexReport) {
    if report.checks.is_empty() {
        return;
    }
    out.push_str("<h2>Requirements</h2>\n");
    let rows = report.checks.iter().map(|check| {
        let (class, result) = match (&check.violation, &check.measured) {
            (Some(_), _) => ("bad", "violated"),
            (None, None) => ("faint", "not measured"),
            (None, Some(_)) => ("good", "met"),
        };
        let measured = check.measured.as_deref().map_or_else(String::new, text);
        format!(
            "<tr><th scope=\"row\">{}</th><td>{}</td><td>{measured}</td><td class=\"{class}\">{result}</td></tr>",
            text(&check.name),
            text(&check.required)
        )
    });
    push_table(out, &["Requirement", "Required", "Measured", "Result"], rows);
}

fn push_changes(out: &mut String, report: &IndexReport) {
    let Some(previous) = report.previous else { return };
    let _ = writeln!(out, "<h2>Changes since the run of {}</h2>", crate::stamp(previous));
    let row = |change: &super::changes::Change| {
        format!(
            "<tr><th scope=\"row\">{}</th><td class=\"figure\">{}</td><td class=\"figure\">{}</td><td class=\"figure\">{}</td></tr>",
            text(&change.name),
            html(&change.before_text()),
            html(&change.now_text()),
            html(&change.difference())
        )
    };
    let head = ["", "Before", "Now", "Difference"];
    let (changed, same): (Vec<_>, Vec<_>) = report.changes.iter().partition(|change| change.before != change.now);
    let (shown, more) = changed.split_at(changed.len().min(MAX_LISTED));
    push_table(out, &head, shown.iter().map(|change| row(change)));
    let rest = || more.iter().chain(&same);
    if rest().next().is_some() {
        let _ = writeln!(out, "<details><summary>{} more values, most unchanged</summary>", rest().count());
        push_table(out, &head, rest().map(|change| row(change)));
        out.push_str("</details>\n");
    }
}

fn push_timeline(out: &mut String, report: &IndexReport) {
    if report.run.stages.is_empty() {
        return;
    }
    out.push_str("<h2>Timeline</h2>\n<div class=\"wide\">\n");
    out.push_str(&timeline::svg(&report.run));
    out.push_str(
        "</div>\n<p class=\"faint\"><span class=\"key busy\"></span> at work <span class=\"key starved\"></span> waiting for \
         input <span class=\"key blocked\"></span> waiting to send, or for memory. A bar extends from the first to the last \
         work of a stage; its colours are shares of the time of its workers.</p>\n",
    );
    let rows = report.run.stages.iter().map(|stage| {
        let ms = |value: f64| units::duration(Duration::from_secs_f64((value / 1e3).max(0.0)));
        let figures = [
            stage.workers.to_string(),
            ms(stage.busy_ms),
            ms(stage.starved_ms),
            ms(stage.blocked_ms),
            units::count(stage.files),
            units::count(stage.chunks),
        ];
        let cells: String = figures.iter().map(|figure| format!("<td class=\"figure\">{figure}</td>")).collect();
        format!("<tr><th scope=\"row\">{}</th>{cells}</tr>", text(&stage.name))
    });
    out.push_str("<details><summary>Stages as a table</summary>\n");
    push_table(out, &["Stage", "Workers", "At work", "Starved", "Blocked", "Files", "Chunks"], rows);
    out.push_str("</details>\n");
}

fn push_trend(out: &mut String, report: &IndexReport) {
    if report.trend.len() < 2 {
        return;
    }
    let _ = writeln!(out, "<h2>The last {} runs</h2>\n<div class=\"charts\">", report.trend.len());
    for series in chart::series(&report.trend) {
        out.push_str(&chart::figure(&series, &report.trend));
    }
    out.push_str("</div>\n<p class=\"faint\">Large dots are runs that were not good.</p>\n");
    out.push_str("<details><summary>Runs as a table</summary>\n");
    let rows = report.trend.iter().rev().map(|run| {
        let result = match (&run.error, run.good) {
            (Some(_), _) => "failed",
            (None, _) if !run.completed => "stopped",
            (None, Some(true)) => "good",
            (None, Some(false)) => "violations",
            (None, None) => "unknown",
        };
        let reasons: Vec<String> = run.error.iter().chain(&run.violations).map(|reason| text(reason)).collect();
        let figures = match run.error {
            Some(_) => ["–", "–", "–"].map(str::to_owned),
            None => [units::count(run.files), units::count(run.chunks), units::bytes(run.index_bytes)],
        };
        let cells: String = figures.iter().map(|figure| format!("<td class=\"figure\">{figure}</td>")).collect();
        let class = if run.is_good() { "good" } else { "bad" };
        let commit: String = run.commit.iter().flat_map(|commit| commit.chars()).take(12).collect();
        format!(
            "<tr><th scope=\"row\">{}</th><td>{}</td><td class=\"figure\">{}</td>{cells}<td class=\"{class}\">{result}</td><td>{}</td></tr>",
            crate::stamp(run.ended),
            html(&commit),
            units::duration(Duration::from_millis(run.elapsed_ms)),
            reasons.join("; ")
        )
    });
    push_table(out, &["Ended", "Commit", "Took", "Files", "Chunks", "Index size", "Result", ""], rows);
    out.push_str("</details>\n");
}

fn push_skipped(out: &mut String, report: &IndexReport) {
    if report.skipped.is_empty() {
        return;
    }
    out.push_str("<h2>Skipped files</h2>\n");
    let rows = report.skipped.iter().map(|skipped| {
        let examples: Vec<String> = skipped.examples.iter().map(|path| text(path)).collect();
        format!(
            "<tr><th scope=\"row\">{}</th><td class=\"figure\">{}</td><td>{}</td></tr>",
            text(&skipped.reason),
            units::count(skipped.count),
            examples.join(", ")
        )
    });
    push_table(out, &["Reason", "Files", "Examples"], rows);
}

fn push_messages(out: &mut String, title: &str, messages: &[String]) {
    if messages.is_empty() {
        return;
    }
    let _ = writeln!(out, "<h2>{title}</h2>\n<ul>");
    messages.iter().for_each(|message| out.push_str(&format!("<li>{}</li>\n", text(message))));
    out.push_str("</ul>\n");
}

fn push_table(out: &mut String, head: &[&str], rows: impl Iterator<Item = String>) {
    let cell = |name: &&str| match FIGURES.contains(name) {
        true => format!("<th scope=\"col\" class=\"figure\">{name}</th>"),
        false => format!("<th scope=\"col\">{name}</th>"),
    };
    let head: String = head.iter().map(cell).collect();
    let _ = writeln!(out, "<div class=\"wide\"><table><thead><tr>{head}</tr></thead><tbody>");
    rows.for_each(|row| {
        out.push_str(&row);
        out.push('\n');
    });
    out.push_str("</tbody></table></div>\n");
}

/// Escapes a text, and isolates its direction from the text around it.
fn text(text: &str) -> String {
    format!("<bdi>{}</bdi>", html(text))
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use sha2::Digest as _;

    use super::*;

    #[test]
    fn the_policy_has_the_hash_of_the_style() {
        let hash = base64::engine::general_purpose::STANDARD.encode(sha2::Sha256::digest(STYLE));
        assert_eq!(STYLE_HASH, hash);
    }
}
