//! Tests of appending to logs.

use aurora_logs::{AddedText, LogFile, additions};
use jiff::Timestamp;
use proptest::prelude::*;

use crate::test_directory::TestDirectory;

const LATER: &str = "2025-12-14T09:00:00Z";

fn add(test: &TestDirectory, log: &LogFile, json: &str) -> u64 {
    let sections = AddedText::Sections(additions("a.json", json.as_bytes()).unwrap());
    test.logs.append(log, sections, LATER.parse::<Timestamp>().unwrap()).unwrap().line
}

fn add_markdown(test: &TestDirectory, log: &LogFile, section: &str, body: &str) -> u64 {
    let text = AddedText::Markdown { section, body: &mut body.as_bytes() };
    test.logs.append(log, text, LATER.parse::<Timestamp>().unwrap()).unwrap().line
}

#[test]
fn appended_phases_continue_the_phase_numbers() {
    let test = TestDirectory::new();
    let written = test.write("retry", "2025-12-13T14:32:15Z");
    let before = test.content(&written.file);
    let log = test.log("retry-2025-12-13");
    let line = add(&test, &log, r#"{"phases": [{"name": "ROUTE", "output": 1}], "response": "done"}"#);
    let after = test.content(&written.file);
    assert!(after.starts_with(&before), "{after}");
    insta::assert_snapshot!(&after[before.len()..]);
    assert_eq!(after.lines().nth(line as usize - 1), Some("## Appended: 2025-12-14T09:00:00Z"));
    add_markdown(&test, &log, "Notes", "no end of line");
    assert!(test.content(&written.file).ends_with("### Notes\n\nno end of line\n"));
    assert_eq!(test.files(), ["2025/12/retry-2025-12-13.md"]);
}

#[test]
fn an_open_block_and_an_unfinished_line_are_closed_first() {
    let test = TestDirectory::new();
    for (at, (body, line)) in
        [("```\ncode", 11), ("```\ncode\n", 11), ("~~~~ x\n```\n", 11), ("text", 9), ("", 8)].iter().enumerate()
    {
        let written = test.write_markdown(&format!("number{at}x"), "2025-12-13T14:32:15Z", body);
        let before = test.content(&written.file);
        let log = test.log(written.file.rsplit('/').next().unwrap().strip_suffix(".md").unwrap());
        assert_eq!(add(&test, &log, r#"{"phases": [{"name": "LATE", "output": 1}]}"#), *line, "{body}");
        let after = test.content(&written.file);
        assert!(after.starts_with(&before));
        let mut tracker = aurora_logs::SectionTracker::default();
        let sections: Vec<_> = after.lines().filter_map(|line| tracker.line(line.as_bytes())?.name).collect();
        assert_eq!(sections, ["Query", "Appended: 2025-12-14T09:00:00Z", "Phase 1: LATE"], "{body}");
        assert_eq!(after.lines().nth(*line as usize - 1), Some("## Appended: 2025-12-14T09:00:00Z"), "{body}");
    }
}

#[test]
fn appending_to_a_compressed_log_decompresses_it() {
    let test = TestDirectory::new();
    test.put_packed("2025/12/retry-2025-12-13.md.gz", b"### Phase 7: A\ntext\n");
    let log = test.log("retry-2025-12-13");
    add(&test, &log, r#"{"phases": [{"name": "B", "output": 1}]}"#);
    assert_eq!(test.files(), ["2025/12/retry-2025-12-13.md"]);
    let content = test.content("2025/12/retry-2025-12-13.md");
    assert!(content.starts_with("### Phase 7: A\ntext\n") && content.contains("### Phase 8: B"), "{content}");
}

#[test]
fn invalid_section_names_are_rejected() {
    let test = TestDirectory::new();
    test.write("retry", "2025-12-13T14:32:15Z");
    let log = test.log("retry-2025-12-13");
    for section in ["", "a\nb", "# x", &"x".repeat(101)] {
        let text = AddedText::Markdown { section, body: &mut std::io::empty() };
        let error = test.logs.append(&log, text, Timestamp::UNIX_EPOCH).unwrap_err();
        assert!(error.to_string().starts_with("the name of a section must be a line"), "{error}");
    }
}

#[test]
fn concurrent_appends_lose_no_text() {
    let test = TestDirectory::new();
    let written = test.write("retry", "2025-12-13T14:32:15Z");
    let log = test.log("retry-2025-12-13");
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let (test, log) = (&test, &log);
            scope.spawn(move || {
                for number in 0..8 {
                    add_markdown(test, log, &format!("Note {thread} {number}"), "text");
                }
            });
        }
    });
    let content = test.content(&written.file);
    assert_eq!(content.matches("### Note ").count(), 64);
    assert_eq!(test.files().len(), 1);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn existing_bytes_never_change(old in prop::collection::vec(any::<u8>(), 0..400), packed in any::<bool>(), bodies in prop::collection::vec("[a-z`#\n ]{0,40}", 1..4)) {
        let test = TestDirectory::new();
        match packed {
            true => test.put_packed("2025/12/a.md.gz", &old),
            false => test.put("2025/12/a.md", &old),
        }
        let mut before = old;
        for body in bodies {
            let log = test.log("a");
            add_markdown(&test, &log, "More", &body);
            let after = std::fs::read(test.path("2025/12/a.md")).unwrap();
            prop_assert!(after.starts_with(&before));
            prop_assert!(after.len() > before.len() + body.len());
            before = after;
        }
    }
}
