//! Error messages and exit codes of commands that fail.

use insta::assert_snapshot;

use crate::fixture::Fixture;
use crate::{indexed, run, settings};

/// Runs a command that must fail with exit code 2, and returns the error message.
fn refused(fixture: &Fixture, arguments: &[&str]) -> String {
    let run = run(fixture, arguments);
    assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{run:?}");
    run.err
}

#[test]
fn invalid_arguments_are_explained() {
    let fixture = Fixture::plain();
    settings(&fixture).bind(|| {
        assert_snapshot!(refused(&fixture, &["serach"]), @r"
        error: unrecognized subcommand 'serach'

        Usage: aur [OPTIONS] <COMMAND>

        For more information, try '--help'.
        Tip: did you mean `aur mem search`?
        ");
        assert_snapshot!(refused(&fixture, &["mem", "search", "x", "--mode", "hybird"]), @r"
        error: invalid value 'hybird' for '--mode <MODE>'
          [possible values: hybrid, sparse, dense]

          tip: a similar value exists: 'hybrid'

        For more information, try '--help'.
        ");
        assert_snapshot!(refused(&fixture, &["mem", "search", "x", "--limit", "0"]), @r"
        error: invalid value '0' for '--limit <N>': expected a whole number from 1 to 10000

        For more information, try '--help'.
        ");
        assert_snapshot!(refused(&fixture, &["mem", "search", "x", "--weights", "1,2"]), @r"
        error: invalid value '1,2' for '--weights <B,S,A>': expected three numbers: BM25, semantic, activation

        For more information, try '--help'.
        ");
        assert_snapshot!(refused(&fixture, &["mem", "index", "--memory", "much"]), @r"
        error: invalid value 'much' for '--memory <SIZE>': expected a size such as 512MiB or 2GiB

        For more information, try '--help'.
        ");
        assert_snapshot!(refused(&fixture, &["mem", "index", "--min-coverage", "101"]), @r"
        error: invalid value '101' for '--min-coverage <PCT>': expected a percentage from 0 to 100

        For more information, try '--help'.
        ");
        assert_snapshot!(refused(&fixture, &["mem", "search", "--stdin", "x"]), @r"
        error: the argument '--stdin' cannot be used with '[QUERY]...'

        Usage: aur mem search --stdin [QUERY]...

        For more information, try '--help'.
        ");
    });
}

#[test]
fn invalid_searches_are_explained() {
    let fixture = indexed();
    settings(&fixture).bind(|| {
        assert_snapshot!(refused(&fixture, &["mem", "search", "x", "--type", "functon"]), @"Error: Invalid chunk type 'functon'. Valid types: function, method, class, interface, type, struct, enum, code, kb, doc, reasoning, knowledge, note, turn (did you mean `function`?)");
        assert_snapshot!(refused(&fixture, &["mem", "search", "x", "--path", "src/["]), @"Error: Invalid path pattern 'src/[': unclosed character class; missing ']'");
        assert_snapshot!(refused(&fixture, &["mem", "search", "x", "--where", "owner"]), @"Error: Invalid condition 'owner'. Conditions are written as a column, one of = != < <= > >=, and a value, such as owner=payments or 'churn>5', or with a list, such as 'owner in payments,billing'; in a shell, quote conditions with < or >");
        assert_snapshot!(refused(&fixture, &["mem", "search", "x", "--weights", "0.5,0.5,0.5"]), @r"
        error[A0117]: `search.hybrid.weights` must sum to 1.0, not 1.5
         --> flag --weights
          = help: set all of search.hybrid.weights.bm25, search.hybrid.weights.semantic, search.hybrid.weights.activation
        Error: the search configuration has 1 error
        ");
        assert_snapshot!(refused(&fixture, &["mem", "search", "  "]), @r#"Error: the query is empty; give at least one word, such as "parse config""#);
        assert_snapshot!(refused(&fixture, &["mem", "search", "?!"]), @"Error: the query `?!` contains no letter or digit to search for");
    });
}

#[test]
fn missing_paths_and_indexes_are_explained() {
    let fixture = Fixture::plain();
    fixture.write("file.py", "");
    settings(&fixture).bind(|| {
        assert_snapshot!(refused(&fixture, &["mem", "index", "nowhere"]), @r#"
        Error: no such directory: nowhere
          Help: to search for these words: aur mem search "index nowhere"
        "#);
        assert_snapshot!(refused(&fixture, &["mem", "index", "file.py"]), @r"
        Error: file.py is not a directory
          Help: give the directory that contains it, and use `--path` to search only this file
        ");
        assert_snapshot!(refused(&fixture, &["mem", "search", "x", "--root", "nowhere"]), @"Error: no such directory: nowhere");
        assert_snapshot!(refused(&fixture, &["mem", "search", "x", "--no-index"]), @r"
        Error: no index in [root]
          Help: build it with `aur mem index`, or search without --no-index
        ");
        assert_snapshot!(refused(&fixture, &["mem", "stats"]), @"Error: no index at [root]/.aurora/index: run `aur mem index` first");
        assert_snapshot!(refused(&fixture, &["mem", "verify"]), @"Error: no index at [root]/.aurora/index: run `aur mem index` first");
        assert_snapshot!(refused(&fixture, &["mem", "rebuild-bm25"]), @"Error: no index at [root]/.aurora/index: run `aur mem index` first");
        assert_snapshot!(refused(&fixture, &["model", "add", "nowhere"]), @"Error: nowhere: No such file or directory (os error 2)");
    });
}

#[test]
fn all_errors_of_a_configuration_are_reported_at_once() {
    let fixture = Fixture::plain();
    fixture.write("a.py", "def f():\n    pass\n");
    fixture.write(
        ".aurora/config.toml",
        "[search.bm25]\nk1 = -1.5\n\n[search.hybrid]\nstage1_top_kk = 10\n\n[search.hybrid.weights]\nbm25 = 0.9\nsemantic = 0.5\nactivation = 0.2\n",
    );
    settings(&fixture).bind(|| {
        assert_snapshot!(refused(&fixture, &["mem", "search", "x"]), @r"
        error[A0103]: `search.bm25.k1` must be a number ≥ 0.0, not -1.5
         --> [root]/.aurora/config.toml:2:1
        2 | k1 = -1.5

        error[A0102]: unknown key `search.hybrid.stage1_top_kk`
         --> [root]/.aurora/config.toml:5:1
        5 | stage1_top_kk = 10
          = help: did you mean `search.hybrid.stage1_top_k`?

        error[A0117]: `search.hybrid.weights` must sum to 1.0, not 1.6
          --> [root]/.aurora/config.toml:10:1
        10 | activation = 0.2
           = help: set all of search.hybrid.weights.bm25, search.hybrid.weights.semantic, search.hybrid.weights.activation
        Error: the search configuration has 3 errors
        ");
    });
    assert!(!fixture.path(".aurora/index").exists(), "a search that cannot run builds no index");
}

#[test]
fn usage_errors_have_no_colours_when_piped() {
    let fixture = Fixture::plain();
    let plain = refused(&fixture, &["mem", "search", "x", "--mode", "no"]);
    assert!(!plain.contains('\x1b'));
    let coloured = refused(&fixture, &["mem", "search", "x", "--mode", "no", "--color", "always"]);
    assert!(coloured.contains('\x1b'));
}
