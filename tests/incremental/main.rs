//! Property tests of incremental indexing: an incremental run gives the same index as a fresh run, and a parallel run
//! the same index as a serial run.
//!
//! The tests apply sequences of edits, deletions, renames, changes of file type and permissions, commits, branch
//! switches, and runs that are interrupted or killed. Afterwards, the updated index gives the same answers as an index
//! that is built from scratch.
//!
//! `AURORA_TEST_CASES` sets the number of sequences, and `AURORA_TEST_EDITS` limits the length of a sequence.

#[path = "../fixture/mod.rs"]
mod fixture;

mod attribution;
mod checkpoints;
mod edits;
mod evidence;

use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

use aurora_analysis::ModelDirectory;
use aurora_pipeline::{CancelToken, Observer, Progress, Silent};
use aurora_query::{FilterSpec, Mode, Query, Relation, RelationIndex, SearchConfig, Searcher};
use aurora_stages::git_signal::WalkProgress;
use aurora_stages::index::{self, IndexObserver, IndexOptions, IndexSummary, OutdatedReason, Refresh, Trust};
use aurora_storage::{ChunkId, Environment, KnownIndexes, OpenMode, ProjectDirectory, Snapshot};
use edits::{BODIES, FILES, apply, edit};
use fixture::Fixture;
use proptest::prelude::*;

/// Current time of all queries, in Unix seconds.
const NOW: i64 = 1_700_000_000;

const QUERIES: &[&str] = &["read the header", "parse_token", "Cache.evict", "retry after a timeout", "install guide"];

fn options(root: &Path, jobs: usize, force: bool) -> IndexOptions {
    let trust = Trust { known: KnownIndexes::at(root.join(".git/known-indexes")), accepts_unknown: true };
    IndexOptions {
        force,
        jobs: Some(jobs),
        ..IndexOptions::new(root.to_owned(), ModelDirectory::at(root.join("no-models")), trust)
    }
}

fn run(root: &Path, jobs: usize, force: bool) -> IndexSummary {
    index::run(&options(root, jobs, force), &Silent).expect("the index run succeeds")
}

/// Updates the index in the same way as a search does, with enough time for any change. Returns `None` if there is no
/// index.
fn refresh(root: &Path) -> Option<Refresh> {
    let environment = Environment::open(&root.join(ProjectDirectory::NAME), OpenMode::Existing).ok()?;
    let snapshot = environment.snapshot().ok()?;
    Some(index::refresh(&options(root, 2, false), &snapshot, Duration::from_secs(600)).expect("the update succeeds"))
}

/// Runs the indexer and cancels the run at its first progress report.
fn interrupt_run(root: &Path) {
    run_until(root, |_| true);
}

/// Runs the indexer and cancels the run once its progress meets a condition.
fn run_until(root: &Path, is_time: fn(&Progress) -> bool) {
    struct Stop(CancelToken, fn(&Progress) -> bool);
    impl Observer for Stop {
        fn on_progress(&self, progress: &Progress) {
            if self.1(progress) {
                self.0.cancel();
            }
        }

        fn interval(&self) -> Option<Duration> {
            Some(Duration::from_millis(20))
        }
    }
    impl IndexObserver for Stop {
        fn run_observer(&self) -> &dyn Observer {
            self
        }
    }
    let options = options(root, 2, false);
    let stop = Stop(options.cancel.clone(), is_time);
    index::run(&options, &stop).expect("an interrupted run still publishes finished files");
}

/// Runs the indexer without waiting for git's history. First, all files are published without attributions. The
/// attributions follow if `finishes` is true; otherwise the run is cancelled. Returns the summary and the first
/// published snapshot.
fn run_without_waiting(root: &Path, finishes: bool) -> (IndexSummary, Option<Snapshot>) {
    struct Watch<'a> {
        stop: Option<CancelToken>,
        root: &'a Path,
        published: Mutex<Option<Snapshot>>,
    }
    impl Observer for Watch<'_> {
        fn on_progress(&self, _: &Progress) {}
    }
    impl IndexObserver for Watch<'_> {
        fn on_history(&self, _: WalkProgress) {
            self.published.lock().expect("the lock is not poisoned").get_or_insert_with(|| snapshot(self.root));
            self.stop.iter().for_each(CancelToken::cancel);
        }

        fn run_observer(&self) -> &dyn Observer {
            self
        }
    }
    let options = IndexOptions { patience: Some(Duration::ZERO), ..options(root, 2, false) };
    let stop = (!finishes).then(|| options.cancel.clone());
    let watch = Watch { stop, root, published: Mutex::default() };
    let summary = index::run(&options, &watch).expect("the index run succeeds");
    (summary, watch.published.into_inner().expect("the lock is not poisoned"))
}

