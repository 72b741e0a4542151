//! Incremental = fresh, and parallel = serial.
//!
//! After any sequence of edits, deletions, renames, changes of kind and mode, commits, branch switches, and runs that were
//! interrupted or died, an index that was kept up to date answers as one that was made from nothing.
//!
//! `AURORA_TEST_CASES` and `AURORA_TEST_EDITS` ask for more sequences, and longer ones.

mod fixture;

use std::fs::File;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::time::Duration;

use aurora_analysis::ModelDirectory;
use aurora_pipeline::{CancelToken, Observer, Progress, Silent};
use aurora_query::{FilterSpec, Mode, Query, Retriever, SearchConfig};
use aurora_stages::git_signal::WalkProgress;
use aurora_stages::index::{self, INDEX_DIRECTORY, IndexObserver, IndexOptions, IndexSummary, PipelineChoice};
use aurora_storage::{ArchivedGitSignal, ChunkId, Environment, OpenMode, Snapshot};
use fixture::{Fixture, Run};
use proptest::prelude::*;

/// When the questions are asked, Unix seconds.
const NOW: i64 = 1_700_000_000;

/// Where it is kept how old versions differ.
const COMPARISONS: &str = ".aurora/history.comparisons";

const QUERIES: &[&str] = &["read the header", "parse_token", "Cache.evict", "retry after a timeout", "install guide"];

/// Something a developer does between two runs.
#[derive(Debug, Clone)]
enum Edit {
    Write { file: usize, body: usize },
    Append { file: usize, body: usize },
    Delete { file: usize },
    Rename { from: usize, to: usize },
    Exchange { one: usize, other: usize },
    Touch { file: usize },
    Mode { file: usize, executable: bool },
    Link { file: usize, to: usize },
    Directory { file: usize, body: usize },
    Commit,
    Amend,
    Branch { branch: usize },
    ThereAndBack { branch: usize },
    Merge { branch: usize },
    Stash,
    Unstash,
    Restore,
    Ignore { file: usize },
    Index,
    InterruptedIndex,
    ImpatientIndex { finishes: bool },
    DyingIndex { point: usize, force: bool },
    LoseComparisons { keeps: usize },
}

fn edit() -> impl Strategy<Value = Edit> {
    let file = 0..FILES.len();
    let body = 0..BODIES.len();
    prop_oneof![
        5 => (file.clone(), body.clone()).prop_map(|(file, body)| Edit::Write { file, body }),
        3 => (file.clone(), body.clone()).prop_map(|(file, body)| Edit::Append { file, body }),
        2 => file.clone().prop_map(|file| Edit::Delete { file }),
        2 => (file.clone(), file.clone()).prop_map(|(from, to)| Edit::Rename { from, to }),
        1 => (file.clone(), file.clone()).prop_map(|(one, other)| Edit::Exchange { one, other }),
        1 => file.clone().prop_map(|file| Edit::Touch { file }),
        1 => (file.clone(), any::<bool>()).prop_map(|(file, executable)| Edit::Mode { file, executable }),
        1 => (file.clone(), file.clone()).prop_map(|(file, to)| Edit::Link { file, to }),
        1 => (file.clone(), body).prop_map(|(file, body)| Edit::Directory { file, body }),
        3 => Just(Edit::Commit),
        1 => Just(Edit::Amend),
        1 => (0..3_usize).prop_map(|branch| Edit::Branch { branch }),
        1 => (0..3_usize).prop_map(|branch| Edit::ThereAndBack { branch }),
        1 => (0..3_usize).prop_map(|branch| Edit::Merge { branch }),
        1 => prop::sample::select(vec![Edit::Stash, Edit::Unstash, Edit::Restore]),
        1 => file.prop_map(|file| Edit::Ignore { file }),
        3 => Just(Edit::Index),
        1 => Just(Edit::InterruptedIndex),
        1 => any::<bool>().prop_map(|finishes| Edit::ImpatientIndex { finishes }),
        1 => (1..9_usize, any::<bool>()).prop_map(|(point, force)| Edit::DyingIndex { point, force }),
        1 => (0..2000_usize).prop_map(|keeps| Edit::LoseComparisons { keeps }),
    ]
}

const FILES: &[&str] =
    &["a.py", "src/b.py", "src/c.go", "lib/d.ts", "lib/e.js", "F.java", "README.md", "docs/g.md", "notes.txt"];

