//! Attribution of lines to commits that was postponed or stopped, or that became obsolete because of another commit.
//! The next run completes the attribution, so that the index equals the index of a fresh run.

use std::fs::File;
use std::path::Path;
use std::time::Duration;

use aurora_pipeline::{Observer, Progress};
use aurora_stages::git_signal::WalkProgress;
use aurora_stages::index::{self, IndexObserver, IndexOptions};
use aurora_storage::{ChunkId, GitState, Snapshot};

use crate::edits::{BODIES, COMPARISONS, Edit, apply, lose_comparisons};
use crate::fixture::{Fixture, git};
use crate::{digest, options, run, run_until, run_without_waiting, sizeable, snapshot};

#[test]
fn a_run_stopped_at_another_commit_is_completed_by_the_next() {
    let kept = Fixture::git_in_memory();
    kept.write("a.py", BODIES[0]).commit("first");
    run(kept.root(), 2, false);
    // The stopped run attributes lines to an amended commit. The last run is at the same commit as the first run.
    for edit in [
        Edit::Write { file: 0, body: 1 },
        Edit::ThereAndBack { branch: 0 },
        Edit::Amend,
        Edit::InterruptedIndex,
        Edit::Branch { branch: 0 },
    ] {
        apply(&kept, &edit);
    }
    run(kept.root(), 2, false);
    let fresh = kept.duplicate();
    run(fresh.root(), 2, false);
    assert_eq!(digest(kept.root()), digest(fresh.root()));
}

/// Returns the number of chunks whose attribution is pending, and the number of chunks with an attribution.
fn pending_and_tracked(snapshot: &Snapshot) -> (usize, usize) {
    let chunk = |id| snapshot.chunk(ChunkId(id)).expect("the index can be read").expect("the chunk is live");
    let is_pending = |id: &u32| chunk(*id).git_state() == GitState::Pending;
    let is_tracked = |id: &u32| chunk(*id).git_state() == GitState::Tracked;
    let live = || snapshot.live().iter();
    (live().filter(is_pending).count(), live().filter(is_tracked).count())
}

#[test]
fn files_can_be_searched_before_their_history_is_read() {
    let fixture = sizeable();
    fixture.write("untracked.py", BODIES[0]);
    let (summary, published) = run_without_waiting(fixture.root(), true);
    let published = published.expect("a generation was published before the last one");
    let (pending, tracked) = pending_and_tracked(&published);
    assert!(pending > 100 && tracked == 0, "{pending} pending, {tracked} tracked");
    assert!(!published.manifest().complete);
    assert!(summary.complete && summary.generation == published.manifest().generation + 1, "{summary:?}");
    assert_eq!(summary.files.indexed, 121, "the second pass counts no file twice");
    let last = snapshot(fixture.root());
    assert_eq!(pending_and_tracked(&last).0, 0);
    let fresh = fixture.duplicate();
    run(fresh.root(), 2, false);
    assert_eq!(digest(fixture.root()), digest(fresh.root()));
    assert_eq!(snapshot(fresh.root()).manifest().generation, 1, "a run that waits for the history publishes once");
}

#[test]
fn a_run_stopped_while_reading_history_is_completed_by_the_next() {
    let fixture = sizeable();
    // The history is so long that the first progress report comes while it is being read.
    let mut stream = String::new();
    for commit in 0..6_000 {
        let (time, text) = (1_500_000_000 + commit, format!("def made_{commit}():\n    return {commit}\n"));
        stream.push_str(&format!("commit refs/heads/long\ncommitter Ada <ada@example.org> {time} +0000\ndata 0\n"));
        stream.push_str(&format!("M 644 inline many/f{}.py\ndata {}\n{text}\n", commit % 300, text.len()));
    }
    fixture.write(".git/stream", stream);
    let stream = File::open(fixture.path(".git/stream")).expect("the file can be opened");
    let import = ["fast-import", "--quiet"];
    let imported = git(fixture.root()).args(import).stdin(stream).status();
    assert!(imported.expect("git runs").success());
    fixture.run_git(&["merge", "--quiet", "--allow-unrelated-histories", "--no-edit", "long"]);
    run_until(fixture.root(), |progress| progress.bytes > 0 && progress.elapsed > Duration::from_millis(100));
    run(fixture.root(), 2, false);
    let fresh = fixture.duplicate();
    run(fresh.root(), 2, false);
    assert_eq!(digest(fixture.root()), digest(fresh.root()));
}

