//! The files in `deploy`: lints of the CI files and runs of their steps, validation of the Kubernetes manifests and
//! runs of their Jobs, and the Ray package on a local cluster.
//!
//! The tests need packages from the Python and Node registries. `tests/deploy/install` installs them into a directory,
//! and the variable `AURORA_TEST_DEPLOY` names this directory. Without the variable, the tests do nothing.
#![cfg(target_os = "linux")]

#[path = "../fixture/mod.rs"]
mod fixture;

use std::path::{Path, PathBuf};
use std::process::Command;

/// Runs a Python program with the installed packages, and asserts that it succeeds.
fn run_python(arguments: &[&str]) {
    let Some(packages) = std::env::var_os("AURORA_TEST_DEPLOY").filter(|directory| !directory.is_empty()) else {
        eprintln!("AURORA_TEST_DEPLOY is not set: the files in deploy were not tested");
        return;
    };
    let (packages, root) = (PathBuf::from(packages), Path::new(env!("CARGO_MANIFEST_DIR")));
    let home = tempfile::tempdir().expect("a temporary directory can be created");
    let mut command = Command::new(packages.join("python/bin/python"));
    fixture::hermetic(&mut command, home.path());
    let kubectl = packages.join("python/bin/kubectl");
    command
        .args(arguments)
        .current_dir(root)
        .env("AUR", fixture::program())
        .env("KUBECTL", if kubectl.exists() { kubectl } else { "kubectl".into() })
        .env("NODE_PACKAGES", packages.join("node"))
        .env("PYTHONPATH", root.join("deploy/ray"))
        .env("PYTHONDONTWRITEBYTECODE", "1");
    let output = command.output().expect("Python starts");
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{arguments:?}\n{out}\n{err}");
}

#[test]
fn ci_files_pass_their_linters_and_their_steps_report() {
    run_python(&["tests/deploy/ci.py"]);
}

#[test]
fn kubernetes_jobs_are_valid_and_build_the_index_of_a_single_run() {
    run_python(&["tests/deploy/kubernetes.py"]);
}

#[test]
fn the_ray_package_builds_indexes_on_a_cluster() {
    run_python(&["-m", "unittest", "discover", "--start-directory", "deploy/ray/tests"]);
}
