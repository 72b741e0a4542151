//! `aur mem why`: explains whether a file or directory is indexed, and what each stage does with a file.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use aurora_confined::{Directory, EntryKind};
use aurora_memory_policy::Decision;
use aurora_memory_schema::Kind;
use aurora_pipeline::Entity;
use aurora_query::{FileState, file_state};
use aurora_stages::columns::DisplayColumn;
use aurora_stages::index::{self as indexing, DryRun, IndexOptions, NotIndexed, StageTrace};
use aurora_storage::{FileOutcome, FileRecord, Snapshot};
use clap::Args;
use serde::Serialize;

use crate::commands::pipeline::dry;
use crate::context::{
    Failure, Memories, MemoryArgs, Outcome, Program, Purpose, ReportFormat, Terminal, Untrusted, interrupt, place,
    programs,
};
use crate::output::{Role, sanitize, units, width};

/// Explain whether a file is indexed and what each stage does with it, or why an entry of memory is kept
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  aur mem why src/auth.py
  aur mem why reas:auth-setup             the retention policies of an entry
  aur mem why build dist/app.js --format json

Exits with 1 if one of the paths is not indexed. `aur pipeline run --dry` shows the values that each
stage writes.")]
pub(crate) struct WhyArgs {
    /// Files and directories of the project, or ids of entries of memory
    #[arg(value_name = "PATH|ID", required = true)]
    pub(crate) paths: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) memory: MemoryArgs,

    /// Output format
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = ReportFormat::Text)]
    pub(crate) format: ReportFormat,
}

/// Columns that the text output does not show, because they only identify a file or its version.
const IDENTITY: [&str; 3] = ["hash", "mtime", "path"];

/// The explanation of a file, from the index and the pipeline.
#[derive(Serialize)]
struct Report<'r> {
    path: &'r str,
    indexed: bool,
    /// Reason why the file is not indexed.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// Whether the size or modification time of the file differs from the indexed version.
    changed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    index: Option<Stored<'r>>,
    /// Results of the stages on the current file, up to the stage that leaves it out.
    stages: Vec<Step<'r>>,
}

/// The result of a stage for a file.
#[derive(Serialize)]
struct Step<'r> {
    stage: &'r str,
    /// Reason why the stage leaves the file out.
    #[serde(skip_serializing_if = "Option::is_none")]
    left_out: Option<&'r str>,
    /// File columns that the stage writes, with abbreviated values.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    file: BTreeMap<&'r str, String>,
    /// Chunk columns that the stage writes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    columns: Vec<&'r str>,
    /// Number of chunks after the stage.
    chunks: usize,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    problems: Vec<String>,
}

/// The file as stored in the index.
#[derive(Serialize)]
struct Stored<'r> {
    language: &'r str,
    lines: u32,
    chunks: usize,
    warnings: &'r [String],
}

/// The explanation of a directory, from the index and the walk.
#[derive(Serialize)]
struct DirectoryReport<'r> {
    path: &'r str,
    /// Whether the index has a file below the directory.
    indexed: bool,
    /// Reason why no file below the directory is indexed.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    files: usize,
    chunks: usize,
    /// Files and directories below the directory that are not indexed.
    not_indexed: Vec<NotIndexed>,
}

