//! Stages that a team adds, either compiled in or as programs. Their results are stored, exact after every run, and
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
mod unfinished;
mod untrusted;

use std::path::Path;
use std::sync::Arc;

use aurora_analysis::ModelDirectory;
use aurora_pipeline::Silent;
use aurora_plugins::process::HelperDirectory;
use aurora_plugins::trust::Consents;
use aurora_query::{Mode, Query, Searcher, SearchConfig};
use aurora_stages::index::{self, IndexOptions, IndexSummary, Trust};
use aurora_storage::{Environment, MetaValue, OpenMode, ProjectDirectory, Snapshot};
use fixture::Fixture;

/// A repository with some files in two directories.
fn repository() -> Fixture {
    let fixture = Fixture::plain();
    for number in 0..6 {
        fixture.write(&format!("src/pay/f{number}.py"), format!("def pay_{number}(card):\n    return card\n"));
        fixture.write(&format!("web/f{number}.js"), format!("function web_{number}(page) {{ return page }}\n"));
    }
    fixture
}

/// Options of a run with the stages of `compiled`, in which all programs are trusted.
fn options(root: &Path) -> IndexOptions {
    let mut options =
        IndexOptions::new(root.to_owned(), ModelDirectory::at(root.join("no-models")), Trust::everything());
    let mut registry = aurora::registry();
    compiled::register(&mut registry);
    options.registry = Arc::new(registry);
    let helper = root.join(".aurora/helper");
    aurora_plugins::python::write_helper(&helper).expect("written");
    options.services.insert(Arc::new(Consents::everything()));
    options.services.insert(Arc::new(HelperDirectory(helper)));
    options.jobs = Some(2);
    options
}

fn run(fixture: &Fixture) -> IndexSummary {
    index::run(&options(fixture.root()), &Silent).unwrap_or_else(|error| panic!("{}", error_message(&error)))
}

/// The full message of an error.
fn error_message(error: &index::IndexError) -> String {
    match error {
        index::IndexError::Pipeline(found) => found.to_string(),
        other => other.to_string(),
    }
}

fn snapshot(root: &Path) -> Snapshot {
    let environment = Environment::open(&root.join(ProjectDirectory::NAME), OpenMode::Existing).expect("an index");
    environment.snapshot().expect("a snapshot")
}

fn digest(fixture: &Fixture) -> String {
    snapshot(fixture.root()).digest().expect("a digest")
}

/// The digest of a fresh index of the same tree under the same pipeline.
fn fresh(fixture: &Fixture) -> String {
    let options = IndexOptions { force: true, ..options(fixture.root()) };
    index::run(&options, &Silent).expect("a run");
    digest(fixture)
}

/// The notes of an answer to a query.
fn notes(fixture: &Fixture, mode: Mode) -> Vec<String> {
    let searcher = Searcher::new(snapshot(fixture.root()), None, SearchConfig::default());
    let query = Query { mode, ..Query::new("pay card", 0) };
    searcher.search(&query).expect("an answer").notes
}

/// The values of a column, with the names of their chunks.
fn values(fixture: &Fixture, column: &str) -> Vec<(String, Option<MetaValue>)> {
    let snapshot = snapshot(fixture.root());
    let mut values = Vec::new();
    for file in snapshot.files() {
        for id in file.expect("readable").chunks {
            let chunk = snapshot.whole_chunk(id).expect("readable").expect("there");
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
