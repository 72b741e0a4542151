//! Unusual git repositories, tested with the whole program. No repository makes a run fail. Lines are attributed as by
//! `git blame`, and the report explains why attributions are missing.

mod fixture;

use std::path::Path;
use std::process::Command;

use fixture::{Fixture, Run, git, hermetic, program};
use serde_json::Value;

const ALPHA: &str = "def alpha(x):\n    \"\"\"Do alpha.\"\"\"\n    y = x + 1\n    return y\n";
const BETA: &str = "\n\ndef beta(x):\n    \"\"\"Do beta.\"\"\"\n    z = x * 2\n    return z\n";

/// Creates a repository with three commits on `a.py` and one on `b.py`.
fn repository(options: &[&str]) -> Fixture {
    let fixture = Fixture::plain();
    fixture.run_git(&[&["init", "--quiet", "--initial-branch=main"], options].concat());
    with_commits(fixture)
}

fn with_commits(fixture: Fixture) -> Fixture {
    fixture.write("a.py", ALPHA).commit("one");
    fixture.write("a.py", format!("{ALPHA}{BETA}")).write("b.py", BETA).commit("two");
    fixture.write("a.py", format!("{ALPHA}{BETA}").replace("x + 1", "x + 3")).commit("three");
    fixture
}

/// Clones `origin` from a `file://` URL. For a path, git would copy the objects and ignore `options` such as `--depth`.
fn cloned(origin: &Fixture, options: &[&str]) -> Fixture {
    let clone = Fixture::plain();
    origin.run_git(&["config", "uploadpack.allowFilter", "true"]);
    let url = format!("file://{}", origin.root().display());
    clone.run_git(&[&["clone", "--quiet"], options, &[url.as_str(), "."]].concat());
    clone
}

/// Indexes the fixture, asserts that the run succeeds, and returns the summary.
fn index(fixture: &Fixture) -> Value {
    index_in(fixture.root())
}

