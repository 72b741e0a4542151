//! Modules that misbehave: the run ends, every other row keeps its values, and the report says what happened.

mod guest;

use aurora_pipeline::{DynamicType, Value};
use aurora_plugins::testkit::{StageOutcome, StageTest, TestError};
use aurora_wasm::Wasm;

const CONFIG: &str = r#"
    module = "stage.wasm"
    reads = ["chunk.name"]
    writes = { owner = "string" }
    fuel = 10000000
    memory = "1MiB"
"#;

/// Runs a module over chunks with these names.
fn run(module: &[u8], names: &[&str], config: &str) -> Result<StageOutcome, TestError> {
    let root = tempfile::tempdir().expect("a directory");
    std::fs::write(root.path().join("stage.wasm"), module).expect("written");
    let names: Vec<Option<Value>> = names.iter().map(|name| Some(Value::String((*name).to_owned()))).collect();
    StageTest::of::<Wasm>(config)?
        .root(root.path())
        .chunks(names.iter().map(|_| 0))
        .dynamic("chunk.name", DynamicType::String, names)
        .run()
}

/// The chunk whose name begins with X loses its value for this reason; the others keep theirs.
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
    let texts_as_documents =
        "(return (call $answer (i32.const 1024) (i32.const 4) (local.get $chunks) (i32.const 1040) (i32.const 0)))";
    check("", texts_as_documents, "instead of string");
}

#[test]
fn an_undeclared_column_does_not_replace_a_declared_one() {
    let other =
        "(return (call $answer (i32.const 1056) (i32.const 0) (local.get $chunks) (i32.const 1040) (i32.const 8)))";
    check("", other, "column `chunk.owner` is missing");
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
fn one_large_text_many_times_is_too_much() {
    let huge =
        "(return (call $answer (i32.const 1024) (i32.const 0) (i32.const 1000) (i32.const 0) (i32.const 200000)))";
    check("", huge, "the module failed");
}

#[test]
fn a_result_outside_of_the_memory_is_refused() {
    check("", "(return (i32.const 0x7ffffff0))", "the module");
}

#[test]
fn a_flood_of_log_lines_is_cut() {
    let flood = "(loop $more (call $log (i32.const 1040) (i32.const 8)) (br $more))";
    check("", flood, "the module consumed its `fuel`");
}

#[test]
fn a_module_that_always_fails_is_given_up() {
    let module = guest::component("(loop $forever (br $forever))");
    let names = vec!["X"; 300];
    let outcome = run(&module, &names, CONFIG).expect("the run finishes");
    assert!(outcome.values("chunk.owner").iter().all(Option::is_none));
    assert!(format!("{:?}", outcome.report().failures).contains("the module was given up after too many failed calls"));
}

#[test]
fn what_is_not_a_component_is_an_error_that_says_what_to_do() {
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
    let message = StageTest::of::<Wasm>(config).err().expect("an error").to_string();
    for part in
        ["not below the root", "unknown type `text`", "`fuel` must be", "`memory` must be", "`network` can be granted"]
    {
        assert!(message.contains(part), "{part}: {message}");
    }
}
