//! `aur mem graph`: the resolved relations of a definition, as a tree.

use std::io::Write;
use std::path::Path;

use aurora_query::{BranchEnd, Relation, RelationIndex, RelationTree, TreeNode, TreeOptions};
use aurora_storage::{ChunkId, LabelKind, Snapshot, StorageError};
use serde_json::{Value, json};

use crate::args_graph::GraphArgs;
use crate::chunk_id;
use crate::failure::{Failure, Outcome};
use crate::opened::{self, OpenedIndex};
use crate::output::links::Links;
use crate::output::style::Role;
use crate::output::{json, sanitize};
use crate::terminal::Terminal;
use crate::values::ReportFormat;

/// Most definitions that an error lists.
const MOST_LISTED: usize = 10;
/// Most names that an error suggests.
const SUGGESTIONS: usize = 3;
/// Most names outside of the repository that the text lists.
const MOST_EXTERNAL: usize = 12;

/// Prints the relations of the definition that the user means.
pub(crate) fn run(args: &GraphArgs, terminal: &Terminal) -> Outcome {
    let OpenedIndex { root, snapshot } = opened::open(args.root.as_deref())?;
    let relations = RelationIndex::new(&snapshot);
    let id = definition(&snapshot, &relations, &root, &args.name)?;
    let options = TreeOptions { relation: args.relation(), depth: args.depth, min_confidence: args.min_confidence };
    let tree = relations.tree(id, &options).map_err(opened::failure)?;
    let printer = Printer { snapshot: &snapshot, terminal, links: Links::detect(terminal.out, &root) };
    match args.format {
        ReportFormat::Text => printer.text(&tree, &options),
        ReportFormat::Json => printer.json(&tree, &options),
    }
}

/// The definition that a name, a place or an id means.
fn definition(snapshot: &Snapshot, relations: &RelationIndex<'_>, root: &Path, name: &str) -> Outcome<ChunkId> {
    if let Some(key) = chunk_id::resolve(snapshot, root, name).map_err(opened::failure)? {
        let found = snapshot.chunk_by_key(&key).map_err(opened::failure)?;
        if let Some((id, _)) = found {
            return Ok(id);
        }
    }
    match relations.find(name).map_err(opened::failure)?.as_slice() {
        [] => Err(unknown(snapshot, relations, name)?),
        [one] => Ok(*one),
        several => Err(ambiguous(snapshot, name, several)?),
    }
}

fn unknown(snapshot: &Snapshot, relations: &RelationIndex<'_>, name: &str) -> Outcome<Failure> {
    let failure = Failure::new(format!("no definition is called {}", sanitize::line(name)));
    let near = near_names(snapshot, relations, name).map_err(opened::failure)?;
    Ok(match near.as_slice() {
        [] => failure.with_help("give a name as `aur mem search` shows it, PATH:LINE, or the `id` of a result"),
        near => failure.with_help(format!("did you mean {}?", near.join(" or "))),
    })
}

/// Qualified names of definitions whose name looks like one, the nearest first.
fn near_names(snapshot: &Snapshot, relations: &RelationIndex<'_>, name: &str) -> Result<Vec<String>, StorageError> {
    let last = name.rsplit(['.', ':', '#', '/', '\\']).next().unwrap_or(name).to_lowercase();
    let most = (last.chars().count() / 4).max(1);
    let mut near = Vec::new();
    for label in snapshot.labels(LabelKind::Defines) {
        let (other, _) = label?;
        if other.len().abs_diff(last.len()) <= most {
            near.push((aurora_suggest::distance(&other, &last), other));
        }
    }
    near.retain(|(distance, _)| *distance <= most);
    near.sort();
    let mut shown = Vec::new();
    for (_, other) in near.into_iter().take(MOST_LISTED) {
        for id in relations.find(&other)?.into_iter().take(SUGGESTIONS) {
            shown.extend(snapshot.chunk(id)?.map(|chunk| sanitize::line(chunk.qualified_name())));
        }
    }
    shown.dedup();
    shown.truncate(SUGGESTIONS);
    Ok(shown)
}

fn ambiguous(snapshot: &Snapshot, name: &str, found: &[ChunkId]) -> Outcome<Failure> {
    let mut places = Vec::new();
    for id in found.iter().take(MOST_LISTED) {
        let Some(chunk) = snapshot.chunk(*id).map_err(opened::failure)? else { continue };
        places.push(format!("  {}", sanitize::line(&chunk.key())));
    }
    if found.len() > MOST_LISTED {
        places.push(format!("  and {} more", found.len() - MOST_LISTED));
    }
    let message = format!("{} definitions are called {}:\n{}", found.len(), sanitize::line(name), places.join("\n"));
    Ok(Failure::new(message).with_help("give one of these ids, a longer qualified name, or PATH:LINE"))
}

