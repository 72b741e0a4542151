//! `aur doctor`: checks the installation and the project.

mod disk;

use std::fmt;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use aurora_analysis::STATIC;
use aurora_memory::{MemoryPlace, MemoryRules};
use aurora_project::{
    IndexEmbedder, Project, ProjectError, annotations, chain, ignored_configurations, untrusted_stages, user,
};
use aurora_query::Mode;
use aurora_query::explain::relative_time;
use aurora_stages::index::{self as indexing, IndexError};
use aurora_storage::{
    AccessLog, Environment, Manifest, OpenMode, ProjectDirectory, Snapshot, StorageError, WriterOptions,
};
use clap::Args;
use serde::Serialize;

use crate::context::{Failure, Outcome, Program, ReportFormat, Terminal, memories};
use crate::output::{Role, sanitize, units};

/// Check git, the index, memory, the model, the disk and the configuration
#[derive(Debug, Args)]
#[command(after_help = "Exits with 1 if a check fails, and with 0 otherwise; warnings do not count.")]
pub(crate) struct DoctorArgs {
    /// Directory to check [default: the nearest enclosing directory with an index]
    #[arg(long, value_name = "PATH")]
    pub(crate) root: Option<PathBuf>,

    /// Output format
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = ReportFormat::Text)]
    pub(crate) format: ReportFormat,
}

/// Free space in bytes below which the disk check warns.
const MIN_FREE_BYTES: u64 = 1 << 30;

/// The outcome of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
enum CheckVerdict {
    #[serde(rename = "ok")]
    Good,
    #[serde(rename = "warn")]
    Warning,
    #[serde(rename = "fail")]
    Failed,
}

#[derive(Serialize)]
struct Check {
    name: &'static str,
    verdict: CheckVerdict,
    detail: String,
}

/// The output of `--format json`.
#[derive(Serialize)]
struct Report<'a> {
    root: &'a str,
    version: &'static str,
    checks: &'a [Check],
    warnings: usize,
    failures: usize,
}

/// Runs every check and prints the results. Fails if a check failed.
pub(crate) fn run(args: &DoctorArgs, program: &Program) -> Outcome {
    let terminal = &program.terminal;
    let project = program.find(args.root.as_deref())?;
    let root = project.root();
    let (index, manifest) = index(&project);
    let checks = [
        ("git", git(root)),
        ("index", index),
        ("writer", writer(&project)),
        ("model", checked(embeddings(manifest.as_ref(), &project))),
        ("reranker", reranker(&project)),
        ("disk", free_space(root)),
        ("config", config(&project)),
        ("pipeline", checked(pipeline(&project))),
        ("memory", memory(root)),
        ("history", history(&project)),
        ("terminal", describe_terminal(terminal)),
    ]
    .map(|(name, (verdict, detail))| Check { name, verdict, detail });
    let count = |verdict| checks.iter().filter(|check| check.verdict == verdict).count();
    let (warnings, failures) = (count(CheckVerdict::Warning), count(CheckVerdict::Failed));
    let shown = root.to_string_lossy();
    let report = Report { root: &shown, version: env!("CARGO_PKG_VERSION"), checks: &checks, warnings, failures };
    terminal.print(args.format, &report, |out| write_text(out, root, &checks, terminal))?;
    match failures {
        0 => Ok(()),
        failed => Err(Failure::Short(format!("{} failed", units::counted(failed as u64, "check")))),
    }
}

fn write_text(out: &mut impl Write, root: &Path, checks: &[Check], terminal: &Terminal) -> io::Result<()> {
    writeln!(out, "{}", terminal.out.paint(Role::Heading, &format!("Checking {}", root.display())))?;
    for check in checks {
        let (role, verdict) = match check.verdict {
            CheckVerdict::Good => (Role::Good, "ok   "),
            CheckVerdict::Warning => (Role::Warning, "warn "),
            CheckVerdict::Failed => (Role::Error, "FAIL "),
        };
        let detail = sanitize::block(&check.detail).replace('\n', "\n                  ");
        writeln!(out, "  {} {:9} {detail}", terminal.out.paint(role, verdict), check.name)?;
    }
    Ok(())
}

type CheckResult = (CheckVerdict, String);

fn good(detail: impl Into<String>) -> CheckResult {
    (CheckVerdict::Good, detail.into())
}

fn warning(detail: impl Into<String>) -> CheckResult {
    (CheckVerdict::Warning, detail.into())
}

fn failed(detail: impl fmt::Display) -> CheckResult {
    (CheckVerdict::Failed, detail.to_string())
}

