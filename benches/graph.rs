//! How many of a compiler's relations does the index resolve, and how many of its resolved relations are right?
//!
//! Corpus: the index in a directory. Peer: relations of the same tree, from a compiler or type checker, as printed by
//! the programs in `benches/graph`. Both ends of a relation are mapped to the definitions that contain their lines, and
//! a constructor is mapped to its type. Relations within one definition do not count. Code outside definitions counts
//! as one definition of its file.
//!
//! `cargo xtask bench graph DIR EDGES`

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
        return println!("usage: cargo xtask bench graph DIR EDGES [SHOWN]");
    };
    let show = show.first().and_then(|show| show.parse().ok()).unwrap_or(0);
    let environment =
        Environment::open(&Path::new(root).join(ProjectDirectory::NAME), OpenMode::Existing).expect("an index");
    let snapshot = environment.snapshot().expect("a snapshot");
    let tree = Tree { snapshot: &snapshot, relations: RelationIndex::new(&snapshot) };
    let mut peer = tree.read(&std::fs::read_to_string(edges).expect("relations of a peer"));
    println!("{} files, {} calls, {} base types", peer.files.len(), peer.calls.len(), peer.bases.len());

    let mut calls = tree.calls(&peer.files);
    if peer.only_functions {
        calls.retain(|(_, to), _| !tree.is_type(*to));
        peer.calls.retain(|(_, to)| !tree.is_type(*to));
    }
    tree.compare("calls", &peer.calls, &calls, show);
    let bases = tree.bases(&peer.files);
    tree.compare("base types", &peer.bases, &bases, show);
}

/// Relations found by the peer.
#[derive(Default)]
struct Peer {
    /// Whether the peer reports only calls of functions, so that calls of types are not compared.
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
    fn read(&self, text: &str) -> Peer {
        let mut peer = Peer::default();
        let mut places = BTreeMap::new();
        // Relations of other files, such as files with errors, are incomplete.
        let files = text.lines().filter_map(|line| line.strip_prefix("file\t")).map(str::to_owned);
        peer.files = files.collect();
        for line in text.lines() {
            let fields: Vec<&str> = line.split('\t').collect();
            match fields.as_slice() {
                ["functions"] => peer.only_functions = true,
                ["file", _] => {}
                [_, path, ..] if !peer.files.contains(*path) => {}
                [kind, path, line, other_path, other_line, name] => {
                    let mut at = |path: &str, line: &str| {
                        let line = line.parse().expect("the number of a line");
                        *places.entry((path.to_owned(), line)).or_insert_with(|| self.innermost(path, line))
                    };
                    let ends = at(path, line).zip(at(other_path, other_line));
                    let Some((from, to)) = ends.filter(|(_, to)| self.is_callable(*to, name)) else { continue };
                    let (from, to) = if *kind == "call" { (from, self.type_of_constructor(to)) } else { (from, to) };
                    if from != to {
                        let edges = if *kind == "call" { &mut peer.calls } else { &mut peer.bases };
                        edges.insert((from, to));
                    }
                }
                _ => panic!("not a relation: {line}"),
            }
        }
        peer
    }

    /// The definition in the smallest chunk around a line.
    fn innermost(&self, path: &str, line: u32) -> Option<ChunkId> {
        let file = self.snapshot.file(path).expect("a sound index")?;
        let mut best = None;
        for id in file.chunks {
            let chunk = self.snapshot.chunk(id).expect("a sound index").expect("a live chunk");
            let (first, last) = (chunk.line_start(), chunk.line_end());
            let this = (last - first, id);
            if (first..=last).contains(&line) && best.is_none_or(|best| this < best) {
                best = Some(this);
            }
        }
        self.relations.definition_of(best?.1).expect("a sound index")
    }

    /// Whether a definition is the function that the peer names, and not a definition around it.
    fn is_callable(&self, id: ChunkId, name: &str) -> bool {
        let chunk = self.snapshot.chunk(id).expect("a sound index").expect("a live chunk");
        name.is_empty() || chunk.name() == name || chunk.definitions().any(|inner| inner == name)
    }