const BODIES: &[&str] = &[
    "def parse_token(text):\n    \"\"\"Read the header of a token.\"\"\"\n    return text.split()\n\n\nclass Cache:\n    def evict(self, key):\n        for k in self:\n            if k == key:\n                return parse_token(k)\n",
    "package main\n\n// Retry calls f again after a timeout.\nfunc Retry(f func() error) error {\n\treturn f()\n}\n\ntype Cache struct{ size int }\n\nfunc (c *Cache) Evict(key string) {}\n",
    "export class Reader {\n  /** Reads the header. */\n  header(): string { return parse(this.text); }\n}\nexport const retry = (n: number) => n + 1;\n",
    "# Install guide\n\nRead this first.\n\n## Retry\n\nWhat happens after a timeout.\n",
    "public class F {\n  /** Parses. */\n  public int parseToken(String s) { return s.length(); }\n}\n",
    "def broken(:\n  return (\n",
    "",
];

fn apply(fixture: &Fixture, edit: &Edit) {
    match *edit {
        Edit::Write { file, body } => {
            clear(fixture, file);
            fixture.write(FILES[file], BODIES[body]);
        }
        Edit::Append { file, body } => {
            let mut text = std::fs::read_to_string(fixture.path(FILES[file])).unwrap_or_else(|_| {
                clear(fixture, file);
                String::new()
            });
            text.push_str(BODIES[body]);
            fixture.write(FILES[file], text);
        }
        Edit::Delete { file } => clear(fixture, file),
        Edit::Rename { from, to } if is_there(fixture, from) && from != to => {
            clear(fixture, to);
            rename(fixture, FILES[from], FILES[to]);
        }
        Edit::Exchange { one, other } if is_there(fixture, one) && is_there(fixture, other) && one != other => {
            rename(fixture, FILES[one], "aside");
            rename(fixture, FILES[other], FILES[one]);
            rename(fixture, "aside", FILES[other]);
        }
        Edit::Touch { file } => {
            let now = std::time::SystemTime::now();
            if let Ok(file) = File::options().write(true).open(fixture.path(FILES[file])) {
                file.set_modified(now).expect("times can be set");
            }
        }
        Edit::Mode { file, executable } => set_mode(&fixture.path(FILES[file]), executable),
        Edit::Link { file, to } => link(fixture, file, to),
        Edit::Directory { file, body } => {
            clear(fixture, file);
            fixture.write(&format!("{}/inner.py", FILES[file]), BODIES[body]);
        }
        Edit::Commit => {
            fixture.commit("work");
        }
        Edit::Amend => {
            fixture.try_git(&["add", "--all"]);
            fixture.try_git(&["commit", "--quiet", "--amend", "--allow-empty", "--message", "better"]);
        }
        Edit::Branch { branch } => switch(fixture, branch),
        Edit::ThereAndBack { branch } => {
            fixture.commit("before");
            switch(fixture, branch);
            drop(run(fixture.root(), 2, false));
            fixture.try_git(&["switch", "--quiet", "-"]);
        }
        Edit::Merge { branch } => {
            if !fixture.try_git(&["merge", "--quiet", "--no-edit", "-X", "ours", &format!("branch-{branch}")]) {
                fixture.try_git(&["merge", "--abort"]);
            }
        }
        Edit::Stash => drop(fixture.try_git(&["stash", "--quiet", "--include-untracked"])),
        Edit::Unstash => drop(fixture.try_git(&["stash", "pop", "--quiet"])),
        Edit::Restore => drop(fixture.try_git(&["restore", "."])),
        Edit::Ignore { file } => {
            fixture.write(".auroraignore", format!("{}\n", FILES[file]));
        }
        Edit::Index => drop(run(fixture.root(), 2, false)),
        Edit::InterruptedIndex => interrupted(fixture.root()),
        Edit::ImpatientIndex { finishes } => drop(impatient(fixture.root(), finishes)),
        Edit::DyingIndex { point, force } => {
            let mut command = fixture.command();
            command.env("AURORA_DIE_AT_POINT", point.to_string()).args(["mem", "index", "-q"]);
            Run::of(if force { command.arg("--force") } else { &mut command });
        }
        Edit::LoseComparisons { keeps } => lose_comparisons(fixture, keeps),
        Edit::Rename { .. } | Edit::Exchange { .. } => {}
    }
}

