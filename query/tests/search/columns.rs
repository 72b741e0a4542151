//! Custom columns of all five types: conditions, terms, boosts and facets.

use crate::corpus::{NOW, Row, write_columns};
use aurora_query::{
    Condition, Facet, Hit, Query, QueryError, SearchConfig, SearchResults, Searcher, Source, check_filter, facets,
    search_all,
};
use aurora_storage::{ChunkType, ColumnDeclaration, ColumnKind, MetaValue, Snapshot};
use proptest::prelude::*;
use serde_json::json;

fn column(name: &str, kind: ColumnKind) -> ColumnDeclaration {
    ColumnDeclaration {
        name: name.to_owned(),
        stage: "facts".to_owned(),
        kind,
        filter: true,
        terms: None,
        embed: false,
        boost: None,
    }
}

/// The declared columns, sorted by name.
fn columns() -> Vec<ColumnDeclaration> {
    vec![
        column("churn", ColumnKind::Integer),
        column("generated", ColumnKind::Bool),
        ColumnDeclaration { filter: false, ..column("note", ColumnKind::String) },
        ColumnDeclaration { terms: Some(3), ..column("owner", ColumnKind::String) },
        ColumnDeclaration { boost: Some(0.5), ..column("risk", ColumnKind::Float) },
        column("teams", ColumnKind::Strings),
    ]
}

fn text(value: &str) -> MetaValue {
    MetaValue::String(value.to_owned())
}

fn teams(names: &[&str]) -> MetaValue {
    MetaValue::Strings(names.iter().map(|name| (*name).to_owned()).collect())
}

fn row(name: &str) -> Row {
    Row::new(&format!("src/{name}.py"), name, ChunkType::Function, "def load(): read the table")
}

fn rows() -> Vec<Row> {
    vec![
        row("alpha").meta("owner", text("payments")).meta("churn", MetaValue::Integer(7)).meta("note", text("old")),
        row("beta")
            .meta("owner", text("Billing"))
            .meta("churn", MetaValue::Integer(-2))
            .meta("teams", teams(&["a", "b"])),
        row("gamma").meta("risk", MetaValue::Float(0.5)).meta("generated", MetaValue::Bool(true)),
        row("delta").meta("risk", MetaValue::Float(1e300)).meta("generated", MetaValue::Bool(false)),
        row("epsilon").meta("year", MetaValue::Integer(2024)).meta("teams", teams(&["b"])),
        row("zeta").meta("year", MetaValue::Float(2024.5)).meta("risk", MetaValue::Float(f64::NAN)),
        row("eta"),
    ]
}

struct Index {
    _directory: tempfile::TempDir,
    searcher: Searcher,
}

fn index(rows: &[Row], config: SearchConfig) -> Index {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let snapshot = write_columns(directory.path(), rows, None, &columns());
    Index { _directory: directory, searcher: Searcher::new(snapshot, None, config) }
}

impl Index {
    fn snapshot(&self) -> &Snapshot {
        self.searcher.snapshot()
    }

    fn ask(&self, query: &str, conditions: &[&str]) -> Result<SearchResults, QueryError> {
        let mut query = Query { limit: 50, ..Query::new(query, NOW) };
        for condition in conditions {
            query.filter.add_condition(condition).expect("a condition");
        }
        let found = self.searcher.search(&query);
        assert_eq!(found.is_ok(), check_filter(&[&self.searcher], &query.filter).is_ok());
        found
    }

    /// Returns the sorted names of the chunks that meet the conditions.
    fn names(&self, conditions: &[&str]) -> Vec<String> {
        let found = self.ask("load", conditions).expect("known columns");
        let mut names: Vec<String> = found.hits.iter().flat_map(names_of).collect();
        names.sort();
        names
    }

    /// Returns the error message for a condition that does not fit the index.
    fn filter_error(&self, condition: &str) -> String {
        match self.ask("load", &[condition]) {
            Err(QueryError::Filter(error)) => error.to_string(),
            other => panic!("{condition}: {:?}", other.map(|found| found.notes)),
        }
    }
}

