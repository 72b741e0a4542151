//! `aur mem blame`: the stored attribution of a file, line by line.

use std::io::{self, Write};
use std::path::Path;

use aurora_history::{BlameEntry, FileBlame};
use aurora_stages::git_signal::from_stored;
use aurora_storage::{ChunkHistory, FileOutcome, FileRecord, HistoryTier, Snapshot, StorageError};
use serde_json::{Value, json};

use crate::args::BlameArgs;
use crate::failure::{Failure, Outcome};
use crate::opened::{self, OpenedIndex};
use crate::output::{json, time};
use crate::place;
use crate::terminal::Terminal;
use crate::values::ReportFormat;

/// Prints which commit every line of a file came from, as it was when the file was indexed.
pub(crate) fn run(args: &BlameArgs, terminal: &Terminal) -> Outcome {
    let OpenedIndex { root, snapshot } = opened::open(args.root.as_deref())?;
    let file = find(&snapshot, &root, &args.file).map_err(opened::failure)?;
    let Some(file) = file else {
        return Err(Failure::new(format!("{} is not in the index", args.file))
            .with_help("`aur mem index` brings the index up to date; paths are those below the indexed directory"));
    };
    let Some(blame) = stored(&snapshot, &file).map_err(opened::failure)? else {
        let reason = why_not(&snapshot, &file).map_err(opened::failure)?;
        return Err(Failure::new(format!("{} has no attribution: {reason}", file.path)));
    };
    let mut out = terminal.stdout();
    match args.format {
        ReportFormat::Text => write_lines(&mut out, &blame)?,
        ReportFormat::Json => json::write_indented(&mut out, &report(&file.path, &blame))?,
    }
    Ok(out.flush()?)
}

/// The row of the file that `path` means, from the root or from the current directory.
fn find(snapshot: &Snapshot, root: &Path, path: &str) -> Result<Option<FileRecord>, StorageError> {
    for path in place::spellings(root, path) {
        if let Some(file) = snapshot.file(&path)? {
            return Ok(Some(file));
        }
    }
    Ok(None)
}

fn stored(snapshot: &Snapshot, file: &FileRecord) -> Result<Option<FileBlame>, StorageError> {
    let Some(&first) = file.chunks.first() else { return Ok(None) };
    Ok(snapshot.blame(first)?.and_then(from_stored).map(|blame| blame.worktree()))
}

/// Why the lines of an indexed file have no attribution.
fn why_not(snapshot: &Snapshot, file: &FileRecord) -> Result<String, StorageError> {
    if let FileOutcome::Skipped(reason) = &file.outcome {
        return Ok(format!("it was skipped, {reason}"));
    }
    let Some(&first) = file.chunks.first() else { return Ok("it has no chunks".to_owned()) };
    Ok(match snapshot.text(first)?.map(|text| text.git) {
        Some(ChunkHistory::Untracked) => "it is not in the commit at HEAD".to_owned(),
        Some(ChunkHistory::Pending) => "its history was not read yet; `aur mem index` goes on".to_owned(),
        Some(ChunkHistory::Unavailable { reason }) => reason,
        Some(ChunkHistory::Tracked(history)) if history.tier == HistoryTier::File => {
            "the pipeline attributes whole files (`tier = \"file\"` in [stage.git-signal])".to_owned()
        }
        Some(ChunkHistory::Tracked(_)) => "all of its lines are older than what this index keeps".to_owned(),
        Some(ChunkHistory::None) | None => "there is no git repository".to_owned(),
    })
}

/// `<commit> <line>` for every line; like git, zeros stand for a line that is not committed yet.
fn write_lines(out: &mut impl Write, blame: &FileBlame) -> io::Result<()> {
    let digits = blame.commits.first().map_or(40, |commit| 2 * commit.id.as_bytes().len());
    let zeros = "0".repeat(digits);
    for entry in &blame.entries {
        let commit =
            blame.commits.get(entry.commit as usize).map_or_else(|| zeros.clone(), |commit| commit.id.to_string());
        for line in entry.start_line..entry.start_line + entry.len {
            writeln!(out, "{commit} {}", line + 1)?;
        }
    }
    Ok(())
}

fn report(path: &str, blame: &FileBlame) -> Value {
    let run = |entry: &BlameEntry| {
        let commit = blame.commits.get(entry.commit as usize);
        json!({
            "line": entry.start_line + 1,
            "lines": entry.len,
            "commit": commit.map(|commit| commit.id.to_string()),
            "author": commit.map(|commit| &commit.author.name),
            "email": commit.map(|commit| &commit.author.email),
            "time": commit.map(|commit| time::stamp(commit.author_time)),
        })
    };
    json!({
        "file": path,
        "complete": !blame.incomplete,
        "runs": blame.entries.iter().map(run).collect::<Vec<_>>(),
    })
}
