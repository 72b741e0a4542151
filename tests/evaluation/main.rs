//! Evaluating, mining and tuning from the command line.

#[path = "../fixture/mod.rs"]
mod fixture;
mod topics;

use fixture::{Fixture, git};
use serde_json::Value;

const WORDS: [&str; 12] = [
    "invoice", "parcel", "ticket", "voucher", "receipt", "ledger", "coupon", "shipment", "balance", "refund",
    "account", "customer",
];

/// Returns a module with one function about a word, with or without documentation.
fn module(word: &str, documented: bool) -> String {
    let doc = match documented {
        true => format!(
            "    \"\"\"Collect overdue {word} entries before nightly archival happens.\n\n    Slowly.\n    \"\"\"\n"
        ),
        false => String::new(),
    };
    format!(
        "import os\n\n\ndef gather_{word}s(path, limit):\n{doc}    rows = os.listdir(path)\n    return rows[:limit]\n"
    )
}

/// Creates a repository with a documented function for every word, and a commit that changes each function.
fn repository() -> Fixture {
    let fixture = Fixture::git();
    fixture.write(".gitignore", ".aurora/\n");
    for word in WORDS {
        fixture.write(&format!("src/{word}.py"), module(word, true));
    }
    fixture.write(
        "tests/test_ledger.py",
        "def test_ledger():\n    \"\"\"Collect nothing at all from empty folders.\"\"\"\n    assert True\n",
    );
    let notes = "Releases\n========\n\nCollect overdue parcel entries before nightly\narchival happens: new.\n";
    fixture.write("docs/releases.rst", notes);
    fixture.commit("Start with every module in place");
    for word in WORDS {
        fixture.write(&format!("src/{word}.py"), module(word, true).replace("rows[:limit]", "sorted(rows)[:limit]"));
        fixture.commit(&format!("fix({word}): return {word} listings sorted by name (#12)"));
    }
    fixture.commit("Bump version to 1.2");
    fixture
}