/// Returns the names of a hit and of its copies. Hits have copies, because all texts of the corpus are equal.
fn names_of(hit: &Hit) -> Vec<String> {
    let place = |place: &String| place.trim_start_matches("src/").split('.').next().unwrap_or_default().to_owned();
    std::iter::once(hit.name.clone()).chain(hit.copies.places.iter().map(place)).collect()
}

#[test]
fn conditions_compare_values_in_the_type_of_their_column() {
    let index = index(&rows(), SearchConfig::default());
    for (condition, expected) in [
        ("owner=payments", &["alpha"][..]),
        ("owner!=payments", &["beta"]),
        ("owner=billing", &[]),
        ("teams=b", &["beta", "epsilon"]),
        ("teams!=a", &["epsilon"]),
        ("churn=7", &["alpha"]),
        ("churn=7.0", &["alpha"]),
        ("churn!=7", &["beta"]),
        ("churn>-2", &["alpha"]),
        ("churn>=-2", &["alpha", "beta"]),
        ("churn<6.5", &["beta"]),
        ("churn<=-3", &[]),
        ("risk=0.50", &["gamma"]),
        ("risk>1e299", &["delta"]),
        ("risk<=1e300", &["delta", "gamma"]),
        ("risk!=0.5", &["delta", "zeta"]),
        ("generated=true", &["gamma"]),
        ("generated!=true", &["delta"]),
        ("owner in payments,Billing", &["alpha", "beta"]),
        ("owner in [payments, nobody]", &["alpha"]),
        ("owner not in payments", &["beta"]),
        ("owner=none", &["delta", "epsilon", "eta", "gamma", "zeta"]),
        ("owner!=none", &["alpha", "beta"]),
        ("owner=\"none\"", &[]),
        ("owner in payments,none", &["alpha", "delta", "epsilon", "eta", "gamma", "zeta"]),
        ("owner not in payments,none", &["beta"]),
        ("file.owner=payments", &["alpha"]),
        ("chunk.churn>5", &["alpha"]),
        ("teams in a,c", &["beta"]),
        ("teams=none", &["alpha", "delta", "eta", "gamma", "zeta"]),
        ("churn in 1..7", &["alpha"]),
        ("churn=-2..6", &["beta"]),
        ("churn in -5..-1,7", &["alpha", "beta"]),
        ("churn in 7..", &["alpha"]),
        ("churn in ..0", &["beta"]),
        ("churn not in 1..7", &["beta"]),
        ("churn=none", &["delta", "epsilon", "eta", "gamma", "zeta"]),
        ("risk in 0.25..0.75", &["gamma"]),
        ("generated in true,false", &["delta", "gamma"]),
        ("generated=none", &["alpha", "beta", "epsilon", "eta", "zeta"]),
        // `year` is not declared, so the column has the type of its stored values.
        ("year>2023", &["epsilon", "zeta"]),
        ("year>2024", &["zeta"]),
    ] {
        assert_eq!(index.names(&[condition]), expected, "{condition}");
    }
    assert_eq!(index.names(&["churn>-5", "owner=Billing"]), ["beta"]);
    let nothing = index.ask("load", &["owner=nobody"]).expect("a known column");
    assert!(nothing.hits.is_empty() && nothing.notes.contains(&"No chunk has owner=nobody".to_owned()));
    let nothing = index.ask("load", &["owner=payments,Billing"]).expect("a known column");
    assert_eq!(nothing.notes[0], "No chunk has owner=payments,Billing; a list is written as 'owner in a,b'");
}

#[test]
fn path_language_and_type_can_be_conditions() {
    let index = index(&rows(), SearchConfig::default());
    let all = index.names(&["path!=none"]);
    for condition in ["type=fn", "chunk.type in function, class", "language!=none", "lang=python", "path=**/*.py"] {
        assert_eq!(index.names(&[condition]), all, "{condition}");
    }
    for condition in ["type!=function", "type=none", "language not in python,go", "path!=**/*.py"] {
        assert_eq!(index.ask("load", &[condition]).expect("an answer").hits.len(), 0, "{condition}");
    }
}

