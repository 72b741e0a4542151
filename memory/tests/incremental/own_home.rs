//! Runs a test with a separate user directory.

use std::process::{Command, Stdio};

/// Environment variable that is set in the child process that runs the body of a test.
const OWN: &str = "AURORA_MEMORY_TEST";

/// Runs the body of a test in a child process with a new user directory. `test` is the path of the test in the test
/// program. The user directory records which memories the user has created, so the test must not use the real one.
pub(crate) fn run_in(test: &str, body: impl FnOnce()) {
    if std::env::var_os(OWN).is_some() {
        return body();
    }
    let home = directory();
    let mut command = Command::new(std::env::current_exe().expect("the test program has a path"));
    command.args([test, "--exact", "--nocapture"]).env(OWN, "1").stdin(Stdio::null());
    command.env("AURORA_HOME", home.path()).env("HOME", home.path()).env_remove("AURORA_TRUST_INDEX");
    let output = command.output().expect("the test program can be started");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{}\n{}\n{}", output.status, text(&output.stdout), text(&output.stderr));
}

/// Creates a temporary directory, in RAM if possible. On a disk, every change would wait until its data is written.
pub(crate) fn directory() -> tempfile::TempDir {
    tempfile::TempDir::new_in("/dev/shm").or_else(|_| tempfile::TempDir::new()).expect("a directory")
}