/// Explains the given files and directories. The exit code is 1 if one of them is not indexed.
pub(crate) fn run(args: &WhyArgs, program: &Program) -> Outcome {
    let id = |given: &PathBuf| given.to_str().filter(|id| is_entry_id(id)).map(str::to_owned);
    if let Some(ids) = args.paths.iter().map(id).collect::<Option<Vec<String>>>() {
        return explain_entries(&ids, args, program);
    }
    let (project, snapshot) = program.open(args.memory.root.as_deref())?;
    let options = program.options(project.root())?;
    let plan = indexing::plan(&options)?;
    let options = programs::allowed(options, Untrusted::Skip, Purpose::DryRun, &program.terminal)?;
    interrupt::cancels(&options.cancel, "nothing is written");
    let terminal = &program.terminal;
    let explain = Explanation { snapshot: &snapshot, options: &options, format: args.format, terminal };
    let mut left_out = 0;
    for (number, given) in args.paths.iter().enumerate() {
        if number > 0 && args.format == ReportFormat::Text {
            terminal.line("")?;
        }
        let is_indexed = match directory(given, &options.root) {
            Some(path) => explain.directory(&path)?,
            None => explain.file(&dry::indexed_path(given, &options.root, &plan)?)?,
        };
        left_out += u64::from(!is_indexed);
    }
    match left_out {
        0 => Ok(()),
        1 if args.paths.len() == 1 => Err(Failure::Short("the path is not indexed".to_owned())),
        _ => Err(Failure::Short(format!("{left_out} of {} are not indexed", args.paths.len()))),
    }
}

/// Explains why entries of memory are kept, decay or are archived.
fn explain_entries(ids: &[String], args: &WhyArgs, program: &Program) -> Outcome {
    let memories = Memories::open(&args.memory, program)?;
    let terminal = &program.terminal;
    for id in ids {
        let memory = memories.containing(id)?;
        let decision = memory.decision(id, &memories.rules, aurora_clock::now_seconds())?;
        let decision = decision.ok_or_else(|| Failure::new(format!("there is no entry {id}")))?;
        terminal.print(args.format, &decision, |out| write_decision(out, id, &decision, terminal))?;
    }
    Ok(())
}

fn write_decision(out: &mut impl Write, id: &str, decision: &Decision, terminal: &Terminal) -> io::Result<()> {
    writeln!(out, "{}", terminal.out.paint(Role::Heading, &sanitize::line(id)))?;
    for step in &decision.steps {
        let mark = match (step.decides, step.held) {
            (true, _) => "decides",
            (false, true) => "holds",
            (false, false) => "does not hold",
        };
        let condition = step.condition.as_deref().map(|text| format!(": {text}")).unwrap_or_default();
        writeln!(out, "  {} ({}){}", sanitize::line(&step.name), step.layer, sanitize::line(&condition))?;
        writeln!(out, "    {mark}. {}", sanitize::line(&step.explanation))?;
    }
    Ok(())
}

/// Whether `name` is the id of a memory entry. If there is also a file with this name, the file takes precedence.
fn is_entry_id(name: &str) -> bool {
    Kind::from_id(name).is_some_and(|kind| kind != Kind::Code) && !Path::new(name).exists()
}

/// Returns the path of a directory relative to the root, or `None` if `given` is not a directory. The path of the root
/// is `.`.
fn directory(given: &Path, root: &Path) -> Option<String> {
    let tree = Directory::open_root(root).ok()?;
    place::spellings(root, given.to_str()?).into_iter().rev().find_map(|path| {
        let path = path.trim_end_matches('/');
        let is_root = path.is_empty() || path == ".";
        let is_directory = || tree.metadata(path).is_ok_and(|found| found.kind == EntryKind::Directory);
        (is_root || is_directory()).then(|| if is_root { ".".to_owned() } else { path.to_owned() })
    })
}

/// Explains paths of one index.
struct Explanation<'e> {
    snapshot: &'e Snapshot,
    options: &'e IndexOptions,
    format: ReportFormat,
    terminal: &'e Terminal,
}

