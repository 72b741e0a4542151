//! A user directory for a test.

use std::process::{Command, Stdio};

/// Set in the process of a test.
const OWN: &str = "AURORA_MEMORY_TEST";

/// Runs a test, named by its path in the program, in a process of its own with a new user directory: that is where it is recorded
/// which memories the user has made.
pub(crate) fn run_in(test: &str, body: impl FnOnce()) {
    if std::env::var_os(OWN).is_some() {
        return body();
    }
    let home = directory();
    let mut command = Command::new(std::env::current_exe().expect("has a path"));
    command.args([test, "--exact", "--nocapture"]).env(OWN, "1").stdin(Stdio::null());
    command.env("AURORA_HOME", home.path()).env("HOME", home.path()).env_remove("AURORA_TRUST_INDEX");
    let output = command.output().expect("runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{}\n{}\n{}", output.status, text(&output.stdout), text(&output.stderr));
}

/// A directory in memory, where there is a place for it: waiting for the disk at every change would take most of the time.
pub(crate) fn directory() -> tempfile::TempDir {
    tempfile::TempDir::new_in("/dev/shm").or_else(|_| tempfile::TempDir::new()).expect("a directory")
}