/// Returns the result of a check. An error counts as a failed check.
fn checked(result: Result<CheckResult, ProjectError>) -> CheckResult {
    result.unwrap_or_else(|error| failed(chain(&error)))
}

fn git(root: &Path) -> CheckResult {
    let top = root.ancestors().find(|directory| directory.join(".git").exists());
    match top {
        None => warning(
            "no git repository: results have no commit data, and changes are detected by modification time and content",
        ),
        Some(top) if top.join(".git").join("shallow").exists() => warning(
            "shallow clone: commits that were not fetched are not counted; `git fetch --unshallow` fetches them",
        ),
        Some(top) => good(format!("work tree {}", top.display())),
    }
}

fn index(project: &Project) -> (CheckResult, Option<Manifest>) {
    if !project.has_index() {
        return (warning("no index yet; `aur mem index` or the first search builds it"), None);
    }
    let read = project.snapshot().and_then(|snapshot| Ok((snapshot.manifest().clone(), snapshot.is_complete()?)));
    let (manifest, is_complete) = match read {
        Ok(read) => read,
        Err(error) => return (failed(chain(&error)), None),
    };
    let Manifest { format_version, generation, .. } = &manifest;
    let chunks = units::counted(manifest.chunk_count, "chunk");
    let (files, size) = (units::counted(manifest.file_count, "file"), units::bytes(project.index_bytes()));
    let detail = format!(
        "{chunks} of {files}, format {format_version}, generation {generation}, {size} on disk, updated {}",
        relative_time(manifest.updated, aurora_clock::now_seconds())
    );
    let finding =
        if is_complete { good(detail) } else { warning(format!("{detail}; incomplete, `aur mem index` continues")) };
    (finding, Some(manifest))
}

/// Checks that the index can be written: acquires the writer's lock, and releases it without writing anything.
fn writer(project: &Project) -> CheckResult {
    if !project.has_index() {
        return good("no index to lock yet");
    }
    if project.snapshot().is_err() {
        return warning("not checked: the index cannot be used");
    }
    let taken = Environment::open(&project.directory(), OpenMode::Existing)
        .and_then(|environment| environment.writer(WriterOptions::default())?.abandon());
    match taken {
        Ok(()) => good("no other process is writing"),
        Err(error @ (StorageError::Locked { .. } | StorageError::ReadOnly { .. })) => warning(error.to_string()),
        Err(error) => failed(chain(&error)),
    }
}

fn embeddings(manifest: Option<&Manifest>, project: &Project) -> Result<CheckResult, ProjectError> {
    let stored = manifest.and_then(|manifest| manifest.model.as_ref());
    let embedder = IndexEmbedder::for_model(stored.map_or(STATIC, |model| &model.id), project)?.embedder();
    let (id, dimensions) = (embedder.id(), embedder.dimensions());
    if let Some(stored) = stored.filter(|stored| stored.id != id) {
        return Ok(warning(format!(
            "the index has vectors of {}, but the current model is {id}; `aur mem index` computes them again",
            stored.id
        )));
    }
    Ok(match embedder.embed_query("open a file") {
        Ok(vector) if vector.len() == dimensions => good(format!("{id}, {dimensions} dimensions")),
        Ok(vector) => failed(format!("{id} returned {} dimensions", vector.len())),
        Err(error) => failed(chain(&error)),
    })
}

fn reranker(project: &Project) -> CheckResult {
    let Ok(config) = project.settings(Vec::new()) else {
        return warning("not checked: the configuration cannot be used");
    };
    match aurora_project::reranker(&config, Mode::Hybrid) {
        None => good("no reranker is configured"),
        Some(Ok(reranker)) => good(reranker.id()),
        Some(Err(reason)) => failed(reason),
    }
}

fn free_space(root: &Path) -> CheckResult {
    match disk::available(root) {
        Ok(Some(bytes)) if bytes < MIN_FREE_BYTES => warning(format!("only {} free", units::bytes(bytes))),
        Ok(Some(bytes)) => good(format!("{} free", units::bytes(bytes))),
        Ok(None) => good("free space cannot be determined on this system"),
        Err(error) => failed(error),
    }
}

fn config(project: &Project) -> CheckResult {
    if let Err(errors) = project.settings(Vec::new()) {
        return failed(errors);
    }
    let ignored = ignored_configurations(Some(project.root()));
    if let Some(path) = ignored.first() {
        return warning(format!("{} is not read; settings are read from config.toml", path.display()));
    }
    let files =
        user::config().into_iter().chain([ProjectDirectory::in_root(project.root()).path_of(ProjectDirectory::CONFIG)]);
    let files: Vec<_> = files.filter(|path| path.exists()).map(|path| path.display().to_string()).collect();
    match files.as_slice() {
        [] => good("defaults; there is no configuration file"),
        files => good(files.join(", ")),
    }
}

