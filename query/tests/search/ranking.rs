//! Searches over small indexes: modes, notes, order, explanations.

use std::sync::Arc;

use crate::corpus::{self, Bag, DAY, NOW, Row};
use aurora_query::{Mode, Query, QueryError, SearchConfig, SearchResults, Searcher, Weights};
use aurora_storage::{AccessLog, ChunkType, KnownIndexes, MetaValue};

use ChunkType::{Class, Function, Kb, Method};

struct Index {
    _directory: tempfile::TempDir,
    searcher: Searcher,
}

fn index(rows: &[Row], model: Option<Bag>) -> Index {
    index_with(rows, model.clone(), model, SearchConfig::default())
}

fn index_with(rows: &[Row], stored: Option<Bag>, loaded: Option<Bag>, config: SearchConfig) -> Index {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let snapshot = corpus::write(directory.path(), rows, stored.as_ref());
    let embedder = loaded.map(|model| Arc::new(model) as Arc<dyn aurora_analysis::QueryEmbedder>);
    Index { _directory: directory, searcher: Searcher::new(snapshot, embedder, config) }
}

impl Index {
    fn ask(&self, query: Query) -> SearchResults {
        self.searcher.search(&query).expect("a valid query")
    }

    fn names(&self, text: &str) -> Vec<String> {
        self.ask(Query::new(text, NOW)).hits.into_iter().map(|hit| hit.qualified_name).collect()
    }
}

fn project() -> Vec<Row> {
    vec![
        Row::new("src/auth/manager.py", "AuthManager", Class, "class AuthManager holds sessions").committed(4, 30),
        Row::new(
            "src/auth/manager.py",
            "AuthManager.authenticate_user",
            Method,
            "check the password of a user and open a session",
        )
        .doc("Authenticate a user by password")
        .calls("hash_password")
        .committed(23, 2),
        Row::new("src/auth/hash.py", "hash_password", Function, "derive a key with scrypt").committed(2, 400),
        Row::new("src/web/views.py", "login_view", Function, "user = authenticate_user(name, password); render page")
            .committed(7, 12),
        Row::new(
            "tests/test_auth.py",
            "test_authenticate_user",
            Function,
            "assert authenticate_user for a user with password",
        )
        .committed(3, 5),
        Row::new("docs/auth.md", "Authenticate users", Kb, "how a user is authenticated with a password")
            .meta("owner", MetaValue::String("identity".to_owned())),
    ]
}

#[test]
fn an_exact_name_comes_first_in_every_mode_and_spelling() {
    let index = index(&project(), Some(Bag::default()));
    for mode in [Mode::Hybrid, Mode::Sparse, Mode::Dense] {
        for text in [
            "authenticate_user",
            "AuthManager.authenticate_user",
            "AuthManager::authenticate_user",
            "AuthManager#authenticate_user",
            "`authenticate_user()`",
            "authenticateUser",
            "AuthManager::AuthenticateUser",
            "authenticate-user",
        ] {
            let results = index.ask(Query { mode, ..Query::new(text, NOW) });
            assert_eq!(results.hits[0].qualified_name, "AuthManager.authenticate_user", "{text}");
            assert!(results.hits[0].explanation.exact_identifier);
            assert!(results.hits.iter().map(|hit| hit.score).is_sorted_by(|a, b| a >= b), "{text}");
        }
    }
}

#[test]
fn definitions_rank_before_mentions_and_tests_last_unless_requested() {
    let index = index(&project(), None);
    let results = index.ask(Query::new("authenticate user password", NOW));
    assert_eq!(results.hits[0].qualified_name, "AuthManager.authenticate_user");
    let test =
        results.hits.iter().find(|hit| hit.qualified_name == "test_authenticate_user").expect("it contains all words");
    assert!(test.explanation.rules.iter().any(|rule| rule.rule == "tests" && rule.effect < 0.0));
    for hit in &results.hits {
        let effects: f32 = hit.explanation.rules.iter().map(|rule| rule.effect).sum();
        assert!((hit.scores.fused + effects - hit.score).abs() < 1e-5, "{}", hit.qualified_name);
    }
    assert_eq!(index.names("test authenticate user")[0], "test_authenticate_user");
}

