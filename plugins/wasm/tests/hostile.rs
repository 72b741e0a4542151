//! Tests with modules that misbehave. In every case the run ends, all other rows keep their values, and the report
//! contains the reason.

mod guest;

use std::time::Duration;

use aurora_pipeline::{CancelToken, DynamicType, RunOptions, Value};
use aurora_plugins::testkit::{StageOutcome, StageTest, TestError};
use aurora_wasm::Wasm;

const CONFIG: &str = r#"
    module = "stage.wasm"
    reads = ["chunk.name"]
    writes = { owner = "string" }
    fuel = 10000000
    memory = "1MiB"
"#;

/// Runs a module with chunks that have the given names.
fn run(module: &[u8], names: &[&str], config: &str) -> Result<StageOutcome, TestError> {
    let root = tempfile::tempdir().expect("a directory");
    std::fs::write(root.path().join("stage.wasm"), module).expect("written");
    let names: Vec<Option<Value>> = names.iter().map(|name| Some(Value::String((*name).to_owned()))).collect();
    StageTest::new::<Wasm>(config)?
        .root(root.path())
        .chunks(names.iter().map(|_| 0))
        .dynamic("chunk.name", DynamicType::String, names)
        .run()
}

/// Checks that the chunk whose name begins with `X` fails for the given reason and the other chunks have values.
fn check(items: &str, bad: &str, reason: &str) {
    let module = guest::component_with(items, bad);
    let outcome = run(&module, &["a", "b", "X", "c", "d"], CONFIG).expect("the run finishes");
    let payments = Some(Value::String("payments".to_owned()));
    let expected = [payments.clone(), payments.clone(), None, payments.clone(), payments];
    assert_eq!(outcome.values("chunk.owner"), expected, "{:?}", outcome.report().failures);
    let failures = format!("{:?}", outcome.report().failures);
    assert!(failures.contains(reason), "{failures}");
}

#[test]
fn an_infinite_loop_consumes_its_fuel() {
    check("", "(loop $forever (br $forever))", "the module consumed its `fuel`");
}

#[test]
fn a_trap_is_reported() {
    check("", "unreachable", "the module trapped");
}

#[test]
fn an_access_outside_of_the_memory_traps() {
    check("", "(drop (i32.load (i32.const -8)))", "out of bounds");
}

#[test]
fn memory_growth_is_limited() {
    let grow = "(loop $more (br_if $more (i32.ne (i32.const -1) (memory.grow (i32.const 8))))) unreachable";
    check("", grow, "the module needs more than its `memory`");
}

#[test]
fn tables_are_limited() {
    let items = "(table $table 1 funcref)";
    let grow = "(loop $more (br_if $more (i32.ne (i32.const -1) (table.grow $table (ref.null func) (i32.const 100000))))) unreachable";
    check(items, grow, "the module needs more than its `memory`");
}

#[test]
fn endless_recursion_exhausts_the_call_stack() {
    let items = "(func $deeper (param i64) (result i64) (i64.add (i64.const 1) (call $deeper (local.get 0))))";
    check(items, "(drop (call $deeper (i64.const 0)))", "the module exhausted the call stack");
}

#[test]
fn values_of_a_wrong_type_are_refused() {
    let lists_of_texts =
        "(return (call $answer (i32.const 1024) (i32.const 4) (local.get $chunks) (i32.const 1040) (i32.const 0)))";
    check("", lists_of_texts, "instead of string");
}

#[test]
fn an_undeclared_column_does_not_replace_a_declared_one() {
    let other =
        "(return (call $answer (i32.const 1056) (i32.const 0) (local.get $chunks) (i32.const 1040) (i32.const 8)))";
    check("", other, "column `chunk.owner` is missing");
}

#[test]
fn an_undeclared_column_next_to_a_declared_one_is_not_used() {
    // The result has a second column with another name and the same values.
    let both = "
        (local.set $files (call $answer (i32.const 1024) (i32.const 0) (local.get $chunks) (i32.const 1040) (i32.const 8)))
        (local.set $columns (call $alloc (i32.const 0) (i32.const 0) (i32.const 4) (i32.const 40)))
        (memory.copy (local.get $columns) (i32.load offset=4 (local.get $files)) (i32.const 20))
        (memory.copy (i32.add (local.get $columns) (i32.const 20)) (local.get $columns) (i32.const 20))
        (i32.store offset=20 (local.get $columns) (i32.const 1056))
        (i32.store offset=4 (local.get $files) (local.get $columns))
        (i32.store offset=8 (local.get $files) (i32.const 2))
        (return (local.get $files))";
    let outcome = run(&guest::component(both), &["X"], CONFIG).expect("the run finishes");
    assert_eq!(outcome.values("chunk.owner"), [Some(Value::String("payments".to_owned()))]);
    let warnings = format!("{:?}", outcome.report());
    assert!(warnings.contains("gives column `chunk.other`, which `writes` does not list"), "{warnings}");
}

