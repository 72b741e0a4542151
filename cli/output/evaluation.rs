//! Prints the results of an evaluation and of tuning as tables, and defines the JSON output of an evaluation.

use std::io::{self, Write};

use aurora_evaluation::interval::Estimate;
use aurora_evaluation::metrics::Metric;
use aurora_evaluation::report::{Difference, Miss, MissedFloor, SetReport};
use aurora_evaluation::tune::{Comparison, TuneReport};
use serde::Serialize;

use crate::output::{Painter, Role, sanitize, units, width};

/// Metrics whose differences are shown. JSON contains all metrics.
const COMPARED: [Metric; 3] = [Metric::Ndcg, Metric::Mrr, Metric::Recall10];

/// The results of an evaluation.
#[derive(Serialize)]
pub(crate) struct Evaluation {
    /// Metrics of each set of questions.
    pub(crate) sets: Vec<SetReport>,
    /// Results of the same questions with another configuration or index.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) against: Option<Against>,
    /// Number of questions without an answer in the first ten results.
    pub(crate) missing: usize,
    /// Questions without an answer in the first ten results, as many as the user asked to list.
    pub(crate) misses: Vec<Miss>,
    /// Minimum values of metrics that were not reached.
    pub(crate) missed_floors: Vec<MissedFloor>,
}

/// The results with another configuration or index.
#[derive(Serialize)]
pub(crate) struct Against {
    /// Name of the configuration or index.
    pub(crate) what: String,
    /// Metrics of each set of questions.
    pub(crate) sets: Vec<SetReport>,
    /// Differences of the metrics: this evaluation minus the other evaluation.
    pub(crate) differences: Vec<Difference>,
}

/// Writes an evaluation as text.
pub(crate) fn write(out: &mut impl Write, evaluation: &Evaluation, paint: Painter) -> io::Result<()> {
    write_sets(out, &evaluation.sets, paint)?;
    if let Some(against) = &evaluation.against {
        write_differences(out, against, paint)?;
    }
    write_misses(out, evaluation, paint)
}

fn write_sets(out: &mut impl Write, sets: &[SetReport], paint: Painter) -> io::Result<()> {
    let metrics: Vec<Metric> =
        Metric::ALL.into_iter().filter(|metric| sets.iter().any(|set| set.value(*metric).is_some())).collect();
    let widest = name_columns(sets.iter().map(|set| set.set.as_str()));
    let mut heading = format!("{}  {:>5}", width::pad("Set", widest), "n");
    for metric in &metrics {
        heading.push_str(&format!("  {:>7}", metric.title()));
    }
    heading.push_str(&format!("  {:>7}  {:>7}", "p50 ms", "p99 ms"));
    writeln!(out, "{}", paint.paint(Role::Heading, &heading))?;
    for set in sets {
        let mut row =
            format!("{}  {:>5}", width::pad(&sanitize::line(&set.set), widest), units::count(set.questions as u64));
        let mut margins = format!("{}  {:>5}", width::pad("", widest), "±");
        for metric in &metrics {
            let wide = width::measure(metric.title()).max(7);
            let estimate = set.value(*metric);
            row.push_str(&format!("  {:>wide$}", estimate.map_or("-".to_owned(), |e| format!("{:.3}", e.mean))));
            margins.push_str(&format!("  {:>wide$}", estimate.map_or("-".to_owned(), |e| margin(&e))));
        }
        row.push_str(&format!("  {:>7.2}  {:>7.2}", set.p50_ms, set.p99_ms));
        writeln!(out, "{row}\n{}", paint.paint(Role::Faint, &margins))?;
    }
    for set in sets.iter().filter(|set| set.refused > 0) {
        let questions = units::counted(set.refused as u64, "question");
        writeln!(out, "{}: {questions} could not be searched and count as missed", sanitize::line(&set.set))?;
    }
    Ok(())
}

fn margin(estimate: &Estimate) -> String {
    match estimate.margin() {
        margin if margin.is_finite() => format!("{margin:.3}"),
        _ => "?".to_owned(),
    }
}