/// Returns a golden set with one question for each word. `file` returns the expected file.
fn golden(file: impl Fn(&str) -> String) -> String {
    let line = |word: &&str| {
        let relevant = format!(r#"[{{"path": "{}", "line_start": 4, "line_end": 10}}]"#, file(word));
        format!("{{\"id\": \"{word}\", \"query\": \"entries overdue {word}\", \"relevant\": {relevant}}}\n")
    };
    WORDS.iter().map(line).collect()
}

fn indexed() -> Fixture {
    let fixture = repository();
    assert_eq!(fixture.aur(&["mem", "index", "--quiet"]).code, Some(0));
    fixture.write("good.jsonl", golden(|word| format!("src/{word}.py")));
    fixture
}

fn metric(report: &Value, set: usize, metric: &str) -> f64 {
    let metrics = report["sets"][set]["metrics"].as_array().expect("the value is a list");
    let found = metrics.iter().find(|row| row["metric"] == metric).expect("the metric is measured");
    found["mean"].as_f64().expect("the value is a number")
}

#[test]
fn an_evaluation_records_no_accesses() {
    let fixture = indexed();
    let run = fixture.aur(&["mem", "eval", "good.jsonl", "--format", "json"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    let report = run.json();
    assert_eq!(report["sets"][0]["questions"], WORDS.len());
    for name in ["ndcg@10", "mrr@10", "r@1", "filemrr"] {
        assert_eq!(metric(&report, 0, name), 1.0, "{name} in {report}");
    }
    let text = fixture.aur(&["mem", "eval", "good.jsonl"]).out;
    assert!(text.starts_with("Set ") && text.contains("nDCG@10") && text.contains("p99 ms"), "{text}");
    let found =
        fixture.aur(&["mem", "search", "gather", "invoices", "--limit", "1", "--format", "json", "--no-record"]);
    assert_eq!(found.json()["results"][0]["access"]["count"], 0);
}

#[test]
fn a_missed_floor_fails_the_command() {
    let fixture = indexed();
    let eval = |floor: &str| fixture.aur(&["mem", "eval", "good.jsonl", "--floor", floor]);
    assert_eq!(eval("ndcg@10=0.99,good:mrr=0.9").code, Some(0));
    let missed = eval("p@5=0.9,mrr@10=0.5");
    assert_eq!(missed.code, Some(1), "{missed:?}");
    assert!(missed.out.starts_with("Set "), "the table is printed all the same: {missed:?}");
    let text = "P@5 ≥ 0.900 is required, but the value is 0.200 (0.700 short)";
    assert!(missed.err.contains(text) && !missed.err.contains("MRR"), "{}", missed.err);
    for (floor, text) in [
        ("ndgc@10=0.8", "did you mean `ndcg@10`?"),
        ("ndcg@10=8", "must be a number from 0 to 1"),
        ("ndcg@10", "expected METRIC=VALUE"),
        ("goof:mrr=0.5", "no set `goof`; sets are good (did you mean `good`?)"),
    ] {
        let refused = eval(floor);
        assert_eq!((refused.code, refused.err.contains(text)), (Some(2), true), "{floor}: {refused:?}");
    }
    let refused = fixture.aur(&["mem", "eval", "good.jsonl", "--sets", "god"]);
    assert_eq!((refused.code, refused.err.contains("did you mean `good`?")), (Some(2), true), "{refused:?}");
}

#[test]
fn errors_of_golden_files_are_reported_together() {
    let fixture = indexed();
    fixture.write("bad.jsonl", "{\"query\": \"\"}\n{\n");
    fixture.write("worse.yaml", "queries: 3\n");
    let refused = fixture.aur(&["mem", "eval", "bad.jsonl", "worse.yaml"]);
    assert_eq!((refused.code, refused.out.as_str()), (Some(2), ""), "{refused:?}");
    for text in ["bad.jsonl:1: `query` is empty", "bad.jsonl:2: not JSON", "worse.yaml:1: `queries` must be a list"] {
        assert!(refused.err.contains(text), "{text} in {}", refused.err);
    }
    let refused = fixture.aur(&["mem", "eval"]);
    assert_eq!((refused.code, refused.err.contains("aur mem eval mine")), (Some(2), true), "{refused:?}");
}

#[test]
fn a_question_may_have_its_own_floor_and_topics() {
    let fixture = indexed();
    let yaml = |source: &str| {
        format!(
            "queries:\n  - query: gather ledgers\n    expected_sources: [{source}]\n    expected_topics: [ledger, unheard]\n    min_recall: 0.8\n"
        )
    };
    fixture.write("reached.yaml", yaml("ledger.py"));
    fixture.write("missed.yaml", yaml("absent.py"));
    let reached = fixture.aur(&["mem", "eval", "reached.yaml", "--format", "json"]);
    assert_eq!((reached.code, metric(&reached.json(), 0, "topics@10")), (Some(0), 0.5), "{reached:?}");
    let missed = fixture.aur(&["mem", "eval", "missed.yaml", "--misses", "5"]);
    assert_eq!(missed.code, Some(1), "{missed:?}");
    assert!(
        missed.err.contains("\"gather ledgers\": R@10 ≥ 0.800 is required, but the value is 0.000"),
        "{}",
        missed.err
    );
    assert!(
        missed.out.contains("wanted  absent.py") && missed.out.contains("first   src/ledger.py:4"),
        "{}",
        missed.out
    );
}

#[test]
fn configurations_and_indexes_are_compared_in_pairs() {
    let fixture = indexed();
    let run =
        fixture.aur(&["mem", "eval", "good.jsonl", "--mode", "sparse", "--against", "default", "--format", "json"]);
    let same = run.json();
    let differences = same["against"]["differences"].as_array().expect("the value is a list").clone();
    assert!(differences.iter().all(|row| row["mean"] == 0.0 && row["better"] == 0 && row["worse"] == 0), "{same}");

    // A search in the index of another project finds none of the answers.
    let other = Fixture::plain();
    other.write("other.py", "def unrelated():\n    return 1\n");
    let root = other.root().display().to_string();
    assert_eq!(fixture.aur(&["mem", "index", "--quiet", &root]).code, Some(0));
    let run = fixture.aur(&["mem", "eval", "good.jsonl", "--against-index", &root, "--format", "json"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    let row = run.json()["against"]["differences"][1].clone();
    assert_eq!((&row["metric"], row["mean"].as_f64(), row["better"].as_u64()), (&"mrr@10".into(), Some(1.0), Some(12)));
    let text = fixture.aur(&["mem", "eval", "good.jsonl", "--against-index", &root]).out;
    assert!(text.contains("+1.000 [+1.000, +1.000]"), "{text}");

    let refused = fixture.aur(&["mem", "eval", "good.jsonl", "--config", "nowhere.toml"]);
    assert_eq!(
        (refused.code, refused.err.contains("the configuration file nowhere.toml does not exist")),
        (Some(2), true),
        "{refused:?}"
    );
}

fn lines(fixture: &Fixture, file: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(fixture.path(file)).expect("the file can be read");
    text.lines().map(|line| serde_json::from_str(line).expect("the text is JSON")).collect()
}

/// Returns the directories with mined copies of all projects, in the user's directory.
fn all_mined_trees(fixture: &Fixture) -> Vec<std::path::PathBuf> {
    let all = std::fs::read_dir(fixture.user_directory().join("cache/eval-trees")).expect("the directory can be read");
    all.map(|entry| entry.expect("the entry can be read").path()).collect()
}

/// Returns the directory with mined copies of the only project.
fn mined_trees(fixture: &Fixture) -> std::path::PathBuf {
    let [only]: [std::path::PathBuf; 1] = all_mined_trees(fixture).try_into().expect("there is one directory");
    only
}

#[test]
fn mined_trees_are_outside_the_project_and_leftovers_are_removed() {
    let fixture = indexed();
    assert_eq!(fixture.aur(&["mem", "eval", "mine"]).code, Some(0));
    let trees = mined_trees(&fixture);
    assert!(trees.join("head/src/ledger.py").exists() && !fixture.path(".aurora/eval/trees").exists());
    // A killed run leaves no manifest, but some of the trees. Older versions of the program left trees in the project.
    fixture.remove(".aurora/eval/manifest.json").write(".aurora/eval/trees/head/old.py", "old");
    std::fs::write(trees.join("head/src/left.py"), "left").expect("the file can be written");
    // Add mined copies of a project that no longer exists.
    let gone = trees.with_file_name("gone");
    std::fs::create_dir_all(gone.join("head")).expect("the directory can be created");
    std::fs::write(gone.join("owner"), "/nowhere/.aurora/eval").expect("the file can be written");
    let run = fixture.aur(&["mem", "eval", "mine"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert_eq!(all_mined_trees(&fixture), std::slice::from_ref(&trees));
    assert!(!trees.join("head/src/left.py").exists() && trees.join("head/src/ledger.py").exists());
    assert!(!fixture.path(".aurora/eval/trees").exists());
    assert_eq!(fixture.aur(&["mem", "eval", ".aurora/eval"]).code, Some(0));
    std::fs::remove_dir_all(&trees).expect("the directory can be removed");
    let missing = fixture.aur(&["mem", "eval"]);
    assert_eq!((missing.code, missing.err.contains("aur mem eval mine")), (Some(2), true), "{missing:?}");
}

#[test]
fn mined_sets_do_not_reveal_their_answers() {
    // The repository contains an index. Git ignores it, so it is not part of the mined trees.
    let fixture = indexed();
    let mine = |out: &str| {
        let run = fixture.aur(&["mem", "eval", "mine", "--out", out, "--held-out", "40"]);
        assert_eq!(run.code, Some(0), "{run:?}");
    };
    mine(".aurora/eval");
    let trees = mined_trees(&fixture);
    assert!(!fixture.path(".aurora/eval/trees").exists());
    let both = |set: &str| {
        let mut all = lines(&fixture, &format!(".aurora/eval/{set}.jsonl"));
        let held_out = lines(&fixture, &format!(".aurora/eval/{set}.held-out.jsonl"));
        assert!(!held_out.is_empty() && !all.is_empty(), "{set} is split");
        assert!(held_out.iter().all(|question| question["set"] == format!("{set}.held-out").as_str()));
        all.extend(held_out);
        all
    };
    // The set `exact` contains each function once, and no test functions.
    let exact = both("exact");
    assert_eq!(exact.len(), WORDS.len(), "{exact:?}");
    assert!(exact.iter().all(|question| question["query"].as_str().is_some_and(|query| query.starts_with("gather_"))));
    // The stripped tree does not contain the sentences of the questions. Line numbers are unchanged.
    let documented = both("docstring");
    assert_eq!(documented.len(), WORDS.len() - 1, "the release notes reveal one answer");
    for question in &documented {
        let (path, query) =
            (question["relevant"][0]["path"].as_str().expect("the value is a string"), &question["query"]);
        assert_eq!(
            *query,
            format!("Collect overdue {} entries before nightly archival happens", &path[4..path.len() - 3])
        );
        let stripped = std::fs::read_to_string(trees.join(format!("stripped/{path}"))).expect("the file can be read");
        let head = std::fs::read_to_string(trees.join(format!("head/{path}"))).expect("the file can be read");
        assert!(!stripped.contains("overdue") && head.contains("overdue"), "{stripped}");
        assert_eq!(stripped.lines().count(), head.lines().count());
        let first = question["relevant"][0]["line_start"].as_u64().expect("the value is a number") as usize;
        assert!(stripped.lines().nth(first - 1).is_some_and(|line| line.starts_with("def gather_")), "{question}");
    }
    // Each question of the set `commit` asks for the code that a commit changed. The tree for these questions is from
    // before the first of these commits.
    let commits = both("commit");
    assert_eq!(commits.len(), WORDS.len(), "{commits:?}");
    for question in &commits {
        let name = question["relevant"][0]["name"].as_str().expect("the value is a string");
        let word = &name["gather_".len()..name.len() - 1];
        assert_eq!(question["query"], format!("return {word} listings sorted by name").as_str());
        let copy = std::fs::read_to_string(trees.join(format!("pin/src/{word}.py"))).expect("the file can be read");
        assert!(!copy.contains("sorted"), "the tree is from before the change: {copy}");
    }
    for (tree, newest) in [
        ("pin", "Start with every module in place"),
        ("head", "Bump version to 1.2"),
        ("stripped", "Bump version to 1.2"),
    ] {
        let log =
            git(&trees.join(tree)).args(["log", "--all", "--max-count=1", "--format=%s"]).output().expect("git runs");
        assert_eq!(String::from_utf8_lossy(&log.stdout).trim_end(), newest);
    }
    // Mining the same repository again yields the same sets.
    mine("again");
    for file in ["manifest.json", "exact.jsonl", "docstring.held-out.jsonl", "topics.jsonl", "commit.jsonl"] {
        let read = |directory: &str| {
            std::fs::read(fixture.path(&format!("{directory}/{file}"))).expect("the file can be read")
        };
        assert_eq!(read(".aurora/eval"), read("again"), "{file}");
    }
    let eval = fixture.aur(&["mem", "eval", "--format", "json"]);
    assert_eq!(eval.code, Some(0), "{eval:?}");
    let sets: Vec<String> =
        eval.json()["sets"].as_array().expect("the value is a list").iter().map(|set| set["set"].to_string()).collect();
    assert_eq!(sets.len(), 7, "six sets, because no file describes itself, and their total: {sets:?}");
    assert_eq!(metric(&eval.json(), 0, "mrr@10"), 1.0);
}

#[cfg(unix)]
#[test]
fn only_the_user_may_read_mined_sets() {
    use std::os::unix::fs::PermissionsExt as _;

    let fixture = indexed();
    let mode = |path: &std::path::Path| {
        std::fs::metadata(path).expect("the metadata can be read").permissions().mode() & 0o777
    };
    // An earlier version created the files with these permissions.
    fixture.write(".aurora/eval/manifest.json", "{}").write(".aurora/eval/exact.jsonl", "");
    let permissions = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(fixture.path(".aurora/eval"), permissions).expect("permissions can be set");
    for arguments in [&["mem", "eval", "mine"][..], &["mem", "eval", "mine", "--out", "named"]] {
        let mined = fixture.aur(arguments);
        assert_eq!(mined.code, Some(0), "{mined:?}");
    }
    for sets in [".aurora/eval", "named"] {
        assert_eq!(mode(&fixture.path(sets)), 0o700, "{sets}");
        assert_eq!(mode(&fixture.path(&format!("{sets}/exact.jsonl"))), 0o600, "{sets}");
    }
    let trees = mined_trees(&fixture);
    assert_eq!(mode(trees.parent().expect("the path has a parent")), 0o700);
    for trees in [trees, fixture.path("named/trees")] {
        assert_eq!((mode(&trees), mode(&trees.join("head/src"))), (0o700, 0o700), "{}", trees.display());
        assert_eq!(mode(&trees.join("head/src/ledger.py")), 0o600, "{}", trees.display());
    }
}

#[test]
fn a_subdirectory_can_be_mined_alone() {
    let fixture = indexed();
    fixture.write("other/apart.py", module("apart", true));
    fixture.commit("Add a module that lies apart");
    assert_eq!(fixture.aur(&["mem", "index", "src", "--quiet"]).code, Some(0));
    let mined = fixture.aur(&["mem", "eval", "mine", "src", "--held-out", "0"]);
    assert_eq!(mined.code, Some(0), "{mined:?}");
    for set in ["exact", "docstring", "commit"] {
        let questions = lines(&fixture, &format!("src/.aurora/eval/{set}.jsonl"));
        assert_eq!(questions.len(), WORDS.len(), "{set}: {questions:?}");
        let path = |question: &Value| question["relevant"][0]["path"].as_str().map(str::to_owned);
        assert!(
            questions.iter().all(|question| path(question).is_some_and(|path| !path.contains('/'))),
            "{questions:?}"
        );
    }
    let eval = fixture.aur(&["mem", "eval", "src/.aurora/eval", "--floor", "exact:mrr@10=1"]);
    assert_eq!(eval.code, Some(0), "{eval:?}");
}

#[test]
fn conversation_logs_are_not_mined() {
    let log = "# Conversation: login\nDate: 2025-12-15\n\n## Phase 1: Assessment\nThe query asks for a ledger.\n";
    let (with_git, without_git) = (repository(), Fixture::plain());
    for word in &WORDS[..4] {
        without_git.write(&format!("src/{word}.py"), module(word, true));
    }
    for fixture in [with_git, without_git] {
        fixture.write_for_user("logs/conversations/2025/12/ledger-2025-12-15.md", log);
        assert_eq!(fixture.aur(&["mem", "index", "--quiet"]).code, Some(0));
        let mined = fixture.aur(&["mem", "eval", "mine", "--held-out", "0"]);
        assert_eq!(mined.code, Some(0), "{mined:?}");
        assert_eq!(fixture.aur(&["mem", "eval"]).code, Some(0));
        let has_log = |root: &std::path::Path| {
            let stats =
                fixture.aur(&["mem", "stats", "--format", "json", "--root", &root.display().to_string()]).json();
            stats["types"].to_string().contains("knowledge")
        };
        assert!(has_log(fixture.root()) && !has_log(&mined_trees(&fixture).join("head")));
    }
}

#[test]
fn mining_needs_no_git_and_overwrites_no_foreign_files() {
    let fixture = Fixture::plain();
    for word in &WORDS[..4] {
        fixture.write(&format!("src/{word}.py"), module(word, true));
    }
    fixture.write("mine/precious.txt", "mine");
    let refused = fixture.aur(&["mem", "eval", "mine", "--out", "mine"]);
    assert_eq!(
        (refused.code, refused.err.contains("neither empty nor a mined directory")),
        (Some(2), true),
        "{refused:?}"
    );
    assert!(fixture.path("mine/precious.txt").exists());
    let mined = fixture.aur(&["mem", "eval", "mine", "--held-out", "0"]);
    assert_eq!(mined.code, Some(0), "{mined:?}");
    assert_eq!(lines(&fixture, ".aurora/eval/docstring.jsonl").len(), 4);
    assert_eq!(lines(&fixture, ".aurora/eval/commit.jsonl").len(), 0);
    assert_eq!(fixture.aur(&["mem", "eval"]).code, Some(0));
}

#[test]
fn tuning_writes_only_confirmed_improvements() {
    let fixture = indexed();
    let tune = |more: &[&str]| {
        let mut arguments =
            vec!["mem", "tune", "--golden", "good.jsonl", "--mode", "sparse", "--folds", "3", "--rounds", "2"];
        arguments.extend(more);
        fixture.aur(&arguments)
    };
    // The answer to every question is already ranked first, so nothing can improve.
    let nothing = tune(&["--keys", "bm25.k1", "--out", "nothing.toml"]);
    assert_eq!(nothing.code, Some(1), "{nothing:?}");
    assert!(nothing.err.contains("nothing was written") && !fixture.path("nothing.toml").exists(), "{}", nothing.err);
    // Activation alone ranks nothing correctly, because every function has the same history.
    fixture.write("unhelped.toml", unhelped());
    let learn = ["--config", "unhelped.toml", "--keys", "hybrid.weights", "--out", "learned.toml"];
    let learned = tune(&learn);
    assert_eq!(learned.code, Some(0), "{learned:?}");
    let file = std::fs::read_to_string(fixture.path("learned.toml")).expect("the file can be read");
    assert!(file.contains("[search.hybrid.weights]") && file.contains("cross-validated: "), "{file}");
    // The result does not depend on the number of threads.
    let mut alone = fixture.command();
    alone.env("RAYON_NUM_THREADS", "1").args([
        "mem",
        "tune",
        "--golden",
        "good.jsonl",
        "--mode",
        "sparse",
        "--folds",
        "3",
    ]);
    let again = fixture::Run::from_command(alone.args(["--rounds", "2"]).args(learn));
    assert_eq!((again.code, &again.out), (Some(0), &learned.out));
    assert_eq!(std::fs::read_to_string(fixture.path("learned.toml")).expect("the file can be read"), file);
    // The written configuration is better than the start configuration.
    let arguments =
        ["mem", "eval", "good.jsonl", "--mode", "sparse", "--config", "learned.toml", "--against", "unhelped.toml"];
    let compared = fixture.aur(&[&arguments[..], &["--format", "json"]].concat());
    assert!(compared.json()["against"]["differences"][0]["low"].as_f64() > Some(0.0), "{compared:?}");

    let refused = tune(&["--keys", "hybird"]);
    assert_eq!((refused.code, refused.err.contains("did you mean `hybrid`?")), (Some(2), true), "{refused:?}");
}

/// Returns a configuration that ranks by activation alone, and in which every number that could improve the ranking is
/// at its minimum.
fn unhelped() -> String {
    let mut tables = std::collections::BTreeMap::<&str, String>::new();
    tables.insert("search.hybrid.weights", "bm25 = 0\nsemantic = 0\nactivation = 1\n".to_owned());
    for number in aurora_query::Parameter::numbers() {
        let (table, name) = number.key.rsplit_once('.').expect("the key begins with a table");
        if !["search.hybrid", "search.bm25"].iter().any(|kept| table.starts_with(kept)) {
            tables.entry(table).or_default().push_str(&format!("{name} = {}\n", number.range.start()));
        }
    }
    tables.into_iter().map(|(table, lines)| format!("[{table}]\n{lines}\n")).collect()
}