/// Cuts the file that keeps how old versions differ, if it is that long.
fn lose_comparisons(fixture: &Fixture, keeps: usize) {
    if let Ok(bytes) = std::fs::read(fixture.path(COMPARISONS)) {
        fixture.write(COMPARISONS, &bytes[..keeps.min(bytes.len())]);
    }
}

/// Whether something has a file's name, were it a link to nowhere.
fn is_there(fixture: &Fixture, file: usize) -> bool {
    fixture.path(FILES[file]).symlink_metadata().is_ok()
}

/// Removes whatever has a file's name.
fn clear(fixture: &Fixture, file: usize) {
    let path = fixture.path(FILES[file]);
    let removed = match path.symlink_metadata() {
        Ok(found) if found.is_dir() => std::fs::remove_dir_all(path),
        Ok(_) => std::fs::remove_file(path),
        Err(_) => Ok(()),
    };
    removed.expect("it can be removed");
}

/// Moves a file with its time, as `mv` does.
fn rename(fixture: &Fixture, from: &str, to: &str) {
    let target = fixture.path(to);
    std::fs::create_dir_all(target.parent().expect("a file has a parent")).expect("directories can be made");
    std::fs::rename(fixture.path(from), target).expect("it can be moved");
}

fn switch(fixture: &Fixture, branch: usize) {
    let name = format!("branch-{branch}");
    if !fixture.try_git(&["switch", "--quiet", &name]) {
        fixture.try_git(&["switch", "--quiet", "--create", &name]);
    }
}

#[cfg(unix)]
fn set_mode(path: &Path, executable: bool) {
    use std::os::unix::fs::PermissionsExt;
    if path.is_file() {
        let mode = if executable { 0o755 } else { 0o644 };
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("modes can be set");
    }
}

#[cfg(not(unix))]
fn set_mode(_: &Path, _: bool) {}

/// Puts a link into the place of a file.
#[cfg(unix)]
fn link(fixture: &Fixture, file: usize, to: usize) {
    clear(fixture, file);
    let path = fixture.path(FILES[file]);
    let up = "../".repeat(FILES[file].matches('/').count());
    std::fs::create_dir_all(path.parent().expect("a file has a parent")).expect("directories can be made");
    std::os::unix::fs::symlink(format!("{up}{}", FILES[to]), path).expect("a link");
}

#[cfg(not(unix))]
fn link(_: &Fixture, _: usize, _: usize) {}

fn options(root: &Path, jobs: usize, force: bool) -> IndexOptions {
    IndexOptions {
        root: root.to_owned(),
        pipeline: PipelineChoice::Default,
        force,
        jobs: Some(jobs),
        memory: None,
        patience: None,
        cancel: CancelToken::new(),
        models: ModelDirectory::at(root.join("no-models")),
    }
}

fn run(root: &Path, jobs: usize, force: bool) -> IndexSummary {
    index::run(&options(root, jobs, force), &Silent).expect("an index run")
}

/// A run that is asked to stop at its first sign of life.
fn interrupted(root: &Path) {
    stopped_when(root, |_| true);
}

/// A run that is asked to stop once its progress is such.
fn stopped_when(root: &Path, is_time: fn(&Progress) -> bool) {
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
        fn of_run(&self) -> &dyn Observer {
            self
        }
    }
    let options = options(root, 2, false);
    let stop = Stop(options.cancel.clone(), is_time);
    index::run(&options, &stop).expect("an interrupted run still publishes what it has");
}

/// A run in which no file waits for the walk over git's history: everything is published without attributions first. They
/// follow, unless the run does not finish.
fn impatient(root: &Path, finishes: bool) -> (IndexSummary, Option<Snapshot>) {
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
            self.published.lock().expect("not poisoned").get_or_insert_with(|| snapshot(self.root));
            self.stop.iter().for_each(CancelToken::cancel);
        }

        fn of_run(&self) -> &dyn Observer {
            self
        }
    }
    let options = IndexOptions { patience: Some(Duration::ZERO), ..options(root, 2, false) };
    let stop = (!finishes).then(|| options.cancel.clone());
    let watch = Watch { stop, root, published: Mutex::default() };
    let summary = index::run(&options, &watch).expect("an index run");
    (summary, watch.published.into_inner().expect("not poisoned"))
}

fn snapshot(root: &Path) -> Snapshot {
    let environment = Environment::open(&root.join(INDEX_DIRECTORY), OpenMode::Existing).expect("an index");
    environment.snapshot().expect("a snapshot")
}

