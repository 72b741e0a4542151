//! Resolved relations in small repositories, for each language. `cargo xtask bench graph` compares relations with those
//! that compilers find.

#[path = "../fixture/mod.rs"]
mod fixture;
mod general;
mod impact;
mod scripts;
mod typed;
mod unused;
mod web;

use aurora_analysis::ModelDirectory;
use aurora_pipeline::Silent;
use aurora_query::{Relation, RelationIndex};
use aurora_stages::index::{self, IndexOptions, Trust};
use aurora_storage::{ChunkId, Environment, OpenMode, ProjectDirectory, Snapshot};
use fixture::Fixture;

fn indexed(files: &[(&str, &str)]) -> (Fixture, Snapshot) {
    let fixture = Fixture::plain();
    for (path, text) in files {
        fixture.write(path, text);
    }
    fixture.write(".aurora/pipeline.toml", "extends = \"lexical\"\n");
    let models = ModelDirectory::at(fixture.root().join("no-models"));
    let options = IndexOptions::new(fixture.root().to_owned(), models, Trust::everything());
    index::run(&options, &Silent).expect("the index run succeeds");
    let environment = Environment::open(&fixture.root().join(ProjectDirectory::NAME), OpenMode::Existing);
    let snapshot = environment.expect("the index can be opened").snapshot().expect("the index can be read");
    (fixture, snapshot)
}

fn name(snapshot: &Snapshot, id: ChunkId) -> String {
    let chunk = snapshot.chunk(id).expect("the index can be read").expect("the chunk is live");
    let file = chunk.path().rsplit('/').next().expect("the path has a file name");
    if chunk.qualified_name() == file { file.to_owned() } else { format!("{file}:{}", chunk.qualified_name()) }
}

/// Returns every relation of one kind. If the kind is `Callees`, asserts that each relation is also found by a search
/// for the callers of the callee.
fn relations(files: &[(&str, &str)], relation: Relation) -> Vec<String> {
    let (_fixture, snapshot) = indexed(files);
    let index = RelationIndex::new(&snapshot);
    let (mut forth, mut back) = (Vec::new(), Vec::new());
    for id in files.iter().flat_map(|(path, _)| index.definitions_in(path).expect("the index can be read")) {
        for other in index.related(id, relation).expect("the index can be read").list {
            forth.push(format!("{} -> {} {}", name(&snapshot, id), name(&snapshot, other.id), other.reason.as_str()));
        }
        if relation == Relation::Callees {
            for other in index.related(id, Relation::Callers).expect("the index can be read").list {
                back.push(format!(
                    "{} -> {} {}",
                    name(&snapshot, other.id),
                    name(&snapshot, id),
                    other.reason.as_str()
                ));
            }
        }
    }
    if relation == Relation::Callees {
        let missing: Vec<&String> = forth.iter().filter(|callee| !back.contains(callee)).collect();
        assert!(missing.is_empty(), "the callers do not include {missing:?}");
    }
    forth
}

fn check(files: &[(&str, &str)], relation: Relation, expected: &[&str]) {
    assert_eq!(relations(files, relation), expected);
}