fn snapshot(root: &Path) -> Snapshot {
    let environment =
        Environment::open(&root.join(ProjectDirectory::NAME), OpenMode::Existing).expect("the index can be opened");
    environment.snapshot().expect("the index can be read")
}

/// Returns the search results that a user gets from an index, with scores.
fn answers(root: &Path) -> Vec<String> {
    let embedder =
        aurora_analysis::embedder("static", &ModelDirectory::at(root)).expect("the built-in model can be loaded");
    let searcher = Searcher::new(snapshot(root), Some(embedder), SearchConfig::default());
    let mut answers = Vec::new();
    for mode in [Mode::Hybrid, Mode::Sparse, Mode::Dense] {
        for text in QUERIES {
            let text = (*text).to_owned();
            let filter = FilterSpec::default();
            let query = Query { limit: 10, mode, filter, ..Query::new(text, NOW) };
            let hits = searcher.search(&query).expect("the search succeeds").hits;
            let lines =
                hits.iter().map(|hit| format!("{} {mode:?}: {} {:?} {:?}", query.text, hit.key, hit.score, hit.scores));
            answers.extend(lines);
        }
    }
    answers
}

/// Returns every resolved relation, with the keys of both definitions.
fn relations(root: &Path) -> Vec<String> {
    let snapshot = snapshot(root);
    let index = RelationIndex::new(&snapshot);
    let key = |id| snapshot.chunk(id).expect("the index can be read").expect("the chunk is live").key().into_owned();
    let mut found = Vec::new();
    for id in snapshot.live().iter().map(ChunkId) {
        for relation in [Relation::Callees, Relation::Callers, Relation::Implementers] {
            let related = index.related(id, relation).expect("the index can be read");
            let others: Vec<_> = related.list.iter().map(|to| (key(to.id), to.reason, to.confidence)).collect();
            found.push(format!("{} {relation:?} {others:?} {:?} {}", key(id), related.external, related.is_cut));
        }
    }
    found.sort();
    found
}

fn digest(root: &Path) -> String {
    snapshot(root).digest().expect("the index can be read")
}

fn number(variable: &str) -> Option<usize> {
    std::env::var(variable).ok()?.parse().ok()
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: number("AURORA_TEST_CASES").unwrap_or(12) as u32,
        max_shrink_iters: 40,
        ..ProptestConfig::default()
    })]

    #[test]
    fn an_index_kept_up_to_date_equals_a_fresh_one(
        edits in prop::collection::vec(edit(), 1..number("AURORA_TEST_EDITS").unwrap_or(24).max(2)),
    ) {
        let kept = Fixture::git_in_memory();
        kept.write("a.py", BODIES[0]).commit("first");
        run(kept.root(), 2, false);
        for edit in &edits {
            apply(&kept, edit);
        }
        run(kept.root(), 2, false);
        let fresh = kept.duplicate();
        run(fresh.root(), 2, false);
        prop_assert_eq!(answers(kept.root()), answers(fresh.root()));
        prop_assert_eq!(digest(kept.root()), digest(fresh.root()));
        prop_assert_eq!(relations(kept.root()), relations(fresh.root()));
    }
}

/// Creates a repository with 120 files and a few commits.
fn sizeable() -> Fixture {
    let fixture = Fixture::git();
    for number in 0..120 {
        let body = BODIES[number % 5].replace("parse_token", &format!("parse_token_{number}"));
        let (stem, extension) = FILES[number % 9].rsplit_once('.').expect("the path has an extension");
        fixture.write(&format!("m{}/{stem}{number}.{extension}", number % 7), body);
        if number % 40 == 0 {
            fixture.commit("more");
        }
    }
    fixture
}

#[test]
fn a_run_cancelled_before_it_writes_leaves_the_index_unchanged() {
    let fixture = sizeable();
    run(fixture.root(), 2, false);
    let before = snapshot(fixture.root()).manifest().clone();
    fixture.write("m1/new.py", BODIES[0]).commit("unseen");
    let options = options(fixture.root(), 2, false);
    options.cancel.cancel();
    let summary = index::run(&options, &Silent).expect("the stopped run succeeds");
    assert!(before.complete && !summary.published);
    assert_eq!(*snapshot(fixture.root()).manifest(), before);
    run(fixture.root(), 2, false);
    assert!(snapshot(fixture.root()).manifest().generation > before.generation);
}

