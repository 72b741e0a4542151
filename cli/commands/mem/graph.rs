//! `aur mem graph`: prints the resolved relations of definitions and files.

use std::collections::BTreeMap;
use std::io::Write;

use aurora_project::{
    AffectedChunk, ImpactReport, ImportReport, Names, ProjectError, RelatedChunk, UnusedReport, definition, impact_of,
    impact_of_changes, imported_by, imports, relations, root_name, source_changes, spellings, unused,
};
use aurora_query::{
    BranchEnd, DEFAULT_IMPACT_DEPTH, ImpactOptions, MAX_TREE_DEPTH, MIN_CONFIDENCE, MIN_IMPACT_CONFIDENCE,
    MIN_UNUSED_CONFIDENCE, Relation, RelationIndex, RelationTree, TreeNode, TreeOptions, UnusedOptions,
};
use aurora_storage::Snapshot;
use clap::Args;
use serde::Serialize;

use crate::context::{IndexReportArgs, Outcome, Program, ReportFormat, Terminal, args, place};
use crate::output::{Links, Role, json, sanitize, units};

/// Show the relations of definitions and files: calls, impact of changes, imports, unused definitions
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("relation").required(true))]
#[command(after_help = "\
Examples:
  aur mem graph UserManager.login --callers             its direct callers
  aur mem graph src/auth.py:31 --callees --depth 3      its callees, up to three levels deep
  aur mem graph Storage --implementers --format json    types that extend or implement it
  aur mem graph UserManager.login --impact              what a change of it may affect, with the tests
  aur mem graph --diff=main.. --impact                  what the changes since main may affect
  aur mem graph --unused --path src                     definitions that nothing uses
  aur mem graph --imported-by src/auth.py               files that import it

The confidence of a relation is the share of relations found in the same way that a compiler
confirms. docs/guides/relationships.md describes how relations are found, and how often they are right.")]
pub(crate) struct GraphArgs {
    /// Definition: its name with or without qualifiers, PATH:LINE, or its id
    #[arg(value_name = "NAME", required_unless_present_any = ["diff", "unused", "imports", "imported_by"], conflicts_with_all = ["diff", "unused", "imports", "imported_by"])]
    name: Option<String>,

    /// Show the definitions that call it
    #[arg(long, group = "relation")]
    callers: bool,

    /// Show the definitions that it calls
    #[arg(long, group = "relation")]
    callees: bool,

    /// Show the types that extend or implement it, or the methods that override it
    #[arg(long, group = "relation")]
    implementers: bool,

    /// Show the definitions, files and tests that a change of it may affect
    #[arg(long, group = "relation")]
    impact: bool,

    /// With --impact: use the definitions that the lines of `git diff RANGE` touch [default: the working tree against HEAD]
    #[arg(long, value_name = "RANGE", num_args = 0..=1, require_equals = true, default_missing_value = "", requires = "impact")]
    diff: Option<String>,

    /// Show the definitions that nothing uses
    #[arg(long, group = "relation")]
    unused: bool,

    /// With --unused: only definitions in this language
    #[arg(long, value_name = "LANGUAGE", requires = "unused")]
    lang: Option<String>,

    /// With --unused: only definitions in this file or directory
    #[arg(long, value_name = "PATH", requires = "unused")]
    path: Option<String>,

    /// Show the imports of a file or module, and the files and definitions to which they resolve
    #[arg(long, value_name = "FILE|MODULE", group = "relation")]
    imports: Option<String>,

    /// Show the files that import a file or module
    #[arg(long, value_name = "FILE|MODULE", group = "relation")]
    imported_by: Option<String>,

    /// Maximum number of steps [default: 1, with --impact: 8]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_TREE_DEPTH)))]
    depth: Option<u32>,

    /// Leave out results with a lower confidence, from 0 to 1 [default: 0.45, with --impact: 0.5, with --unused: 0.7]
    #[arg(long, value_name = "X", value_parser = |text: &str| args::within::<f32>(text, 0.0..=1.0, "a number from 0 to 1"))]
    min_confidence: Option<f32>,

    #[command(flatten)]
    index: IndexReportArgs,
}

impl GraphArgs {
    fn relation(&self) -> Relation {
        if self.callers {
            Relation::Callers
        } else if self.callees {
            Relation::Callees
        } else {
            Relation::Implementers
        }
    }
}

/// Maximum number of definitions that the text output of an impact lists.
const MAX_AFFECTED: usize = 200;
/// Maximum number of changed definitions that the text output lists.
const MAX_CHANGED: usize = 50;

