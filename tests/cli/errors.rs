//! What is said when something cannot be done, and the exit code.

use insta::assert_snapshot;

use crate::fixture::Fixture;
use crate::{indexed, run, settings};

/// The message of a command that cannot do it.
fn refused(fixture: &Fixture, arguments: &[&str]) -> String {
    let run = run(fixture, arguments);
    assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{run:?}");
    run.err
}

#[test]
fn arguments_that_make_no_sense() {
    let fixture = Fixture::plain();
    settings(&fixture).bind(|| {
        assert_snapshot!(refused(&fixture, &["serach"]), @"");
        assert_snapshot!(refused(&fixture, &["mem", "search", "x", "--mode", "hybird"]), @"");
        assert_snapshot!(refused(&fixture, &["mem", "search", "x", "--limit", "0"]), @"");
        assert_snapshot!(refused(&fixture, &["mem", "search", "x", "--weights", "1,2"]), @"");
        assert_snapshot!(refused(&fixture, &["mem", "index", "--memory", "much"]), @"");
        assert_snapshot!(refused(&fixture, &["mem", "index", "--min-coverage", "101"]), @"");
        assert_snapshot!(refused(&fixture, &["mem", "search", "--stdin", "x"]), @"");
    });
}

#[test]
fn searches_that_make_no_sense() {
    let fixture = indexed();
    settings(&fixture).bind(|| {
        assert_snapshot!(refused(&fixture, &["mem", "search", "x", "--type", "functon"]), @"");
        assert_snapshot!(refused(&fixture, &["mem", "search", "x", "--path", "src/["]), @"");
        assert_snapshot!(refused(&fixture, &["mem", "search", "x", "--where", "owner"]), @"");
        assert_snapshot!(refused(&fixture, &["mem", "search", "x", "--weights", "0.5,0.5,0.5"]), @"");
        assert_snapshot!(refused(&fixture, &["mem", "search", "  "]), @"");
        assert_snapshot!(refused(&fixture, &["mem", "search", "?!"]), @"");
    });
}

#[test]
fn places_that_are_not_there() {
    let fixture = Fixture::plain();
    fixture.write("file.py", "");
    settings(&fixture).bind(|| {
        assert_snapshot!(refused(&fixture, &["mem", "index", "nowhere"]), @"");
        assert_snapshot!(refused(&fixture, &["mem", "index", "file.py"]), @"");
        assert_snapshot!(refused(&fixture, &["mem", "search", "x", "--root", "nowhere"]), @"");
        assert_snapshot!(refused(&fixture, &["mem", "search", "x", "--no-index"]), @"");
        assert_snapshot!(refused(&fixture, &["mem", "stats"]), @"");
        assert_snapshot!(refused(&fixture, &["mem", "verify"]), @"");
        assert_snapshot!(refused(&fixture, &["mem", "rebuild-bm25"]), @"");
        assert_snapshot!(refused(&fixture, &["model", "add", "nowhere"]), @"");
    });
}

#[test]
fn a_broken_configuration_is_told_as_a_whole() {
    let fixture = Fixture::plain();
    fixture.write("a.py", "def f():\n    pass\n");
    fixture.write(
        ".aurora/config.toml",
        "[search.bm25]\nk1 = -1.5\n\n[search.hybrid]\nstage1_top_kk = 10\n\n[search.hybrid.weights]\nbm25 = 0.9\n",
    );
    settings(&fixture).bind(|| {
        assert_snapshot!(refused(&fixture, &["mem", "search", "x"]), @"");
    });
    assert!(!fixture.path(".aurora/index").exists(), "nothing is built for a search that cannot run");
}

#[test]
fn usage_errors_have_no_colours_when_piped() {
    let fixture = Fixture::plain();
    let plain = refused(&fixture, &["mem", "search", "x", "--mode", "no"]);
    assert!(!plain.contains('\x1b'));
    let coloured = refused(&fixture, &["mem", "search", "x", "--mode", "no", "--color", "always"]);
    assert!(coloured.contains('\x1b'));
}
