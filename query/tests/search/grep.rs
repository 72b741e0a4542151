//! Checks that text filters find the same chunks as a scan of all texts, and tests searches that have a pattern but no
//! query.

use crate::corpus::{self, NOW, Row};

use aurora_query::{
    Details, FilterSpec, Mode, Query, QueryError, SearchConfig, SearchResults, Searcher, TextFilter, WorkBudget,
};
use aurora_storage::{ChunkType, Snapshot};
use proptest::prelude::*;

struct Index {
    directory: tempfile::TempDir,
    snapshot: Snapshot,
}

fn index(rows: &[Row]) -> Index {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let snapshot = corpus::write(directory.path(), rows, None);
    Index { directory, snapshot }
}

impl Index {
    fn searcher(&self) -> Searcher {
        Searcher::new(self.snapshot.clone(), None, SearchConfig::default()).with_root(self.directory.path())
    }

    fn ask(&self, text: &str, filter: FilterSpec) -> SearchResults {
        let query = Query { filter: filter.clone(), limit: 100, ..Query::new(text, NOW) };
        let searcher = self.searcher();
        let mut found = searcher.search(&query).expect("a valid query");
        let details = Details { snippet_lines: 3, now: NOW, work: &query.work };
        aurora_query::complete(&[&searcher], &mut found, &details).expect("a readable index");
        found
    }
}

fn grep(pattern: &str) -> FilterSpec {
    FilterSpec { grep: vec![pattern.to_owned()], ..FilterSpec::default() }
}

fn names(found: &SearchResults) -> Vec<&str> {
    found.hits.iter().map(|hit| hit.qualified_name.as_str()).collect()
}

fn project() -> Vec<Row> {
    let row = |path: &str, name: &str, text: &str| Row::new(path, name, ChunkType::Function, text);
    vec![
        row("src/b.py", "retry", "def retry(f):\n    time.sleep(30)\n    return f()\n\n"),
        row("src/a.py", "wait", "def wait():\n    time.sleep(5)\n    log('slept')\n\n"),
        row("src/a.py", "Sleep", "def Sleep():\n    pass\n\n\n"),
        row("docs/guide.md", "Retrying", "Retrying sleeps for\nsome seconds\n\n\n"),
    ]
}

#[test]
fn a_pattern_filters_before_the_ranking() {
    let index = index(&project());
    let found = index.ask("retry", grep(r"sleep\(\d+\)"));
    assert_eq!(names(&found), ["retry"], "no other chunk matches both the query and the pattern");
    assert_eq!((found.stages.indexed, found.stages.eligible, found.stages.shown), (4, 2, 1));
    assert_eq!(names(&index.ask("sleep", grep("Sleep"))), ["Sleep"]);
    let fixed = FilterSpec { fixed: vec!["sleep(5)".to_owned(), "LOG(".to_owned()], ..FilterSpec::default() };
    assert_eq!(names(&index.ask("time", fixed)), [""; 0], "`LOG(` does not match lower case");
    let nothing = index.ask("retry", grep("zebra"));
    assert_eq!(nothing.notes[0], "No chunk contains the requested text");
}

#[test]
fn without_a_query_matches_are_listed_by_path_and_line() {
    let index = index(&project());
    let found = index.ask("", grep("sleep"));
    let places: Vec<_> = found.hits.iter().map(|hit| (hit.rank, hit.file.as_str(), hit.line_start)).collect();
    assert_eq!(places, [(1, "docs/guide.md", 31), (2, "src/a.py", 11), (3, "src/a.py", 21), (4, "src/b.py", 1)]);
    assert_eq!((found.stages.ranked, found.stages.eligible), (0, 4));
    let few = Query { filter: grep("sleep"), limit: 2, ..Query::new(" ", NOW) };
    let few = Searcher::new(index.snapshot.clone(), None, SearchConfig::default()).search(&few).expect("valid");
    assert_eq!(
        (few.hits.len(), few.notes.as_slice()),
        (2, &["4 chunks match; the list is limited to 2".to_owned()][..])
    );
}

