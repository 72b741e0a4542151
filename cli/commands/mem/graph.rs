//! `aur mem graph`: prints the resolved relations of a definition as a tree.

use std::io::Write;

use aurora_project::{Names, definition, relations, root_name};
use aurora_query::{
    BranchEnd, MAX_TREE_DEPTH, MIN_CONFIDENCE, Relation, RelationIndex, RelationTree, TreeNode, TreeOptions,
};
use aurora_storage::Snapshot;
use clap::Args;

use crate::context::{IndexReportArgs, Outcome, Program, ReportFormat, Terminal, args, place};
use crate::output::{Links, Role, json, sanitize};

/// Show what a definition calls, what calls it, or what implements it
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("relation").required(true))]
#[command(after_help = "\
Examples:
  aur mem graph UserManager.login --callers             its direct callers
  aur mem graph src/auth.py:31 --callees --depth 3      its callees, up to three levels deep
  aur mem graph Storage --implementers --format json    types that extend or implement it

The confidence of a relation is the share of relations found in the same way that a compiler
confirms. docs/guides/relationships.md describes how relations are found, and how often they are right.")]
pub(crate) struct GraphArgs {
    /// Definition: its name with or without qualifiers, PATH:LINE, or its id
    #[arg(value_name = "NAME")]
    pub(crate) name: String,

    /// Show the definitions that call it
    #[arg(long, group = "relation")]
    callers: bool,

    /// Show the definitions that it calls
    #[arg(long, group = "relation")]
    callees: bool,

    /// Show the types that extend or implement it, or the methods that override it
    #[arg(long, group = "relation")]
    implementers: bool,

    /// Maximum depth of the tree
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_TREE_DEPTH)))]
    pub(crate) depth: u32,

    /// Leave out relations with a lower confidence, from 0 to 1
    #[arg(long, value_name = "X", default_value_t = MIN_CONFIDENCE, value_parser = |text: &str| args::within::<f32>(text, 0.0..=1.0, "a number from 0 to 1"))]
    pub(crate) min_confidence: f32,

    #[command(flatten)]
    pub(crate) index: IndexReportArgs,
}

impl GraphArgs {
    pub(crate) fn relation(&self) -> Relation {
        if self.callers {
            Relation::Callers
        } else if self.callees {
            Relation::Callees
        } else {
            Relation::Implementers
        }
    }
}

/// Maximum number of external names that the text output lists.
const MAX_EXTERNAL_NAMES: usize = 12;

/// Prints the relations of the definition.
pub(crate) fn run(args: &GraphArgs, program: &Program) -> Outcome {
    let (project, snapshot) = program.open(args.index.root.as_deref())?;
    let here = place::here();
    let names = Names { snapshot: &snapshot, root: project.root(), from: here.as_deref(), work: None };
    let index = RelationIndex::new(&snapshot);
    let named = definition(&names, &index, &args.name)?;
    let options = TreeOptions { relation: args.relation(), depth: args.depth, min_confidence: args.min_confidence };
    let tree = index.tree(&named, &options)?;
    let terminal = &program.terminal;
    if args.index.format == ReportFormat::Json {
        let report = relations(&snapshot, &tree, &options)?;
        return terminal.write(|out| json::write_indented(out, &report));
    }
    let links = Links::detect(terminal.out, [("", project.root())].into_iter());
    Printer { snapshot: &snapshot, terminal, links }.text(&tree, &options)
}

struct Printer<'a> {
    snapshot: &'a Snapshot,
    terminal: &'a Terminal,
    links: Links,
}

impl Printer<'_> {
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

fn nothing(relation: Relation) -> &'static str {
    match relation {
        Relation::Callees => "it calls nothing in the repository",
        Relation::Callers => "nothing in the repository calls it",
        Relation::Implementers => "nothing in the repository extends, implements or overrides it",
    }
}
