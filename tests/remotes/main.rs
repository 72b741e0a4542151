//! `aur remote`: an index is pushed on one machine, then pulled, verified and updated in a clone on another.

#[path = "../fixture/mod.rs"]
mod fixture;
mod garage;
#[cfg(unix)]
mod interrupts;
mod keys;
mod offer;
#[path = "../../remote/tests/remotes/s3_server.rs"]
mod s3_server;
mod settings;
#[cfg(unix)]
#[allow(dead_code, reason = "these tests need only a part of the terminal")]
#[path = "../browse/tty.rs"]
mod tty;

use std::fs;
use std::process::Command;
use std::time::Duration;

use fixture::{Fixture, Run};

const FILES: usize = 240;

fn module(number: usize, word: &str) -> String {
    let function = |f: usize| {
        format!(
            "def {word}_{number}_{f}(a, b):\n    \"\"\"Return the {word} {f} of {number}.\"\"\"\n    return a + b * {f}\n\n"
        )
    };
    (0..12).map(function).collect()
}

/// Creates a repository with a remote in its parent directory, and a commit.
fn repository() -> Fixture {
    let fixture = Fixture::git();
    fixture.write(".gitignore", ".aurora/index/\n");
    for number in 0..FILES {
        fixture.write(&format!("m{}/f{number}.py", number % 7), module(number, "first"));
    }
    fixture.commit("first");
    fixture
}

fn run_ok(fixture: &Fixture, arguments: &[&str]) -> Run {
    let run = fixture.aur(arguments);
    assert_eq!(run.code, Some(0), "{arguments:?}: {run:?}");
    run
}

fn fails(fixture: &Fixture, code: i32, arguments: &[&str]) -> String {
    let run = fixture.aur(arguments);
    assert_eq!(run.code, Some(code), "{arguments:?}: {run:?}");
    assert!(!run.err.contains("panicked"), "{run:?}");
    run.err
}

fn digest(fixture: &Fixture) -> String {
    run_ok(fixture, &["mem", "verify"]);
    run_ok(fixture, &["mem", "verify", "--digest"]).out
}

/// Returns the URL of a remote in a directory of `share`.
fn url_in(share: &Fixture) -> String {
    format!("file://{}", share.path("remote").display())
}

/// Adds a remote in a directory of `share` to the user's configuration of a fixture.
fn add(fixture: &Fixture, share: &Fixture) {
    run_ok(fixture, &["remote", "add", "nightly", &url_in(share), "--user"]);
}

/// Returns a clone of the repository of another user, without an index.
fn clone_of(origin: &Fixture, share: &Fixture) -> Fixture {
    clone_with_url(origin, &url_in(share))
}

/// Returns a clone of the repository of another user, whose configuration has a remote with this URL.
fn clone_with_url(origin: &Fixture, url: &str) -> Fixture {
    let clone = Fixture::git();
    let from = origin.root().to_str().expect("the path is UTF-8");
    clone.run_git(&["pull", "--quiet", from, "HEAD"]);
    run_ok(&clone, &["remote", "add", "nightly", url, "--user"]);
    clone
}