/// What a user sees of an index: every answer with its scores.
fn answers(root: &Path) -> Vec<String> {
    let embedder = aurora_analysis::embedder("static", &ModelDirectory::at(root)).expect("the embedded model");
    let retriever = Retriever::new(snapshot(root), Some(embedder), SearchConfig::default());
    let mut answers = Vec::new();
    for mode in [Mode::Hybrid, Mode::Sparse, Mode::Dense] {
        for text in QUERIES {
            let text = (*text).to_owned();
            let filter = FilterSpec::default();
            let query = Query { text, limit: 10, mode, filter, now: NOW, access: None, content: false };
            let hits = retriever.search(&query).expect("an answer").hits;
            let lines =
                hits.iter().map(|hit| format!("{} {mode:?}: {} {:?} {:?}", query.text, hit.key, hit.score, hit.scores));
            answers.extend(lines);
        }
    }
    answers
}

fn digest(root: &Path) -> String {
    snapshot(root).digest().expect("a readable index")
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
    }
}

#[test]
fn a_run_that_was_stopped_at_another_commit_is_made_up_for() {
    let kept = Fixture::git_in_memory();
    kept.write("a.py", BODIES[0]).commit("first");
    run(kept.root(), 2, false);
    // The stopped run attributes the lines to the amended commit; the last one is back where the one before it was.
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

fn sizeable() -> Fixture {
    let fixture = Fixture::git();
    for number in 0..120 {
        let body = BODIES[number % 5].replace("parse_token", &format!("parse_token_{number}"));
        let (stem, extension) = FILES[number % 9].rsplit_once('.').expect("an extension");
        fixture.write(&format!("m{}/{stem}{number}.{extension}", number % 7), body);
        if number % 40 == 0 {
            fixture.commit("more");
        }
    }
    fixture
}

/// How many chunks of a generation wait for their attribution, and how many have one.
fn pending_and_tracked(snapshot: &Snapshot) -> (usize, usize) {
    let chunk = |id| snapshot.chunk(ChunkId(id)).expect("sound").expect("live");
    let is_pending = |id: &u32| matches!(chunk(*id).git, ArchivedGitSignal::Pending);
    let is_tracked = |id: &u32| matches!(chunk(*id).git, ArchivedGitSignal::Tracked(_));
    let live = || snapshot.live().iter();
    (live().filter(is_pending).count(), live().filter(is_tracked).count())
}

#[test]
fn files_can_be_searched_before_their_history_is_read() {
    let fixture = sizeable();
    fixture.write("untracked.py", BODIES[0]);
    let (summary, published) = impatient(fixture.root(), true);
    let published = published.expect("a generation before the last one");
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
    assert_eq!(snapshot(fresh.root()).manifest().generation, 1, "who waits publishes once");
}

#[test]
fn a_run_that_was_stopped_while_history_was_read_is_made_up_for() {
    let fixture = sizeable();
    // So long a history that the first sign of life of the run comes while it is read.
    let mut stream = String::new();
    for commit in 0..6_000 {
        let (time, text) = (1_500_000_000 + commit, format!("def made_{commit}():\n    return {commit}\n"));
        stream.push_str(&format!("commit refs/heads/long\ncommitter Ada <ada@example.org> {time} +0000\ndata 0\n"));
        stream.push_str(&format!("M 644 inline many/f{}.py\ndata {}\n{text}\n", commit % 300, text.len()));
    }
    fixture.write(".git/stream", stream);
    let stream = File::open(fixture.path(".git/stream")).expect("the stream");
    let import = ["fast-import", "--quiet"];
    let imported = Command::new("git").current_dir(fixture.root()).args(import).stdin(stream).status();
    assert!(imported.expect("git runs").success());
    fixture.run_git(&["merge", "--quiet", "--allow-unrelated-histories", "--no-edit", "long"]);
    stopped_when(fixture.root(), |progress| progress.bytes > 0 && progress.elapsed > Duration::from_millis(100));
    run(fixture.root(), 2, false);
    let fresh = fixture.duplicate();
    run(fresh.root(), 2, false);
    assert_eq!(digest(fixture.root()), digest(fresh.root()));
}

#[test]
fn a_commit_while_history_is_read_is_seen() {
    struct Committing<'a>(&'a Path);
    impl Observer for Committing<'_> {
        fn on_progress(&self, _: &Progress) {}
    }
    impl IndexObserver for Committing<'_> {
        fn on_history(&self, _: WalkProgress) {
            let author = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"];
            let commit = ["commit", "--quiet", "--all", "--message", "meanwhile"];
            // The second time there is nothing to commit.
            let git = Command::new("git").current_dir(self.0).args(author).args(commit).output();
            git.expect("git runs");
        }

        fn of_run(&self) -> &dyn Observer {
            self
        }
    }
    let fixture = sizeable();
    fixture.commit("all");
    let path = fixture.path("m0/a0.py");
    let text = std::fs::read_to_string(&path).expect("a file") + "\n\ndef more():\n    return 1\n";
    std::fs::write(&path, text).expect("a file can be written");
    let options = IndexOptions { patience: Some(Duration::ZERO), ..options(fixture.root(), 2, false) };
    index::run(&options, &Committing(fixture.root())).expect("an index run");
    let fresh = fixture.duplicate();
    run(fresh.root(), 2, false);
    assert_eq!(digest(fixture.root()), digest(fresh.root()));
}