impl Explanation<'_> {
    /// Explains a directory. Returns whether a file below it is indexed.
    fn directory(&self, path: &str) -> Outcome<bool> {
        let found = indexing::not_indexed(self.options)?;
        interrupt::unless_cancelled(&self.options.cancel)?;
        let (mut files, mut chunks) = (0, 0);
        for record in self.snapshot.files() {
            let record = record?;
            if is_below(&record.path, path) && record.outcome == FileOutcome::Indexed {
                (files, chunks) = (files + 1, chunks + record.chunks.len());
            }
        }
        let above = || found.iter().find(|entry| is_below(path, &entry.path)).map(|entry| entry.reason.clone());
        let reason = (files == 0).then(|| above().unwrap_or_else(|| "nothing below it is indexed".to_owned()));
        let below = found.iter().filter(|entry| is_below(&entry.path, path) && entry.path != path);
        let not_indexed = below.cloned().collect();
        let report = DirectoryReport { path, indexed: files > 0, reason, files, chunks, not_indexed };
        self.terminal.print(self.format, &report, |out| write_directory(out, &report, self.terminal))?;
        Ok(report.indexed)
    }

    /// Explains a file. Returns whether it is indexed.
    fn file(&self, path: &str) -> Outcome<bool> {
        let run = indexing::dry_run(self.options, path, &[])?;
        interrupt::unless_cancelled(&self.options.cancel)?;
        if let Some(error) = &run.error {
            return Err(Failure::from_error(error));
        }
        let record = self.snapshot.file(path)?;
        let report = report(&run, record.as_ref(), &self.options.root);
        self.terminal.print(self.format, &report, |out| write_file(out, &report, self.terminal))?;
        Ok(report.indexed)
    }
}

