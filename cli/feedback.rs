//! `aur mem feedback`: stores verdicts on results for later searches.

use std::io::Write;
use std::path::Path;

use aurora_storage::{AccessLog, ChunkId, Label, Snapshot, StorageError, Verdict};
use serde_json::json;

use crate::args::{FeedbackArgs, VerdictArg};
use crate::failure::{Failure, Outcome};
use crate::opened::{self, OpenedIndex};
use crate::output::{json, sanitize, time};
use crate::terminal::Terminal;
use crate::values::ReportFormat;
use crate::{findings, place, search};

/// Most ids that an error suggests.
const SUGGESTIONS: usize = 3;
/// Most chunks of one name that are looked at for suggestions.
const MOST_NAMESAKES: usize = 1_000;

/// Records the verdict on every chunk that is named, or on none of them.
pub(crate) fn run(args: &FeedbackArgs, terminal: &Terminal) -> Outcome {
    let OpenedIndex { root, snapshot } = opened::open(args.root.as_deref())?;
    let learning = search::settings(&root, Vec::new())
        .map_err(|errors| findings::report(search::CONFIGURATION, &errors, terminal))?;
    let learning = learning.activation.learning;
    let mut keys = Vec::new();
    for id in &args.ids {
        match resolve(&snapshot, &root, id).map_err(opened::failure)? {
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

/// The key of the chunk that `id` names: a key, or a place `path:line` or `path:first-last`, from the root or from the
/// current directory.
fn resolve(snapshot: &Snapshot, root: &Path, id: &str) -> Result<Option<String>, StorageError> {
    if snapshot.chunk_by_key(id)?.is_some() {
        return Ok(Some(id.to_owned()));
    }
    let Some((path, line)) = place_of(id) else { return Ok(None) };
    for path in place::spellings(root, path) {
        if let Some(key) = innermost(snapshot, &path, line)? {
            return Ok(Some(key));
        }
    }
    Ok(None)
}

/// `src/a.py` and 12 of `src/a.py:12` and `src/a.py:12-20`.
fn place_of(id: &str) -> Option<(&str, u32)> {
    let (path, lines) = id.rsplit_once(':')?;
    let first = lines.split_once('-').map_or(lines, |(first, _)| first);
    Some((path, first.parse().ok()?))
}

/// The smallest chunk of a file around a line.
fn innermost(snapshot: &Snapshot, path: &str, line: u32) -> Result<Option<String>, StorageError> {
    let mut best: Option<(u32, String)> = None;
    for id in chunks_of(snapshot, path)? {
        let Some(chunk) = snapshot.chunk(id)? else { continue };
        let (first, last) = (chunk.line_start(), chunk.line_end());
        let this = (last.saturating_sub(first), chunk.key().into_owned());
        if (first..=last).contains(&line) && best.as_ref().is_none_or(|best| this < *best) {
            best = Some(this);
        }
    }
    Ok(best.map(|(_, key)| key))
}

fn chunks_of(snapshot: &Snapshot, path: &str) -> Result<Vec<ChunkId>, StorageError> {
    Ok(snapshot.file(path)?.map(|file| file.chunks).unwrap_or_default())
}

/// The failure for an unknown id, with similar ids.
fn unknown(snapshot: &Snapshot, root: &Path, id: &str) -> Outcome<Failure> {
    let shown = sanitize::line(id);
    if let Some((path, line)) = place_of(id) {
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
    let near = similar(snapshot, id).map_err(opened::failure)?;
    let failure = Failure::new(format!("no chunk has the id {shown}, nothing was recorded"));
    Ok(match near.as_slice() {
        [] => failure.with_help("give the `id` of a result of `aur mem search --format json`, or PATH:LINE"),
        near => failure.with_help(format!("did you mean {}?", near.join(" or "))),
    })
}

/// Keys that look like `id`, the nearest first: of chunks in files whose path is like the one that it has, and of those
/// that bear its name.
fn similar(snapshot: &Snapshot, id: &str) -> Result<Vec<String>, StorageError> {
    let path = |id: &str| id.split(':').find(|part| part.contains(['/', '.'])).unwrap_or(id).to_owned();
    let wanted = path(id);
    let mut files = Vec::new();
    for file in snapshot.files() {
        let file = file?;
        let near = aurora_suggest::distance(&file.path, &wanted) <= wanted.chars().count() / 4;
        if near || file.path.ends_with(&format!("/{wanted}")) {
            files.push(file);
        }
    }
    let name = id.rsplit(':').next().unwrap_or(id).to_lowercase();
    let of_name = snapshot.label(Label::Defines(&name))?.into_iter().take(MOST_NAMESAKES).map(ChunkId);
    let mut keys = Vec::new();
    for id_of_chunk in files.into_iter().flat_map(|file| file.chunks).chain(of_name) {
        if let Some(chunk) = snapshot.chunk(id_of_chunk)? {
            let key = chunk.key();
            keys.push((aurora_suggest::distance(&key, id), sanitize::line(&key)));
        }
    }
    keys.sort();
    keys.dedup();
    // If one candidate differs by a typing error only, merely similar ones are not suggested.
    let farthest = keys.first().map_or(0, |(nearest, _)| 2 * nearest + 2);
    keys.retain(|(distance, _)| *distance <= farthest);
    keys.truncate(SUGGESTIONS);
    Ok(keys.into_iter().map(|(_, key)| key).collect())
}

/// Two decimals: sums of tenths are not exact.
fn rounded(learned: f32) -> f64 {
    (f64::from(learned) * 100.0).round() / 100.0
}
