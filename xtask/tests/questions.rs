//! Checks the form of the questions in `xtask/ranking`, and that neither they nor the questions of `benches/finding`
//! are about barred repositories (`xtask/model/barred.txt`).

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;

/// Minimum total number of questions.
const MIN_QUESTIONS: usize = 600;

/// Returns the text of a file, given by its path below `xtask`.
fn read(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns the columns of `repositories.tsv` for each repository, by its name.
fn repositories() -> BTreeMap<String, Vec<String>> {
    let table = read("ranking/repositories.tsv");
    let rows = table.lines().filter(|row| !row.starts_with('#'));
    let columns = rows.map(|row| row.split('\t').map(str::to_owned).collect::<Vec<_>>());
    columns.map(|columns| (columns[0].clone(), columns)).collect()
}

#[test]
fn every_question_is_well_formed_and_has_a_repository() {
    let (mut ids, mut parts) = (BTreeSet::new(), BTreeMap::<String, usize>::new());
    for (name, columns) in repositories() {
        let [_, repository, commit, _, licence, part, count] = &columns[..] else {
            panic!("{name} does not have seven columns")
        };
        assert!(repository.split('/').count() == 2 && !licence.is_empty(), "{name}");
        assert!(commit.len() == 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit()), "{name}");
        let questions = read(&format!("ranking/questions/{name}.jsonl"));
        assert_eq!(questions.lines().count().to_string(), *count, "{name}");
        for line in questions.lines() {
            let question: Value = serde_json::from_str(line).expect("each line is JSON");
            let text = |key: &str| question[key].as_str().unwrap_or_default().to_owned();
            assert!(["behaviour", "design", "symbol"].contains(&text("kind").as_str()), "{line}");
            assert!(["agreed", "changed"].contains(&text("second").as_str()), "{line}");
            assert!((1..=16).contains(&text("query").split_whitespace().count()), "{line}");
            assert!(text("id").starts_with(&name) && ids.insert(text("id")), "{line}");
            let answers = question["relevant"].as_array().expect("`relevant` is a list");
            assert!((1..=3).contains(&answers.len()), "{line}");
            assert!(
                answers.iter().all(|answer| answer["path"].as_str().is_some_and(|path| !path.is_empty())),
                "{line}"
            );
            *parts.entry(part.clone()).or_default() += 1;
        }
    }
    assert_eq!(parts.keys().collect::<Vec<_>>(), ["training", "validation"]);
    assert!(ids.len() >= MIN_QUESTIONS, "{} questions", ids.len());
}

#[test]
fn no_question_is_about_a_barred_repository() {
    let barred = read("model/barred.txt").to_lowercase();
    let names = barred.lines().filter(|line| !line.starts_with('#')).flat_map(str::split_whitespace);
    let barred: BTreeSet<&str> = names.filter(|name| name.contains('/')).collect();
    assert!(barred.len() > 100);
    let everyday = read("../benches/finding/repositories.tsv");
    let everyday = everyday.lines().filter(|row| !row.starts_with('#')).filter_map(|row| row.split('\t').nth(1));
    let ranking = repositories();
    for repository in ranking.values().map(|columns| columns[1].as_str()).chain(everyday) {
        assert!(!barred.contains(repository.to_lowercase().as_str()), "{repository}");
    }
}
