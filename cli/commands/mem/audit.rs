//! `aur mem audit`: lists entries that make the answers of a memory worse, with commands that repair them.

use std::borrow::Cow;
use std::io::{self, Write};
use std::path::Path;

use aurora_confined::Directory;
use aurora_logs::{DateRange, LogDirectory};
use aurora_memory::{AuditOptions, Finding, FindingKind, Memory, MemoryError, Owner, ProjectCode, Repair};
use aurora_project::user;
use clap::{Args, ValueEnum};
use serde::Serialize;

use crate::context::{Failure, Memories, MemoryArgs, Outcome, Program, ReportFormat, Terminal, args, place};
use crate::output::{Role, sanitize, units};

/// List duplicates, outdated entries and other entries that make memory worse
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  aur mem audit                                     the first findings of each kind
  aur mem audit --only secret,duplicate --strict    exits with 1 if there is a finding
  aur mem audit --format json                       all findings, each with its command

Each finding has the command that repairs it. Nothing is changed. Names of code are checked
against the index of the project, as it was last updated.")]
pub(crate) struct AuditArgs {
    /// Only findings of these kinds, separated by commas
    #[arg(long, value_name = "KINDS", value_enum, value_delimiter = ',')]
    pub(crate) only: Vec<FindingKind>,

    /// Report entries that no search has returned for more than this number of days
    #[arg(long, value_name = "DAYS", default_value_t = 90)]
    pub(crate) unused_days: u32,

    /// Exit with 1 if there is a finding
    #[arg(long)]
    pub(crate) strict: bool,

    /// Maximum number of findings of each kind [default: 20; all with --format json]
    #[arg(long, short = 'n', value_name = "N", value_parser = args::parse_limit)]
    pub(crate) limit: Option<usize>,

    #[command(flatten)]
    pub(crate) memories: MemoryArgs,

    /// Output format
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = ReportFormat::Text)]
    pub(crate) format: ReportFormat,
}

/// Default limit of the text.
const DEFAULT_LIMIT: usize = 20;
/// Files with instructions for agents, relative to the project.
const INSTRUCTIONS: &[&str] =
    &["AGENTS.md", "CLAUDE.md", "GEMINI.md", ".cursorrules", ".windsurfrules", ".github/copilot-instructions.md"];
/// Maximum size of a file with instructions in bytes. Longer files are not compared.
const MAX_INSTRUCTIONS_BYTES: u64 = 1 << 20;
/// Maximum number of logs whose queries are compared, newest first.
const MAX_LOGS: usize = 100_000;

#[derive(Serialize)]
struct AuditReport {
    /// Number of entries in the memories.
    entries: u64,
    findings: Vec<RepairableFinding>,
    /// Number of findings that the limit has left out.
    more: usize,
    /// Checks that were not possible.
    notes: Vec<String>,
}

#[derive(Serialize)]
struct RepairableFinding {
    #[serde(flatten)]
    finding: Finding,
    /// The command that repairs the entry.
    command: String,
}

/// Prints the findings about the entries of the memories.
pub(crate) fn run(args: &AuditArgs, program: &Program) -> Outcome {
    let mut memories = Memories::open(&args.memories, program)?;
    memories.warn_unusable(program)?;
    let root = place::for_search(args.memories.root.as_deref())?;
    let mut notes = Vec::new();
    let wants = |kinds: &[FindingKind]| args.only.is_empty() || kinds.iter().any(|kind| args.only.contains(kind));
    let is_of_project = |memory: &Memory| memory.place().owner() == Owner::Project;
    let needs_code = wants(&[FindingKind::MissingCode, FindingKind::ChangedCode]) && memories.iter().any(is_of_project);
    let code = if needs_code { code(&root, program, &mut notes) } else { None };
    let (mut prompts, mut instructions) = (Vec::new(), Vec::new());
    if wants(&[FindingKind::Echo]) {
        prompts = logged_queries(&mut notes);
        instructions = read_instructions(&root);
    }
    let options = AuditOptions {
        kinds: args.only.clone(),
        prompts,
        instructions,
        code: code.as_ref(),
        unused_days: args.unused_days,
    };
    let mut report = AuditReport { entries: 0, findings: Vec::new(), more: 0, notes };
    let now = aurora_clock::now_seconds();
    for memory in memories.iter() {
        let audit = memory.audit(&options, now)?;
        report.entries += audit.entries;
        for finding in audit.findings {
            let command = command(&finding, memory, &memories, args)?;
            report.findings.push(RepairableFinding { finding, command });
        }
    }
    report.findings.sort_by_key(|found| found.finding.kind);
    let found = report.findings.len();
    let shown = args.limit.or((args.format == ReportFormat::Text).then_some(DEFAULT_LIMIT));
    let counts = limit(&mut report, shown.unwrap_or(usize::MAX));
    program.terminal.print(args.format, &report, |out| write_text(out, &report, &counts, &program.terminal))?;
    if args.format == ReportFormat::Text {
        report.notes.iter().for_each(|note| program.terminal.note(note));
        if report.more > 0 {
            program.terminal.note(&format!("{} more; --limit shows them", units::count(report.more as u64)));
        }
    }
    match args.strict && found > 0 {
        true => Err(Failure::Short(units::counted(found as u64, "finding"))),
        false => Ok(()),
    }
}