#[test]
fn a_clone_pulls_the_index_of_the_nearest_ancestor_and_updates_it() {
    let (origin, share) = (repository(), Fixture::plain());
    add(&origin, &share);
    run_ok(&origin, &["mem", "index", "-q"]);
    let first = run_ok(&origin, &["remote", "push", "nightly", "--format", "json"]).json();
    let clone = clone_of(&origin, &share);
    run_ok(&clone, &["remote", "pull", "nightly", "--allow-unsigned", "--no-update"]);
    assert_eq!(digest(&clone), digest(&origin));

    // A new first file shifts the numbers of all chunks.
    origin.write("a.py", module(1000, "added")).write("m3/f3.py", module(3, "second"));
    origin.commit("second");
    run_ok(&origin, &["mem", "index", "-q"]);
    let second = run_ok(&origin, &["remote", "push", "nightly", "--format", "json"]).json();
    let bytes = |pushed: &serde_json::Value| pushed["uploaded_bytes"].as_u64().expect("there is a size");
    assert!(bytes(&second) * 10 < bytes(&first), "{second} after {first}");
    let unchanged = run_ok(&origin, &["remote", "push", "nightly"]);
    assert!(unchanged.out.starts_with("Unchanged: "), "{unchanged:?}");

    // HEAD of the clone is the first commit, so its index stays.
    let current = run_ok(&clone, &["remote", "pull", "nightly", "--allow-unsigned", "--format", "json"]);
    assert_eq!(current.json()["pulled"], false, "{current:?}");
    let from = origin.root().to_str().expect("the path is UTF-8").to_owned();
    clone.run_git(&["pull", "--quiet", &from, "HEAD"]);
    clone.write("own.py", "def own_function():\n    return 1\n");
    let pulled = run_ok(&clone, &["remote", "pull", "nightly", "--allow-unsigned", "--format", "json"]).json();
    assert_eq!(pulled["manifest"]["sequence"], 2, "{pulled}");
    assert!(pulled["transfer"]["downloaded_bytes"].as_u64() < first["uploaded_bytes"].as_u64(), "{pulled}");
    let found = run_ok(&clone, &["mem", "search", "own_function", "--format", "json", "--no-refresh"]).json();
    assert_eq!(found["results"][0]["file"], "own.py", "{found}");
    clone.remove("own.py");
    run_ok(&clone, &["mem", "index", "-q"]);
    assert_eq!(digest(&clone), digest(&origin));
    let list = run_ok(&clone, &["remote", "list", "nightly"]).out;
    assert_eq!(list.lines().count(), 3, "{list}");
    let verified = run_ok(&clone, &["remote", "verify", "nightly", "--read-data", "--allow-unsigned"]).out;
    assert!(verified.ends_with("No problems found\n"), "{verified}");
    let pruned = run_ok(&clone, &["remote", "prune", "nightly", "--keep", "1"]).out;
    assert!(pruned.starts_with("Deleted 0 manifests and 0 parts"), "{pruned}");
}

#[test]
fn unsigned_indexes_unknown_remotes_and_credentials_are_refused() {
    let (origin, share) = (repository(), Fixture::plain());
    add(&origin, &share);
    assert!(fails(&origin, 2, &["remote", "push", "nightly"]).contains("no index"));
    run_ok(&origin, &["mem", "index", "-q"]);
    assert!(fails(&origin, 2, &["remote", "pull", "nightly"]).contains("no remote at"));
    run_ok(&origin, &["remote", "push", "nightly"]);
    let clone = clone_of(&origin, &share);
    let error = fails(&clone, 2, &["remote", "pull", "nightly"]);
    assert!(error.contains("it is not signed") && error.contains("--allow-unsigned"), "{error}");
    assert_eq!(fails(&clone, 1, &["remote", "verify", "nightly"]).matches("problem").count(), 1);
    assert!(fails(&clone, 2, &["remote", "pull", "nightl"]).contains("nightly"));
    assert!(
        fails(&clone, 2, &["remote", "pull", "nightly", "--allow-unsigned", "--commit", "0123456"]).contains("0123456")
    );
    for url in ["https://user:hunter2@example.com/a", "s3://key:hunter2@bucket/a", "https://example.com/a?sig=hunter2"]
    {
        assert!(!fails(&clone, 2, &["remote", "add", "other", url]).contains("hunter2"));
    }
    clone.write(".aurora/config.toml", "[remotes]\ntrusted_keys = []\n");
    assert!(fails(&clone, 2, &["remote", "list"]).contains("user's configuration"));
}