#[test]
fn a_condition_that_does_not_fit_its_column_is_an_error() {
    let index = index(&rows(), SearchConfig::default());
    insta::assert_snapshot!(index.filter_error("note=old"), @"The column 'note' cannot be used in a filter: stage 'facts' declares it without `filter`; columns: churn, generated, owner, risk, teams, year");
    insta::assert_snapshot!(index.filter_error("churn>many"), @"Invalid value 'many' for the column 'churn' of type integer: give a number, such as 5 or 0.5, or a range, such as 1..5");
    insta::assert_snapshot!(index.filter_error("risk=inf"), @"Invalid value 'inf' for the column 'risk' of type float: give a number, such as 5 or 0.5, or a range, such as 1..5");
    insta::assert_snapshot!(index.filter_error("churn in 1..many"), @"Invalid value '1..many' for the column 'churn' of type integer: give a number, such as 5 or 0.5, or a range, such as 1..5");
    insta::assert_snapshot!(index.filter_error("churn>none"), @"Invalid value 'none' for the column 'churn' of type integer: give a number, such as 5 or 0.5, or a range, such as 1..5");
    insta::assert_snapshot!(index.filter_error("churn in 5..1"), @"The range '5..1' for the column 'churn' is empty; put the lower number first");
    insta::assert_snapshot!(index.filter_error("ownr=x"), @"No column 'ownr' in this index; columns: churn, generated, owner, risk, teams, year (did you mean `owner`?)");
    insta::assert_snapshot!(index.filter_error("type=functon"), @"Invalid chunk type 'functon'. Valid types: function, method, class, interface, type, struct, enum, code, kb, doc, reasoning, knowledge, note, turn (did you mean `function`?)");
    insta::assert_snapshot!(index.filter_error("language>go"), @"The column 'language' of type string has no order for `>`; it can be compared with =, != and in");
    insta::assert_snapshot!(index.filter_error("generated=ture"), @"Invalid value 'ture' for the column 'generated' of type bool: give true or false (did you mean `true`?)");
    insta::assert_snapshot!(index.filter_error("owner<x"), @"The column 'owner' of type string has no order for `<`; it can be compared with =, != and in");
    insta::assert_snapshot!("owner".parse::<Condition>().expect_err("no operator"), @"Invalid condition 'owner'. Conditions are written as a column, one of = != < <= > >=, and a value, such as owner=payments or 'churn>5', or with a list, such as 'owner in payments,billing'; in a shell, quote conditions with < or >");
    let empty = tempfile::tempdir().expect("a temporary directory");
    let snapshot = write_columns(empty.path(), &[row("alpha")], None, &[]);
    let without = Index { _directory: empty, searcher: Searcher::new(snapshot, None, SearchConfig::default()) };
    let found = without.ask("load", &["owner=x"]).expect("a stage may write it later");
    assert!(found.hits.is_empty());
    assert!(found.notes.contains(&"No column 'owner' in this index; its chunks have no metadata".to_owned()));
    let found = index.ask("load", &["usage_count>3"]).expect("a built-in column without values");
    assert_eq!((found.hits.len(), found.notes[0].starts_with("No column 'usage_count' in this index")), (0, true));
}

#[test]
fn a_column_is_known_if_one_of_the_indexes_has_it() {
    let with = index(&rows(), SearchConfig::default());
    let directory = tempfile::tempdir().expect("a temporary directory");
    let other = [Row::new("lib/theta.py", "theta", ChunkType::Function, "def load(): something else")];
    let without = Searcher::new(write_columns(directory.path(), &other, None, &[]), None, SearchConfig::default());
    let searchers = [&with.searcher, &without];
    let names = |condition: &str| {
        let mut query = Query { limit: 50, ..Query::new("", NOW) };
        query.filter.add_condition(condition).expect("a condition");
        let found = search_all(&searchers, &query).map_err(|error| error.to_string())?;
        Ok::<Vec<String>, String>(found.hits.into_iter().map(|hit| hit.name).collect())
    };
    assert_eq!(names("churn>5"), Ok(vec!["alpha".to_owned()]));
    assert_eq!(names("churn=none").expect("a known column").last().map(String::as_str), Some("theta"));
    assert!(names("chrun>5").expect_err("neither index has the column").contains("did you mean `churn`?"));
}

