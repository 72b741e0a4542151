//! Programs that supply documents and never stop.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use aurora_pipeline::{CancelToken, DynamicType, Outcome, RunOptions, Services, Value};
use aurora_plugins::process::Documents;
use aurora_plugins::testkit::{StageOutcome, StageTest};
use aurora_plugins::trust::Consents;
use tempfile::TempDir;

const PROGRAM: &str = "
import json, sys, time
def say(message):
    sys.stdout.write(json.dumps(message) + '\\n')
    sys.stdout.flush()
sys.stdin.readline()
say({'type': 'hello', 'protocol': 'aurora-stage', 'version': 1})
sys.stdin.readline()
";

fn run(body: &str, cancel: CancelToken) -> StageOutcome {
    let root = TempDir::new().expect("a temporary directory");
    fs::write(root.path().join("stage.py"), format!("{PROGRAM}{body}")).expect("written");
    let mut services = Services::new();
    services.insert(Arc::new(Consents::everything()));
    let test = StageTest::new::<Documents>("command = ['python3', 'stage.py']").expect("a valid configuration");
    let columns = ["file.path", "file.language", "file.size", "file.mtime"].map(|name| match name {
        "file.path" | "file.language" => (name, DynamicType::String, Value::String("rust".to_owned())),
        _ => (name, DynamicType::Integer, Value::Integer(1)),
    });
    columns
        .into_iter()
        .fold(test, |test, (name, kind, value)| test.dynamic(name, kind, vec![Some(value)]))
        .root(root.path())
        .services(services)
        .run_with(RunOptions { cancel, ..RunOptions::default() })
        .expect("the run completes")
}

#[test]
fn a_flood_of_heartbeats_ends_the_listing() {
    let outcome = run("while True: sys.stdout.write('{\"type\":\"heartbeat\"}\\n' * 1000)", CancelToken::new());
    let reasons: Vec<&str> =
        outcome.report().failures.values().flat_map(|tally| tally.iter()).map(|(why, _)| why).collect();
    assert!(reasons.iter().any(|reason| reason.contains("too many heartbeats")), "{reasons:?}");
}

#[test]
fn a_cancelled_listing_ends_despite_heartbeats() {
    let cancel = CancelToken::new();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_secs(1));
            cancel.cancel();
        });
        let outcome = run("while True:\n    say({'type': 'heartbeat'})\n    time.sleep(0.01)", cancel.clone());
        assert_eq!(outcome.report().outcome, Outcome::Cancelled);
    });
}
