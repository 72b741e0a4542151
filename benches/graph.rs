//! How many of a compiler's relations does the index resolve, and how many of the resolved relations are right?
//!
//! Corpus: the index in a directory. Baseline: the relations that a compiler or type checker finds in the same tree, as
//! printed by the programs in `benches/graph`. Both ends of a relation are mapped to the definitions that contain their
//! lines, and a constructor is mapped to its type. Relations within one definition do not count. All code of a file
//! outside definitions counts as one definition.
//!
//! `cargo xtask bench graph DIR EDGES [EXAMPLES]`

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use aurora_query::{MIN_CONFIDENCE, Reason, Relation, RelationIndex};
use aurora_storage::{ChunkId, ChunkType, Environment, OpenMode, ProjectDirectory, Snapshot};

/// Confidence thresholds for which precision and recall are printed.
const THRESHOLDS: [f32; 4] = [0.0, MIN_CONFIDENCE, 0.8, 0.9];
/// Names of constructors, in addition to the name of the type.
const CONSTRUCTORS: [&str; 4] = ["__init__", "__new__", "constructor", "<init>"];

type Edge = (ChunkId, ChunkId);

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    let [root, edges, show @ ..] = arguments.as_slice() else {
        return println!("usage: cargo xtask bench graph DIR EDGES [EXAMPLES]");
    };
    let show = show.first().and_then(|show| show.parse().ok()).unwrap_or(0);
    let environment = Environment::open(&Path::new(root).join(ProjectDirectory::NAME), OpenMode::Existing)
        .expect("the directory contains an index");
    let snapshot = environment.snapshot().expect("the index can be read");
    let tree = Tree { snapshot: &snapshot, relations: RelationIndex::new(&snapshot) };
    let mut expected = tree.read(&std::fs::read_to_string(edges).expect("the file EDGES can be read"));
    println!("{} files, {} calls, {} base types", expected.files.len(), expected.calls.len(), expected.bases.len());

    let mut calls = tree.calls(&expected.files);
    if expected.only_functions {
        calls.retain(|(_, to), _| !tree.is_type(*to));
        expected.calls.retain(|(_, to)| !tree.is_type(*to));
    }
    tree.compare("calls", &expected.calls, &calls, show);
    let bases = tree.bases(&expected.files);
    tree.compare("base types", &expected.bases, &bases, show);
}

/// Relations that the compiler found.
#[derive(Default)]
struct CompilerRelations {
    /// Whether the compiler's list contains only calls of functions, so that calls of types are not compared.
    only_functions: bool,
    files: BTreeSet<String>,
    calls: BTreeSet<Edge>,
    bases: BTreeSet<Edge>,
}

struct Tree<'s> {
    snapshot: &'s Snapshot,
    relations: RelationIndex<'s>,
}