#[test]
fn without_a_query_the_chunks_that_pass_the_filter_are_listed_by_path() {
    let index = index(&rows(), SearchConfig::default());
    let found = index.ask("", &["owner!=none"]).expect("known columns");
    let listed: Vec<(usize, &str)> = found.hits.iter().map(|hit| (hit.rank, hit.file.as_str())).collect();
    assert_eq!(listed, [(1, "src/alpha.py"), (2, "src/beta.py")]);
    assert_eq!((found.stages.eligible, found.stages.ranked, found.kind), (2, 0, None));
    let ask = |change: &dyn Fn(&mut Query)| {
        let mut query = Query { limit: 50, ..Query::new(" ", NOW) };
        change(&mut query);
        index.searcher.search(&query)
    };
    assert_eq!(ask(&|query| query.filter.paths.push("src/g*".to_owned())).expect("an answer").hits.len(), 1);
    assert_eq!(ask(&|query| query.filter.languages.push("python".to_owned())).expect("an answer").hits.len(), 7);
    assert_eq!(ask(&|query| query.filter.types.push("class".to_owned())).expect("an answer").hits.len(), 0);
    assert_eq!(ask(&|query| query.filter.sources.extend(Source::ALL)).expect("an answer").hits.len(), 7);
    assert!(matches!(ask(&|query| query.filter.types.push(" ,".to_owned())), Err(QueryError::Empty)));
}

#[test]
fn text_of_columns_is_found_by_keywords() {
    let index = index(&rows(), SearchConfig::default());
    let found = index.ask("payments", &[]).expect("an answer");
    let hit = &found.hits[0];
    assert_eq!((hit.name.as_str(), hit.explanation.matched_columns.as_slice()), ("alpha", &["owner".to_owned()][..]));
    assert!(hit.explanation.bm25.ends_with(", found in owner"), "{}", hit.explanation.bm25);
    assert_eq!(found.stages.from_keywords, 1);
    let found = index.ask("old", &[]).expect("an answer");
    assert_eq!(found.stages.from_keywords, 0, "`note` is not declared with `terms`");
    let mut config = SearchConfig::default();
    config.bm25.fields[aurora_storage::Field::Custom.index()] = 0.0;
    let without = self::index(&rows(), config).ask("payments", &[]).expect("an answer");
    assert!(without.hits.is_empty(), "a field with weight 0 finds nothing");
}

fn risk_of(results: &SearchResults, name: &str) -> Option<f32> {
    let hit = results.hits.iter().find(|hit| hit.name == name).expect("the chunk is found");
    hit.explanation.rules.iter().find(|rule| rule.rule == "boost.risk").map(|rule| rule.effect)
}

/// Returns rows with different texts, so that no row is a copy.
fn distinct(risks: &[MetaValue]) -> Vec<Row> {
    let each = risks.iter().enumerate();
    let row = |(at, risk): (usize, &MetaValue)| {
        let name = format!("load{at}");
        let text = format!("def load(): {}", "step ".repeat(at + 1));
        Row::new(&format!("src/{name}.py"), &name, ChunkType::Function, &text).meta("risk", risk.clone())
    };
    each.map(row).collect()
}

