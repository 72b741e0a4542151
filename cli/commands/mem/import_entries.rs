//! `aur mem import --from`: imports entries into a memory.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::time::UNIX_EPOCH;

use aurora_memory::{
    JsonLines, LineDefaults, Memory, MemoryPlace, Owner, Placement, Scope, Transfer, TransferEffect, TransferProblem,
    TransferReport,
};
use aurora_memory_import::MarkdownNotes;
use serde::Serialize;

use crate::commands::mem::add::root_of;
use crate::commands::mem::import::{self as artefact, ImportArgs, SourceFormatArg};
use crate::context::{Failure, Outcome, Program, ReportFormat, Terminal, memories};
use crate::output::{sanitize, units};

/// Maximum number of problems that are listed without `--verbose`.
const MAX_LISTED: usize = 20;

/// The result of an import, or of a dry run.
#[derive(Serialize)]
struct Report {
    memory: Owner,
    dry_run: bool,
    #[serde(flatten)]
    transfer: TransferReport,
}

/// The memory that receives the entries.
struct Target<'a> {
    owner: Owner,
    root: &'a Path,
    is_dry_run: bool,
    now: i64,
}

/// Imports entries into a memory and prints a report.
pub(super) fn run(args: &ImportArgs, from: SourceFormatArg, program: &Program) -> Outcome {
    let root = memories::project(args.root.as_deref())?;
    let default = if root.is_some() { Owner::Project } else { Owner::User };
    let owner = args.transfer.memory.unwrap_or(default);
    let root = root_of(owner, root)?;
    let target = Target { owner, root: &root, is_dry_run: args.transfer.dry_run, now: aurora_clock::now_seconds() };
    let (transfer, noun) = match from {
        SourceFormatArg::Jsonl => (target.lines(&args.file)?, "line"),
        SourceFormatArg::Markdown => (target.notes(&args.file)?, "file"),
    };
    let report = Report { memory: owner, dry_run: args.transfer.dry_run, transfer };
    if args.format == ReportFormat::Text {
        list(&report.transfer, program.verbose > 0, &program.terminal);
    }
    program.terminal.print(args.format, &report, |out| write_text(out, &report))?;
    match report.transfer.unmapped_count() {
        0 => Ok(()),
        count => Err(Failure::Short(format!("{} could not be imported", units::counted(count, noun)))),
    }
}

impl Target<'_> {
    fn lines(&self, file: &Path) -> Outcome<TransferReport> {
        let (reader, name, edited): (Box<dyn BufRead>, String, Option<i64>) = if file == Path::new("-") {
            (Box::new(io::stdin().lock()), "standard input".to_owned(), None)
        } else {
            let opened = artefact::open(file)?;
            let modified = opened.metadata().ok().and_then(|metadata| metadata.modified().ok());
            let edited = modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
            let edited = edited.and_then(|time| i64::try_from(time.as_secs()).ok());
            (Box::new(BufReader::new(opened)), file.display().to_string(), edited)
        };
        let time = edited.map_or(self.now, |time| time.min(self.now));
        self.write(&mut JsonLines::new(reader, &name, self.defaults(time)))
    }

    fn notes(&self, directory: &Path) -> Outcome<TransferReport> {
        let mut notes = MarkdownNotes::open(directory, self.defaults(self.now))
            .map_err(|error| Failure::new(format!("cannot open the directory {}: {error}", directory.display())))?;
        self.write(&mut notes)
    }

    fn write(&self, entries: &mut dyn Iterator<Item = Transfer>) -> Outcome<TransferReport> {
        if !self.is_dry_run {
            return Ok(memories::create(self.owner, self.root)?.put_all(entries, self.now)?);
        }
        let place = MemoryPlace::for_search([self.root]).into_iter().filter(|place| place.owner() == self.owner);
        let memory = memories::open_all(place)?.pop();
        Ok(Memory::plan_all(memory.as_ref(), self.owner, entries)?)
    }

    /// Returns the placement and the time for entries that do not specify them.
    fn defaults(&self, time: i64) -> LineDefaults {
        let scope = match self.owner {
            Owner::Project => Scope::Project,
            Owner::User => Scope::User,
        };
        LineDefaults { placement: Placement { scope, session: None }, time }
    }
}

/// Lists the problems. Without `--verbose`, the list has a maximum length and only contains entries that could not be
/// imported.
fn list(report: &TransferReport, is_verbose: bool, terminal: &Terminal) {
    let is_shown = |problem: &&TransferProblem| is_verbose || problem.effect == TransferEffect::Unmapped;
    let most = if is_verbose { usize::MAX } else { MAX_LISTED };
    for problem in report.problems.iter().filter(is_shown).take(most) {
        if problem.mistakes.is_empty() {
            let line = format!("{}: {}", problem.what, problem.why);
            // Write errors are ignored, because nobody could read a message about a closed standard error.
            let _ = writeln!(io::stderr().lock(), "{}", sanitize::line(&line));
        } else {
            terminal.show(&problem.mistakes);
        }
    }
    let hidden = match is_verbose {
        true => report.more_problems,
        false => report.unmapped_count().saturating_sub(MAX_LISTED as u64),
    };
    if report.unmapped.contains_key("scope") {
        terminal.note("--memory selects the memory that receives the entries");
    }
    if hidden > 0 {
        let help = if is_verbose { "" } else { "; --verbose lists them" };
        terminal.note(&format!("{}{help}", units::counted(hidden, "more problem")));
    }
}

fn write_text(out: &mut impl Write, report: &Report) -> io::Result<()> {
    let TransferReport { added, replaced, unchanged, kept, not_stored, unmapped, altered, accesses, .. } =
        &report.transfer;
    let verb = if report.dry_run { "Would import" } else { "Imported" };
    let written = units::counted(added + replaced, "entry");
    writeln!(out, "{verb} {written} into the {}'s memory", report.memory.as_str())?;
    let lines = [
        ("Added:", *added, String::new()),
        ("Replaced:", *replaced, String::new()),
        ("Unchanged:", *unchanged, String::new()),
        ("Kept:", *kept, "not older than the imported entry".to_owned()),
        ("Not stored:", *not_stored, "a score below 0.5".to_owned()),
        ("Not mapped:", unmapped.values().sum(), by_reason(unmapped)),
        ("Altered:", altered.values().sum(), by_reason(altered)),
        ("Used before:", *accesses, String::new()),
    ];
    for (name, count, note) in lines.into_iter().filter(|(_, count, _)| *count > 0) {
        let note = if note.is_empty() { note } else { format!(" ({note})") };
        writeln!(out, "  {name:<12} {}{note}", units::count(count))?;
    }
    Ok(())
}

/// Formats counts by reason, such as `id 5, weight 2`.
fn by_reason(counts: &BTreeMap<&'static str, u64>) -> String {
    let counts: Vec<String> =
        counts.iter().map(|(reason, count)| format!("{reason} {}", units::count(*count))).collect();
    counts.join(", ")
}