#[test]
fn the_number_of_workers_does_not_change_the_index() {
    let fixture = sizeable();
    run(fixture.root(), 1, true);
    let serial = digest(fixture.root());
    for jobs in [2, 5] {
        run(fixture.root(), jobs, true);
        assert_eq!(digest(fixture.root()), serial, "{jobs} workers");
    }
}

#[test]
fn a_second_run_changes_nothing() {
    let fixture = sizeable();
    let first = run(fixture.root(), 2, false);
    assert!(first.chunks.total > 100 && !first.nothing_changed);
    let second = run(fixture.root(), 2, false);
    assert!(second.nothing_changed, "{second:?}");
    assert_eq!((second.changed_chunks, second.files.indexed), (0, 0));
    assert_eq!(second.files.unchanged, first.files.indexed);
    assert_eq!(second.chunks, first.chunks);
    // The times of files that were written just before the first run are not reliable, so the second run compares the
    // contents of these files. Later runs rely on the times. Therefore, the third run writes nothing.
    let third = run(fixture.root(), 2, false);
    assert!(third.nothing_changed && third.generation == run(fixture.root(), 2, false).generation);
}

#[test]
fn a_renamed_file_is_recognised() {
    let fixture = Fixture::git();
    fixture.write("old.py", BODIES[0]).commit("first");
    run(fixture.root(), 2, false);
    fixture.write("new/name.py", BODIES[0]).remove("old.py");
    let summary = run(fixture.root(), 2, false);
    assert_eq!((summary.files.renamed, summary.files.deleted), (1, 1));
    assert!(answers(fixture.root()).iter().all(|answer| !answer.contains("old.py")));
}

/// Updates the index and returns the number of files that were updated.
fn update_index(root: &Path) -> u64 {
    match refresh(root).expect("the index exists") {
        Refresh::Updated(updated) if updated.complete => updated.files,
        Refresh::Current => 0,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_refreshed_index_equals_a_fresh_one() {
    let fixture = sizeable();
    run(fixture.root(), 2, false);
    assert_eq!(update_index(fixture.root()), 0);
    fixture.write("m0/a0.py", BODIES[2]).write("new.py", BODIES[0]).remove("m1/src/b1.py");
    fixture
        .write("m3/moved.ts", std::fs::read(fixture.path("m3/lib/d3.ts")).expect("the file can be read"))
        .remove("m3/lib/d3.ts");
    assert_eq!(update_index(fixture.root()), 4);
    assert_eq!(update_index(fixture.root()), 0);
    let fresh = fixture.duplicate();
    run(fresh.root(), 2, false);
    assert_eq!(answers(fixture.root()), answers(fresh.root()));
    assert_eq!(digest(fixture.root()), digest(fresh.root()));
}

#[test]
fn an_update_at_a_new_head_leaves_history_of_unchanged_files_to_the_next_run() {
    let fixture = sizeable();
    run(fixture.root(), 2, false);
    fixture.commit("the rest");
    assert_eq!(update_index(fixture.root()), 0, "a commit changes no text");
    fixture.write("m0/a0.py", BODIES[2]);
    assert_eq!(update_index(fixture.root()), 1);
    let summary = run(fixture.root(), 2, false);
    assert!(summary.files.indexed == 0 && summary.files.refreshed > 0, "{summary:?}");
    let fresh = fixture.duplicate();
    run(fresh.root(), 2, false);
    assert_eq!(digest(fixture.root()), digest(fresh.root()));
}

#[test]
fn an_update_with_a_time_limit_of_zero_changes_nothing() {
    let fixture = sizeable();
    run(fixture.root(), 2, false);
    let before = digest(fixture.root());
    fixture.write("m0/a0.py", BODIES[2]);
    let refreshed = index::refresh(&options(fixture.root(), 2, false), &snapshot(fixture.root()), Duration::ZERO);
    let refreshed = refreshed.expect("the update succeeds");
    let is_left = matches!(refreshed, Refresh::Unknown | Refresh::Outdated { why: OutdatedReason::TooMuch, .. });
    assert!(is_left, "{refreshed:?}");
    assert_eq!(digest(fixture.root()), before);
}