/// Keeps at most `most` findings of each kind. Returns the number of findings of each kind before.
fn limit(report: &mut AuditReport, most: usize) -> Vec<(FindingKind, usize)> {
    let mut counts: Vec<(FindingKind, usize)> = Vec::new();
    report.findings.retain(|found| {
        let kind = found.finding.kind;
        match counts.last_mut() {
            Some((last, count)) if *last == kind => *count += 1,
            _ => counts.push((kind, 1)),
        }
        let is_kept = counts.last().is_some_and(|(_, count)| *count <= most);
        report.more += usize::from(!is_kept);
        is_kept
    });
    counts
}

/// Opens the index of the project. If this is not possible, adds a note.
fn code(root: &Path, program: &Program, notes: &mut Vec<String>) -> Option<ProjectCode> {
    let open = || -> Outcome<ProjectCode> {
        let snapshot = program.project(root.to_owned()).snapshot()?;
        ProjectCode::new(snapshot, root)
            .map_err(|error| Failure::new(format!("cannot open {}: {error}", root.display())))
    };
    open().map_err(|failure| notes.push(format!("names of code were not checked: {}", failure.message()))).ok()
}

/// Returns the queries of the conversation logs. Logs that cannot be read are left out, with a note.
fn logged_queries(notes: &mut Vec<String>) -> Vec<String> {
    let mut unread = 0;
    let mut queries = Vec::new();
    let logs = user::logs().ok().flatten().and_then(|settings| LogDirectory::open(&settings.path).ok().flatten());
    if let Some(logs) = &logs
        && let Ok(summaries) = logs.summaries(DateRange::default())
    {
        for summary in summaries.take(MAX_LOGS) {
            match summary {
                Ok(summary) => queries.extend(summary.query),
                Err(_) => unread += 1,
            }
        }
    }
    if unread > 0 {
        let logs = units::counted(unread, "log");
        notes.push(format!("{logs} could not be read, so entries were not compared with their queries"));
    }
    queries
}

fn read_instructions(root: &Path) -> Vec<(String, String)> {
    let Ok(root) = Directory::open_root(root) else { return Vec::new() };
    let read = |name: &&str| Some(((*name).to_owned(), root.read_to_string(name, MAX_INSTRUCTIONS_BYTES).ok()?));
    INSTRUCTIONS.iter().filter_map(read).collect()
}

/// Returns the command that repairs an entry. It selects the memory and the project if this is necessary.
fn command(finding: &Finding, memory: &Memory, memories: &Memories, args: &AuditArgs) -> Result<String, MemoryError> {
    let verb = match finding.repair {
        Repair::Remove => "remove",
        Repair::Edit => "edit",
    };
    let mut command = format!("aur mem {verb} {}", quoted(&finding.id));
    for other in memories.iter().filter(|other| other.place() != memory.place()) {
        if other.get(&finding.id)?.is_some_and(|version| version.document.is_some()) {
            command += &format!(" --memory {}", memory.place().owner().as_str());
        }
    }
    if let Some(root) = &args.memories.root {
        command += &format!(" --root {}", quoted(&root.display().to_string()));
    }
    Ok(command)
}

/// Quotes an argument for a POSIX shell. Arguments contain no NUL, which a shell cannot represent.
fn quoted(argument: &str) -> Cow<'_, str> {
    shlex::try_quote(argument).unwrap_or(Cow::Borrowed(argument))
}

fn write_text(
    out: &mut impl Write,
    report: &AuditReport,
    counts: &[(FindingKind, usize)],
    terminal: &Terminal,
) -> io::Result<()> {
    for (kind, count) in counts {
        let (name, help) = kind.to_possible_value().map_or_else(Default::default, |value| {
            (value.get_name().to_owned(), value.get_help().map(ToString::to_string).unwrap_or_default())
        });
        let heading = format!("{name} ({}): {help}", units::count(*count as u64));
        writeln!(out, "{}", terminal.out.paint(Role::Heading, &heading))?;
        for RepairableFinding { finding, command } in report.findings.iter().filter(|found| found.finding.kind == *kind)
        {
            writeln!(out, "  {}: {}", sanitize::line(&finding.id), sanitize::line(&finding.detail))?;
            writeln!(out, "    {}", terminal.out.paint(Role::Faint, &sanitize::line(command)))?;
        }
        writeln!(out)?;
    }
    let total: usize = counts.iter().map(|(_, count)| count).sum();
    let (found, entries) = (units::counted(total as u64, "finding"), units::counted(report.entries, "entry"));
    writeln!(out, "{found} in {entries}")
}
