//! `aur report`: statistics about searches, feedback and memory.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use aurora_memory::{Memory, MemoryGrowth, MemoryPlace, unusable_note};
use aurora_project::{Latencies, SettingsTable as _, UsageGroup, UsageReport, UsageSettings};
use clap::{Args, ValueEnum};
use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde::Serialize;

use crate::context::{Failure, Outcome, Program, place};
use crate::output::{Role, json, sanitize, units};

/// Seconds per hour.
const HOUR: i64 = 3_600;

/// Report searches, their latencies, feedback and the growth of memory
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  aur report                                     the last 30 days of the current project
  aur report --since 7d --all-roots
  aur report --since 2026-01-01 --format json
  aur report --format html > report.html         a page without scripts or other files

Searches of the command line, `aur serve` and `aur mcp` are recorded in ~/.aurora/usage, without the
texts of queries. `enabled = false` below [usage] of ~/.aurora/config.toml turns this off.")]
pub(crate) struct ReportArgs {
    /// Start of the period: an age in hours, days or weeks, such as 12h, 30d or 4w, or a date, such as 2026-01-31
    #[arg(long, value_name = "AGE|DATE", default_value = "30d", value_parser = parse_since)]
    since: Since,

    /// Project directory [default: the nearest enclosing project]
    #[arg(long, value_name = "PATH")]
    root: Option<PathBuf>,

    /// All projects
    #[arg(long, conflicts_with = "root")]
    all_roots: bool,

    /// Output format
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = UsageFormat::Text)]
    format: UsageFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum UsageFormat {
    Text,
    Json,
    Html,
}

/// The start of a period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Since {
    /// Seconds before now.
    Age(i64),
    /// Unix seconds.
    Time(i64),
}

fn parse_since(text: &str) -> Result<Since, String> {
    if let Ok(date) = text.parse::<Date>() {
        let start = date.to_zoned(TimeZone::UTC).map_err(|error| error.to_string())?;
        return Ok(Since::Time(start.timestamp().as_second()));
    }
    let age = text.char_indices().next_back().and_then(|(at, unit)| {
        let hours = match unit {
            'h' => 1,
            'd' => 24,
            'w' => 7 * 24,
            _ => return None,
        };
        text[..at].parse::<u32>().ok().filter(|count| *count <= 36_500).map(|count| i64::from(count) * hours * HOUR)
    });
    age.map(Since::Age).ok_or_else(|| "expected an age such as 12h, 30d or 4w, or a date such as 2026-01-31".to_owned())
}

/// The output of `--format json`.
#[derive(Serialize)]
struct Report {
    #[serde(flatten)]
    usage: UsageReport,
    /// Whether searches are being recorded.
    recording: bool,
    /// The growth of the memories by owner.
    memory: BTreeMap<&'static str, MemoryGrowth>,
}

/// Prints the report.
pub(crate) fn run(args: &ReportArgs, program: &Program) -> Outcome {
    let settings = UsageSettings::load().map_err(|found| Failure::findings("the configuration", &found))?;
    let now = aurora_clock::now_seconds();
    let since = match args.since {
        Since::Age(age) => now - age,
        Since::Time(time) => time,
    };
    let root = if args.all_roots { None } else { Some(place::for_search(args.root.as_deref())?) };
    let usage = UsageReport::load(&settings, root.as_deref(), since, now)
        .map_err(|error| Failure::new(format!("cannot read the record of searches: {error}")))?;
    let report = Report { usage, recording: settings.enabled, memory: memory(root.as_deref(), since, program) };
    if !report.recording {
        program.terminal.note("searches are not recorded: `enabled` is false in [usage] of the configuration");
    }
    program.terminal.write(|out| match args.format {
        UsageFormat::Json => json::write_indented(out, &report),
        UsageFormat::Text => write_text(out, &report, program),
        UsageFormat::Html => out.write_all(page(&report).as_bytes()),
    })
}

/// Returns the growth of the memories of the project and the user. A memory that cannot be read causes a warning.
fn memory(root: Option<&Path>, since: i64, program: &Program) -> BTreeMap<&'static str, MemoryGrowth> {
    let mut all = BTreeMap::new();
    for place in MemoryPlace::for_search(root) {
        let owner = place.owner().as_str();
        match Memory::open(place).and_then(|memory| memory.map(|memory| memory.growth(since)).transpose()) {
            Ok(growth) => all.extend(growth.map(|growth| (owner, growth))),
            Err(error) => program.terminal.warn(&unusable_note(&error)),
        }
    }
    all
}

/// Returns the rows of a report as pairs of a label and a text, in sections with a title.
fn sections(report: &Report) -> Vec<(&'static str, Vec<(String, String)>)> {
    let Report { usage, memory, .. } = report;
    let group = |(name, group): (&String, &UsageGroup)| (name.clone(), describe(group));
    let growth = |(owner, growth): (&&str, &MemoryGrowth)| {
        let MemoryGrowth { entries, bytes, added, added_bytes, removed } = growth;
        let removed = if *removed > 0 { format!(", {} removed", units::count(*removed)) } else { String::new() };
        let text = format!(
            "{} ({}); {} added ({}){removed}",
            units::counted(*entries, "entry"),
            units::bytes(*bytes),
            units::count(*added),
            units::bytes(*added_bytes),
        );
        ((*owner).to_owned(), text)
    };
    let mut sections = vec![
        ("Searches", vec![("all".to_owned(), describe(&usage.all))]),
        ("By interface", usage.by_interface.iter().map(group).collect()),
        ("By mode", usage.by_mode.iter().map(group).collect()),
        (
            "Feedback",
            vec![
                ("good".to_owned(), units::count(usage.feedback.good)),
                ("bad".to_owned(), units::count(usage.feedback.bad)),
            ],
        ),
        ("Memory", memory.iter().map(growth).collect()),
        (
            "Queries without a close result",
            usage
                .queries_without_close_result
                .iter()
                .map(|(query, count)| (units::count(*count), query.clone()))
                .collect(),
        ),
    ];
    sections.retain(|(_, rows): &(_, Vec<_>)| !rows.is_empty());
    sections
}