fn pipeline(project: &Project) -> Result<CheckResult, ProjectError> {
    let options = project.options()?;
    let plan = match indexing::plan(&options) {
        Err(IndexError::Pipeline(diagnostics)) => return Ok(failed(diagnostics)),
        plan => plan?,
    };
    let stages = units::counted(plan.stages().len() as u64, "stage");
    let mut problems = Vec::new();
    match plan.warnings().iter().count() {
        0 => {}
        count => problems.push(format!("{}; see `aur pipeline check`", units::counted(count as u64, "warning"))),
    }
    problems.extend(untrusted_stages(&options)?.iter().map(|stage| {
        format!("the program of stage `{stage}` is not allowed; `aur plugin trust {stage}` shows it and asks")
    }));
    if let Ok(snapshot) = project.snapshot() {
        problems.extend(unfinished_work(&snapshot)?);
    }
    Ok(match problems.as_slice() {
        [] => good(stages),
        problems => warning(format!("{stages}, {}", problems.join("\n"))),
    })
}

/// Describes incomplete columns, stages that have no result for some rows, and failures that belong to no row.
fn unfinished_work(snapshot: &Snapshot) -> Result<Vec<String>, StorageError> {
    let (columns, unfinished) = (indexing::column_states(snapshot)?, &snapshot.manifest().unfinished);
    let from_column =
        |column: &indexing::ColumnState| Some(format!("column `{}`: {}", column.name, column.shortfall()?));
    let mut found: Vec<String> = columns.iter().filter_map(from_column).collect();
    let others = unfinished.rows.iter().filter(|rows| columns.iter().all(|column| column.stage != rows.stage));
    found.extend(others.map(|rows| {
        format!("stage `{}` has no result for {}", rows.stage, units::counted(rows.failed + rows.waiting, "row"))
    }));
    if let Some(first) = unfinished.failures.first() {
        let count = units::counted(unfinished.failures.len() as u64, "failure");
        found.push(format!(
            "{count} without a row, such as stage `{}` in {}: {}",
            first.stage, first.place, first.reason
        ));
    }
    let has_failed = !unfinished.failures.is_empty() || unfinished.rows.iter().any(|rows| rows.failed > 0);
    if !found.is_empty() {
        found.push("`aur mem index` runs the allowed stages again".to_owned());
    }
    if has_failed {
        found.push("`aur mem stats --failed` lists the failed rows with their reasons".to_owned());
    }
    Ok(found)
}

/// Checks that the existing memories and the policies for their entries can be used.
fn memory(root: &Path) -> CheckResult {
    if let Err(errors) = MemoryRules::load(Some(root), None) {
        return failed(errors);
    }
    let mut found = Vec::new();
    for place in MemoryPlace::for_search([root]) {
        let directory = place.directory().display().to_string();
        match memories::open_all(std::iter::once(place)) {
            Ok(memories) => {
                let Some(memory) = memories.first() else { continue };
                if let Some(problem) = memory.index_problem() {
                    return failed(format!(
                        "the index of the memory at {directory} is damaged: {problem}; `aur mem index --force` rebuilds it"
                    ));
                }
                found.push(directory);
            }
            Err(Failure::Fatal { message, help: Some(help) }) => return failed(format!("{message}; {help}")),
            Err(failure) => return failed(failure.message()),
        }
    }
    match found.as_slice() {
        [] => good("no memory yet; `aur mem add` creates it"),
        found => good(found.join(", ")),
    }
}

/// Checks that the tags and the access history can be used. Problems are only warnings, because searches work without
/// tags and access history.
fn history(project: &Project) -> CheckResult {
    if !project.directory().is_dir() {
        return good("no index yet");
    }
    let tags = annotations(project).map(drop);
    let accesses = AccessLog::open(&project.directory(), &user::trust().known).and_then(|log| log.check());
    let problems: Vec<String> =
        [tags, accesses].into_iter().filter_map(Result::err).map(|error| chain(&error)).collect();
    match problems.as_slice() {
        [] => good("tags and access history are readable"),
        problems => warning(problems.join("\n")),
    }
}

fn describe_terminal(terminal: &Terminal) -> CheckResult {
    let columns = match terminal.columns {
        Some(columns) => format!("{columns} columns"),
        None => "the output is not a terminal".to_owned(),
    };
    let colours = if terminal.out.is_enabled() { "on" } else { "off" };
    good(format!("{columns}, colours {colours}"))
}