struct Printer<'a> {
    snapshot: &'a Snapshot,
    terminal: &'a Terminal,
    links: Links,
}

impl Printer<'_> {
    fn text(&self, tree: &RelationTree, options: &TreeOptions) -> Outcome {
        let mut out = self.terminal.stdout();
        writeln!(out, "{}", self.line(&tree.root)?)?;
        self.branches(&mut out, &tree.root, "")?;
        out.flush()?;
        if tree.root.children.is_empty() {
            self.terminal.note(nothing(options.relation));
        }
        if tree.left_out > 0 {
            let least = options.min_confidence;
            self.terminal.note(&format!(
                "{} relations of a confidence below {least} were left out; --min-confidence 0 shows them",
                tree.left_out
            ));
        }
        if !tree.external.is_empty() {
            let names: Vec<&str> = tree.external.iter().take(MOST_EXTERNAL).map(String::as_str).collect();
            let more = tree.external.len() - names.len();
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            self.terminal.note(&format!("it also calls what is not in the repository: {}{more}", names.join(", ")));
        }
        if tree.is_cut {
            self.terminal.warn("there is more than was looked at");
        }
        Ok(())
    }

    /// The recursion is as deep as the tree.
    fn branches(&self, out: &mut impl Write, node: &TreeNode, indent: &str) -> Outcome {
        for (index, child) in node.children.iter().enumerate() {
            let is_last = index + 1 == node.children.len();
            let (branch, below) = if is_last { ("└── ", "    ") } else { ("├── ", "│   ") };
            writeln!(
                out,
                "{}{}",
                self.terminal.out.paint(Role::Faint, &format!("{indent}{branch}")),
                self.line(child)?
            )?;
            self.branches(out, child, &format!("{indent}{below}"))?;
        }
        Ok(())
    }

    /// `Type.method  src/file.py:12  0.98 import`
    fn line(&self, node: &TreeNode) -> Outcome<String> {
        let paint = self.terminal.out;
        let Some(chunk) = self.snapshot.chunk(node.id).map_err(opened::failure)? else { return Ok(String::new()) };
        let name = paint.paint(Role::Heading, &sanitize::line(chunk.qualified_name()));
        let place = format!("{}:{}", sanitize::line(chunk.path()), chunk.line_start());
        let place = self.links.link(chunk.path(), Some(chunk.line_start()), &paint.paint(Role::Path, &place));
        let mut line = format!("{name}  {place}");
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

    fn json(&self, tree: &RelationTree, options: &TreeOptions) -> Outcome {
        let report = json!({
            "relation": name_of(options.relation),
            "depth": options.depth,
            "min_confidence": rounded(options.min_confidence),
            "root": self.node(&tree.root)?,
            "left_out": tree.left_out,
            "external": tree.external,
            "complete": !tree.is_cut,
        });
        let mut out = self.terminal.stdout();
        json::write_indented(&mut out, &report)?;
        Ok(out.flush()?)
    }

    /// The recursion is as deep as the tree.
    fn node(&self, node: &TreeNode) -> Outcome<Value> {
        let Some(chunk) = self.snapshot.chunk(node.id).map_err(opened::failure)? else { return Ok(Value::Null) };
        let mut report = json!({
            "id": chunk.key(),
            "type": chunk.chunk_type().as_str(),
            "name": chunk.qualified_name(),
            "file": chunk.path(),
            "line_start": chunk.line_start(),
            "line_end": chunk.line_end(),
        });
        if let Some((reason, confidence)) = node.relation {
            report["reason"] = reason.as_str().into();
            report["confidence"] = rounded(confidence).into();
        }
        match node.end {
            Some(BranchEnd::Cycle) => report["end"] = "cycle".into(),
            Some(BranchEnd::Repeated) => report["end"] = "repeated".into(),
            None => report["children"] = node.children.iter().map(|child| self.node(child)).collect::<Outcome<_>>()?,
        }
        Ok(report)
    }
}

fn name_of(relation: Relation) -> &'static str {
    match relation {
        Relation::Callees => "callees",
        Relation::Callers => "callers",
        Relation::Implementers => "implementers",
    }
}

fn nothing(relation: Relation) -> &'static str {
    match relation {
        Relation::Callees => "it calls nothing that is in the repository",
        Relation::Callers => "nothing in the repository calls it",
        Relation::Implementers => "nothing in the repository extends, implements or overrides it",
    }
}

/// Three decimals: a confidence is no more exact.
fn rounded(confidence: f32) -> f64 {
    (f64::from(confidence) * 1000.0).round() / 1000.0
}