#[test]
fn a_boost_is_the_weight_times_the_clamped_value_and_can_be_configured() {
    let risks = [0.5, -1.0, 7.0, f64::NAN, 0.0].map(MetaValue::Float);
    let rows = distinct(&risks);
    let found = index(&rows, SearchConfig::default()).ask("load", &[]).expect("an answer");
    let effects: Vec<_> = (0..5).map(|at| risk_of(&found, &format!("load{at}"))).collect();
    assert!(effects[0] > Some(0.0) && effects[1] < Some(0.0) && effects[2] > effects[0], "{effects:?}");
    assert_eq!(effects[3..], [None, None]);
    let best = found.hits.iter().find(|hit| hit.name == "load2").expect("the chunk is found");
    assert!(best.explanation.rules.iter().any(|rule| rule.reason == "the value of its column `risk`"));
    for hit in &found.hits {
        let sum = hit.scores.weighted.sum() + hit.explanation.rules.iter().map(|rule| rule.effect).sum::<f32>();
        assert!((sum - hit.score).abs() < 1e-5 && hit.score >= 0.0, "{} {sum} {}", hit.name, hit.score);
    }
    let mut config = SearchConfig::default();
    config.boost.insert("risk".to_owned(), -0.5);
    config.boost.insert("missing".to_owned(), 0.5);
    let lowered = index(&rows, config).ask("load", &[]).expect("an answer");
    assert!(risk_of(&lowered, "load0") < Some(0.0));
    assert!(
        lowered.notes.contains(&"[search.boost] names columns that have no numbers in this index: missing".to_owned())
    );
    let mut config = SearchConfig::default();
    config.boost.insert("risk".to_owned(), 0.0);
    let off = index(&rows, config).ask("load", &[]).expect("an answer");
    assert_eq!(risk_of(&off, "load2"), None);
}

#[test]
fn facets_count_values() {
    let index = index(&rows(), SearchConfig::default());
    let facets = facets(index.snapshot()).expect("a readable index");
    let shown: Vec<_> = facets
        .iter()
        .map(|Facet { column, chunks, distinct, min, max, values }| {
            let values: Vec<_> = values.iter().map(|value| json!([value.value, value.chunks])).collect();
            json!([column.name, chunks, distinct, min, max, values])
        })
        .collect();
    assert_eq!(
        shown,
        [
            json!(["churn", 2, 2, -2, 7, [[-2, 1], [7, 1]]]),
            json!(["generated", 2, 2, null, null, [[false, 1], [true, 1]]]),
            json!(["owner", 2, 2, null, null, [["Billing", 1], ["payments", 1]]]),
            json!(["risk", 3, 3, 0.5, 1e300, [[0.5, 1], [1e300, 1], [null, 1]]]),
            json!(["teams", 2, 2, null, null, [["b", 2], ["a", 1]]]),
        ]
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn conditions_select_the_matching_rows(
        numbers in prop::collection::vec(prop::option::of(prop_oneof![-3i64..4, any::<i64>()]), 1..12),
        floats in prop::collection::vec(prop::option::of(prop_oneof![any::<f64>(), (-3i64..4).prop_map(|n| n as f64)]), 12),
        operand in prop_oneof![-3i64..4, any::<i64>()],
    ) {
        let rows: Vec<Row> = numbers.iter().zip(&floats).enumerate().map(|(at, (number, float))| {
            let mut row = Row::new("src/a.py", &format!("f{at}"), ChunkType::Function, "def load()");
            row = number.map_or(row.clone(), |number| row.meta("churn", MetaValue::Integer(number)));
            float.map_or(row.clone(), |float| row.meta("risk", MetaValue::Float(float)))
        }).collect();
        let index = index(&rows, SearchConfig::default());
        type Holds = fn(Option<std::cmp::Ordering>) -> bool;
        let operators: [(&str, Holds); 6] = [
            ("=", |order| order.is_some_and(|order| order.is_eq())),
            ("!=", |order| order.is_none_or(|order| order.is_ne())),
            ("<", |order| order.is_some_and(|order| order.is_lt())),
            ("<=", |order| order.is_some_and(|order| order.is_le())),
            (">", |order| order.is_some_and(|order| order.is_gt())),
            (">=", |order| order.is_some_and(|order| order.is_ge())),
        ];
        let eligible = |condition: String| index.ask("load", &[&condition]).expect("declared").stages.eligible as usize;
        for (operator, holds) in operators {
            let expected = numbers.iter().flatten().filter(|number| holds(Some((**number).cmp(&operand)))).count();
            prop_assert_eq!(eligible(format!("churn{operator}{operand}")), expected, "churn{}{}", operator, operand);
            // A float represents a number with few digits exactly.
            let operand = operand % 1000;
            let expected = floats[..numbers.len()].iter().flatten().filter(|float| holds((**float).partial_cmp(&(operand as f64)))).count();
            prop_assert_eq!(eligible(format!("risk{operator}{operand}")), expected, "risk{}{}", operator, operand);
        }
    }
}
