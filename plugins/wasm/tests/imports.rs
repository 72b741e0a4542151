//! Tests of the imports that modules may use: the log, the standard streams, and clocks if they are granted.

mod guest;

use std::sync::{Mutex, PoisonError};

use aurora_pipeline::{DynamicType, Observer, Progress, RunOptions, Value};
use aurora_plugins::testkit::{StageOutcome, StageTest};
use aurora_wasm::Wasm;

const CONFIG: &str = r#"
    module = "stage.wasm"
    reads = ["chunk.name"]
    writes = { owner = "string" }
    fuel = 10000000
    memory = "1MiB"
"#;

/// An observer that collects the log.
#[derive(Default)]
struct Log(Mutex<Vec<String>>);

impl Observer for Log {
    fn on_progress(&self, _: &Progress) {}

    fn on_log(&self, stage: &str, line: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(format!("{stage}: {line}"));
    }
}

/// Runs a module with `items` and `code` for one chunk. Returns the outcome and the log.
fn run(items: &str, code: &str, grants: &str) -> (StageOutcome, Vec<String>) {
    let root = tempfile::tempdir().expect("a directory");
    std::fs::write(root.path().join("stage.wasm"), guest::component_with(items, code)).expect("written");
    let log = Log::default();
    let outcome = StageTest::new::<Wasm>(&format!("{CONFIG}grants = [{grants}]\n"))
        .expect("valid")
        .root(root.path())
        .chunks([0])
        .dynamic("chunk.name", DynamicType::String, vec![Some(Value::String("X".to_owned()))])
        .run_with(RunOptions { observer: &log, ..RunOptions::default() })
        .expect("the run finishes");
    (outcome, log.0.into_inner().unwrap_or_else(PoisonError::into_inner))
}

fn has_value(outcome: &StageOutcome) -> bool {
    outcome.values("chunk.owner") == [Some(Value::String("payments".to_owned()))]
}

const STREAMS: &str = r#"
    (import "wasi:cli/stdout@0.2.0" "get-stdout" (func $stdout (result i32)))
    (import "wasi:cli/stderr@0.2.0" "get-stderr" (func $stderr (result i32)))
    (import "wasi:io/streams@0.2.0" "[method]output-stream.check-write" (func $check (param i32 i32)))
    (import "wasi:io/streams@0.2.0" "[method]output-stream.blocking-write-and-flush" (func $write (param i32 i32 i32 i32)))
    (import "wasi:io/streams@0.2.0" "[method]output-stream.subscribe" (func $subscribe (param i32) (result i32)))
    (import "wasi:io/poll@0.2.0" "[method]pollable.ready" (func $ready (param i32) (result i32)))
    (data (i32.const 2000) "one\ntwo\n\1b[31mred")
"#;

#[test]
fn output_to_the_standard_streams_is_logged() {
    let code = "
        (call $write (call $stdout) (i32.const 2000) (i32.const 6) (i32.const 3000))
        (if (i32.load8_u (i32.const 3000)) (then unreachable))
        (call $write (call $stderr) (i32.const 2008) (i32.const 8) (i32.const 3000))
        (call $write (call $stdout) (i32.const 2006) (i32.const 2) (i32.const 3000))
        (call $check (call $stdout) (i32.const 3000))
        (if (i64.lt_u (i64.load (i32.const 3008)) (i64.const 1)) (then unreachable))
        (if (i32.eqz (call $ready (call $subscribe (call $stdout)))) (then unreachable))";
    let (outcome, log) = run(STREAMS, code, "");
    assert!(has_value(&outcome), "{:?}", outcome.report().failures);
    let expected = ["one", "two", " [31mred"].map(|line| format!("stage-under-test: {line}"));
    assert_eq!(log, expected);
}

#[test]
fn output_before_a_trap_is_logged() {
    let code = "(call $write (call $stderr) (i32.const 2000) (i32.const 6) (i32.const 3000)) unreachable";
    let (outcome, log) = run(STREAMS, code, "");
    assert!(!has_value(&outcome));
    assert_eq!(log, ["stage-under-test: one", "stage-under-test: tw"]);
}

#[test]
fn a_flood_on_the_standard_output_consumes_the_fuel() {
    let code = "(local.set $files (call $stdout))
        (loop $more (call $write (local.get $files) (i32.const 2000) (i32.const 8) (i32.const 3000)) (br $more))";
    let (outcome, log) = run(STREAMS, code, "");
    assert!(format!("{:?}", outcome.report().failures).contains("the module consumed its `fuel`"));
    assert!(log.len() <= 201, "{} lines", log.len());
}

#[test]
fn long_lines_of_the_log_cost_fuel() {
    // Each logged byte costs 10 units of fuel, so about ten calls with 100,000 bytes consume all 10,000,000 units.
    let code = "(loop $more (call $log (i32.const 0) (i32.const 100000)) (br $more))";
    let (outcome, log) = run("", code, "");
    assert!(format!("{:?}", outcome.report().failures).contains("the module consumed its `fuel`"));
    assert!(log.len() < 10, "{} lines", log.len());
}

#[test]
fn random_numbers_are_a_fixed_sequence() {
    let items = r#"(import "wasi:random/random@0.2.0" "get-random-bytes" (func $random (param i64 i32)))"#;
    let code = "
        (call $random (i64.const 8) (i32.const 3000))
        (if (i64.ne (i64.load (i32.load (i32.const 3000))) (i64.const 0x3ce1ea9bec4ff4af)) (then
          (call $log (i32.load (i32.const 3000)) (i32.const 8)) unreachable))";
    let (outcome, log) = run(items, code, "");
    assert!(has_value(&outcome), "{:?} {log:?}", outcome.report().failures);
}

const CLOCKS: &str = r#"
    (import "wasi:clocks/monotonic-clock@0.2.0" "now" (func $elapsed (result i64)))
    (import "wasi:clocks/wall-clock@0.2.0" "now" (func $time (param i32)))
"#;
/// Reads the monotonic clock until it has advanced.
const MONOTONIC: &str = "
    (local.set $more (i64.add (call $elapsed) (i64.const 1000)))
    (loop $wait (br_if $wait (i64.lt_u (call $elapsed) (local.get $more))))";
/// Traps if the wall clock is before the year 2024.
const WALL: &str = "
    (call $time (i32.const 3000))
    (if (i64.lt_u (i64.load (i32.const 3000)) (i64.const 1704067200)) (then unreachable))
    (if (i32.ge_u (i32.load (i32.const 3008)) (i32.const 1000000000)) (then unreachable))";

#[test]
fn a_granted_clock_returns_the_time() {
    for code in [MONOTONIC, WALL] {
        let (outcome, _) = run(CLOCKS, code, r#""clock""#);
        assert!(has_value(&outcome), "{:?}", outcome.report().failures);
    }
}

#[test]
fn a_clock_that_is_not_granted_fails() {
    for (code, name) in [(MONOTONIC, "monotonic-clock"), (WALL, "wall-clock")] {
        let (outcome, _) = run(CLOCKS, code, "");
        assert!(!has_value(&outcome));
        let failures = format!("{:?}", outcome.report().failures);
        assert!(
            failures.contains(&format!("the module called `wasi:clocks/{name}@0.2.0#now`, which is not granted")),
            "{failures}"
        );
    }
}