#[test]
fn messages_about_the_access_to_a_store_are_plain_and_have_no_secrets() {
    let fixture = Fixture::git();
    for url in ["s3://bucket/app", "gs://bucket/app", "az://container/app", "https://127.0.0.1:9/app"] {
        let name = url.split(':').next().expect("the URL has a scheme");
        run_ok(&fixture, &["remote", "add", name, url, "--user"]);
    }
    let message = |name: &str, variables: &[(&str, &str)]| {
        let mut command = fixture.command();
        for (variable, _) in std::env::vars_os() {
            let text = variable.to_string_lossy();
            if ["AWS_", "GOOGLE_", "AZURE_"].iter().any(|prefix| text.starts_with(prefix)) {
                command.env_remove(&variable);
            }
        }
        let run = Run::from_command(command.args(["remote", "list", name]).envs(variables.iter().copied()));
        assert_eq!(run.code, Some(2), "{name} {variables:?}: {run:?}");
        assert!(!run.err.contains("hunter2") && !run.err.contains("panicked"), "{run:?}");
        run.err
    };
    let unconfigured = "Error: the access to the remote is not configured: ";
    for (name, variables) in [
        ("gs", &[("GOOGLE_SERVICE_ACCOUNT_KEY", "hunter2")][..]),
        ("gs", &[("GOOGLE_SERVICE_ACCOUNT_KEY", "{\"private_key\": \"hunter2\"}")]),
        ("gs", &[("GOOGLE_SERVICE_ACCOUNT", "/missing/account.json")]),
        ("az", &[]),
        ("az", &[("AZURE_STORAGE_ACCOUNT_NAME", "account"), ("AZURE_STORAGE_ACCOUNT_KEY", "hunter2")]),
        ("az", &[("AZURE_STORAGE_ACCOUNT_NAME", "account"), ("AZURE_STORAGE_SAS_KEY", "sig=hunter2&se")]),
    ] {
        let message = message(name, variables);
        assert!(message.starts_with(unconfigured) && message.contains("AZURE_STORAGE_ACCOUNT_NAME"), "{message}");
    }
    let key = [("AWS_ACCESS_KEY_ID", "id"), ("AWS_SECRET_ACCESS_KEY", "hunter2"), ("AWS_REGION", "x")];
    let endpoint = |url| [&key[..], &[("AWS_ENDPOINT", url), ("AWS_ALLOW_HTTP", "true")]].concat();
    assert!(message("s3", &endpoint("http://user:hunter2@127.0.0.1:9")).contains("cannot read format"));
    assert!(message("https", &[]).contains("cannot read format"));
}

#[test]
fn a_killed_pull_and_a_killed_push_continue() {
    let (origin, share) = (repository(), Fixture::plain());
    add(&origin, &share);
    run_ok(&origin, &["mem", "index", "-q"]);
    let kill = |fixture: &Fixture, arguments: &[&str], after: u64| {
        let mut child = fixture.command().args(arguments).spawn().expect("the program can be started");
        std::thread::sleep(Duration::from_millis(after));
        drop(child.kill());
        child.wait().expect("the program ends");
    };
    let clone = clone_of(&origin, &share);
    // The second push and pull transfer differences.
    for state in ["first", "second"] {
        if state == "second" {
            for number in 0..FILES / 4 {
                origin.write(&format!("m{}/f{number}.py", number % 7), module(number, state));
            }
            origin.commit(state);
            run_ok(&origin, &["mem", "index", "-q"]);
            let from = origin.root().to_str().expect("the path is UTF-8");
            clone.run_git(&["pull", "--quiet", from, "HEAD"]);
        }
        for after in [30, 100, 200, 400] {
            kill(&origin, &["remote", "push", "nightly"], after);
        }
        run_ok(&origin, &["remote", "push", "nightly"]);
        run_ok(&origin, &["remote", "verify", "nightly", "--read-data", "--allow-unsigned"]);
        for after in [30, 100, 200, 400, 800] {
            kill(&clone, &["remote", "pull", "nightly", "--allow-unsigned", "--no-update"], after);
        }
        run_ok(&clone, &["remote", "pull", "nightly", "--allow-unsigned", "--no-update", "--force"]);
        assert_eq!(digest(&clone), digest(&origin));
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_leaves_the_old_index_and_the_remote_intact() {
    let (origin, share) = (repository(), Fixture::plain());
    add(&origin, &share);
    run_ok(&origin, &["mem", "index", "-q"]);
    run_ok(&origin, &["remote", "push", "nightly"]);
    let clone = clone_of(&origin, &share);
    // Only this shell sees the mount.
    let script = "mkdir small && mount -t tmpfs -o size=400k tmpfs small && cp -r .git m? small/ 2>/dev/null; \
                  \"$AUR\" remote pull nightly --allow-unsigned --root small";
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "--mount", "sh", "-c", script]).current_dir(clone.root());
    fixture::hermetic(&mut command, clone.home());
    let run = Run::from_command(command.env("AUR", fixture::program()));
    if run.err.contains("unshare") || run.err.contains("mount:") {
        return;
    }
    assert_eq!(run.code, Some(2), "{run:?}");
    assert!(!run.err.contains("panicked"), "{run:?}");
    assert!(fs::read_dir(share.path("remote/manifests")).is_ok_and(|entries| entries.count() == 1));
}
