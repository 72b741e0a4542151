//! Tests of the names, permissions and content of new logs.

use std::collections::BTreeSet;

use aurora_logs::{LogDirectory, LogText, QueryId, interaction, keywords};
use jiff::Timestamp;
use proptest::prelude::*;

use crate::test_directory::TestDirectory;

#[test]
fn names_come_from_the_query_and_the_day_in_utc() {
    let test = TestDirectory::new();
    for (query, time, expected) in [
        ("Fix database migration issue", "2025-12-13T14:32:15Z", "2025/12/database-migration-2025-12-13.md"),
        ("Fix database migration issue", "2025-12-13T23:32:15Z", "2025/12/database-migration-2025-12-13-2.md"),
        ("database migration", "2026-01-01T00:30:00+01:00", "2025/12/database-migration-2025-12-31.md"),
        ("why is it so?", "2025-12-13T14:32:15Z", "2025/12/query-1-2025-12-13.md"),
        ("???", "2025-12-13T14:32:15Z", "2025/12/query-2-2025-12-13.md"),
        ("../../../etc/passwd", "2025-12-13T14:32:15Z", "2025/12/passwd-2025-12-13.md"),
    ] {
        let written = test.write(query, time);
        assert_eq!(written.file, expected);
        assert_eq!(written.path, test.path(expected));
        assert!(written.id.as_str().starts_with("aurora-202"), "{}", written.id);
    }
    assert_eq!(test.files().len(), 6);
}

#[test]
fn the_name_of_a_compressed_log_is_not_reused() {
    let test = TestDirectory::new();
    test.put_packed("2025/12/retry-2025-12-13.md.gz", b"old");
    test.put("2025/12/retry-2025-12-13-2.md", "old");
    assert_eq!(test.write("retry", "2025-12-13T14:32:15Z").file, "2025/12/retry-2025-12-13-3.md");
    assert_eq!(test.content("2025/12/retry-2025-12-13.md.gz"), "old");
}

#[test]
fn markdown_is_stored_verbatim() {
    let test = TestDirectory::new();
    let body = "## Phase 1: Assess\r\nno end of line \u{1b}[31m and a key: AKIAABCDEFGHIJKLMNOP";
    let written = test.write_markdown("retry", "2025-12-13T14:32:15Z", body);
    let (id, content) = (written.id, test.content(&written.file));
    let header =
        format!("---\n## Query: 2025-12-13T14:32:15Z | ID: {id}\n\n**User Query**: \"retry\"\n**Keywords**: retry\n\n");
    assert_eq!(content, format!("{header}{body}\n"));
}

#[cfg(unix)]
#[test]
fn only_the_user_can_read_logs() {
    use std::os::unix::fs::PermissionsExt as _;

    let test = TestDirectory::new();
    test.write("retry", "2025-12-13T14:32:15Z");
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
    for directory in ["", "2025", "2025/12"] {
        assert_eq!(mode(&test.path(directory)), 0o700, "{directory}");
    }
    assert_eq!(mode(&test.outside().join("logs")), 0o700);
    for file in ["2025/12/retry-2025-12-13.md", ".lock"] {
        assert_eq!(mode(&test.path(file)), 0o600, "{file}");
    }
}

#[test]
fn concurrent_writers_never_share_a_file() {
    let test = TestDirectory::new();
    let written: Vec<_> = std::thread::scope(|scope| {
        let writer = |_| {
            let path = test.logs.path();
            scope.spawn(move || {
                let logs = LogDirectory::open(path).unwrap().unwrap();
                let text = br#"{"query": "retry", "timestamp": "2025-12-13T14:32:15Z", "phases": []}"#;
                let write = || logs.write(LogText::Interaction(interaction("a.json", text).unwrap()), 2).unwrap();
                (0..20).map(|_| write()).collect::<Vec<_>>()
            })
        };
        let threads: Vec<_> = (0..16).map(writer).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    let files: BTreeSet<_> = written.iter().map(|written| written.file.clone()).collect();
    assert_eq!((files.len(), test.files().len()), (320, 320));
    for log in &written {
        assert!(test.content(&log.file).contains(log.id.as_str()), "{log:?}");
    }
}

#[test]
fn an_unreadable_text_leaves_no_file() {
    struct Broken(usize);
    impl std::io::Read for Broken {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            self.0 += 1;
            if self.0 > 100 { Err(std::io::Error::other("gone")) } else { Ok(buffer.len()) }
        }
    }
    let test = TestDirectory::new();
    let text = LogText::Markdown { query: "retry".into(), id: None, time: None, body: &mut Broken(0) };
    let error = test.logs.write(text, 2).unwrap_err();
    assert_eq!(error.to_string(), "cannot read the text of the log");
    assert_eq!(test.files(), Vec::<String>::new());
}

fn texts() -> impl Strategy<Value = String> {
    prop_oneof![any::<String>(), "[ a-z`~#\n-]{0,60}", "(### Phase [0-9]: X\n|```\n|## Query: a\n|---\n|text\n)*"]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn any_query_yields_a_valid_name_in_the_layout(query in any::<String>(), seconds in 0_i64..4_000_000_000, count in 1_usize..5) {
        let test = TestDirectory::new();
        let time = Some(Timestamp::from_second(seconds).unwrap());
        let text = LogText::Markdown { query: query.clone(), id: None, time, body: &mut std::io::empty() };
        let written = test.logs.write(text, count).unwrap();
        let files = test.files();
        prop_assert_eq!(&files, std::slice::from_ref(&written.file));
        let found = test.log(written.file.rsplit('/').next().unwrap().strip_suffix(".md").unwrap());
        prop_assert_eq!(found.path(), written.file.clone());
        prop_assert!(found.day().is_some());
        let header = test.logs.header(&found).unwrap();
        prop_assert_eq!(header.id.as_deref(), Some(written.id.as_str()));
        prop_assert_eq!(header.time, time);
        prop_assert_eq!(header.keywords, keywords(&query, count));
        let cut = query.floor_char_boundary(4096);
        prop_assert_eq!(header.query.as_deref(), Some(&query[..cut]));
    }

    #[test]
    fn texts_never_create_sections(query in texts(), text in texts(), response in texts(), name in "[a-zA-Z0-9][a-z (),:-]{0,20}[a-z]") {
        use serde_json::json;
        prop_assume!(!query.trim().is_empty());
        let test = TestDirectory::new();
        let id = QueryId::parse("aurora-1").unwrap();
        let input = json!({
            "query": query, "id": id.as_str(), "timestamp": "2025-12-13T14:32:15Z", "response": response,
            "phases": [{"name": name, "text": text, "output": {"text": text}}, {"name": "LAST", "output": query}],
            "interactions": [{"question": text, "answer": response}], "summary": {"complexity": text, "note": response},
        });
        let read = interaction("a.json", input.to_string().as_bytes()).unwrap();
        let written = test.logs.write(LogText::Interaction(read), 2).unwrap();
        let content = test.content(&written.file);
        let mut tracker = aurora_logs::SectionTracker::default();
        let sections: Vec<String> = content.lines().filter_map(|line| tracker.line(line.as_bytes())?.name).collect();
        let first = format!("Phase 1: {}", name.trim());
        prop_assert_eq!(sections, ["Query", first.as_str(), "Phase 2: LAST", "User Interactions", "Response", "Execution Summary"]);
        // The log contains both texts unchanged.
        if !text.trim().is_empty() {
            prop_assert!(content.contains(&text));
        }
        prop_assert!(content.contains(&response));
    }
}
