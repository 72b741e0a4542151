//! The summary of an index run, as text.

use std::time::Duration;

use aurora_pipeline::{Outcome, RunReport, StageReport};
use aurora_stages::index::{FileCounts, IndexSummary};

use crate::output::{Painter, Role, sanitize, units, width};

/// Maximum number of listed messages of one kind. `--format json` contains all messages.
const MAX_LISTED: usize = 10;
/// Maximum number of example files for a skip reason.
const MAX_EXAMPLES: usize = 3;

pub(crate) fn render(summary: &IndexSummary, paint: Painter) -> String {
    let mut out = String::new();
    let elapsed = Duration::from_millis(summary.elapsed_ms);
    if let Some(sibling) = &summary.adopted {
        out.push_str(&format!("Started from the index of {}\n", sanitize::line(sibling)));
    }
    if summary.nothing_changed {
        let (files, time) = (units::counted(summary.files.unchanged, "file"), units::duration(elapsed));
        out.push_str(&format!("Nothing changed: {files} checked in {time}, no chunks changed\n"));
        push_skipped(&mut out, "Files skipped", &summary.files);
        push_compaction(&mut out, summary);
        push_messages(&mut out, summary, paint);
        return out;
    }
    let (done, role) = match (summary.complete, summary.unreadable.entries) {
        (true, _) => ("Indexing complete!", Role::Good),
        (false, 0) if summary.report.outcome == Outcome::Completed => {
            ("Indexing complete, but custom stages have no result for some rows.", Role::Warning)
        }
        (false, 0) if summary.published => ("Indexing stopped early; finished work is kept.", Role::Warning),
        (false, 0) => ("Indexing stopped early; the index is unchanged.", Role::Warning),
        (false, _) => ("Indexing is incomplete: not everything could be read.", Role::Warning),
    };
    out.push_str(&format!("{}\n\n{}\n", paint.paint(role, done), paint.paint(Role::Heading, "Summary:")));
    push_counts(&mut out, summary);
    push_skipped(&mut out, "  skipped", &summary.files);
    if summary.secrets.count > 0 {
        push_figure(&mut out, "Secrets masked", summary.secrets.count);
        push_figure(&mut out, "  in files", summary.secrets.files);
    }
    push_chunks(&mut out, summary);
    out.push('\n');
    push_indexes(&mut out, summary);
    push_compaction(&mut out, summary);
    push_columns(&mut out, summary);
    push_stages(&mut out, &summary.report, paint);
    push_performance(&mut out, summary, elapsed);
    push_messages(&mut out, summary, paint);
    out
}

/// Adds the line about the compaction at the end of a run.
fn push_compaction(out: &mut String, summary: &IndexSummary) {
    if let Some(done) = &summary.compacted {
        let (before, after) = (units::bytes(done.before), units::bytes(done.after));
        out.push_str(&format!(
            "Compacted, because more than half of the index was free: {before} before, {after} now\n"
        ));
    }
}

fn push_counts(out: &mut String, summary: &IndexSummary) {
    let files = &summary.files;
    push_figure(out, "Files scanned", files.scanned);
    for (label, count) in [
        ("indexed", files.indexed),
        ("unchanged", files.unchanged),
        ("refreshed", files.refreshed),
        ("renamed", files.renamed),
        ("generated", files.generated),
        ("deleted", files.deleted),
        ("kept, unreadable", summary.unreadable.kept_files),
    ] {
        if count > 0 || label == "indexed" {
            push_figure(out, &format!("  {label}"), count);
        }
    }
}

fn push_skipped(out: &mut String, label: &str, files: &FileCounts) {
    let total: u64 = files.skipped.values().map(|skipped| skipped.count).sum();
    if total == 0 {
        return;
    }
    push_figure(out, label, total);
    let mut reasons: Vec<_> = files.skipped.iter().collect();
    reasons.sort_by(|a, b| b.1.count.cmp(&a.1.count).then_with(|| a.0.cmp(b.0)));
    for (reason, skipped) in reasons {
        let examples = skipped.examples.iter().take(MAX_EXAMPLES);
        let examples: Vec<String> = examples.map(|path| width::elide_path(&sanitize::line(path), 48)).collect();
        let more = if skipped.count > examples.len() as u64 { ", …" } else { "" };
        let (count, examples) = (units::count(skipped.count), examples.join(", "));
        out.push_str(&format!("      {count:>7} {}: {examples}{more}\n", sanitize::line(reason)));
    }
}

fn push_chunks(out: &mut String, summary: &IndexSummary) {
    let chunks = &summary.chunks;
    for (label, count) in [
        ("Code chunks", chunks.code),
        ("Reasoning chunks", chunks.reasoning),
        ("Knowledge chunks", chunks.knowledge),
        ("KB chunks", chunks.kb),
        ("Document chunks", chunks.doc),
        ("Total chunks", chunks.total),
        ("  changed", summary.changed_chunks),
    ] {
        push_figure(out, label, count);
    }
}

/// Adds the columns that are incomplete or out of date.
fn push_columns(out: &mut String, summary: &IndexSummary) {
    for column in &summary.columns {
        if let Some(shortfall) = column.shortfall() {
            let (name, values) = (sanitize::line(&column.name), units::count(column.values));
            out.push_str(&format!("Column {name}: {values} values, {shortfall}\n"));
        }
    }
}

