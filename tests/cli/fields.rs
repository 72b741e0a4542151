//! Conditions on the metadata of chunks, and the metadata in the output of a search.

use insta::assert_snapshot;
use serde_json::Value;

use crate::fixture::{Fixture, Run};
use crate::{repository, run, settings};

/// Creates and indexes a repository with two reasoning patterns.
fn with_patterns() -> Fixture {
    let fixture = repository();
    let patterns = [
        ("retry", "Send the request again, at most three times, when the server did not answer", 0.9, 12),
        ("backoff", "Wait twice as long before each further attempt, and add some chance to it", 0.625, 3),
    ];
    for (name, text, score, uses) in patterns {
        let pattern = format!(
            r#"{{"id": "{name}", "content": {{"pattern": "{text}", "success_score": {score}}},
                "metadata": {{"usage_count": {uses}, "keywords": ["network", "{name}"]}}}}"#
        );
        fixture.write(&format!(".aurora/reasoning/{name}.json"), &pattern);
    }
    assert_eq!(run(&fixture, &["mem", "index", "--quiet"]).code, Some(0));
    fixture
}

fn search(fixture: &Fixture, more: &[&str]) -> Run {
    run(fixture, &[&["mem", "search", "what to do after a failure", "--no-record"], more].concat())
}

/// Returns the sorted names of the results that meet the conditions.
fn names(fixture: &Fixture, conditions: &[&str]) -> Vec<String> {
    let conditions: Vec<&str> = conditions.iter().flat_map(|condition| ["--where", condition]).collect();
    let found = search(fixture, &[&conditions[..], &["--format", "json"]].concat());
    assert_eq!(found.code, Some(0), "{found:?}");
    let json = found.json();
    let name = |hit: &Value| hit["metadata"]["keywords"][1].as_str().expect("the value is a string").to_owned();
    let mut names: Vec<String> = json["results"].as_array().expect("the value is a list").iter().map(name).collect();
    names.sort();
    names
}

#[test]
fn conditions_compare_built_in_metadata_by_its_type() {
    let fixture = with_patterns();
    for (condition, expected) in [
        ("usage_count>3", &["retry"][..]),
        ("usage_count>=3", &["backoff", "retry"]),
        ("usage_count!=3", &["retry"]),
        ("success_score<0.7", &["backoff"]),
        ("success_score=0.6250", &["backoff"]),
        ("is_pattern=true", &["retry"]),
        ("keywords=network", &["backoff", "retry"]),
        ("keywords!=retry", &["backoff"]),
    ] {
        assert_eq!(names(&fixture, &[condition]), expected, "{condition}");
    }
    assert_eq!(names(&fixture, &["usage_count<10", "keywords=network"]), ["backoff"]);
    let refused = |condition: &str| {
        let found = search(&fixture, &["--where", condition]);
        assert_eq!((found.code, found.out.as_str()), (Some(2), ""), "{condition}");
        found.err
    };
    assert_snapshot!(refused("usage_cuont>3"), @"Error: No column 'usage_cuont' in this index; columns: is_pattern, keywords, pattern_type, success_score, usage_count (did you mean `usage_count`?)");
    let missing = search(&fixture, &["--where", "phase_number>3"]);
    assert_eq!((missing.code, missing.out.as_str()), (Some(0), ""), "a built-in column without values is no error");
    assert!(missing.err.starts_with("Note: No column 'phase_number' in this index"), "{missing:?}");
    assert_snapshot!(refused("usage_count>many"), @"Error: Invalid value 'many' for the column 'usage_count' of type integer: give a number, such as 5 or 0.5, or a range, such as 1..5");
    assert_snapshot!(refused("keywords>a"), @"Error: The column 'keywords' of type strings has no order for `>`; it can be compared with =, != and in");
    let lines = run(&fixture, &["mem", "search", "--stdin", "--where", "usage_count=x"]);
    assert_eq!((lines.code, lines.out.as_str()), (Some(2), ""), "the condition is checked before any line is read");
}