/// Returns a function of about a hundred tokens.
fn rotation(name: &str, unit: &str) -> String {
    format!(
        "def {name}(self, session, now):\n    age = now - session.created\n    if age < self.rotate_after:\n        return \
         session\n    token = self.random.token(self.token_bytes)\n    self.store.delete(session.token)\n    renewed = \
         Session(token=token, user=session.user, created=now, {unit}=session.{unit})\n    self.store.put(token, \
         renewed)\n    self.log.info(\"session rotated\", user=session.user)\n    return renewed\n"
    )
}

#[test]
fn copies_that_differ_in_a_few_tokens_share_one_entry() {
    let row = |path: &str, name: &str, text: &str| Row::new(path, name, Function, text);
    let rows = [
        row("src/v2/sessions.py", "rotate_session", &rotation("rotate_session", "seconds")).doc("Rotate a session"),
        row("src/v1/sessions.py", "rotate_session", &rotation("rotate_session", "seconds")),
        row("lib/sessions.py", "rotate", &rotation("rotate", "seconds")),
        row("src/v1/users.py", "rotate_session", "def rotate_session(user):\n    user.session.rotate()\n"),
        row("src/v2/users.py", "rotate_session", "def rotate_session(user):\n    user.session.rotate(now())\n"),
    ];
    let found = |config: SearchConfig, text: &str| {
        let hits = index_with(&rows, None, None, config).ask(Query::new(text, NOW)).hits;
        hits.into_iter().map(|hit| (hit.file, hit.copies)).collect::<Vec<_>>()
    };
    let folded = found(SearchConfig::default(), "how is the token of a session rotated");
    assert_eq!(folded.len(), 3, "{folded:?}");
    let (file, copies) = folded.iter().find(|(_, copies)| copies.count > 0).expect("a hit with copies");
    assert_eq!(copies.count, 2);
    let mut places = copies.places.clone();
    places.extend(["src/v2/sessions.py:1", "src/v1/sessions.py:11", "lib/sessions.py:21"].map(str::to_owned));
    places.retain(|place| !place.starts_with(file.as_str()));
    places.sort();
    assert!(places.len() == 4 && places[0] == places[1] && places[2] == places[3], "{file}: {places:?}");

    let mut apart = SearchConfig::default();
    apart.folding.near_copies = false;
    let apart = found(apart, "how is the token of a session rotated");
    assert!(apart.len() == 5 && apart.iter().all(|(_, copies)| copies.is_empty()), "{apart:?}");
    // Definitions of the requested name are folded only if their texts are equal.
    let named = found(SearchConfig::default(), "rotate_session");
    assert_eq!(named.len(), 4, "{named:?}");
}

#[test]
fn no_keyword_match_falls_back_to_vectors() {
    let mut rows = project();
    rows.push(Row::new("src/lone.py", "lone", Function, "zebra"));
    let index = index(&rows, Some(Bag::default()));
    // A word that no chunk contains, with the same vector as a word that one chunk contains.
    let letters = || 'a'..='z';
    let word = letters()
        .flat_map(|a| letters().map(move |b| format!("qq{a}{b}")))
        .find(|word| Bag::default().vector(word) == Bag::default().vector("zebra"));
    let results = index.ask(Query::new(word.expect("32 buckets, 676 words"), NOW));
    assert_eq!(results.stages.from_keywords, 0);
    assert_eq!(results.notes, ["No keyword matches found, falling back to semantic search"]);
    assert_eq!(results.hits[0].qualified_name, "lone");
    assert_eq!(results.hits[0].explanation.bm25, "no keyword match");
    assert!(results.hits.iter().all(|hit| hit.scores.bm25 == 0.0 && hit.score.is_finite()));
}

