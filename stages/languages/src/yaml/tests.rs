//! Tests for the outlines of `sample.yaml` and of larger and deeper texts.

use super::YAML;
use crate::snapshot::outline;
use crate::{ParseFailure, Parser};

#[test]
fn sample() {
    insta::assert_snapshot!(outline(&YAML, include_str!("sample.yaml")), @r#"
    block jobs.test 11-21 test | Runs the tests on every platform. |
    block jobs.lint 22-30 "lint" |  |
    block Deployment.web 32-47 Deployment web |  |  | of Deployment
    block paths./pets/{id}.get 60-64 get |  |
    block paths./pets/{id}.delete 65-69 delete |  |
    constants: on push env web showPetById removePet
    doc: Builds and tests every change.
    "#);
}

fn names(source: &str) -> Vec<String> {
    let found = Parser::new().parse(Some(&YAML), source);
    assert_eq!(found.failure, None);
    found.symbols.into_iter().map(|symbol| symbol.qualified_name).collect()
}

#[test]
fn a_large_block_is_divided_into_its_members() {
    let member = |name: &str| format!("  {name}:\n    text: {}\n    more: 1\n", "word ".repeat(60));
    let small = format!("a:\n{}b: 1\n", member("one"));
    assert_eq!(names(&small), ["a.one"], "the outer block has no text of its own");
    let own = format!("a:\n  own: some text of its own\n{}", member("one"));
    assert_eq!(names(&own), ["a"], "the block is small");
    let members: String = (0..9).map(|n| member(&format!("m{n}"))).collect();
    let large = format!("a:\n  own: some text of its own\n{members}");
    assert_eq!(names(&large)[..3], ["a", "a.m0", "a.m1"]);
}

#[test]
fn small_blocks_of_a_large_file_are_not_symbols() {
    let source: String = (0..100_000).map(|n| format!("key{n}:\n  a: {n}\n")).collect();
    assert!(names(&source).is_empty());
    let source: String = (0..2_000).map(|n| format!("key{n}:\n  a: {n}\n  b: {}\n", "word ".repeat(50))).collect();
    assert!(names(&source).is_empty(), "a symbol in a file of this size has at least 500 bytes");
}

#[test]
fn list_items_are_named_by_their_keys() {
    let text = "word ".repeat(60);
    let item = |key: &str| format!("- x: 1\n  {key}\n  text: {text}\n");
    let source = ["name: first", "id: \"second\"", "alert: Third", "color: red", "color: blue"].map(item).concat();
    assert_eq!(names(&source), ["first", "second", "Third"]);
    let nested = format!(
        "- kind: Role\n  metadata: {{a: b}}\n  text: {text}\n- kind: Role\n  metadata:\n    name: admin\n  t: {text}\n"
    );
    assert_eq!(names(&nested), ["Role.admin"]);
}

#[test]
fn deep_nesting_is_too_complex() {
    for source in ["- ".repeat(1_000), (0..1_000).map(|n| format!("{}a:\n", " ".repeat(n))).collect()] {
        assert_eq!(Parser::new().parse(Some(&YAML), &source).failure, Some(ParseFailure::TooComplex));
    }
    // Every level has a mapping and a list, and the state of the scanner has room for 253 mappings and lists.
    let nested = |levels: usize| (0..levels).map(|n| format!("{}- a:\n", "  ".repeat(n))).collect::<String>();
    assert_eq!(Parser::new().parse(Some(&YAML), &nested(126)).failure, None);
    assert_eq!(Parser::new().parse(Some(&YAML), &nested(127)).failure, Some(ParseFailure::TooComplex));
}