/// Maximum number of external names that the text output lists.
const MAX_EXTERNAL_NAMES: usize = 12;

/// Prints the requested relations.
pub(crate) fn run(args: &GraphArgs, program: &Program) -> Outcome {
    let (project, snapshot) = program.open(args.index.root.as_deref())?;
    let here = place::here();
    let names = Names { snapshot: &snapshot, root: project.root(), from: here.as_deref(), work: None };
    let index = RelationIndex::new(&snapshot);
    let terminal = &program.terminal;
    let links = Links::detect(terminal.out, [("", project.root())].into_iter());
    let printer = Printer { snapshot: &snapshot, terminal, links };
    if args.unused {
        let path = args.path.as_deref().map(|path| below_root(&names, path)).transpose()?;
        let least = args.min_confidence.unwrap_or(MIN_UNUSED_CONFIDENCE);
        let options = UnusedOptions { min_confidence: least, language: args.lang.clone(), path };
        let report = unused(&snapshot, &index, &options)?;
        return printer.report(args, &report, |out| printer.unused(out, &report));
    }
    for (name, find) in [(&args.imports, imports as ImportFinder), (&args.imported_by, imported_by)] {
        if let Some(name) = name {
            let report = find(&names, &index, name)?;
            return printer.report(args, &report, |out| printer.imports(out, &report));
        }
    }
    if args.impact {
        let options = ImpactOptions {
            depth: args.depth.unwrap_or(DEFAULT_IMPACT_DEPTH),
            min_confidence: args.min_confidence.unwrap_or(MIN_IMPACT_CONFIDENCE),
        };
        let report = match (&args.diff, &args.name) {
            (Some(range), _) => impact_of_changes(&snapshot, &index, source_changes(&names, range)?, &options)?,
            (None, name) => {
                let named = definition(&names, &index, name.as_deref().unwrap_or_default())?;
                impact_of(&snapshot, &index, &named, &options)?
            }
        };
        return printer.report(args, &report, |out| printer.impact(out, &report));
    }
    let named = definition(&names, &index, args.name.as_deref().unwrap_or_default())?;
    let options = TreeOptions {
        relation: args.relation(),
        depth: args.depth.unwrap_or(1),
        min_confidence: args.min_confidence.unwrap_or(MIN_CONFIDENCE),
    };
    let tree = index.tree(&named, &options)?;
    if args.index.format == ReportFormat::Json {
        let report = relations(&snapshot, &tree, &options)?;
        return terminal.write(|out| json::write_indented(out, &report));
    }
    printer.text(&tree, &options)
}

type ImportFinder = fn(&Names<'_>, &RelationIndex<'_>, &str) -> Result<ImportReport, ProjectError>;

/// Returns a path of a file or directory relative to the root.
fn below_root(names: &Names<'_>, path: &str) -> Outcome<String> {
    let outside = || ProjectError::OutsideRoot { path: path.to_owned(), root: names.root.to_owned() };
    let spelled = spellings(names.root, names.from, path);
    let found = spelled.iter().rev().find(|path| names.root.join(path).exists()).or(spelled.first());
    Ok(found.cloned().ok_or_else(outside)?)
}

struct Printer<'a> {
    snapshot: &'a Snapshot,
    terminal: &'a Terminal,
    links: Links,
}