impl Tree<'_> {
    fn read(&self, text: &str) -> CompilerRelations {
        let mut expected = CompilerRelations::default();
        let mut places = BTreeMap::new();
        // Only files with a `file` line are compared. The compiler did not read all other files completely, for example
        // because of errors.
        let files = text.lines().filter_map(|line| line.strip_prefix("file\t")).map(str::to_owned);
        expected.files = files.collect();
        for line in text.lines() {
            let fields: Vec<&str> = line.split('\t').collect();
            match fields.as_slice() {
                ["functions"] => expected.only_functions = true,
                ["file", _] => {}
                [_, path, ..] if !expected.files.contains(*path) => {}
                [kind, path, line, other_path, other_line, name] => {
                    let mut at = |path: &str, line: &str| {
                        let line = line.parse().expect("the end of a relation is a line number");
                        *places.entry((path.to_owned(), line)).or_insert_with(|| self.innermost(path, line))
                    };
                    let ends = at(path, line).zip(at(other_path, other_line));
                    let Some((from, to)) = ends.filter(|(_, to)| self.is_callable(*to, name)) else { continue };
                    let (from, to) = if *kind == "call" { (from, self.type_of_constructor(to)) } else { (from, to) };
                    if from != to {
                        let edges = if *kind == "call" { &mut expected.calls } else { &mut expected.bases };
                        edges.insert((from, to));
                    }
                }
                _ => panic!("not a relation: {line}"),
            }
        }
        expected
    }

    /// Returns the definition in the smallest chunk that contains a line.
    fn innermost(&self, path: &str, line: u32) -> Option<ChunkId> {
        let file = self.snapshot.file(path).expect("the index can be read")?;
        let mut best = None;
        for id in file.chunks {
            let chunk = self.snapshot.chunk(id).expect("the index can be read").expect("the chunk is live");
            let (first, last) = (chunk.line_start(), chunk.line_end());
            let this = (last - first, id);
            if (first..=last).contains(&line) && best.is_none_or(|best| this < best) {
                best = Some(this);
            }
        }
        self.relations.definition_of(best?.1).expect("the index can be read")
    }

    /// Whether the chunk of a definition has the given name, or contains a definition with this name that has no
    /// separate chunk. If the name is empty, every definition is accepted.
    fn is_callable(&self, id: ChunkId, name: &str) -> bool {
        let chunk = self.snapshot.chunk(id).expect("the index can be read").expect("the chunk is live");
        name.is_empty() || chunk.name() == name || chunk.definitions().any(|inner| inner == name)
    }

    fn is_type(&self, id: ChunkId) -> bool {
        let chunk = self.snapshot.chunk(id).expect("the index can be read").expect("the chunk is live");
        is_type(chunk.chunk_type())
    }

    fn type_of_constructor(&self, id: ChunkId) -> ChunkId {
        let chunk = self.snapshot.chunk(id).expect("the index can be read").expect("the chunk is live");
        let relations = self.snapshot.relations(id).expect("the index can be read").expect("the chunk is live");
        let parent = relations.parent.and_then(|key| self.snapshot.chunk_by_key(&key).expect("the index can be read"));
        match parent {
            Some((parent, of)) if CONSTRUCTORS.contains(&chunk.name()) || of.name() == chunk.name() => parent,
            _ => id,
        }
    }

    fn calls(&self, files: &BTreeSet<String>) -> BTreeMap<Edge, (Reason, f32)> {
        let mut found = BTreeMap::new();
        for from in files.iter().flat_map(|path| self.relations.definitions_in(path).expect("the index can be read")) {
            for to in self.relations.related(from, Relation::Callees).expect("the index can be read").list {
                let edge = (from, self.type_of_constructor(to.id));
                let best = found.entry(edge).or_insert((to.reason, to.confidence));
                if best.1 < to.confidence {
                    *best = (to.reason, to.confidence);
                }
            }
        }
        found.retain(|(from, to), _| from != to);
        found
    }

    fn bases(&self, files: &BTreeSet<String>) -> BTreeMap<Edge, (Reason, f32)> {
        let mut found = BTreeMap::new();
        for to in files.iter().flat_map(|path| self.relations.definitions_in(path).expect("the index can be read")) {
            if self.is_type(to) {
                for from in self.relations.related(to, Relation::Implementers).expect("the index can be read").list {
                    found.insert((from.id, to), (from.reason, from.confidence));
                }
            }
        }
        found
    }

    fn compare(&self, what: &str, expected: &BTreeSet<Edge>, ours: &BTreeMap<Edge, (Reason, f32)>, show: usize) {
        println!("\n{what}: {} of the compiler, {} of the index", expected.len(), ours.len());
        println!("  confidence  relations  precision  recall");
        for least in THRESHOLDS {
            let found: Vec<&Edge> =
                ours.iter().filter(|(_, (_, confidence))| *confidence >= least).map(|(edge, _)| edge).collect();
            let right = found.iter().filter(|edge| expected.contains(edge)).count();
            println!(
                "  {least:>10}  {:>9}  {:>9.3}  {:>6.3}",
                found.len(),
                share(right, found.len()),
                share(right, expected.len())
            );
        }
        println!("  reason       relations  precision");
        for &reason in Reason::ALL {
            let found: Vec<&Edge> =
                ours.iter().filter(|(_, (other, _))| *other == reason).map(|(edge, _)| edge).collect();
            let right = found.iter().filter(|edge| expected.contains(edge)).count();
            println!("  {:<11}  {:>9}  {:>9.3}", reason.as_str(), found.len(), share(right, found.len()));
        }
        let missing: Vec<&Edge> = expected.iter().filter(|edge| !ours.contains_key(edge)).collect();
        for edge in spread(&missing, show) {
            println!("  missing  {}", self.shown(edge));
        }
        for &reason in Reason::ALL {
            let wrong = ours.iter().filter(|(edge, (other, _))| *other == reason && !expected.contains(edge));
            let wrong: Vec<&Edge> = wrong.map(|(edge, _)| edge).collect();
            for edge in spread(&wrong, show) {
                println!("  wrong {:<11} {}", reason.as_str(), self.shown(edge));
            }
        }
    }

    fn shown(&self, (from, to): &Edge) -> String {
        let place = |id: ChunkId| {
            let chunk = self.snapshot.chunk(id).expect("the index can be read").expect("the chunk is live");
            format!("{}:{} {}", chunk.path(), chunk.line_start(), chunk.qualified_name())
        };
        format!("{} -> {}", place(*from), place(*to))
    }
}

/// Returns at most `max` elements of a list, at even intervals.
fn spread<'e>(list: &[&'e Edge], max: usize) -> Vec<&'e Edge> {
    let step = list.len().div_ceil(max.max(1)).max(1);
    list.iter().step_by(step).take(max).copied().collect()
}

fn is_type(kind: ChunkType) -> bool {
    matches!(kind, ChunkType::Class | ChunkType::Interface | ChunkType::Struct | ChunkType::Enum | ChunkType::Type)
}

fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