#[test]
fn a_cancelled_search_has_no_answer() {
    let index = index(&project());
    let searcher = index.searcher();
    let work = WorkBudget::default();
    work.cancel();
    for (text, filter) in [("wait log", FilterSpec::default()), ("wait", grep("sleep")), ("", grep("sleep"))] {
        let found = searcher.search(&Query { filter, work: work.clone(), ..Query::new(text, NOW) });
        assert!(matches!(found, Err(QueryError::Cancelled(_))), "{text}");
    }
    let passages = searcher.passages("wait log", Mode::Sparse, 10, false, &work);
    assert!(matches!(passages, Err(QueryError::Cancelled(_))));
    let mut found = index.ask("wait log", FilterSpec::default());
    let packed = aurora_query::packed(&[&searcher], &found, 1_000, &work);
    assert!(matches!(packed, Err(QueryError::Cancelled(_))));
    let details = Details { snippet_lines: 3, now: NOW, work: &work };
    assert!(matches!(aurora_query::complete(&[&searcher], &mut found, &details), Err(QueryError::Cancelled(_))));
}

#[test]
fn snippets_show_the_matching_lines() {
    let index = index(&project());
    let found = index.ask("", grep(r"\d+"));
    let lines = |hit: &aurora_query::Hit| hit.snippet.iter().map(|line| line.text.trim().to_owned()).collect();
    let shown: Vec<Vec<String>> = found.hits.iter().map(lines).collect();
    let expected: [Vec<&str>; 2] = [vec!["time.sleep(5)"], vec!["time.sleep(30)"]];
    assert_eq!(shown, expected);
    let ranked = index.ask("wait log", FilterSpec::default());
    assert_eq!(ranked.hits[0].snippet[0].text, "def wait():");
    assert_eq!(ranked.hits[0].snippet[0].matches, [(4, 8)]);
}

/// Returns a strategy for texts that look like code, with constructs that are difficult for analyzers.
fn text() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "get", "User", "_id", "foo", "Foo", "FOO", " ", "\n", "(", ")", ".", "-", "_", "s", "ſ", "K", "\u{212a}", "é",
        "e\u{301}", "2", "²", "\r\n", "session", "日本", "HTTP", "Server", "URL", "URLs", "X",
    ]);
    prop::collection::vec(piece, 1..14).prop_map(|pieces| pieces.concat())
}

fn pattern() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "foo",
        "Foo",
        "session",
        "get",
        "User",
        "s",
        "k",
        "_id",
        r"\(",
        r"\)",
        r"\.",
        r"\s",
        r"\s+",
        "^",
        "$",
        r"\b",
        " ",
        "-",
        "(foo|get)",
        "[(.]",
        "(_id)?",
        "e",
        "[a-z]+",
        "2",
        "(?i)foo",
        ".",
    ]);
    prop::collection::vec(piece, 1..5).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn a_pattern_finds_the_same_as_searching_every_text(
        texts in prop::collection::vec(text(), 1..30), patterns in prop::collection::vec(pattern(), 1..40),
    ) {
        let rows: Vec<Row> = texts
            .iter()
            .enumerate()
            .map(|(at, text)| Row::new(&format!("src/{at:02}.py"), &format!("f{at}"), ChunkType::Function, text))
            .collect();
        let index = index(&rows);
        for pattern in patterns {
            let filter = TextFilter::new(std::slice::from_ref(&pattern), &[]).expect("a pattern");
            let expected: Vec<String> =
                rows.iter().filter(|row| filter.is_match(&row.text)).map(|row| row.path.clone()).collect();
            let found = index.ask("", grep(&pattern));
            let files: Vec<String> = found.hits.iter().map(|hit| hit.file.clone()).collect();
            prop_assert_eq!(files, expected, "{:?}", pattern);
        }
    }
}