#[test]
fn a_column_returned_twice_is_refused() {
    let twice = "
        (local.set $files (call $answer (i32.const 1024) (i32.const 0) (local.get $chunks) (i32.const 1040) (i32.const 8)))
        (local.set $columns (call $alloc (i32.const 0) (i32.const 0) (i32.const 4) (i32.const 40)))
        (memory.copy (local.get $columns) (i32.load offset=4 (local.get $files)) (i32.const 20))
        (memory.copy (i32.add (local.get $columns) (i32.const 20)) (local.get $columns) (i32.const 20))
        (i32.store offset=4 (local.get $files) (local.get $columns))
        (i32.store offset=8 (local.get $files) (i32.const 2))
        (return (local.get $files))";
    check("", twice, "column `chunk.owner` is returned twice");
}

#[test]
fn a_wrong_number_of_values_is_refused() {
    let more = "(return (call $answer (i32.const 1024) (i32.const 0) (i32.const 999) (i32.const 1040) (i32.const 8)))";
    check("", more, "999 values for");
}

#[test]
fn a_text_that_is_not_utf_8_is_refused() {
    let binary = "(i32.store8 (i32.const 2000) (i32.const 255)) (return (call $answer (i32.const 1024) (i32.const 0) (local.get $chunks) (i32.const 2000) (i32.const 1)))";
    check("", binary, "utf-8");
}

#[test]
fn a_large_text_returned_many_times_is_refused() {
    let huge =
        "(return (call $answer (i32.const 1024) (i32.const 0) (i32.const 1000) (i32.const 0) (i32.const 200000)))";
    check("", huge, "the module failed");
}

#[test]
fn a_result_outside_of_the_memory_is_refused() {
    check("", "(return (i32.const 0x7ffffff0))", "the module");
}

#[test]
fn a_flood_of_log_lines_consumes_the_fuel() {
    let flood = "(loop $more (call $log (i32.const 1040) (i32.const 8)) (br $more))";
    check("", flood, "the module consumed its `fuel`");
}

#[test]
fn a_module_that_always_fails_is_no_longer_called() {
    let module = guest::component("(loop $forever (br $forever))");
    let names = vec!["X"; 300];
    let outcome = run(&module, &names, CONFIG).expect("the run finishes");
    assert!(outcome.values("chunk.owner").iter().all(Option::is_none));
    assert!(format!("{:?}", outcome.report().failures).contains("gave up on the module after too many failed calls"));
}

#[test]
fn a_module_that_loops_when_it_starts_is_no_longer_called() {
    let module = guest::component_with("(func $loop (loop $forever (br $forever))) (start $loop)", "");
    let outcome = run(&module, &["a"; 40], CONFIG).expect("the run finishes");
    assert!(outcome.values("chunk.owner").iter().all(Option::is_none));
    let failures = format!("{:?}", outcome.report().failures);
    assert!(failures.contains("the module consumed its `fuel`"), "{failures}");
    assert!(failures.contains("gave up on the module"), "{failures}");
}

#[test]
fn a_module_that_consumes_much_fuel_for_wrong_answers_is_no_longer_called() {
    // The loop consumes about 9 of the 10 million units of fuel.
    let wrong = "
        (local.set $more (i64.const 1200000))
        (loop $next (br_if $next (i64.ne (i64.const 0) (local.tee $more (i64.sub (local.get $more) (i64.const 1))))))
        (return (call $answer (i32.const 1024) (i32.const 0) (i32.const 999) (i32.const 1040) (i32.const 8)))";
    let outcome = run(&guest::component(wrong), &["X"; 40], CONFIG).expect("the run finishes");
    let failures = format!("{:?}", outcome.report().failures);
    assert!(failures.contains("999 values for"), "{failures}");
    assert!(failures.contains("gave up on the module"), "{failures}");
}

#[test]
fn a_module_that_needs_more_memory_to_start_is_reported() {
    let module = guest::component_with("(table 2000000 funcref)", "");
    let outcome = run(&module, &["a"], CONFIG).expect("the run finishes");
    let failures = format!("{:?}", outcome.report().failures);
    assert!(failures.contains("the module needs more than its `memory`"), "{failures}");
}

