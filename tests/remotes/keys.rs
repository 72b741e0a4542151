//! Keys: their creation, and their rotation.

use std::fs;

use crate::fixture::{Fixture, Run};
use crate::{add, clone_of, fails, module, repository, run_ok};

/// Creates a key in a file, and returns its public key.
fn keygen(fixture: &Fixture, file: &str) -> String {
    let key = run_ok(fixture, &["remote", "keygen", file, "--format", "json"]).json();
    key["public_key"].as_str().expect("there is a public key").to_owned()
}

fn push_signed(fixture: &Fixture, file: &str) -> serde_json::Value {
    let mut command = fixture.command();
    command.args(["remote", "push", "nightly", "--format", "json"]).env("AURORA_SIGNING_KEY", fixture.path(file));
    let run = Run::from_command(&mut command);
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""), "{run:?}");
    run.json()
}

/// Replaces the trusted keys of a user.
fn trust(fixture: &Fixture, keys: &[&str]) {
    let path = fixture.user_directory().join("config.toml");
    let text = fs::read_to_string(&path).expect("the configuration can be read");
    let rest = text.split("[remotes]").next().unwrap_or_default().trim_end();
    fs::write(path, format!("{rest}\n\n[remotes]\ntrusted_keys = {keys:?}\n")).expect("the file can be written");
}

#[test]
fn a_key_file_is_private_and_never_replaced() {
    let fixture = Fixture::plain();
    let run = run_ok(&fixture, &["remote", "keygen", "ci.key"]);
    let public = run.out.lines().find_map(|line| line.strip_prefix("  Public key: ")).expect("the key is printed");
    assert!(run.out.contains(&format!("[remotes]\ntrusted_keys = [\"{public}\"]\n")), "{run:?}");
    let secret = fs::read_to_string(fixture.path("ci.key")).expect("the key can be read");
    assert!(!run.out.contains(secret.lines().nth(1).expect("the second line is the key")), "{run:?}");
    #[cfg(unix)]
    {
        let mode = std::os::unix::fs::PermissionsExt::mode(
            &fs::metadata(fixture.path("ci.key")).expect("the file exists").permissions(),
        );
        assert_eq!(mode & 0o777, 0o600);
        std::os::unix::fs::symlink("elsewhere.key", fixture.path("link.key")).expect("the link can be created");
        assert!(fails(&fixture, 2, &["remote", "keygen", "link.key"]).contains("link.key"));
        assert!(!fixture.path("elsewhere.key").exists());
    }
    assert!(fails(&fixture, 2, &["remote", "keygen", "ci.key"]).contains("exists"));
    assert!(fails(&fixture, 2, &["remote", "keygen", "missing/ci.key"]).contains("missing/ci.key"));
    assert_eq!(fs::read_to_string(fixture.path("ci.key")).expect("the key can be read"), secret);
}

#[test]
fn an_encrypted_key_needs_its_password() {
    let (origin, share) = (repository(), Fixture::plain());
    add(&origin, &share);
    run_ok(&origin, &["mem", "index", "-q"]);
    let with_password = |arguments: &[&str], password: &str| {
        let mut command = origin.command();
        command.args(arguments).env("AURORA_SIGNING_KEY", origin.path("ci.key"));
        Run::from_command(command.env("AURORA_SIGNING_KEY_PASSWORD", password))
    };
    let created = with_password(&["remote", "keygen", "ci.key"], "hunter2");
    assert_eq!(created.code, Some(0), "{created:?}");
    for password in ["", "hunter3"] {
        let refused = with_password(&["remote", "push", "nightly"], password);
        assert!(refused.code == Some(2) && refused.err.contains("the password is missing or wrong"), "{refused:?}");
    }
    let pushed = with_password(&["remote", "push", "nightly"], "hunter2");
    assert_eq!((pushed.code, pushed.err.as_str()), (Some(0), ""), "{pushed:?}");
}

#[test]
fn keys_are_rotated_without_a_gap() {
    let (origin, share) = (repository(), Fixture::plain());
    add(&origin, &share);
    let [old_key, new_key] = ["old.key", "new.key"].map(|name| origin.home().join(name).display().to_string());
    let (old, new) = (keygen(&origin, &old_key), keygen(&origin, &new_key));
    run_ok(&origin, &["mem", "index", "-q"]);
    push_signed(&origin, &old_key);
    let clone = clone_of(&origin, &share);
    const PULL: [&str; 5] = ["remote", "pull", "nightly", "--no-update", "--force"];
    assert!(fails(&clone, 2, &PULL).contains("no key is trusted"));
    trust(&clone, &[&old]);
    run_ok(&clone, &PULL);

    // The developers trust both keys before the job signs with the new one.
    trust(&clone, &[&old, &new]);
    run_ok(&clone, &PULL);
    assert_eq!(push_signed(&origin, &new_key)["manifest"]["sequence"], 2, "the same index is signed again");
    origin.write("m3/f3.py", module(3, "second")).commit("second");
    run_ok(&origin, &["mem", "index", "-q"]);
    push_signed(&origin, &new_key);
    let list = run_ok(&clone, &["remote", "list", "nightly"]).out;
    assert_eq!(list.matches("trusted key").count(), 3, "{list}");
    run_ok(&clone, &["remote", "verify", "nightly"]);
    run_ok(&clone, &PULL);

    // A user who trusts only the old key accepts only the old manifest.
    let late = clone_of(&origin, &share);
    trust(&late, &[&old]);
    let refused = fails(&late, 2, &["remote", "pull", "nightly", "--no-update", "--commit", &head(&origin)]);
    assert!(refused.contains("no accepted index of commit"), "{refused}");

    // Finally, the old key is removed. Its manifests are no longer accepted.
    trust(&clone, &[&new]);
    let list = run_ok(&clone, &["remote", "list", "nightly"]).out;
    assert_eq!((list.matches("trusted key").count(), list.matches("unknown key").count()), (2, 1), "{list}");
    assert!(fails(&clone, 1, &["remote", "verify", "nightly"]).contains("1 problem"));
    run_ok(&clone, &PULL);
    fs::remove_file(share.path("remote/manifests/0000000000000003")).expect("the manifest can be removed");
    fs::remove_file(share.path("remote/manifests/0000000000000002")).expect("the manifest can be removed");
    fs::remove_dir_all(clone.user_directory().join("state/remotes")).expect("the records can be removed");
    assert!(fails(&clone, 2, &PULL).contains("which is not trusted"));
}

fn head(fixture: &Fixture) -> String {
    let output = crate::fixture::git(fixture.root()).args(["rev-parse", "HEAD"]).output().expect("git runs");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}