/// Whether `inner` equals `outer` or is below it.
fn is_below(inner: &str, outer: &str) -> bool {
    outer == "." || inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn write_directory(out: &mut impl Write, report: &DirectoryReport<'_>, terminal: &Terminal) -> io::Result<()> {
    let path = terminal.out.paint(Role::Path, &sanitize::line(report.path));
    match &report.reason {
        Some(reason) => write_not_indexed(out, &path, reason, terminal)?,
        None => {
            let (files, chunks) =
                (units::counted(report.files as u64, "file"), units::counted(report.chunks as u64, "chunk"));
            writeln!(out, "{path} is indexed: {files}, {chunks}")?;
        }
    }
    for entry in &report.not_indexed {
        let path = terminal.out.paint(Role::Path, &sanitize::line(&entry.path));
        write!(out, "  ")?;
        write_not_indexed(out, &path, &entry.reason, terminal)?;
    }
    Ok(())
}

fn write_not_indexed(out: &mut impl Write, path: &str, reason: &str, terminal: &Terminal) -> io::Result<()> {
    writeln!(out, "{path} is {}: {}", terminal.out.paint(Role::Warning, "not indexed"), sanitize::line(reason))
}

fn report<'r>(run: &'r DryRun, record: Option<&'r FileRecord>, root: &Path) -> Report<'r> {
    let stored = record.filter(|record| record.outcome == FileOutcome::Indexed);
    let reason = match record.map(|record| &record.outcome) {
        Some(FileOutcome::Indexed) => None,
        Some(FileOutcome::Skipped(reason)) => Some(reason.clone()),
        None => Some(reason_now(run).unwrap_or_else(|| "the file is new; `aur mem index` adds it".to_owned())),
    };
    let leaves_out = |stage: &StageTrace| stage.dropped.iter().any(|row| row.chunk.is_none());
    let reached = run.stages.iter().position(leaves_out).map_or(run.stages.len(), |last| last + 1);
    Report {
        path: &run.path,
        indexed: stored.is_some(),
        reason,
        changed: record.is_some_and(|record| has_changed(record, root)),
        index: stored.map(|record| Stored {
            language: &record.language,
            lines: record.lines,
            chunks: record.chunks.len(),
            warnings: &record.warnings,
        }),
        stages: run.stages.iter().take(reached).map(Step::new).collect(),
    }
}

/// Returns the reason why a stage leaves out the file or its directory.
fn reason_now(run: &DryRun) -> Option<String> {
    let dropped = run.stages.iter().flat_map(|stage| &stage.dropped).find(|row| row.chunk.is_none())?;
    let reason = dropped.reason.clone().unwrap_or_else(|| "a stage leaves it out".to_owned());
    let directory = dropped.path.as_ref().filter(|path| **path != run.path);
    Some(directory.map_or(reason.clone(), |directory| format!("{directory}: {reason}")))
}

fn has_changed(record: &FileRecord, root: &Path) -> bool {
    Directory::open_root(root).is_ok_and(|root| file_state(&root, record) == FileState::Changed)
}

fn write_file(out: &mut impl Write, report: &Report<'_>, terminal: &Terminal) -> io::Result<()> {
    let path = terminal.out.paint(Role::Path, &sanitize::line(report.path));
    match (&report.index, &report.reason) {
        (Some(stored), _) => {
            let (chunks, lines) = (units::counted(stored.chunks as u64, "chunk"), u64::from(stored.lines));
            let language = sanitize::line(stored.language);
            writeln!(out, "{path} is indexed: {language}, {}, {chunks}", units::counted(lines, "line"))?;
        }
        (None, reason) => write_not_indexed(out, &path, reason.as_deref().unwrap_or_default(), terminal)?,
    }
    if report.changed {
        writeln!(out, "  The file has changed since; `aur mem index` updates the index")?;
    }
    for warning in report.index.iter().flat_map(|stored| stored.warnings) {
        writeln!(out, "  {} {}", terminal.out.paint(Role::Warning, "Warning:"), sanitize::line(warning))?;
    }
    let widest = report.stages.iter().map(|step| width::measure(step.stage)).max().unwrap_or(0);
    for step in &report.stages {
        let name = terminal.out.paint(Role::Heading, &width::pad(&sanitize::line(step.stage), widest));
        let room = terminal.columns.unwrap_or(usize::MAX).saturating_sub(widest + 4);
        writeln!(out, "  {name}  {}", width::elide_end(&sanitize::line(&step.summary()), room))?;
    }
    Ok(())
}

impl<'r> Step<'r> {
    fn new(trace: &'r StageTrace) -> Self {
        let dropped = trace.dropped.iter().find(|row| row.chunk.is_none());
        let of = |entity| trace.columns.iter().filter(move |column| column.entity == entity);
        let value = |column: &'r DisplayColumn| {
            let lines = &column.values.first()?.lines;
            let more =
                if lines.len() > 1 { format!(", … ({})", units::count(lines.len() as u64)) } else { String::new() };
            Some((column.name.trim_start_matches("file."), format!("{}{more}", lines.first()?)))
        };
        let failed = trace.failed.iter().map(|failed| failed.reason.clone());
        let chunks_dropped = trace.dropped.iter().filter(|row| row.chunk.is_some()).count();
        let dropping =
            (chunks_dropped > 0).then(|| format!("drops {}", units::counted(chunks_dropped as u64, "chunk")));
        Self {
            stage: &trace.stage,
            left_out: dropped.map(|row| row.reason.as_deref().unwrap_or("the stage gives no reason")),
            file: of(Entity::File).filter(|column| column.is_informative).filter_map(value).collect(),
            columns: of(Entity::Chunk).map(|column| column.name.trim_start_matches("chunk.")).collect(),
            chunks: trace.chunks.len(),
            problems: failed.chain(trace.warnings.iter().cloned()).chain(dropping).collect(),
        }
    }

    /// Describes the step on one line.
    fn summary(&self) -> String {
        if let Some(reason) = self.left_out {
            return format!("leaves it out: {reason}");
        }
        let file = self
            .file
            .iter()
            .filter(|(column, _)| !IDENTITY.contains(column))
            .map(|(column, value)| format!("{column} {value}"));
        let chunks = units::counted(self.chunks as u64, "chunk");
        let columns = (!self.columns.is_empty()).then(|| format!("{chunks}: {}", self.columns.join(", ")));
        let parts: Vec<String> = self.problems.iter().cloned().chain(file).chain(columns).collect();
        if parts.is_empty() { "nothing".to_owned() } else { parts.join("; ") }
    }
}