fn index_in(root: &Path) -> Value {
    let run = aur_in(root, &["mem", "index", "--format", "json"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    let summary = run.json();
    assert_eq!(summary["errors"], Value::Array(Vec::new()), "{summary}");
    summary
}

fn aur_in(root: &Path, arguments: &[&str]) -> Run {
    let mut command = Command::new(program());
    hermetic(&mut command, &root.join(".aurora/home"));
    Run::from_command(command.current_dir(root).args(arguments))
}

fn warnings(summary: &Value) -> String {
    let warnings = summary["warnings"].as_array().expect("the value is a list");
    let warnings = warnings.iter().filter_map(Value::as_str).filter(|warning| !warning.contains("conversation logs"));
    warnings.collect::<Vec<_>>().join("; ")
}

/// Returns lines of the form `<commit> <line>` from the index, or the error message if the file has no attribution.
fn lines_in(root: &Path, file: &str) -> String {
    let run = aur_in(root, &["mem", "blame", file]);
    if run.code == Some(0) { run.out } else { run.err }
}

fn lines(fixture: &Fixture, file: &str) -> String {
    lines_in(fixture.root(), file)
}

/// Returns lines of the form `<commit> <line>` from `git blame`.
fn git_lines(root: &Path, file: &str) -> String {
    let output = git(root).args(["blame", "--no-textconv", "--line-porcelain", "--", file]).output().expect("git runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout);
    let headers = text.lines().filter_map(|line| {
        let (commit, rest) = line.split_once(' ')?;
        let is_commit = commit.len() >= 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_commit.then(|| format!("{commit} {}\n", rest.split(' ').nth(1).unwrap_or_default()))
    });
    headers.collect()
}

/// Indexes the fixture, compares the lines of both files with git, and returns the warnings.
fn check(fixture: &Fixture) -> String {
    let summary = index(fixture);
    for file in ["a.py", "b.py"] {
        assert_eq!(lines(fixture, file), git_lines(fixture.root(), file), "{file}");
    }
    warnings(&summary)
}

/// Returns the output of a search, which shows the time and the author of the first result.
fn search(fixture: &Fixture, query: &str) -> String {
    let run = aur_in(fixture.root(), &["mem", "search", query, "--limit", "1"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    run.out
}

/// Overwrites a loose object.
fn damage(fixture: &Fixture, object: &str, bytes: &[u8]) {
    let id = git_output(fixture.root(), &["rev-parse", object]);
    let path = fixture.path(&format!(".git/objects/{}/{}", &id[..2], &id[2..]));
    std::fs::remove_file(&path).expect("the file can be removed");
    std::fs::write(path, bytes).expect("the file can be written");
}

/// Runs git and returns its output.
fn git_output(root: &Path, arguments: &[&str]) -> String {
    let output = git(root).args(arguments).output().expect("git runs");
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// Asserts that no file has a history, that a search still succeeds, and that the report gives the reason.
fn check_unavailable(fixture: &Fixture, reason: &str) {
    let found = warnings(&index(fixture));
    assert!(found.contains(reason), "{found}");
    for file in ["a.py", "b.py"] {
        assert!(lines(fixture, file).contains(reason), "{}", lines(fixture, file));
    }
    assert!(search(fixture, "alpha").contains("- (unavailable)"), "{}", search(fixture, "alpha"));
}

#[test]
fn a_repository_without_commits_has_no_history() {
    let fixture = Fixture::git();
    fixture.write("a.py", ALPHA);
    assert_eq!(warnings(&index(&fixture)), "HEAD has no commit yet: no file has a history");
    assert!(search(&fixture, "alpha").contains("- (untracked)"));
    // A HEAD that names a missing branch has the same effect.
    let lost = repository(&[]);
    std::fs::remove_file(lost.path(".git/refs/heads/main")).expect("the file can be removed");
    assert_eq!(warnings(&index(&lost)), "HEAD has no commit yet: no file has a history");
    // Without the file HEAD, the directory is no git repository.
    std::fs::remove_file(lost.path(".git/HEAD")).expect("the file can be removed");
    assert_eq!(warnings(&index(&lost)), "");
}

#[test]
fn untracked_ignored_and_staged_files_are_not_in_the_commit() {
    let fixture = repository(&[]);
    fixture.write("new.py", "def untracked_one():\n    return 1\n");
    fixture.write("ignored.py", "def ignored_one():\n    return 1\n").write(".gitignore", "ignored.py\n");
    fixture.write("staged.py", "def staged_one():\n    return 1\n").run_git(&["add", "staged.py"]);
    fixture.run_git(&["rm", "--quiet", "--cached", "b.py"]);
    let summary = index(&fixture);
    assert_eq!(warnings(&summary), "");
    assert_eq!(summary["files"]["skipped"]["named in an ignore file"]["examples"][0], "ignored.py");
    for file in ["new.py", "staged.py"] {
        assert!(lines(&fixture, file).contains("not in the commit at HEAD"), "{}", lines(&fixture, file));
    }
    assert!(search(&fixture, "untracked_one").contains("- (untracked)"));
    assert!(search(&fixture, "staged_one").contains("- (untracked)"));
    assert_eq!(lines(&fixture, "b.py"), git_lines(fixture.root(), "b.py"));
}

#[test]
fn uncommitted_lines_have_no_commit() {
    let fixture = repository(&[]);
    fixture.write("a.py", format!("{ALPHA}{BETA}").replace("return z", "return z + 7"));
    assert_eq!(check(&fixture), "");
    assert!(lines(&fixture, "a.py").contains("\n0000000000"));
    fixture.write("b.py", "");
    assert_eq!(warnings(&index(&fixture)), "");
}

#[test]
fn during_a_merge_lines_of_the_merged_branch_have_no_commit_yet() {
    let fixture = repository(&[]);
    fixture.run_git(&["switch", "--quiet", "--create", "side", "HEAD~1"]);
    fixture.write("a.py", format!("{ALPHA}{BETA}").replace("return z", "return z + 7")).commit("side");
    fixture.run_git(&["switch", "--quiet", "main"]);
    fixture.run_git(&["merge", "--quiet", "--no-commit", "side"]);
    assert_eq!(warnings(&index(&fixture)), "");
    assert_eq!(lines(&fixture, "a.py").matches("0000000000000000000000000000000000000000").count(), 1);
    fixture.run_git(&["commit", "--quiet", "--message", "merge"]);
    assert_eq!(check(&fixture), "");
}

#[test]
fn changes_of_mailmap_and_ignored_commits_take_effect() {
    let fixture = repository(&[]);
    assert_eq!(check(&fixture), "");
    let authors = |fixture: &Fixture| aur_in(fixture.root(), &["mem", "blame", "a.py", "--format", "json"]).out;
    assert!(authors(&fixture).contains("\"Ada\""));
    fixture.write(".mailmap", "Grace <grace@example.org> <ada@example.org>\n");
    assert_eq!(check(&fixture), "");
    assert!(authors(&fixture).contains("\"Grace\"") && !authors(&fixture).contains("\"Ada\""));

    fixture.run_git(&["config", "blame.ignoreRevsFile", ".git/revs"]);
    let missing = warnings(&index(&fixture));
    assert!(missing.contains("blame.ignoreRevsFile names") && missing.contains("cannot be read"), "{missing}");
    let all = lines(&fixture, "a.py");
    fixture.write(".git/revs", format!("{} # reformatted\n", git_output(fixture.root(), &["rev-parse", "HEAD"])));
    assert_eq!(check(&fixture), "");
    assert_ne!(lines(&fixture, "a.py"), all);
    fixture.write(".git/revs", "# nothing\n");
    assert_eq!(check(&fixture), "");
    assert_eq!(lines(&fixture, "a.py"), all);
}

#[test]
fn history_ends_at_the_boundary_of_a_shallow_clone() {
    let origin = repository(&[]);
    let clone = cloned(&origin, &["--depth=2"]);
    assert_eq!(check(&clone), "shallow clone: history ends where the clone does");
    let before = lines(&clone, "a.py");
    clone.run_git(&["fetch", "--quiet", "--unshallow"]);
    assert_eq!(check(&clone), "");
    assert_ne!(lines(&clone, "a.py"), before);
}

#[test]
fn missing_objects_of_partial_clones_are_not_fetched() {
    let origin = repository(&[]);
    for filter in ["blob:none", "tree:0"] {
        let clone = cloned(&origin, &[&format!("--filter={filter}")]);
        let objects = || git_output(clone.root(), &["count-objects", "-v"]);
        let before = objects();
        let found = warnings(&index(&clone));
        assert!(found.starts_with("partial clone: lines whose older versions are missing"), "{filter}: {found}");
        assert_eq!(objects(), before, "{filter}");
        assert_eq!(lines(&clone, "a.py").lines().count(), 10, "{filter}");
        // The result is the same if the remote is unreachable.
        clone.run_git(&["remote", "set-url", "origin", "file:///nowhere"]);
        let online = lines(&clone, "a.py");
        aur_in(clone.root(), &["mem", "index", "--force"]);
        assert_eq!(lines(&clone, "a.py"), online, "{filter}");
    }
    let whole = cloned(&origin, &["--filter=blob:limit=1m"]);
    assert!(check(&whole).starts_with("partial clone"));
}

#[test]
fn linked_work_trees_and_subdirectories_can_be_roots() {
    let fixture = repository(&[]);
    fixture.write("deep/er/c.py", BETA).commit("deep");
    fixture.write("deep/er/c.py", BETA.replace("x * 2", "x * 4")).commit("deeper");
    let linked = Fixture::plain();
    let path = linked.path("tree");
    fixture.run_git(&["worktree", "add", "--quiet", path.to_str().expect("the path is UTF-8"), "HEAD~1"]);
    assert_eq!(warnings(&index_in(&path)), "");
    for file in ["a.py", "b.py", "deep/er/c.py"] {
        assert_eq!(lines_in(&path, file), git_lines(&path, file), "{file}");
    }
    let below = fixture.path("deep");
    assert_eq!(warnings(&index_in(&below)), "");
    assert_eq!(lines_in(&below, "er/c.py"), git_lines(&below, "er/c.py"));
}

#[test]
fn files_of_submodules_have_no_history() {
    let inner = repository(&[]);
    let fixture = repository(&[]);
    let url = inner.root().to_str().expect("the path is UTF-8");
    fixture
        .run_git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", url, "inner"])
        .commit("module");
    assert_eq!(check(&fixture), "1 submodule: their files have no history here");
    assert!(lines(&fixture, "inner/a.py").contains("not in the commit at HEAD"));
}

#[test]
fn grafts_and_replacements_are_followed() {
    for parents in ["HEAD~2", ""] {
        let fixture = repository(&[]);
        fixture.run_git(&["commit-graph", "write", "--reachable"]);
        assert_eq!(check(&fixture), "");
        let plain = lines(&fixture, "b.py") + &lines(&fixture, "a.py");
        let id = |name: &str| git_output(fixture.root(), &["rev-parse", name]);
        let graft = if parents.is_empty() { id("HEAD") } else { format!("{} {}", id("HEAD"), id(parents)) };
        fixture.write(".git/info/grafts", format!("# comment\n{graft}\n"));
        assert_eq!(check(&fixture), "");
        assert_ne!(lines(&fixture, "b.py") + &lines(&fixture, "a.py"), plain);
        fixture.remove(".git/info/grafts");
        assert_eq!(check(&fixture), "");
        assert_eq!(lines(&fixture, "b.py") + &lines(&fixture, "a.py"), plain);
        let replace: Vec<&str> =
            ["replace", "--graft", "HEAD", parents].into_iter().filter(|part| !part.is_empty()).collect();
        fixture.run_git(&replace);
        assert_eq!(check(&fixture), "");
        assert_ne!(lines(&fixture, "b.py") + &lines(&fixture, "a.py"), plain);
    }
}

#[test]
fn sha256_repositories_and_objects_of_alternates_are_read() {
    let long = repository(&["--object-format=sha256"]);
    assert_eq!(check(&long), "");
    assert_eq!(lines(&long, "b.py").split(' ').next().map(str::len), Some(64));
    let origin = repository(&[]);
    let clone = Fixture::plain();
    clone.run_git(&["clone", "--quiet", "--shared", origin.root().to_str().expect("the path is UTF-8"), "."]);
    assert_eq!(check(&clone), "");
    clone.run_git(&["checkout", "--quiet", "--detach", "HEAD~1"]);
    assert_eq!(check(&clone), "");
}

#[test]
fn references_in_a_reftable_are_reported_as_unsupported() {
    let fixture = Fixture::plain();
    // An older git does not know the reftable format. Then the test checks nothing.
    if fixture.try_git(&["init", "--quiet", "--ref-format=reftable"]) {
        check_unavailable(&with_commits(fixture), "reftable");
    }
}

#[test]
fn line_ends_and_encodings_of_the_checkout_are_not_edits() {
    let checkout_again = |fixture: &Fixture| {
        fixture.remove("a.py").remove("b.py").run_git(&["checkout", "--quiet", "--", "."]);
    };
    let windows = repository(&[]);
    // The fixture sets `core.autocrlf=false` for its git commands, so the test converts the line ends itself.
    let crlf = |fixture: &Fixture, file: &str| {
        let text = std::fs::read_to_string(fixture.path(file)).expect("the file can be read").replace('\n', "\r\n");
        fixture.write(file, text);
    };
    windows.run_git(&["config", "core.autocrlf", "true"]);
    crlf(&windows, "a.py");
    crlf(&windows, "b.py");
    assert_eq!(check(&windows), "");
    assert!(!lines(&windows, "a.py").contains("0000000000"));

    let attributes = repository(&[]);
    attributes.write(".gitattributes", "* text=auto eol=crlf\n").commit("attributes");
    checkout_again(&attributes);
    assert!(std::fs::read(attributes.path("a.py")).expect("the file can be read").ends_with(b"\r\n"));
    assert_eq!(check(&attributes), "");

    let utf16 = repository(&[]);
    utf16.write(".gitattributes", "b.py working-tree-encoding=UTF-16LE-BOM\n");
    checkout_again(&utf16);
    utf16.commit("encoding");
    assert!(std::fs::read(utf16.path("b.py")).expect("the file can be read").starts_with(b"\xff\xfe"));
    assert_eq!(check(&utf16), "");
}

#[test]
fn neither_filters_nor_textconv_are_run() {
    let fixture = repository(&[]);
    let marks = |program: &str| format!("touch {} && {program}", fixture.path("ran").display());
    fixture.write(".gitattributes", "b.py filter=f\na.py diff=d\n").commit("attributes");
    fixture.write("b.py", BETA.to_uppercase());
    fixture.run_git(&["config", "filter.f.clean", &marks("tr A-Z a-z")]);
    fixture.run_git(&["config", "diff.d.textconv", &marks("sort")]);
    assert_eq!(index(&fixture)["files"]["indexed"], 2);
    assert!(!fixture.path("ran").exists());
    assert_eq!(lines(&fixture, "a.py"), git_lines(fixture.root(), "a.py"));
    assert!(lines(&fixture, "b.py").contains("0000000000"), "changes by a filter count as edits");
}

#[test]
fn binary_and_huge_files_are_skipped() {
    let fixture = repository(&[]);
    fixture.write("binary.py", b"x = 1\n\0").write("huge.py", "x = 1\n".repeat(1 << 20)).commit("large");
    let before = index(&fixture);
    assert_eq!(before["files"]["skipped"]["binary"]["examples"][0], "binary.py");
    assert_eq!(before["files"]["skipped"]["larger than max_file_size"]["examples"][0], "huge.py");
    // Now the files are small text files, but their older versions were binary or huge.
    fixture.write("binary.py", BETA).write("huge.py", BETA).commit("small");
    assert_eq!(check(&fixture), "");
    for file in ["binary.py", "huge.py"] {
        assert_eq!(lines(&fixture, file), git_lines(fixture.root(), file), "{file}");
    }
}

#[test]
fn touches_are_counted_without_old_versions() {
    let kept = repository(&[]);
    index(&kept);
    // The changed lines span two chunks, in the older version as well.
    let text = format!("{ALPHA}{BETA}").replace("x + 1", "x + 3");
    let changed = text.replace("return y\n\n\ndef beta(x):", "return y + 1\ndef beta(x, z):");
    assert_ne!(changed, text);
    kept.write("a.py", changed).commit("four");
    let touches = |fixture: &Fixture| {
        index(fixture);
        let run = aur_in(fixture.root(), &["mem", "search", "alpha", "--limit", "1", "--format", "json"]);
        run.json()["results"][0]["git"]["touches"].clone()
    };
    assert_eq!(touches(&kept.duplicate()), 4);
    // The previous version stays undamaged, because a run compares it with the current version.
    for old in ["HEAD~2:a.py", "HEAD~3:a.py"] {
        damage(&kept, old, b"");
    }
    assert_eq!(touches(&kept.duplicate()), 2);
    assert_eq!(touches(&kept), 4);
}

#[test]
fn damaged_history_ends_early() {
    for (object, bytes) in
        [("HEAD~1:a.py", &b"garbage"[..]), ("HEAD~1", b""), ("HEAD~1^{tree}", b"x"), ("HEAD~2:a.py", b"")]
    {
        let fixture = repository(&[]);
        damage(&fixture, object, bytes);
        let found = warnings(&index(&fixture));
        assert!(
            found.contains("git history is incomplete because objects are missing or damaged"),
            "{object}: {found}"
        );
        assert_eq!(lines(&fixture, "a.py").lines().count(), 10, "{object}");
    }
    let fixture = repository(&[]);
    damage(&fixture, "HEAD:a.py", b"");
    let found = warnings(&index(&fixture));
    assert!(found.contains("git history unavailable: blob") && found.contains("a.py"), "{found}");
    assert!(search(&fixture, "alpha").contains("- (unavailable)"));
    assert_eq!(lines(&fixture, "b.py"), git_lines(fixture.root(), "b.py"));
}

#[test]
fn damage_at_head_makes_the_history_unavailable() {
    let tree = repository(&[]);
    damage(&tree, "HEAD^{tree}", b"");
    check_unavailable(&tree, "missing or damaged");
    let commit = repository(&[]);
    damage(&commit, "HEAD", b"garbage");
    check_unavailable(&commit, "cannot open the git repository");

    for (end, length) in [("pack", 40), ("idx", 300)] {
        let packed = repository(&[]);
        packed.run_git(&["gc", "--quiet"]);
        let packs = std::fs::read_dir(packed.path(".git/objects/pack")).expect("the directory can be read");
        let mut packs = packs.map(|entry| entry.expect("the entry can be read").path());
        let path = packs
            .find(|path| path.extension().is_some_and(|extension| extension == end))
            .expect("the repository has a pack");
        let bytes = std::fs::read(&path).expect("the file can be read");
        std::fs::remove_file(&path).expect("the file can be removed");
        std::fs::write(&path, &bytes[..length]).expect("the file can be written");
        check_unavailable(&packed, "git");
    }
}

#[test]
fn a_broken_repository_has_no_history() {
    let nowhere = "1".repeat(40);
    for (path, text) in [
        (".git/HEAD", "garbage"),
        (".git/refs/heads/main", nowhere.as_str()),
        (".git/config", "[core"),
        (".git", "gitdir: /nowhere/.git\n"),
        (".git", "nonsense\n"),
    ] {
        let fixture = repository(&[]);
        if path == ".git" {
            std::fs::remove_dir_all(fixture.path(path)).expect("the directory can be removed");
        }
        fixture.write(path, text);
        check_unavailable(&fixture, "cannot open the git repository");
    }
    let fixture = repository(&[]);
    fixture.write(".git/index", "DIRC");
    let found = warnings(&index(&fixture));
    assert!(found.contains("cannot read the git index") && found.contains("judged by time and content"), "{found}");
    assert_eq!(lines(&fixture, "a.py").lines().count(), 10);
}

#[test]
fn files_outside_a_sparse_checkout_are_not_indexed() {
    for options in [&["--cone", "--sparse-index", "deep"][..], &["--no-cone", "/*", "!/other/"]] {
        let fixture = repository(&[]);
        fixture.write("deep/c.py", BETA).write("other/d.py", BETA).commit("directories");
        fixture.run_git(&[&["sparse-checkout", "set"], options].concat());
        assert_eq!(check(&fixture), "");
        assert_eq!(lines(&fixture, "deep/c.py"), git_lines(fixture.root(), "deep/c.py"));
        assert!(lines(&fixture, "other/d.py").contains("is not in the index"));
    }
}

#[test]
#[cfg(unix)]
fn unusual_file_names_are_indexed_if_they_are_utf8() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let fixture = repository(&[]);
    let names = ["with space.py", "quo\"te'd.py", "new\nline.py", "tab\t.py", "\u{fc}n\u{ef}.py", "-dash.py"];
    for name in names {
        fixture.write(name, BETA);
    }
    std::fs::write(fixture.root().join(OsStr::from_bytes(b"bad\xff.py")), BETA).expect("the file can be written");
    fixture.commit("names");
    let summary = index(&fixture);
    assert_eq!(summary["files"]["skipped"]["path is not UTF-8"]["count"], 1);
    for name in &names[..5] {
        assert_eq!(lines(&fixture, name), git_lines(fixture.root(), name), "{name:?}");
    }
    assert_eq!(lines(&fixture, "./-dash.py"), git_lines(fixture.root(), "-dash.py"));
}