#[test]
fn a_filter_without_a_query_lists_all_matches() {
    let fixture = with_patterns();
    for filter in [&["--where", "usage_count in 1..20"][..], &["--path", ".aurora/reasoning"], &["--type", "reasoning"]]
    {
        for command in [&["mem", "search"][..], &["mem"]] {
            let listed = run(&fixture, &[command, filter, &["--format", "json", "--no-record"]].concat());
            assert_eq!(listed.code, Some(0), "{listed:?}");
            let json = listed.json();
            let files: Vec<_> =
                json["results"].as_array().expect("the value is a list").iter().map(|hit| &hit["file"]).collect();
            assert_eq!(files, [".aurora/reasoning/backoff.json", ".aurora/reasoning/retry.json"], "{filter:?}");
        }
    }
    let none = run(&fixture, &["mem", "search", "--where", "usage_count=none", "--lang", "python", "--format", "json"]);
    assert!(!none.json()["results"].as_array().expect("the value is a list").is_empty(), "{none:?}");
    let nothing = run(&fixture, &["mem", "search", "--where", "usage_count>99"]);
    assert_eq!(nothing.code, Some(0));
    assert!(nothing.err.contains("No chunk has usage_count>99") && nothing.err.contains("no chunk passes the filters"));
    assert_eq!(run(&fixture, &["mem", "search", "--no-record"]).code, Some(2), "a search needs a query or a filter");
}

#[test]
fn metadata_is_shown_below_results() {
    let fixture = with_patterns();
    let shown = |more: &[&str]| search(&fixture, &[&["--where", "usage_count>3", "--show-fields"], more].concat());
    settings(&fixture).bind(|| {
        assert_snapshot!(shown(&["--legacy"]).out, @r"
        Nothing close was found; the nearest are:
        File                         | Type | Name  | Lines | Score
        .aurora/reasoning/retry.json | reas | retry | -     | [.sss]
                │ Keywords: network, retry
                success_score: 0.9
                is_pattern: true
                pattern_type: Send the request again, at most three times, when the server did not answer
                keywords: network, retry
                usage_count: 12
        ");
    });
    assert_eq!(shown(&["--budget", "100"]).code, Some(2));
    let json = shown(&["--format", "json"]).json();
    assert_eq!(json["results"][0]["metadata"]["usage_count"], 12);
    let stats = run(&fixture, &["mem", "stats", "--format", "json"]).json();
    assert_eq!(stats["columns"], Value::Array(Vec::new()), "only custom columns have facets");
}

#[test]
fn conditions_on_complexity_and_imports_select_code() {
    let fixture = Fixture::plain();
    fixture.write(
        "app.py",
        "import json\nimport requests.adapters\n\n\ndef busy(items):\n    for item in items:\n        if item:\n            \
         requests.adapters.send(item)\n\n\ndef calm(text):\n    return json.loads(text)\n",
    );
    fixture.write("guide.md", "# Guide\n\nbusy words\n");
    assert_eq!(fixture.aur(&["mem", "index"]).code, Some(0));
    let search = |condition: &str| {
        let run = fixture.aur(&["mem", "search", "--where", condition, "--format", "json"]);
        assert_eq!(run.code, Some(0), "{run:?}");
        let json = run.json();
        let results = json["results"].as_array().expect("the value is a list").clone();
        (results.iter().map(|hit| hit["name"].as_str().expect("a name").to_owned()).collect::<Vec<_>>(), results)
    };
    let (names, results) = search("complexity>0.1");
    assert_eq!(names, ["busy"]);
    assert_eq!((&results[0]["complexity"]["branches"], &results[0]["complexity"]["loops"]), (&1.into(), &1.into()));
    assert_eq!(results[0]["imports"], serde_json::json!(["requests.adapters"]));
    for (condition, expected) in [
        ("loops=1", &["busy"][..]),
        ("branches in 1..9", &["busy"]),
        ("imports=requests", &["busy"]),
        ("imports=request", &[]),
        ("imports in json,none", &["calm"]),
        ("complexity=complex", &[]),
    ] {
        let run = fixture.aur(&["mem", "search", "--where", condition, "--type", "function", "--format", "json"]);
        let json = run.json();
        let names: Vec<&str> =
            json["results"].as_array().expect("a list").iter().filter_map(|h| h["name"].as_str()).collect();
        assert_eq!(names, expected, "{condition}: {run:?}");
    }
    let (names, _) = search("complexity<0.1");
    assert!(names.contains(&"calm".to_owned()) && !names.contains(&"Guide".to_owned()), "{names:?}");
    let run = fixture.aur(&["mem", "search", "--where", "complexity>much"]);
    assert!(run.code == Some(2) && run.err.contains("complexity"), "{run:?}");
}
