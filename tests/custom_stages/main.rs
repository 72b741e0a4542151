//! Custom stages, either compiled in or as programs. Their results are stored, are correct after every run, and are
//! recomputed only where necessary.

#[path = "../fixture/mod.rs"]
mod fixture;

mod checkpoints;
mod compiled;
mod documents;
mod drops;
mod dry;
mod embeddings;
mod examples;
mod languages;
mod properties;
mod reruns;
mod shards;
mod unfinished;
mod untrusted;

use std::path::Path;
use std::sync::Arc;

use aurora_analysis::ModelDirectory;
use aurora_pipeline::Silent;
use aurora_plugins::process::HelperDirectory;
use aurora_plugins::trust::Consents;
use aurora_query::{Mode, Query, SearchConfig, Searcher};
use aurora_stages::index::{self, IndexOptions, IndexSummary, Trust};
use aurora_storage::{Environment, MetaValue, OpenMode, ProjectDirectory, Snapshot};
use fixture::Fixture;

/// Creates a repository with some files in two directories.
fn repository() -> Fixture {
    let fixture = Fixture::plain();
    for number in 0..6 {
        fixture.write(&format!("src/pay/f{number}.py"), format!("def pay_{number}(card):\n    return card\n"));
        fixture.write(&format!("web/f{number}.js"), format!("function web_{number}(page) {{ return page }}\n"));
    }
    fixture
}

/// Returns options for a run with the stages of `compiled`. All programs are trusted.
fn options(root: &Path) -> IndexOptions {
    let mut options =
        IndexOptions::new(root.to_owned(), ModelDirectory::at(root.join("no-models")), Trust::everything());
    let mut registry = aurora::registry();
    compiled::register(&mut registry);
    options.registry = Arc::new(registry);
    let helper = root.join(".aurora/helper");
    aurora_plugins::python::write_helper(&helper).expect("the helper module can be written");
    options.services.insert(Arc::new(Consents::everything()));
    options.services.insert(Arc::new(HelperDirectory(helper)));
    options.jobs = Some(2);
    options
}

fn run(fixture: &Fixture) -> IndexSummary {
    index::run(&options(fixture.root()), &Silent).unwrap_or_else(|error| panic!("{}", error_message(&error)))
}

/// Returns the message of an error, with all mistakes of an invalid pipeline.
fn error_message(error: &index::IndexError) -> String {
    match error {
        index::IndexError::Pipeline(found) => found.to_string(),
        other => other.to_string(),
    }
}

fn snapshot(root: &Path) -> Snapshot {
    let environment =
        Environment::open(&root.join(ProjectDirectory::NAME), OpenMode::Existing).expect("the index can be opened");
    environment.snapshot().expect("the index can be read")
}

fn digest(fixture: &Fixture) -> String {
    snapshot(fixture.root()).digest().expect("the index can be read")
}

/// Indexes the whole tree again, and returns the digest of the index.
fn fresh_digest(fixture: &Fixture) -> String {
    let options = IndexOptions { force: true, ..options(fixture.root()) };
    index::run(&options, &Silent).expect("the index run succeeds");
    digest(fixture)
}

/// Returns the notes of the answer to a query.
fn notes(fixture: &Fixture, mode: Mode) -> Vec<String> {
    let searcher = Searcher::new(snapshot(fixture.root()), None, SearchConfig::default());
    let query = Query { mode, ..Query::new("pay card", 0) };
    searcher.search(&query).expect("the search succeeds").notes
}

/// Returns the names of all chunks, with their values in a column.
fn values(fixture: &Fixture, column: &str) -> Vec<(String, Option<MetaValue>)> {
    let snapshot = snapshot(fixture.root());
    let mut values = Vec::new();
    for file in snapshot.files() {
        for id in file.expect("the index can be read").chunks {
            let chunk = snapshot.whole_chunk(id).expect("the index can be read").expect("the record exists");
            let value = chunk.metadata.into_iter().find(|(name, _)| name == column).map(|(_, value)| value);
            values.push((chunk.name, value));
        }
    }
    values.sort_by(|a, b| a.0.cmp(&b.0));
    values
}

fn text(text: &str) -> Option<MetaValue> {
    Some(MetaValue::String(text.to_owned()))
}

fn counter(summary: &IndexSummary, name: &str) -> u64 {
    summary.report.counters.get(name).copied().unwrap_or(0)
}