    fn is_type(&self, id: ChunkId) -> bool {
        let chunk = self.snapshot.chunk(id).expect("a sound index").expect("a live chunk");
        is_type(chunk.chunk_type())
    }

    fn type_of_constructor(&self, id: ChunkId) -> ChunkId {
        let chunk = self.snapshot.chunk(id).expect("a sound index").expect("a live chunk");
        let relations = self.snapshot.relations(id).expect("a sound index").expect("a live chunk");
        let parent = relations.parent.and_then(|key| self.snapshot.chunk_by_key(&key).expect("a sound index"));
        match parent {
            Some((parent, of)) if CONSTRUCTORS.contains(&chunk.name()) || of.name() == chunk.name() => parent,
            _ => id,
        }
    }

    fn calls(&self, files: &BTreeSet<String>) -> BTreeMap<Edge, (Reason, f32)> {
        let mut found = BTreeMap::new();
        for from in files.iter().flat_map(|path| self.relations.definitions_in(path).expect("a sound index")) {
            for to in self.relations.related(from, Relation::Callees).expect("a sound index").list {
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
        for to in files.iter().flat_map(|path| self.relations.definitions_in(path).expect("a sound index")) {
            if self.is_type(to) {
                for from in self.relations.related(to, Relation::Implementers).expect("a sound index").list {
                    found.insert((from.id, to), (from.reason, from.confidence));
                }
            }
        }
        found
    }

    fn compare(&self, what: &str, peer: &BTreeSet<Edge>, ours: &BTreeMap<Edge, (Reason, f32)>, show: usize) {
        println!("\n{what}: {} of the peer, {} of ours", peer.len(), ours.len());
        println!("  confidence  relations  precision  recall");
        for least in THRESHOLDS {
            let found: Vec<&Edge> =
                ours.iter().filter(|(_, (_, confidence))| *confidence >= least).map(|(edge, _)| edge).collect();
            let right = found.iter().filter(|edge| peer.contains(edge)).count();
            println!(
                "  {least:>10}  {:>9}  {:>9.3}  {:>6.3}",
                found.len(),
                share(right, found.len()),
                share(right, peer.len())
            );
        }
        println!("  reason       relations  precision");
        for reason in Reason::ALL {
            let found: Vec<&Edge> =
                ours.iter().filter(|(_, (other, _))| *other == reason).map(|(edge, _)| edge).collect();
            let right = found.iter().filter(|edge| peer.contains(edge)).count();
            println!("  {:<11}  {:>9}  {:>9.3}", reason.as_str(), found.len(), share(right, found.len()));
        }
        let missing: Vec<&Edge> = peer.iter().filter(|edge| !ours.contains_key(edge)).collect();
        for edge in spread(&missing, show) {
            println!("  missing  {}", self.shown(edge));
        }
        for reason in Reason::ALL {
            let wrong = ours.iter().filter(|(edge, (other, _))| *other == reason && !peer.contains(edge));
            let wrong: Vec<&Edge> = wrong.map(|(edge, _)| edge).collect();
            for edge in spread(&wrong, show) {
                println!("  wrong {:<11} {}", reason.as_str(), self.shown(edge));
            }
        }
    }

    fn shown(&self, (from, to): &Edge) -> String {
        let place = |id: ChunkId| {
            let chunk = self.snapshot.chunk(id).expect("a sound index").expect("a live chunk");
            format!("{}:{} {}", chunk.path(), chunk.line_start(), chunk.qualified_name())
        };
        format!("{} -> {}", place(*from), place(*to))
    }
}

/// At most `most` elements of a list, evenly spread.
fn spread<'e>(list: &[&'e Edge], most: usize) -> Vec<&'e Edge> {
    let step = list.len().div_ceil(most.max(1)).max(1);
    list.iter().step_by(step).take(most).copied().collect()
}

fn is_type(kind: ChunkType) -> bool {
    matches!(kind, ChunkType::Class | ChunkType::Interface | ChunkType::Struct | ChunkType::Enum | ChunkType::Type)
}

fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
