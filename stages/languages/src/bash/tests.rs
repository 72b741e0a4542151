//! Tests for the outlines of `sample.sh`, of Bats tests and of Gentoo ebuilds, and for the masking of text that the
//! grammar cannot read.

use super::BASH;
use super::masked::masked;
use crate::snapshot::{constants_of, outline};

#[test]
fn sample() {
    insta::assert_snapshot!(outline(&BASH, include_str!("sample.sh")), @r#"
    import $(dirname "$0")/log.sh *
    import ./config.sh *
    function die 25-28 die() | Prints a message and ends.⏎$1: the message |  | exported
    function build 31-41 function build | Builds one target. | grep /usr/bin/cc assemble touch | 3 branches | 2 loops | exported
    function upload 43-49 function upload() |  | curl scp die | 3 branches | exported
    function _retry 51-60 _retry() |  | report pause ready sleep | 2 branches | 2 loops
    function _retry.report 53-53 report() | Nested functions are global, too. | log | exported
    function in_subshell 62-65 in_subshell() |  | make | exported
    function main 67-70 main() |  | build tee _retry | exported
    constants: MAX_TRIES HOST PORT CHECKSUMS tries BUILD_DIR TARGET ll la quiet
    calls outside symbols: dirname sort main
    doc: Makes a release: builds, signs and uploads it.⏎⏎Usage: release VERSION
    "#);
}

#[test]
fn constants_and_variables_outside_functions_are_listed() {
    let source = r#"
LIMIT=1
lower=2
readonly first=1 SECOND
declare -A map=([A]=1) other
typeset -i count
export PATH="$PATH:/opt"
if true; then FALLBACK=1; fi
LC_ALL=C sort
alias ll='ls -l' plain=ls
alias -g G='| grep'
run() { INSIDE=1; readonly HIDDEN=2; }
"#;
    assert_eq!(constants_of(&BASH, source), "LIMIT first SECOND map other count PATH FALLBACK ll plain G");
}

#[test]
fn bats_tests_end_before_the_next_test() {
    let source = r#"#!/usr/bin/env bats

load test_helper

setup() {
  make_fixture
}

# Adds two numbers.
@test "adds: 1 + 1" {
  run add 1 1
  [ "$status" -eq 0 ]
}

@test 'fails' {
  if flaky; then
    skip
  fi
}
"#;
    insta::assert_snapshot!(outline(&BASH, source), @r#"
    import test_helper *
    function setup 5-7 setup() |  | make_fixture | exported
    function adds: 1 + 1 10-13 @test "adds: 1 + 1" | Adds two numbers. | run | exported
    function fails 15-19 @test 'fails' |  | flaky skip | 1 branches | exported
    "#);
}

#[test]
fn gentoo_ebuilds_import_the_eclasses_that_they_inherit() {
    let source = "EAPI=8\ninherit eutils \"git-r3\"\nsrc_compile() {\n  emake\n}\n";
    insta::assert_snapshot!(outline(&BASH, source), @r"
    import eutils *
    import git-r3 *
    function src_compile 3-5 src_compile() |  | emake | exported
    constants: EAPI
    ");
}

#[test]
fn characters_that_crash_the_scanner_are_masked() {
    for text in ["\"\"{\u{10ffff}", "echo {12\u{10ffff}", "echo {1..2\u{10ffff}", "{1..\u{10ffff}"] {
        assert_eq!(crate::Parser::new().parse(Some(&BASH), text).failure, None, "{text}");
    }
    assert_eq!(masked("a{é} {1..2} é{1.é"), Some("a{  } {1..2} é{1.é".to_owned()));
    assert_eq!(masked("a{1..2}"), None);
}

#[test]
fn operators_in_expansions_are_masked() {
    let source = "f() {\n  x=\"${codes:+$codes;}$code\"\n}\ng() { echo ${url%%&*}; }\n";
    assert_eq!(masked(source).as_deref(), Some("f() {\n  x=\"$aaaaaaaaaaaaaaaa$code\"\n}\ng() { echo $aaaaaaaaa; }\n"));
    let names: Vec<_> = crate::Parser::new().parse(Some(&BASH), source).symbols;
    assert_eq!(names.iter().filter(|symbol| symbol.name == "f" || symbol.name == "g").count(), 2);
    for text in ["${a:-$(b | c)}", "${a/\"|\"/b}", "${a\n|}", "{a|b}", "${a|"] {
        assert_eq!(masked(text), None, "{text}");
    }
}

#[test]
fn comments_inside_a_command_are_masked() {
    let source = "f() {\n  a && \\\n    # Why\n    # not\n    b\n}\n# g\ng() { c; }\n";
    assert_eq!(masked(source).as_deref(), Some("f() {\n  a && \\\n         \n         \n    b\n}\n# g\ng() { c; }\n"));
    let outline = outline(&BASH, source);
    assert!(outline.contains("function f 1-6") && outline.contains("function g 8-8"), "{outline}");
    // A backslash at the end of a comment does not continue a command, so the next comment is not masked.
    assert_eq!(masked("# f a \\\n#   b\nf() { c; }\n"), None);
    assert_eq!(masked(&"#\\\n".repeat(300_000)), None);
}