impl Printer<'_> {
    /// Prints a report as JSON or as text.
    fn report(
        &self,
        args: &GraphArgs,
        report: &impl Serialize,
        text: impl FnOnce(&mut dyn Write) -> Outcome,
    ) -> Outcome {
        if args.index.format == ReportFormat::Json {
            return self.terminal.write(|out| json::write_indented(out, report));
        }
        let mut out = self.terminal.stdout();
        text(&mut out)?;
        Ok(out.flush()?)
    }

    fn unused(&self, out: &mut dyn Write, report: &UnusedReport) -> Outcome {
        let mut file = "";
        for one in &report.unused {
            if one.file != file {
                writeln!(out, "{}", self.terminal.out.paint(Role::Path, &sanitize::line(&one.file)))?;
                file = &one.file;
            }
            self.entry(out, one, one.reason.unwrap_or_default())?;
        }
        out.flush()?;
        if report.unused.is_empty() {
            self.terminal.note(&format!("none of {} is unused", counted(report.examined, "definition")));
        }
        self.note_omitted(report.left_out, report.min_confidence, "definition");
        if report.not_indexed > 0 {
            let files = counted(report.not_indexed, "source file");
            self.terminal.warn(&format!("incomplete: not indexed, so their uses are unknown: {files}"));
        }
        self.warn_incomplete(report.complete || report.not_indexed > 0);
        Ok(())
    }

    fn imports(&self, out: &mut dyn Write, report: &ImportReport) -> Outcome {
        let mut external = Vec::new();
        for importing in report.importing.iter().filter(|importing| !importing.imports.is_empty()) {
            writeln!(out, "{}", self.terminal.out.paint(Role::Path, &sanitize::line(&importing.file)))?;
            for import in &importing.imports {
                if import.external {
                    external.push(import.path.as_str());
                    continue;
                }
                let path = self.terminal.out.paint(Role::Heading, &sanitize::line(&import.path));
                let places: Vec<String> = match import.definitions.as_slice() {
                    [] => import.files.iter().map(|file| sanitize::line(file)).collect(),
                    found => found.iter().map(|one| self.place(&one.file, one.line_start)).collect(),
                };
                writeln!(out, "  {path}  {}", places.join(", "))?;
            }
        }
        out.flush()?;
        let count: usize = report.importing.iter().map(|importing| importing.imports.len()).sum();
        if count == 0 {
            self.terminal.note(if report.relation == "imports" { "it imports nothing" } else { "nothing imports it" });
        }
        if !external.is_empty() {
            external.dedup();
            let names: Vec<_> = external.iter().take(MAX_EXTERNAL_NAMES).map(|name| sanitize::line(name)).collect();
            let more = external.len() - names.len();
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            self.terminal.note(&format!("it also imports from outside the repository: {}{more}", names.join(", ")));
        }
        self.warn_incomplete(report.complete);
        Ok(())
    }

    fn impact(&self, out: &mut dyn Write, report: &ImpactReport) -> Outcome {
        let paint = self.terminal.out;
        for changed in report.changed.iter().take(MAX_CHANGED) {
            let name = paint.paint(Role::Heading, &sanitize::line(&changed.name));
            let change = if report.files.is_some() { format!("{} ", changed.change) } else { String::new() };
            writeln!(out, "{change}{name}  {}", self.place(&changed.file, changed.line_start))?;
        }
        if report.changed.len() > MAX_CHANGED {
            writeln!(out, "… and {} more", report.changed.len() - MAX_CHANGED)?;
        }
        let mut left = MAX_AFFECTED;
        for (title, list, files) in
            [("affected", &report.affected, &report.affected_files), ("tests", &report.tests, &report.test_files)]
        {
            if list.is_empty() && files.is_empty() {
                continue;
            }
            let head = format!("{title}: {} in {}", counted(list.len(), "definition"), counted(files.len(), "file"));
            writeln!(out, "\n{}", paint.paint(Role::Heading, &head))?;
            let mut by_file: BTreeMap<&str, Vec<&AffectedChunk>> = BTreeMap::new();
            for file in files {
                by_file.entry(file).or_default();
            }
            list.iter().for_each(|one| by_file.entry(&one.chunk.file).or_default().push(one));
            for (file, list) in by_file {
                writeln!(out, "{}", paint.paint(Role::Path, &sanitize::line(file)))?;
                for one in list.into_iter().take(left) {
                    left -= 1;
                    let steps: Vec<String> =
                        one.chain.iter().map(|step| format!("{} {}", step.relation, step.name)).collect();
                    self.entry(out, &one.chunk, &steps.join(", which "))?;
                }
            }
        }
        out.flush()?;
        if report.files.as_ref().is_some_and(Vec::is_empty) {
            self.terminal.note("nothing has changed");
        } else if report.files.is_some() && report.changed.is_empty() {
            self.terminal.note("the changed lines touch no definition");
        } else if report.affected.is_empty() && report.tests.is_empty() {
            self.terminal.note("nothing in the repository depends on it");
        }
        if report.affected.len() + report.tests.len() > MAX_AFFECTED {
            self.terminal.note(&format!("only {MAX_AFFECTED} definitions are listed; --format json lists all"));
        }
        let binary = report.files.iter().flatten().filter(|file| file.binary).count();
        if binary > 0 {
            self.terminal.note(&format!("{} not compared", counted(binary, "binary file")));
        }
        if report.not_indexed > 0 {
            let count = counted(report.not_indexed, "changed definition");
            self.terminal.warn(&format!("{count} not in the index; run `aur mem index` first"));
        }
        self.note_omitted(report.left_out, report.min_confidence, "relation");
        self.warn_incomplete(report.complete);
        Ok(())
    }

    /// Writes a definition below the path of its file.
    fn entry(&self, out: &mut dyn Write, chunk: &RelatedChunk, why: &str) -> Outcome {
        let paint = self.terminal.out;
        let name = paint.paint(Role::Heading, &sanitize::line(&chunk.name));
        let line = self.links.link(&chunk.file, Some(chunk.line_start), &format!("{:>5}", chunk.line_start));
        let why = format!("{:.2} {}", chunk.confidence.unwrap_or_default(), sanitize::line(why));
        Ok(writeln!(out, "{line}  {name}  {}", paint.paint(Role::Faint, &why))?)
    }

    fn note_omitted(&self, count: usize, least: f64, what: &str) {
        if count > 0 {
            let count = counted(count, what);
            self.terminal
                .note(&format!("{count} with a confidence below {least} left out; --min-confidence 0 shows all"));
        }
    }

    fn warn_incomplete(&self, is_complete: bool) {
        if !is_complete {
            self.terminal.warn("the result is incomplete, because a limit was reached");
        }
    }

    fn text(&self, tree: &RelationTree, options: &TreeOptions) -> Outcome {
        let mut out = self.terminal.stdout();
        let name = root_name(self.snapshot, tree)?;
        writeln!(out, "{}", self.line(&tree.root, Some(&name))?)?;
        for declaration in &tree.declarations {
            if let Some(chunk) = self.snapshot.chunk(*declaration)? {
                let place = self.place(chunk.path(), chunk.line_start());
                writeln!(out, "{}{place}", self.terminal.out.paint(Role::Faint, "declared in "))?;
            }
        }
        self.branches(&mut out, &tree.root, "")?;
        out.flush()?;
        if tree.root.children.is_empty() {
            self.terminal.note(nothing(options.relation));
        }
        if tree.left_out > 0 {
            let least = options.min_confidence;
            self.terminal.note(&format!(
                "{} relations with a confidence below {least} were left out; --min-confidence 0 shows them",
                tree.left_out
            ));
        }
        if !tree.external.is_empty() {
            let names: Vec<&str> = tree.external.iter().take(MAX_EXTERNAL_NAMES).map(String::as_str).collect();
            let more = tree.external.len() - names.len();
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            self.terminal.note(&format!("it also calls names outside the repository: {}{more}", names.join(", ")));
        }
        if tree.is_cut {
            self.terminal.warn("the result is incomplete, because a limit was reached");
        }
        Ok(())
    }

    /// Writes the branches below a node. The recursion is as deep as the tree, at most [`MAX_TREE_DEPTH`] levels.
    fn branches(&self, out: &mut impl Write, node: &TreeNode, indent: &str) -> Outcome {
        for (index, child) in node.children.iter().enumerate() {
            let is_last = index + 1 == node.children.len();
            let (branch, below) = if is_last { ("└── ", "    ") } else { ("├── ", "│   ") };
            let branch = self.terminal.out.paint(Role::Faint, &format!("{indent}{branch}"));
            writeln!(out, "{branch}{}", self.line(child, None)?)?;
            self.branches(out, child, &format!("{indent}{below}"))?;
        }
        Ok(())
    }

    /// Formats a node, such as `Type.method  src/file.py:12  0.98 import`.
    fn line(&self, node: &TreeNode, name: Option<&str>) -> Outcome<String> {
        let paint = self.terminal.out;
        let Some(chunk) = self.snapshot.chunk(node.id)? else { return Ok(String::new()) };
        let name = paint.paint(Role::Heading, &sanitize::line(name.unwrap_or(chunk.qualified_name())));
        let mut line = format!("{name}  {}", self.place(chunk.path(), chunk.line_start()));
        if let Some((reason, confidence)) = node.relation {
            line += &paint.paint(Role::Faint, &format!("  {confidence:.2} {}", reason.as_str()));
        }
        match node.end {
            Some(BranchEnd::Cycle) => line += " (cycle)",
            Some(BranchEnd::Repeated) => line += " (*)",
            None => {}
        }
        Ok(line)
    }

    /// Formats the location of a chunk, such as `src/file.py:12`.
    fn place(&self, path: &str, line: u32) -> String {
        let place = self.terminal.out.paint(Role::Path, &format!("{}:{line}", sanitize::line(path)));
        self.links.link(path, Some(line), &place)
    }
}

/// Formats a count with its noun.
fn counted(count: usize, noun: &str) -> String {
    units::counted(count as u64, noun)
}

fn nothing(relation: Relation) -> &'static str {
    match relation {
        Relation::Callees => "it calls nothing in the repository",
        Relation::Callers => "nothing in the repository calls it",
        Relation::Implementers => "nothing in the repository extends, implements or overrides it",
    }
}