fn write_differences(out: &mut impl Write, against: &Against, paint: Painter) -> io::Result<()> {
    let shown: Vec<&Difference> =
        against.differences.iter().filter(|difference| COMPARED.contains(&difference.metric)).collect();
    let widest = name_columns(shown.iter().map(|difference| difference.set.as_str()));
    writeln!(out, "\nAgainst {}: paired differences with 95 % intervals", sanitize::line(&against.what))?;
    let columns = "Metric     other    this  difference                  better   worse";
    let heading = format!("{}  {columns}", width::pad("Set", widest));
    writeln!(out, "{}", paint.paint(Role::Heading, &heading))?;
    for row in shown {
        let Difference { set, metric, other, difference, better, worse, .. } = row;
        let (set, this) = (width::pad(&sanitize::line(set), widest), other + difference.mean);
        let difference = paint.paint(role(difference), &format!("{:<26}", interval(difference, 3)));
        writeln!(out, "{set}  {metric:<8}  {other:>6.3}  {this:>6.3}  {difference}  {better:>6}  {worse:>6}")?;
    }
    Ok(())
}

/// Formats an estimate with its interval, such as `+0.012 [-0.003, +0.027]`.
fn interval(estimate: &Estimate, decimals: usize) -> String {
    let Estimate { mean, low, high } = estimate;
    format!("{mean:+.decimals$} [{low:+.decimals$}, {high:+.decimals$}]")
}

/// Returns the style of a difference. Only significant differences are coloured.
fn role(difference: &Estimate) -> Role {
    match difference {
        Estimate { low, .. } if *low > 0.0 => Role::Good,
        Estimate { high, .. } if *high < 0.0 => Role::Warning,
        _ => Role::Faint,
    }
}

fn write_misses(out: &mut impl Write, evaluation: &Evaluation, paint: Painter) -> io::Result<()> {
    if evaluation.misses.is_empty() {
        return Ok(());
    }
    let questions = units::counted(evaluation.missing as u64, "question");
    writeln!(out, "\n{questions} without an answer in the first ten, {} shown:", evaluation.misses.len())?;
    for miss in &evaluation.misses {
        writeln!(out, "{}", paint.paint(Role::Heading, &sanitize::line(&miss.query)))?;
        let place = miss.place.map_or_else(String::new, |place| format!("  (at rank {place})"));
        writeln!(out, "  wanted  {}{place}", sanitize::line(&miss.wanted))?;
        writeln!(out, "  first   {}", sanitize::line(miss.top.as_deref().unwrap_or("nothing")))?;
    }
    Ok(())
}

/// Writes the results of tuning as text.
pub(crate) fn write_tuning(out: &mut impl Write, report: &TuneReport, paint: Painter) -> io::Result<()> {
    let searches = units::count(report.searches);
    writeln!(out, "{}, with equal weight per set and 95 % intervals; {searches} searches", report.metric)?;
    let mut rows: Vec<(String, &Comparison)> = vec![("cross-validated".to_owned(), &report.cross_validated)];
    rows.extend(report.sets.iter().map(|set| (format!("  {}", sanitize::line(&set.set)), &set.comparison)));
    if let Some(held_out) = &report.held_out {
        rows.push(("held out".to_owned(), held_out));
    }
    rows.push(("learned from".to_owned(), &report.trained));
    let widest = name_columns(rows.iter().map(|(name, _)| name.as_str()));
    let heading = format!("{}  {:>5}  {:>7}  {:>7}  difference", width::pad("", widest), "n", "before", "after");
    writeln!(out, "{}", paint.paint(Role::Heading, &heading))?;
    for (name, row) in rows {
        let Comparison { questions, before, after, difference, .. } = row;
        let (name, role) = (width::pad(&name, widest), role(difference));
        let difference = paint.paint(role, &interval(difference, 4));
        writeln!(out, "{name}  {questions:>5}  {before:>7.4}  {after:>7.4}  {difference}")?;
    }
    if report.changes.is_empty() {
        return Ok(());
    }
    let widest = name_columns(report.changes.iter().map(|change| change.key));
    let heading = format!("\n{}  {:>8}  {:>8}  folds that agree", width::pad("Changed", widest), "before", "after");
    writeln!(out, "{}", paint.paint(Role::Heading, &heading))?;
    for change in &report.changes {
        let key = width::pad(change.key, widest);
        let agree = format!("{} of {}", change.folds_agree, report.folds);
        writeln!(out, "{key}  {:>8}  {:>8}  {agree}", change.before, change.after)?;
    }
    Ok(())
}

/// Returns the width of a column of names.
fn name_columns<'n>(names: impl Iterator<Item = &'n str>) -> usize {
    names.map(|name| width::measure(&sanitize::line(name))).max().unwrap_or(0).max(3)
}