#[test]
fn a_cancelled_run_interrupts_its_calls() {
    let root = tempfile::tempdir().expect("a directory");
    std::fs::write(root.path().join("stage.wasm"), guest::component("(loop $forever (br $forever))")).expect("written");
    let cancel = CancelToken::new();
    let test = StageTest::new::<Wasm>(&CONFIG.replace("fuel = 10000000", "fuel = 1000000000000"))
        .expect("valid")
        .root(root.path())
        .chunks([0])
        .dynamic("chunk.name", DynamicType::String, vec![Some(Value::String("X".to_owned()))]);
    // The fuel would last for minutes, so only the cancellation can end the call soon.
    let outcome = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(200));
            cancel.cancel();
        });
        test.run_with(RunOptions { cancel: cancel.clone(), ..RunOptions::default() })
    });
    let failures = outcome.map_or_else(|error| error.to_string(), |outcome| format!("{:?}", outcome.report().failures));
    assert!(!failures.contains("the module"), "an interrupted call is not a failure of its rows: {failures}");
}

#[test]
fn modules_that_take_long_to_compile_are_refused() {
    let check = |items: &str, expected: &str| {
        let module = guest::component_with(items, "");
        let message = run(&module, &["a"], CONFIG).err().expect("an error").to_string();
        assert!(message.contains(expected), "{expected}: {message}");
    };
    let large = format!("(func {})", "(drop (i64.const 1))".repeat(400_000));
    check(&large, "a function with more than 1048576 bytes");
    let function = |branches: usize, locals: usize| {
        let branches = "(if (local.get 0) (then (local.set 1 (local.get 2))))".repeat(branches);
        format!("(func (param i32) (local {}) {branches})", "i32 ".repeat(locals))
    };
    check(&function(3_000, 1_000), "a function with too many branches and variables");
    check(&function(450, 5_000).repeat(50), "the module has too many branches and variables");
    let nested = format!("(func {} {})", "(loop ".repeat(101), ")".repeat(101));
    check(&nested, "more than 100 nested loops");
    check(&"(func) ".repeat(100_001), "more than 100000 functions, globals and imports");
}

#[test]
fn a_shared_memory_is_refused() {
    let module = wat::parse_str("(component (core module (memory 1 1 shared)))").expect("valid");
    let message = run(&module, &["a"], CONFIG).err().expect("an error").to_string();
    assert!(message.contains("threads"), "{message}");
}

#[test]
fn a_component_with_too_many_instances_is_reported() {
    let instances = "(core instance (instantiate $m))".repeat(300);
    let module = wat::parse_str(format!("(component (core module $m (memory 0)) {instances})")).expect("valid");
    let outcome = run(&module, &["a"], CONFIG).expect("the run finishes");
    let failures = format!("{:?}", outcome.report().failures);
    assert!(failures.contains("resource limit exceeded"), "{failures}");
}

#[test]
fn a_file_that_is_not_a_component_is_an_error_with_advice() {
    let message = |module: &[u8]| run(module, &["a"], CONFIG).err().expect("an error").to_string();
    assert!(message(b"#!/bin/sh").contains("not a WebAssembly component"));
    let core = wat::parse_str("(module)").expect("valid");
    assert!(message(&core).contains("a core WebAssembly module, not a component"));
    let empty = wat::parse_str("(component)").expect("valid");
    assert!(message(&empty).contains("does not implement the world"));
    let network =
        wat::parse_str(r#"(component (import "evil:net/socket" (instance (export "open" (func)))))"#).expect("valid");
    assert!(message(&network).contains("the module imports `evil:net/socket`"));
    let future = wat::parse_str(r#"(component (import "aurora:stage/types@2.0.0" (instance)))"#).expect("valid");
    assert!(message(&future).contains("made for `aurora:stage@2.0.0`"));
}

#[test]
fn mistakes_in_the_configuration_are_all_reported() {
    let config = r#"
        module = "../stage.wasm"
        reads = ["chunk.name"]
        writes = { owner = "text" }
        fuel = 0
        memory = "1KiB"
        grants = ["network"]
    "#;
    let message = StageTest::new::<Wasm>(config).err().expect("an error").to_string();
    for part in [
        "not below the root",
        "unknown type `text`",
        "`fuel` must be",
        "`memory` must be",
        "`network` cannot be granted",
    ] {
        assert!(message.contains(part), "{part}: {message}");
    }
}