#[test]
fn a_search_without_vectors_reports_the_reason() {
    let hybrid = |stored, loaded| {
        let index = index_with(&project(), stored, loaded, SearchConfig::default());
        let results = index.ask(Query::new("password", NOW));
        assert!(!results.hits.is_empty() && results.hits.iter().all(|hit| hit.scores.semantic.is_none()));
        results.notes.join("\n")
    };
    let other = Bag { id: "other@2".to_owned() };
    insta::assert_snapshot!(hybrid(None, Some(Bag::default())), @"Ranked without semantic scores: the index holds no embeddings");
    insta::assert_snapshot!(hybrid(Some(Bag::default()), None), @"Ranked without semantic scores: the index holds embeddings of bag@1, but no model is loaded");
    insta::assert_snapshot!(hybrid(Some(Bag::default()), Some(other)), @"Ranked without semantic scores: the index holds embeddings of bag@1, but the configured model is other@2; index again to embed with it");
    let index = index(&project(), None);
    let refused = index.searcher.search(&Query { mode: Mode::Dense, ..Query::new("password", NOW) });
    assert!(matches!(refused, Err(QueryError::NoVectors(_))));
    assert!(index.ask(Query { mode: Mode::Sparse, ..Query::new("password", NOW) }).notes.is_empty());
}

#[test]
fn a_chunk_without_embedding_is_scored_by_the_other_components() {
    let mut rows = project();
    rows[3] = rows[3].clone().without_embedding();
    let index = index(&rows, Some(Bag::default()));
    let results = index.ask(Query::new("render page", NOW));
    let hit = results.hits.iter().find(|hit| hit.qualified_name == "login_view").expect("it contains both words");
    assert_eq!((hit.rank, hit.scores.semantic), (1, None));
    assert_eq!(hit.explanation.semantic, "No semantic score available (embedding missing)");
}

#[test]
fn history_and_accesses_raise_activation_and_nothing_else() {
    let twin =
        |name: &str, days| Row::new(&format!("src/{name}.py"), name, Function, "shared words").committed(3, days);
    let mut config = SearchConfig::default();
    config.hybrid.weights = Weights { bm25: 0.5, semantic: 0.0, activation: 0.5 };
    config.folding.near_copies = false;
    let index = index_with(&[twin("aa", 500), twin("bb", 5), twin("cc", 300)], None, None, config);
    assert_eq!(index.names("shared words"), ["bb", "cc", "aa"]);
    let directory = tempfile::tempdir().expect("a temporary directory");
    let log = AccessLog::open(directory.path(), &KnownIndexes::accepting_all()).expect("a fresh directory");
    log.record(&[("code:src/aa.py:aa", NOW - DAY), ("code:src/aa.py:aa", NOW - 2 * DAY)]).expect("the log is writable");
    let index = Index { searcher: index.searcher.with_access(Ok(Arc::new(log))), ..index };
    let results = index.ask(Query::new("shared words", NOW));
    assert_eq!(results.hits[0].qualified_name, "aa");
    assert!(results.hits[0].explanation.activation.starts_with("accessed 2x, 3 commits, last used 1 day ago"));
    assert!(results.hits.windows(2).all(|pair| pair[0].scores.raw.bm25 == pair[1].scores.raw.bm25));
}

#[test]
fn activation_spreads_along_calls() {
    let index = index(&project(), None);
    let results = index.ask(Query::new("scrypt key of a user password session", NOW));
    let of = |name: &str| {
        results.hits.iter().find(|hit| hit.qualified_name == name).map(|hit| hit.explanation.activation_parts.spreading)
    };
    assert!(of("hash_password") > Some(0.0), "the best hit calls it");
}