#[test]
fn a_commit_made_while_history_is_read_is_noticed() {
    struct Committing<'a>(&'a Path);
    impl Observer for Committing<'_> {
        fn on_progress(&self, _: &Progress) {}
    }
    impl IndexObserver for Committing<'_> {
        fn on_history(&self, _: WalkProgress) {
            let author = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"];
            let commit = ["commit", "--quiet", "--all", "--message", "meanwhile"];
            // On the second call, there is nothing to commit.
            let git = git(self.0).args(author).args(commit).output();
            git.expect("git runs");
        }

        fn run_observer(&self) -> &dyn Observer {
            self
        }
    }
    let fixture = sizeable();
    fixture.commit("all");
    let path = fixture.path("m0/a0.py");
    let text = std::fs::read_to_string(&path).expect("the file can be read") + "\n\ndef more():\n    return 1\n";
    std::fs::write(&path, text).expect("the file can be written");
    let options = IndexOptions { patience: Some(Duration::ZERO), ..options(fixture.root(), 2, false) };
    index::run(&options, &Committing(fixture.root())).expect("the index run succeeds");
    let fresh = fixture.duplicate();
    run(fresh.root(), 2, false);
    assert_eq!(digest(fixture.root()), digest(fresh.root()));
}

#[test]
fn missing_attributions_follow_in_the_next_run() {
    let fixture = sizeable();
    let (summary, published) = run_without_waiting(fixture.root(), false);
    assert!(published.is_some() && !summary.complete, "{summary:?}");
    assert!(pending_and_tracked(&snapshot(fixture.root())).0 > 100);
    // The first pass of this run finds no changes. The second pass attributes the tracked files.
    let (summary, _) = run_without_waiting(fixture.root(), true);
    assert_eq!((summary.files.refreshed, summary.nothing_changed, summary.complete), (81, false, true), "{summary:?}");
    assert_eq!(pending_and_tracked(&snapshot(fixture.root())).0, 0);
    let fresh = fixture.duplicate();
    run(fresh.root(), 2, false);
    assert_eq!(digest(fixture.root()), digest(fresh.root()));
}

#[test]
fn stored_comparisons_of_old_versions_change_no_result() {
    let kept = Fixture::git_in_memory();
    // Each change spans two chunks, in the older version as well.
    let change = |number: usize| {
        let border = format!("split({number})\nclass Cache{number}:\n");
        kept.write("a.py", BODIES[0].replace("split()\n\n\nclass Cache:\n", &border)).commit("work");
    };
    (0..8).for_each(change);
    run(kept.root(), 2, false);
    let length = || std::fs::metadata(kept.path(COMPARISONS)).expect("the metadata can be read").len();
    let first = length();
    let damages: [fn(&Fixture); 5] = [
        |_| {},
        |fixture| _ = fixture.remove(COMPARISONS),
        |fixture| lose_comparisons(fixture, 0),
        |fixture| lose_comparisons(fixture, 200),
        |fixture| _ = fixture.write(COMPARISONS, "something else"),
    ];
    for (damage, number) in damages.into_iter().zip(8..) {
        damage(&kept);
        change(number);
        // The last run is forced.
        run(kept.root(), 2, number == 12);
        assert!(length() > first, "{} bytes after {first}", length());
        let fresh = kept.duplicate();
        run(fresh.root(), 2, false);
        assert_eq!(digest(kept.root()), digest(fresh.root()));
    }
}
