//! Appending to logs.

use aurora_logs::{AddedText, LogFile, additions};
use jiff::Timestamp;
use proptest::prelude::*;

use crate::place::Place;

const LATER: &str = "2025-12-14T09:00:00Z";

fn add(place: &Place, log: &LogFile, json: &str) -> u64 {
    let sections = AddedText::Sections(additions("a.json", json.as_bytes()).unwrap());
    place.logs.append(log, sections, LATER.parse::<Timestamp>().unwrap()).unwrap().line
}

fn add_markdown(place: &Place, log: &LogFile, section: &str, body: &str) -> u64 {
    let text = AddedText::Markdown { section, body: &mut body.as_bytes() };
    place.logs.append(log, text, LATER.parse::<Timestamp>().unwrap()).unwrap().line
}

#[test]
fn additions_keep_the_text_and_continue_the_phase_numbers() {
    let place = Place::new();
    let written = place.write("retry", "2025-12-13T14:32:15Z");
    let before = place.content(&written.file);
    let log = place.log("retry-2025-12-13");
    let line = add(&place, &log, r#"{"phases": [{"name": "ROUTE", "output": 1}], "response": "done"}"#);
    let after = place.content(&written.file);
    assert!(after.starts_with(&before), "{after}");
    insta::assert_snapshot!(&after[before.len()..]);
    assert_eq!(after.lines().nth(line as usize - 1), Some("## Appended: 2025-12-14T09:00:00Z"));
    add_markdown(&place, &log, "Notes", "no end of line");
    assert!(place.content(&written.file).ends_with("### Notes\n\nno end of line\n"));
    assert_eq!(place.files(), ["2025/12/retry-2025-12-13.md"]);
}

#[test]
fn an_open_block_and_an_unfinished_line_are_closed_first() {
    let place = Place::new();
    for (at, (body, line)) in
        [("```\ncode", 11), ("```\ncode\n", 11), ("~~~~ x\n```\n", 11), ("text", 9), ("", 8)].iter().enumerate()
    {
        let written = place.write_markdown(&format!("number{at}x"), "2025-12-13T14:32:15Z", body);
        let before = place.content(&written.file);
        let log = place.log(written.file.rsplit('/').next().unwrap().strip_suffix(".md").unwrap());
        assert_eq!(add(&place, &log, r#"{"phases": [{"name": "LATE", "output": 1}]}"#), *line, "{body}");
        let after = place.content(&written.file);
        assert!(after.starts_with(&before));
        let mut tracker = aurora_logs::SectionTracker::default();
        let sections: Vec<_> = after.lines().filter_map(|line| tracker.line(line.as_bytes())?.name).collect();
        assert_eq!(sections, ["Query", "Appended: 2025-12-14T09:00:00Z", "Phase 1: LATE"], "{body}");
        assert_eq!(after.lines().nth(*line as usize - 1), Some("## Appended: 2025-12-14T09:00:00Z"), "{body}");
    }
}

#[test]
fn a_compressed_log_is_unpacked() {
    let place = Place::new();
    place.put_packed("2025/12/retry-2025-12-13.md.gz", b"### Phase 7: A\ntext\n");
    let log = place.log("retry-2025-12-13");
    add(&place, &log, r#"{"phases": [{"name": "B", "output": 1}]}"#);
    assert_eq!(place.files(), ["2025/12/retry-2025-12-13.md"]);
    let content = place.content("2025/12/retry-2025-12-13.md");
    assert!(content.starts_with("### Phase 7: A\ntext\n") && content.contains("### Phase 8: B"), "{content}");
}

#[test]
fn invalid_section_names_are_rejected() {
    let place = Place::new();
    place.write("retry", "2025-12-13T14:32:15Z");
    let log = place.log("retry-2025-12-13");
    for section in ["", "a\nb", "# x", &"x".repeat(101)] {
        let text = AddedText::Markdown { section, body: &mut std::io::empty() };
        let error = place.logs.append(&log, text, Timestamp::UNIX_EPOCH).unwrap_err();
        assert!(error.to_string().starts_with("the name of a section must be a line"), "{error}");
    }
}

#[test]
fn concurrent_additions_are_all_kept() {
    let place = Place::new();
    let written = place.write("retry", "2025-12-13T14:32:15Z");
    let log = place.log("retry-2025-12-13");
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let (place, log) = (&place, &log);
            scope.spawn(move || {
                for number in 0..8 {
                    add_markdown(place, log, &format!("Note {thread} {number}"), "text");
                }
            });
        }
    });
    let content = place.content(&written.file);
    assert_eq!(content.matches("### Note ").count(), 64);
    assert_eq!(place.files().len(), 1);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn existing_bytes_never_change(old in prop::collection::vec(any::<u8>(), 0..400), packed in any::<bool>(), bodies in prop::collection::vec("[a-z`#\n ]{0,40}", 1..4)) {
        let place = Place::new();
        match packed {
            true => place.put_packed("2025/12/a.md.gz", &old),
            false => place.put("2025/12/a.md", &old),
        }
        let mut before = old;
        for body in bodies {
            let log = place.log("a");
            add_markdown(&place, &log, "More", &body);
            let after = std::fs::read(place.path("2025/12/a.md")).unwrap();
            prop_assert!(after.starts_with(&before));
            prop_assert!(after.len() > before.len() + body.len());
            before = after;
        }
    }
}