#[test]
fn filters_report_an_empty_result() {
    let index = index(&project(), None);
    let ask = |change: &dyn Fn(&mut aurora_query::FilterSpec)| {
        let mut query = Query::new("user password", NOW);
        change(&mut query.filter);
        index.ask(query)
    };
    let only = |results: &SearchResults| results.hits.iter().map(|hit| hit.qualified_name.clone()).collect::<Vec<_>>();
    let kb = ask(&|filter| filter.types.push("KB".to_owned()));
    assert_eq!(only(&kb), ["Authenticate users"]);
    assert_eq!((kb.stages.indexed, kb.stages.eligible), (6, 1));
    assert_eq!(
        only(&ask(&|filter| filter.add_condition("owner=identity").expect("a condition"))),
        ["Authenticate users"]
    );
    assert_eq!(only(&ask(&|filter| filter.paths.push("tests".to_owned()))), ["test_authenticate_user"]);
    assert_eq!(only(&ask(&|filter| filter.languages.push("Markdown".to_owned()))), ["Authenticate users"]);
    assert!(ask(&|filter| filter.types.push("code".to_owned())).hits.iter().all(|hit| hit.chunk_type.is_source_code()));
    let nothing = ask(&|filter| filter.languages.push("cobol".to_owned()));
    assert!(nothing.hits.is_empty());
    assert_eq!(nothing.notes[0], "No chunk is written in cobol; indexed languages: markdown, python");
}

#[test]
fn empty_queries_are_rejected() {
    let index = index(&project(), None);
    assert!(matches!(index.searcher.search(&Query::new("  ", NOW)), Err(QueryError::Empty)));
}

#[test]
fn file_evidence_depends_on_the_mode() {
    let index = index(&project(), Some(Bag::default()));
    let rules = |mode| {
        let found = index.ask(Query { mode, ..Query::new("open a session by password", NOW) });
        let rules = found.hits.into_iter().flat_map(|hit| hit.explanation.rules);
        let rules: std::collections::BTreeSet<String> = rules.map(|rule| rule.rule.into_owned()).collect();
        ["file_keywords", "file_coverage", "file_meaning"].map(|rule| rules.contains(rule))
    };
    assert_eq!(rules(Mode::Hybrid), [true, true, true]);
    assert_eq!(rules(Mode::Sparse), [true, true, false]);
    assert_eq!(rules(Mode::Dense), [false, false, true]);
}

#[test]
fn the_machine_interface() {
    // The weights are set explicitly, so that the snapshot does not depend on the defaults.
    let mut config = SearchConfig::default();
    config.bm25.fields = [3.0, 1.5, 1.5, 1.0, 1.5, 1.0, 1.0];
    config.hybrid.weights = Weights { bm25: 0.3, semantic: 0.4, activation: 0.3 };
    (config.rules.definition, config.rules.name_words, config.rules.file_keywords) = (0.5, 0.25, 0.125);
    (config.rules.file_coverage, config.rules.file_meaning, config.rules.file_docs) = (0.0, 0.0, 0.0);
    let index = index_with(&project(), Some(Bag::default()), Some(Bag::default()), config);
    let mut results = index.ask(Query { limit: 2, content: true, ..Query::new("authenticate_user", NOW) });
    results.took = std::time::Duration::from_micros(1_500);
    results.phases = Default::default();
    results.confidence = results.confidence.map(|_| 0.5); // depends on fitted weights
    let mut json = serde_json::to_value(results).expect("serialisable");
    round(&mut json);
    insta::assert_json_snapshot!(json);
}

/// Rounds to three decimals, because the last bits of logarithms differ between platforms.
fn round(json: &mut serde_json::Value) {
    use serde_json::Value;
    match json {
        Value::Number(number) if number.is_f64() => {
            *json = ((number.as_f64().unwrap_or(0.0) * 1e3).round() / 1e3).into();
        }
        Value::Array(values) => values.iter_mut().for_each(round),
        Value::Object(values) => values.values_mut().for_each(round),
        _ => {}
    }
}
