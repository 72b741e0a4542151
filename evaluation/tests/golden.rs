//! Tests of reading golden files in JSON Lines and YAML.

use std::path::PathBuf;

use aurora_evaluation::golden::{Answer, GoldenSource, Question, read, to_jsonl};
use proptest::prelude::*;
use tempfile::TempDir;

fn write(directory: &TempDir, name: &str, text: &str) -> PathBuf {
    let path = directory.path().join(name);
    std::fs::write(&path, text).expect("written");
    path
}

/// Returns the errors of the files, without the directory in their paths.
fn faults(files: &[(&str, &str)]) -> Vec<String> {
    let directory = TempDir::new().expect("a directory");
    let paths: Vec<PathBuf> = files.iter().map(|(name, text)| write(&directory, name, text)).collect();
    let errors = read(paths.iter().map(|path| GoldenSource::named(path))).expect_err("faults");
    let message = |fault: &aurora_evaluation::golden::Fault| {
        let name = fault.path.file_name().expect("a name").to_string_lossy().into_owned();
        fault.to_string().replace(&fault.path.display().to_string(), &name)
    };
    errors.0.iter().map(message).collect()
}

#[test]
fn all_faults_are_reported_with_their_lines() {
    let lines = [
        r#"{"query": "a", "relevant": [{"path": "a.py", "line_start": 3, "line_end": 5}], "id": 7}"#,
        "",
        r#"{"query": "a", "relevent": []}"#,
        r#"{"query": " ", "relevant": [{"path": "", "line_start": 0}, {"path": "b", "line_start": 9, "line_end": 2}, 4]}"#,
        r#"{"query": "a", "relevant": [{"path": "a", "grade": 1}]}"#,
        r#"{"query": "a""#,
        r#"{"id": "7", "query": "b", "relevant": [{"path": "a.py"}]}"#,
        r#"{"query": 3, "relevant": {}, "min_recall": 2, "tags": "x"}"#,
        "[]",
    ];
    assert_eq!(
        faults(&[("set.jsonl", &lines.join("\n")), ("empty.jsonl", "\n")]),
        [
            "set.jsonl:3: `relevant` is missing; it lists the places that answer the question, such as [{\"path\": …}]; unknown field `relevent`, did you mean `relevant`?",
            "set.jsonl:4: `query` is empty",
            "set.jsonl:4: answer 1 has no `path`",
            "set.jsonl:4: answer 1: `line_start` must be a line number from 1",
            "set.jsonl:4: answer 2: line_end 2 is before line_start 9",
            "set.jsonl:4: answer 3 must be an object with a `path`, not a number",
            "set.jsonl:5: no answer has a grade of 2 or above, so no result can count as correct",
            "set.jsonl:6: not JSON: EOF while parsing an object (column 13)",
            "set.jsonl:7: id `7` occurs twice in set `set`",
            "set.jsonl:8: `query` must be a string, not a number",
            "set.jsonl:8: `relevant` must be a list of answers",
            "set.jsonl:8: `tags` must be a list of strings",
            "set.jsonl:8: `min_recall` must be a number from 0 to 1",
            "set.jsonl:9: expected an object with `query` and `relevant`, found a list",
            "empty.jsonl: contains no questions",
        ]
    );
}

#[test]
fn files_that_are_missing_or_not_text_are_reported() {
    let directory = TempDir::new().expect("a directory");
    let missing = directory.path().join("missing.jsonl");
    let binary = directory.path().join("binary.jsonl");
    std::fs::write(&binary, b"{}\n\xff\n").expect("written");
    let errors = read([GoldenSource::named(&missing), GoldenSource::named(&binary)]).expect_err("faults");
    assert_eq!(errors.0.len(), 2);
    assert_eq!((errors.0[0].line, errors.0[1].line), (0, 2));
}

#[test]
fn yaml_files_are_read_and_their_faults_are_reported() {
    let directory = TempDir::new().expect("a directory");
    let text = "\
# how well do we answer
queries:
  - query: \"How are sessions refreshed?\"
    expected_topics: [session, refresh]
    expected_sources: [\"guide.md\", docs/session.md]
    min_recall: 0.5
  - query: retry with backoff
    set: code
    relevant:
      - {path: net/retry.go, line_start: 3, line_end: 9, grade: 3}
";
    let questions = read([GoldenSource::named(&write(&directory, "golden.yaml", text))]).expect("questions");
    let [guide, retry] = questions.as_slice() else { panic!("{questions:?}") };
    assert_eq!((guide.set.as_str(), guide.min_recall), ("golden", Some(0.5)));
    assert_eq!(guide.topics, ["session", "refresh"]);
    let sources: Vec<_> = guide.relevant.iter().map(|a| (a.path.as_str(), a.lines, a.any_directory)).collect();
    assert_eq!(sources, [("guide.md", None, true), ("docs/session.md", None, false)]);
    assert_eq!((retry.set.as_str(), retry.relevant[0].lines, retry.relevant[0].grade), ("code", Some((3, 9)), Some(3)));

    let faults = faults(&[
        ("bad.yml", "queries:\n  - query: a\n  - expected_sources: [x.md]\n    query: \"\"\n"),
        ("worse.yml", "questions: []\n"),
        ("worst.yml", "queries: [\n"),
    ]);
    assert_eq!(
        faults[0],
        "bad.yml:2: `relevant` is missing; it lists the places that answer the question, such as [{\"path\": …}]"
    );
    assert_eq!(faults[1], "bad.yml:3: `query` is empty");
    assert_eq!(faults[2], "worse.yml:1: no list `queries`");
    assert!(faults[3].starts_with("worst.yml:") && faults[3].contains("not YAML"), "{}", faults[3]);
}

fn answers() -> impl Strategy<Value = Vec<Answer>> {
    let lines = prop::option::of((1..1_000_u32, 0..100_u32).prop_map(|(start, more)| (start, start + more)));
    let one = ("[a-z/é ]{1,12}[a-z]", lines, prop::option::of("\\PC{1,8}"), prop::option::of(2..10_u8));
    let answer = one.prop_map(|(path, lines, name, grade)| Answer { path, lines, name, grade, any_directory: false });
    prop::collection::vec(answer, 1..4)
}

proptest! {
    #[test]
    fn questions_round_trip(
        rows in prop::collection::vec(("\\PC{0,20}[a-z]", answers(), prop::option::of((0..=100_u8).prop_map(|percent| f64::from(percent) / 100.0))), 1..8),
        tags in prop::collection::vec("\\PC{0,5}", 0..3),
    ) {
        let questions: Vec<Question> = rows
            .into_iter()
            .enumerate()
            .map(|(at, (query, relevant, min_recall))| Question {
                id: format!("q{at}"),
                query,
                set: "set".to_owned(),
                relevant,
                tags: tags.clone(),
                topics: tags.clone(),
                min_recall,
            })
            .collect();
        let directory = TempDir::new().expect("a directory");
        let file = write(&directory, "other.jsonl", &to_jsonl(&questions));
        prop_assert_eq!(read([GoldenSource::named(&file)]), Ok(questions));
    }
}