#[test]
fn attributions_that_were_left_out_follow_in_the_next_run() {
    let fixture = sizeable();
    let (summary, published) = impatient(fixture.root(), false);
    assert!(published.is_some() && !summary.complete, "{summary:?}");
    assert!(pending_and_tracked(&snapshot(fixture.root())).0 > 100);
    // Nothing has changed in the first pass of this one; the second attributes the files that are tracked.
    let (summary, _) = impatient(fixture.root(), true);
    assert_eq!((summary.files.refreshed, summary.nothing_changed, summary.complete), (81, false, true), "{summary:?}");
    assert_eq!(pending_and_tracked(&snapshot(fixture.root())).0, 0);
    let fresh = fixture.duplicate();
    run(fresh.root(), 2, false);
    assert_eq!(digest(fixture.root()), digest(fresh.root()));
}

#[test]
fn what_is_kept_of_old_versions_makes_no_difference() {
    let kept = Fixture::git_in_memory();
    // Each change is one across two chunks: before it, the lines of neither are those of a chunk.
    let change = |number: usize| {
        let border = format!("split({number})\nclass Cache{number}:\n");
        kept.write("a.py", BODIES[0].replace("split()\n\n\nclass Cache:\n", &border)).commit("work");
    };
    (0..8).for_each(change);
    run(kept.root(), 2, false);
    let length = || std::fs::metadata(kept.path(COMPARISONS)).expect("comparisons are kept").len();
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
        // The last run makes everything again, whatever is there.
        run(kept.root(), 2, number == 12);
        assert!(length() > first, "{} bytes after {first}", length());
        let fresh = kept.duplicate();
        run(fresh.root(), 2, false);
        assert_eq!(digest(kept.root()), digest(fresh.root()));
    }
}

#[test]
fn one_worker_and_many_make_the_same_index() {
    let fixture = sizeable();
    run(fixture.root(), 1, true);
    let serial = digest(fixture.root());
    for jobs in [2, 5] {
        run(fixture.root(), jobs, true);
        assert_eq!(digest(fixture.root()), serial, "{jobs} workers");
    }
}

#[test]
fn a_second_run_touches_nothing() {
    let fixture = sizeable();
    let first = run(fixture.root(), 2, false);
    assert!(first.chunks.total > 100 && !first.nothing_changed);
    let second = run(fixture.root(), 2, false);
    assert!(second.nothing_changed, "{second:?}");
    assert_eq!((second.changed_chunks, second.files.indexed), (0, 0));
    assert_eq!(second.files.unchanged, first.files.indexed);
    assert_eq!(second.chunks, first.chunks);
    // Files that were written just before the first run are recognised by their content in the
    // second, and by their time from then on: the third writes nothing at all.
    let third = run(fixture.root(), 2, false);
    assert!(third.nothing_changed && third.generation == run(fixture.root(), 2, false).generation);
}

#[test]
fn a_renamed_file_is_known_as_such() {
    let fixture = Fixture::git();
    fixture.write("old.py", BODIES[0]).commit("first");
    run(fixture.root(), 2, false);
    fixture.write("new/name.py", BODIES[0]).remove("old.py");
    let summary = run(fixture.root(), 2, false);
    assert_eq!((summary.files.renamed, summary.files.deleted), (1, 1));
    assert!(answers(fixture.root()).iter().all(|answer| !answer.contains("old.py")));
}
