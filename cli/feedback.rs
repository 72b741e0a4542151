//! `aur mem feedback`: stores verdicts on results for later searches.

use std::io::Write;
use std::path::Path;

use aurora_storage::{AccessLog, Snapshot, Verdict};
use serde_json::json;

use crate::args::{FeedbackArgs, VerdictArg};
use crate::failure::{Failure, Outcome};
use crate::opened::{self, OpenedIndex};
use crate::output::{json, sanitize, time};
use crate::terminal::Terminal;
use crate::values::ReportFormat;
use crate::{chunk_id, findings, place, search};

/// Records the verdict on every chunk that is named, or on none of them.
pub(crate) fn run(args: &FeedbackArgs, terminal: &Terminal) -> Outcome {
    let OpenedIndex { root, snapshot } = opened::open(args.root.as_deref())?;
    let learning = search::settings(&root, Vec::new())
        .map_err(|errors| findings::report(search::CONFIGURATION, &errors, terminal))?;
    let learning = learning.activation.learning;
    let mut keys = Vec::new();
    for id in &args.ids {
        match chunk_id::resolve(&snapshot, &root, id).map_err(opened::failure)? {
            Some(key) if keys.contains(&key) => {}
            Some(key) => keys.push(key),
            None => return Err(unknown(&snapshot, &root, id)?),
        }
    }
    let verdict = match (args.verdict, args.partial) {
        (VerdictArg::Good, false) => Verdict::Good,
        (VerdictArg::Good, true) => Verdict::Helpful,
        (VerdictArg::Bad, true) => Verdict::Unhelpful,
        (VerdictArg::Bad, false) => Verdict::Bad,
    };
    let now = time::now();
    let log = AccessLog::open(&place::index_dir(&root)).map_err(opened::failure)?;
    let judged: Vec<(&str, i64)> = keys.iter().map(|key| (key.as_str(), now)).collect();
    log.judge(verdict, &judged).map_err(opened::failure)?;
    if let Some(reason) = log.begun_anew() {
        terminal.warn(&format!("the access history could not be used ({reason}); it was set aside and begun anew"));
    }

    let names: Vec<&str> = keys.iter().map(String::as_str).collect();
    let records = log.get_many(&names).map_err(opened::failure)?;
    let judgements = records.into_iter().map(|record| record.unwrap_or_default().judgements);
    let mut out = terminal.stdout();
    match args.format {
        ReportFormat::Json => {
            let chunks: Vec<_> = keys
                .iter()
                .zip(judgements)
                .map(|(key, judgements)| {
                    let counts = Verdict::ALL.iter().map(|&verdict| (json!(verdict), judgements.count(verdict)));
                    let counts: serde_json::Map<String, serde_json::Value> =
                        counts.filter_map(|(name, count)| Some((name.as_str()?.to_owned(), count.into()))).collect();
                    json!({ "id": key, "feedback": counts, "learned": rounded(learning.learned(&judgements)) })
                })
                .collect();
            json::write_indented(&mut out, &json!({ "verdict": verdict, "chunks": chunks }))?;
        }
        ReportFormat::Text => {
            for (key, judgements) in keys.iter().zip(judgements) {
                let learned = rounded(learning.learned(&judgements));
                writeln!(out, "{}: activation {learned:+.2} by feedback", sanitize::line(key))?;
            }
        }
    }
    out.flush()?;
    Ok(())
}

/// The failure for an unknown id, with similar ids.
fn unknown(snapshot: &Snapshot, root: &Path, id: &str) -> Outcome<Failure> {
    let shown = sanitize::line(id);
    if let Some((path, line)) = chunk_id::place_of(id) {
        for path in place::spellings(root, path) {
            if snapshot.file(&path).map_err(opened::failure)?.is_some() {
                return Ok(Failure::new(format!(
                    "no chunk of {} holds line {line}, nothing was recorded",
                    sanitize::line(&path)
                ))
                .with_help("results show the lines of every chunk; the file may have changed since it was indexed"));
            }
        }
    }
    let near = chunk_id::similar(snapshot, id).map_err(opened::failure)?;
    let failure = Failure::new(format!("no chunk has the id {shown}, nothing was recorded"));
    Ok(match near.as_slice() {
        [] => failure.with_help("give the `id` of a result of `aur mem search --format json`, or PATH:LINE"),
        near => failure.with_help(format!("did you mean {}?", near.join(" or "))),
    })
}

/// Two decimals: sums of tenths are not exact.
fn rounded(learned: f32) -> f64 {
    (f64::from(learned) * 100.0).round() / 100.0
}