fn describe(group: &UsageGroup) -> String {
    let Some(Latencies { p50, p95, p99, .. }) = group.latency_ms else { return "none".to_owned() };
    let share = group.share_without_close_result.unwrap_or_default() * 100.0;
    format!(
        "{}, p50 {p50:.1} ms, p95 {p95:.1} ms, p99 {p99:.1} ms, {share:.1} % without a close result",
        units::count(group.searches)
    )
}

fn heading(report: &Report) -> String {
    let UsageReport { since, until, root, .. } = &report.usage;
    format!("{}: {since} to {until}", root.as_deref().unwrap_or("All projects"))
}

/// Returns a remark if records of the beginning of the period may have been dropped.
fn coverage(report: &Report) -> Option<String> {
    let oldest = report.usage.recorded_since.as_ref()?;
    (*oldest > report.usage.since).then(|| format!("The oldest record is from {oldest}."))
}

fn write_text(out: &mut impl Write, report: &Report, program: &Program) -> io::Result<()> {
    let paint = program.terminal.out;
    writeln!(out, "{}", paint.paint(Role::Heading, &sanitize::line(&heading(report))))?;
    for (title, rows) in sections(report) {
        writeln!(out, "{title}")?;
        for (label, text) in rows {
            writeln!(out, "  {:9} {}", sanitize::line(&label), sanitize::line(&text))?;
        }
    }
    if let Some(remark) = coverage(report) {
        writeln!(out, "{}", paint.paint(Role::Faint, &remark))?;
    }
    Ok(())
}

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;max-width:60em;margin:2em auto;padding:0 1em}\
table{border-collapse:collapse}td,th{padding:.15em 1em .15em 0;text-align:left;vertical-align:top}\
.bar{background:#4a7dbd;height:.8em;display:inline-block}.faint{color:#777}";

/// Returns the report as a page that needs no other files and contains no scripts.
fn page(report: &Report) -> String {
    let title = sanitize::html(&heading(report));
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\">\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\
         <title>{title}</title><style>{STYLE}</style></head>\n<body>\n<h1>{title}</h1>\n"
    );
    for (title, rows) in sections(report) {
        let _ = write!(page, "<h2>{title}</h2>\n<table>\n");
        for (label, text) in rows {
            let _ = writeln!(page, "<tr><th>{}</th><td>{}</td></tr>", sanitize::html(&label), sanitize::html(&text));
        }
        page.push_str("</table>\n");
    }
    let days = &report.usage.days;
    if !days.is_empty() {
        let most = days.iter().map(|day| day.searches.searches).max().unwrap_or(0).max(1);
        page.push_str(
            "<h2>Days</h2>\n<table>\n<tr><th>date</th><th>searches</th><th></th><th>p95</th><th>without a close result</th><th>good</th><th>bad</th></tr>\n",
        );
        for day in days {
            let UsageGroup { searches, latency_ms, without_close_result, .. } = &day.searches;
            let p95 = latency_ms.map_or_else(String::new, |latency| format!("{:.1} ms", latency.p95));
            let _ = writeln!(
                page,
                "<tr><td>{}</td><td>{searches}</td><td><span class=\"bar\" style=\"width:{}px\"></span></td><td>{p95}</td><td>{without_close_result}</td><td>{}</td><td>{}</td></tr>",
                sanitize::html(&day.date),
                searches * 200 / most,
                day.feedback.good,
                day.feedback.bad
            );
        }
        page.push_str("</table>\n");
    }
    if let Some(remark) = coverage(report) {
        let _ = writeln!(page, "<p class=\"faint\">{}</p>", sanitize::html(&remark));
    }
    page.push_str("</body>\n</html>\n");
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn periods_begin_at_an_age_or_a_date() {
        assert_eq!(parse_since("12h"), Ok(Since::Age(12 * HOUR)));
        assert_eq!(parse_since("30d"), Ok(Since::Age(30 * 24 * HOUR)));
        assert_eq!(parse_since("4w"), Ok(Since::Age(28 * 24 * HOUR)));
        assert_eq!(parse_since("1970-01-02"), Ok(Since::Time(24 * HOUR)));
        for wrong in ["", "d", "-1d", "30", "30x", "1970-13-01", "99999999999d", "3é"] {
            assert!(parse_since(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn texts_of_queries_do_not_become_markup() {
        let usage = UsageReport {
            queries_without_close_result: vec![("<script>alert('x')</script> & \"y\"\u{1b}".to_owned(), 1)],
            ..UsageReport::default()
        };
        let page = page(&Report { usage, recording: true, memory: BTreeMap::new() });
        assert!(page.contains("&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt; &amp; &quot;y&quot;␛"), "{page}");
        assert!(!page.contains("<script"));
    }
}
