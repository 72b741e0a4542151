//! Long runs publish finished files while they continue. If the process is killed, only unfinished files are lost.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use aurora_pipeline::{Observer, Progress, Silent};
use aurora_stages::index::{self, IndexObserver, IndexOptions, IndexSummary, PipelineChoice};
use aurora_storage::{Environment, OpenMode, ProjectDirectory, Snapshot};

use crate::edits::BODIES;
use crate::fixture::Fixture;
use crate::{answers, digest, options, run, sizeable, snapshot};

/// Environment variable with the directory that the child process indexes.
const DIRECTORY: &str = "AURORA_TEST_DYING_RUN";

/// Returns options for a run that publishes after every file.
pub(crate) fn piecemeal_options(root: &Path) -> IndexOptions {
    let text = "extends = \"default\"\n[stage.discover]\nbatch_files = 1\n".to_owned();
    IndexOptions {
        publish_every: Some(Duration::ZERO),
        pipeline: PipelineChoice::Text { name: "piecemeal".to_owned(), text },
        ..options(root, 2, false)
    }
}

pub(crate) fn piecemeal(root: &Path) -> IndexSummary {
    index::run(&piecemeal_options(root), &Silent).expect("the index run succeeds")
}

/// Asserts that the index equals an index that a single pass builds from a copy of the tree.
fn assert_equals_single_pass(fixture: &Fixture) {
    let fresh = fixture.duplicate();
    run(fresh.root(), 2, false);
    assert_eq!(digest(fixture.root()), digest(fresh.root()));
    assert_eq!(answers(fixture.root()), answers(fresh.root()));
}

#[test]
fn a_run_of_several_passes_builds_the_same_index_and_counts_each_file_once() {
    let fixture = sizeable();
    let summary = piecemeal(fixture.root());
    assert!(summary.generation > 2 && summary.complete && summary.published, "{summary:?}");
    assert_eq!(snapshot(fixture.root()).manifest().generation, summary.generation);
    assert_equals_single_pass(&fixture);
    let single = fixture.duplicate();
    let other = run(single.root(), 2, false);
    assert_eq!(summary.files, other.files);
    assert_eq!((summary.changed_chunks, &summary.chunks), (other.changed_chunks, &other.chunks));
    assert_eq!((summary.lines, summary.source_bytes), (other.lines, other.source_bytes));
    assert_eq!((summary.bm25, summary.coverage, summary.errors), (other.bm25, other.coverage, other.errors));

    // Many files change before the next run, as if the user had switched branches.
    for number in 0..40 {
        fixture.write(&format!("m{}/new{number}.py", number % 7), BODIES[0]);
    }
    fixture.remove("m0/a0.py").commit("many");
    let later = piecemeal(fixture.root());
    assert!(later.generation > summary.generation + 2 && later.complete, "{later:?}");
    assert_eq!((later.files.indexed, later.files.deleted), (40, 1));
    assert_equals_single_pass(&fixture);
}

#[test]
fn a_forced_run_publishes_once() {
    let fixture = sizeable();
    let first = run(fixture.root(), 2, false);
    let forced = IndexOptions { force: true, ..piecemeal_options(fixture.root()) };
    let summary = index::run(&forced, &Silent).expect("the index run succeeds");
    assert_eq!(summary.generation, first.generation + 1);
}

/// Observer that aborts the process once 20 files are published and the run makes further progress.
struct Dying<'a>(&'a Path);

impl Observer for Dying<'_> {
    fn on_progress(&self, progress: &Progress) {
        let is_published = published(self.0).is_some_and(|snapshot| snapshot.manifest().file_count >= 20);
        if is_published && progress.files_done > 0 {
            // Like a kill by the system, an abort neither unwinds the stack nor flushes buffers.
            std::process::abort();
        }
    }

    fn interval(&self) -> Option<Duration> {
        Some(Duration::from_millis(1))
    }
}

impl IndexObserver for Dying<'_> {
    fn run_observer(&self) -> &dyn Observer {
        self
    }
}

fn published(root: &Path) -> Option<Snapshot> {
    Environment::open(&root.join(ProjectDirectory::NAME), OpenMode::Existing).ok()?.snapshot().ok()
}

/// The code of the child process in [`a_killed_first_run_loses_only_unfinished_files`]. Without the environment
/// variable [`DIRECTORY`], this test does nothing.
#[test]
fn dying_run() {
    if let Ok(root) = std::env::var(DIRECTORY) {
        let root = Path::new(&root);
        index::run(&piecemeal_options(root), &Dying(root)).expect("the index run succeeds");
    }
}

#[test]
fn a_killed_first_run_loses_only_unfinished_files() {
    let fixture = sizeable();
    fixture.commit("all");
    let mut child = Command::new(std::env::current_exe().expect("the program has a path"));
    child.args(["checkpoints::dying_run", "--exact"]).env(DIRECTORY, fixture.root());
    let status = child.stdout(Stdio::null()).stderr(Stdio::null()).status().expect("the command runs");
    assert!(!status.success(), "the child process has to die");
    let left = snapshot(fixture.root());
    let (files, chunks) = (left.manifest().file_count, left.live().len());
    assert!((20..120).contains(&files) && chunks > 0, "{files} files, {chunks} chunks");
    assert!(!left.manifest().complete);
    let summary = run(fixture.root(), 2, false);
    assert!(summary.complete && summary.files.unchanged + summary.files.refreshed >= files, "{summary:?}");
    assert_eq!(summary.files.indexed + summary.files.unchanged + summary.files.refreshed, 120, "{summary:?}");
    assert_equals_single_pass(&fixture);
}