fn push_indexes(out: &mut String, summary: &IndexSummary) {
    let chunks = units::counted(summary.bm25.chunks, "chunk");
    out.push_str(&match summary.bm25.status {
        "off" => "BM25 index: off (the pipeline has no `bm25` stage)\n".to_owned(),
        status => format!("BM25 index: {} ({chunks} indexed)\n", capitalised(status)),
    });
    let embeddings = &summary.embeddings;
    out.push_str(&match &embeddings.model {
        Some(model) => format!("Embeddings: {}\n", sanitize::line(model)),
        None => "Embeddings: off (the pipeline has no `embed` stage)\n".to_owned(),
    });
    if embeddings.failed > 0 {
        let (total, failed) = (summary.changed_chunks, embeddings.failed);
        let [done, total, failed] = [total.saturating_sub(failed), total, failed].map(units::count);
        out.push_str(&format!("Embedded {done}/{total} chunks ({failed} failed; keywords still find them)\n"));
    }
}

fn push_stages(out: &mut String, report: &RunReport, paint: Painter) {
    if report.stages.is_empty() {
        return;
    }
    let heading = "Stage                Workers       Time        Files       Chunks  Starved  Blocked";
    out.push_str(&format!("\n{}\n", paint.paint(Role::Heading, heading)));
    for stage in &report.stages {
        out.push_str(&stage_line(stage));
    }
    if let Some(bottleneck) = &report.bottleneck {
        let stage = report.stages.iter().find(|stage| stage.name == *bottleneck);
        let percent = stage.map_or(0.0, |stage| stage.utilisation) * 100.0;
        let name = paint.paint(Role::Warning, &sanitize::line(bottleneck));
        out.push_str(&format!("Bottleneck: {name} (busy for {percent:.0}% of the run)\n"));
    }
}

/// Formats the row of a stage. Rates are per second of the working time of the stage, not of the run.
fn stage_line(stage: &StageReport) -> String {
    let rate = |count: u64| match count {
        0 => "-".to_owned(),
        count => units::rate(count, "", stage.busy),
    };
    let waited = |time: Duration| if time.is_zero() { "-".to_owned() } else { units::duration(time) };
    let line = format!(
        "{} {:>7} {:>10} {:>12} {:>12} {:>8} {:>8}",
        width::pad(&width::elide_middle(&sanitize::line(&stage.name), 20), 20),
        stage.workers,
        units::duration(stage.busy),
        rate(stage.files_in.max(stage.files_out)),
        rate(stage.chunks_out),
        waited(stage.input_empty),
        waited(stage.output_full + stage.memory_wait),
    );
    format!("{}\n", line.trim_end())
}

fn push_performance(out: &mut String, summary: &IndexSummary, elapsed: Duration) {
    out.push_str(&format!("\nTime: {}", units::duration(elapsed)));
    if summary.lines > 0 {
        let rate = units::rate(summary.lines, "lines", elapsed);
        out.push_str(&format!(" ({} parsed, {rate})", units::counted(summary.lines, "line")));
    }
    out.push('\n');
    if let Some(cpu) = summary.cpu_seconds {
        out.push_str(&format!("Processor time: {}", units::duration(Duration::from_secs_f64(cpu))));
        if let Some(share) = summary.serial_cpu_share {
            out.push_str(&format!(" ({:.1}% of it serial)", share * 100.0));
        }
        out.push('\n');
    }
    if let Some(peak) = summary.peak_memory_bytes {
        out.push_str(&format!("Peak memory: {}\n", units::bytes(peak)));
    }
    let source = match summary.source_bytes {
        0 => String::new(),
        bytes => format!(" for {} of source read", units::bytes(bytes)),
    };
    let (size, root) = (units::bytes(summary.index_bytes), sanitize::line(&summary.root));
    out.push_str(&format!("Index: {size}{source}, generation {}, in {root}\n", summary.generation));
}

fn push_messages(out: &mut String, summary: &IndexSummary, paint: Painter) {
    for (label, role, messages) in
        [("Errors", Role::Error, &summary.errors), ("Warnings", Role::Warning, &summary.warnings)]
    {
        let count = units::count(messages.len() as u64);
        if messages.is_empty() {
            out.push_str(&format!("{label}: {count}\n"));
            continue;
        }
        out.push_str(&format!("{}\n", paint.paint(role, &format!("{label}: {count}"))));
        for message in messages.iter().take(MAX_LISTED) {
            out.push_str(&format!("  - {}\n", sanitize::line(message)));
        }
        if messages.len() > MAX_LISTED {
            let hidden = (messages.len() - MAX_LISTED) as u64;
            out.push_str(&format!("  - … and {} more (all with --format json)\n", units::count(hidden)));
        }
    }
    if summary.coverage < 1.0 {
        // Round down, so that 100.0% means complete coverage.
        let percent = (summary.coverage * 1000.0).floor() / 10.0;
        let of = "of the files that should be indexed, or of the rows of a custom stage";
        out.push_str(&format!("Coverage: {percent:.1}% {of}\n"));
    }
}

fn push_figure(out: &mut String, label: &str, count: u64) {
    let label = format!("{label}:");
    out.push_str(&format!("  {label:<19} {:>11}\n", units::count(count)));
}

fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(|c| c.to_uppercase().to_string());
    first.unwrap_or_default() + chars.as_str()
}
