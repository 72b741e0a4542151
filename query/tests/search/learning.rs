//! Feedback and forgetting in whole searches.

use std::sync::Arc;

use crate::corpus::{self, DAY, NOW, Row};
use aurora_query::{Forgetting, Query, SearchConfig, SearchResults, Searcher};
use aurora_storage::{AccessLog, ChunkType, KnownIndexes, MetaValue, Verdict};

struct Index {
    directory: tempfile::TempDir,
    searcher: Searcher,
}

impl Index {
    fn new(rows: &[Row]) -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let snapshot = corpus::write(directory.path(), rows, None);
        // Only the access records distinguish the rows, so rows with equal texts must not be folded.
        let mut config = SearchConfig::default();
        config.folding.near_copies = false;
        Self { directory, searcher: Searcher::new(snapshot, None, config) }
    }

    fn log(&self) -> Arc<AccessLog> {
        Arc::new(AccessLog::open(self.directory.path(), &KnownIndexes::accepting_all()).expect("a fresh directory"))
    }

    fn ask(&self, log: &Arc<AccessLog>) -> SearchResults {
        let (snapshot, config) = (self.searcher.snapshot().clone(), self.searcher.config().clone());
        let searcher = Searcher::new(snapshot, None, config).with_access(Ok(Arc::clone(log)));
        searcher.search(&Query::new("shared words", NOW)).expect("a valid query")
    }
}

fn names(results: &SearchResults) -> Vec<&str> {
    results.hits.iter().map(|hit| hit.qualified_name.as_str()).collect()
}

#[test]
fn feedback_orders_equal_chunks_and_is_explained() {
    let twin = |name: &str| Row::new(&format!("src/{name}.py"), name, ChunkType::Function, "shared words");
    let index = Index::new(&[twin("aa"), twin("bb"), twin("cc")]);
    let log = index.log();
    assert_eq!(names(&index.ask(&log)), ["aa", "bb", "cc"]);
    log.judge(Verdict::Bad, &[("code:src/aa.py:aa", NOW)]).expect("the log is writable");
    log.judge(Verdict::Good, &[("code:src/cc.py:cc", NOW)]).expect("the log is writable");
    let results = index.ask(&log);
    assert_eq!(names(&results), ["cc", "bb", "aa"]);
    let first = &results.hits[0].explanation;
    assert_eq!((first.activation_parts.learning, first.activation_parts.base_level), (0.2, None));
    assert_eq!(first.activation, "marked good 1x, no git history, treated as average");
    assert!(results.hits.iter().all(|hit| (0.0..=1.0).contains(&hit.scores.activation)));

    // More verdicts do not raise the value above the maximum.
    for _ in 0..50 {
        log.judge(Verdict::Good, &[("code:src/bb.py:bb", NOW)]).expect("the log is writable");
    }
    let results = index.ask(&log);
    assert_eq!(names(&results)[0], "bb");
    assert_eq!(results.hits[0].explanation.activation_parts.learning, 1.0);
}

#[test]
fn memories_follow_their_lifespan_policies_and_code_does_not() {
    let memory = |name: &str| Row::new(&format!("memory/{name}.json"), name, ChunkType::Reasoning, "shared words");
    let index = Index::new(&[
        memory("old"),
        memory("proven").meta("is_pattern", MetaValue::Bool(true)),
        memory("guarded").meta("domain", MetaValue::String("Security".to_owned())),
        memory("busy"),
        memory("fresh"),
        Row::new("src/code.py", "code", ChunkType::Function, "shared words"),
    ]);
    let log = index.log();
    let key = |name: &str| match name {
        "code" => "code:src/code.py:code".to_owned(),
        _ => format!("code:memory/{name}.json:{name}"),
    };
    for (name, days, times) in [
        ("old", 200, 1),
        ("proven", 200, 1),
        ("guarded", 200, 1),
        ("busy", 200, 11),
        ("fresh", 20, 1),
        ("code", 200, 1),
    ] {
        for _ in 0..times {
            log.record(&[(&key(name), NOW - days * DAY)]).expect("the log is writable");
        }
    }
    let results = index.ask(&log);
    let parts = |name: &str| {
        let hit = results.hits.iter().find(|hit| hit.qualified_name == name).expect("every row is found");
        hit.explanation.activation_parts
    };
    for (name, forgetting) in [
        ("old", Forgetting::Exponential),
        ("proven", Forgetting::Logarithmic),
        ("guarded", Forgetting::None),
        ("busy", Forgetting::Logarithmic),
        ("fresh", Forgetting::Logarithmic),
        ("code", Forgetting::Logarithmic),
    ] {
        assert_eq!(parts(name).forgetting, forgetting, "{name}");
    }
    assert_eq!(parts("guarded").decay, Some(0.0));
    assert!(parts("old").decay > parts("proven").decay);
    assert_eq!(parts("proven").decay, parts("code").decay);
}
