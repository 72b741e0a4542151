//! Checks that the recipe of the built-in model uses no repository on which search quality is measured.

use std::path::Path;
use std::process::Command;

#[test]
fn no_barred_repository_is_collected() {
    let recipe = Path::new(env!("CARGO_MANIFEST_DIR")).join("model");
    let mut python = Command::new("python3");
    python.args(["-B", "-m", "unittest", "-v", "test_collect"]).current_dir(recipe);
    let run = python.output().expect("python3 is installed");
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
}
