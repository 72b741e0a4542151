//! Checks that the benches in `benches/finding` draw the intended questions.

use std::path::Path;
use std::process::Command;

#[test]
fn questions_have_the_right_answers() {
    let benches = Path::new(env!("CARGO_MANIFEST_DIR")).join("../benches/finding");
    let mut python = Command::new("python3");
    python.args(["-B", "-m", "unittest", "-v", "test_finding"]).current_dir(benches);
    let run = python.output().expect("python3 is installed");
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
}
