//! Tests of listing logs.

use aurora_logs::{DateRange, LogDirectory, Month, date};

use crate::test_directory::TestDirectory;

fn paths(test: &TestDirectory, range: DateRange) -> Vec<String> {
    test.logs(range).iter().map(|log| log.path()).collect()
}

fn sample_logs() -> TestDirectory {
    let test = TestDirectory::new();
    for (query, time) in [
        ("alpha", "2025-12-13T08:00:00Z"),
        ("beta", "2025-12-13T09:00:00Z"),
        ("gamma", "2025-12-14T08:00:00Z"),
        ("delta", "2026-01-02T08:00:00Z"),
    ] {
        test.write(query, time);
    }
    test.put_packed("2025/11/old-2025-11-30.md.gz", b"# Conversation: old\nQuery: how it was\n");
    test.put("2025/12/notes.md", "text");
    for other in [
        "2025/12/x.txt",
        "2025/notes.md",
        "notes.md",
        "2025/13/a.md",
        "25/12/a.md",
        "2025/12/.hidden.md",
        "2025/12/deep/a.md",
    ] {
        test.put(other, "no log");
    }
    test
}

#[test]
fn the_newest_day_comes_first() {
    let test = sample_logs();
    let expected = [
        "2026/01/delta-2026-01-02.md",
        "2025/12/gamma-2025-12-14.md",
        "2025/12/alpha-2025-12-13.md",
        "2025/12/beta-2025-12-13.md",
        "2025/12/notes.md",
        "2025/11/old-2025-11-30.md.gz",
    ];
    assert_eq!(paths(&test, DateRange::default()), expected);
    let summaries: Vec<_> = test.logs.summaries(DateRange::default()).unwrap().map(|log| log.unwrap()).collect();
    let files: Vec<&str> = summaries.iter().map(|summary| summary.file.as_str()).collect();
    // Within a day, the latest log comes first.
    assert_eq!(files, [expected[0], expected[1], expected[3], expected[2], expected[4], expected[5]]);
    assert_eq!(summaries[0].query.as_deref(), Some("delta"));
    assert_eq!((summaries[5].query.as_deref(), summaries[5].compressed), (Some("how it was"), true));
    let json = serde_json::to_value(&summaries[1]).unwrap();
    assert_eq!((&json["time"], &json["day"]), (&"2025-12-14T08:00:00Z".into(), &"2025-12-14".into()));
}

#[test]
fn a_range_selects_logs_by_day() {
    let test = sample_logs();
    let day = |text: &str| date(text).unwrap();
    let count =
        |from: Option<&str>, to: Option<&str>| paths(&test, DateRange { from: from.map(day), to: to.map(day) }).len();
    assert_eq!(paths(&test, DateRange::day(day("2025-12-14"))), ["2025/12/gamma-2025-12-14.md"]);
    assert_eq!(paths(&test, DateRange::month(Month::named("2025", "12").unwrap())).len(), 4);
    assert_eq!(count(Some("2025-12-13"), Some("2025-12-14")), 3);
    assert_eq!(count(Some("2025-12-14"), None), 2);
    assert_eq!(count(None, Some("2025-11-30")), 1);
    assert_eq!(count(Some("2026-01-03"), None), 0);
}

#[test]
fn a_missing_directory_has_no_logs() {
    let test = tempfile::tempdir().unwrap();
    assert!(LogDirectory::open(&test.path().join("none")).unwrap().is_none());
    std::fs::write(test.path().join("file"), "").unwrap();
    assert!(LogDirectory::open(&test.path().join("file")).is_err());
}
