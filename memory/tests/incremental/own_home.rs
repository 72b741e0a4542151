//! A separate user directory for a test.

use std::process::{Command, Stdio};

/// Environment variable that is set in the process of a test.
const OWN: &str = "AURORA_MEMORY_TEST";

/// Runs a test, identified by its path in the test program, in a separate process with a new user directory. The user directory
/// records which memories the user has created.
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

/// Creates a directory in RAM if possible, because waiting for the disk after every change would take most of the time.
pub(crate) fn directory() -> tempfile::TempDir {
    tempfile::TempDir::new_in("/dev/shm").or_else(|_| tempfile::TempDir::new()).expect("a directory")
}
