//! Tests of log directories that an attacker has prepared.

#![cfg(unix)]

use std::os::unix::fs::symlink;

use aurora_logs::{AddedText, LogDirectory, LogText, Pattern};
use jiff::Timestamp;

use crate::test_directory::TestDirectory;

fn try_write(test: &TestDirectory) -> Result<String, String> {
    let time = Some("2025-12-13T14:32:15Z".parse::<Timestamp>().unwrap());
    let text = LogText::Markdown { query: "retry".into(), id: None, time, body: &mut &b"text"[..] };
    test.logs.write(text, 2).map(|written| written.file).map_err(|error| {
        let source = std::error::Error::source(&error).map(ToString::to_string);
        format!("{error}: {}", source.unwrap_or_default())
    })
}

#[test]
fn logs_are_not_written_through_symbolic_links() {
    for link in ["2025", "2025/12"] {
        let test = TestDirectory::new();
        let outside = test.outside().join("elsewhere");
        std::fs::create_dir(&outside).unwrap();
        std::fs::create_dir_all(test.path(link).parent().unwrap()).unwrap();
        symlink(&outside, test.path(link)).unwrap();
        let error = try_write(&test).unwrap_err();
        assert!(error.contains("symbolic link"), "{error}");
        assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 0);
    }
}

#[test]
fn files_of_any_type_occupy_their_names() {
    let test = TestDirectory::new();
    std::fs::create_dir_all(test.path("2025/12/retry-2025-12-13-2.md")).unwrap();
    symlink("/dev/null", test.path("2025/12/retry-2025-12-13.md")).unwrap();
    symlink("nowhere", test.path("2025/12/retry-2025-12-13-3.md.gz")).unwrap();
    assert_eq!(try_write(&test).unwrap(), "2025/12/retry-2025-12-13-4.md");
}

#[test]
fn pipes_links_and_directories_are_not_logs() {
    let test = TestDirectory::new();
    std::fs::write(test.outside().join("secret"), "needle").unwrap();
    std::fs::create_dir_all(test.path("2025/12/d-2025-12-01.md")).unwrap();
    symlink(test.outside().join("secret"), test.path("2025/12/l-2025-12-01.md")).unwrap();
    symlink("/dev/zero", test.path("2025/12/z-2025-12-01.md.gz")).unwrap();
    let pipe = std::process::Command::new("mkfifo").arg(test.path("2025/12/p-2025-12-01.md")).status().unwrap();
    assert!(pipe.success());
    assert!(test.logs(Default::default()).is_empty());
    // A symbolic link replaces a log after the log was listed and before it is searched.
    test.put("2025/12/a-2025-12-01.md", "needle");
    let log = test.log("a-2025-12-01");
    std::fs::remove_file(test.path("2025/12/a-2025-12-01.md")).unwrap();
    symlink(test.outside().join("secret"), test.path("2025/12/a-2025-12-01.md")).unwrap();
    let mut found = 0;
    let mut take = |_| {
        found += 1;
        true
    };
    assert!(test.logs.search(&log, &Pattern::words("needle").unwrap(), &mut take).is_err());
    assert_eq!(found, 0);
    let text = AddedText::Markdown { section: "More", body: &mut &b"more"[..] };
    assert!(test.logs.append(&log, text, Timestamp::UNIX_EPOCH).is_err());
    assert_eq!(std::fs::read_to_string(test.outside().join("secret")).unwrap(), "needle");
}

#[test]
fn a_lock_file_that_is_a_link_is_an_error() {
    let test = TestDirectory::new();
    symlink(test.outside().join("elsewhere"), test.path(".lock")).unwrap();
    let error = try_write(&test).unwrap_err();
    assert!(error.contains(".lock"), "{error}");
    assert!(!test.outside().join("elsewhere").exists());
    assert!(test.logs(Default::default()).is_empty());
}

/// The file contains one line of 64 MiB, compressed to a few KiB. A search stores only a bounded part of the line.
#[test]
fn a_small_file_with_a_huge_line_is_read_in_parts() {
    let test = TestDirectory::new();
    test.put_packed("2025/12/a-2025-12-01.md.gz", &vec![b'a'; 64 << 20]);
    let logs = LogDirectory::open(test.logs.path()).unwrap().unwrap();
    let log = test.log("a-2025-12-01");
    let mut hits = Vec::new();
    let mut take = |hit| {
        hits.push(hit);
        true
    };
    logs.search(&log, &Pattern::words("aaa").unwrap(), &mut take).unwrap();
    assert_eq!((hits.len(), hits[0].line_end), (1, 1));
    assert_eq!(logs.header(&log).unwrap().id, None);
}

/// The text consists of a matching line and 192 MiB of empty lines, which compress to a thousandth. A search in a plain
/// file with such a text succeeds.
#[test]
fn a_decompression_bomb_is_an_error() {
    let test = TestDirectory::new();
    let mut text = b"needle\n".to_vec();
    text.resize(192 << 20, b'\n');
    test.put_packed("2025/12/a-2025-12-01.md.gz", &text);
    test.put("2025/12/b-2025-12-01.md", &text[..8 << 20]);
    let search = |name: &str| {
        let mut take = |_| true;
        test.logs.search(&test.log(name), &Pattern::words("needle").unwrap(), &mut take)
    };
    let error = search("a-2025-12-01").unwrap_err();
    assert!(error.to_string().contains("unpacks to more than"), "{error}");
    search("b-2025-12-01").unwrap();
    let mut unpacked = test.logs.read(&test.log("a-2025-12-01")).unwrap();
    assert!(std::io::copy(&mut unpacked, &mut std::io::sink()).is_err());
    // Maintenance does not compress a log that could not be decompressed again.
    test.put("2025/12/c-2025-12-01.md", &text);
    test.put("2025/12/d-2025-12-01.md", "needle\n");
    let policy = aurora_logs::Policy { retention_days: 0, compress_after_days: 1 };
    let now = "2026-02-01T00:00:00Z".parse::<Timestamp>().unwrap();
    let options = aurora_logs::MaintenanceOptions { now, is_rehearsal: false, deadline: None, spares_recent: false };
    let report = test.logs.maintain(policy, options, &mut |_, _| {}).unwrap();
    assert_eq!(report.compressed, 1, "{report:?}");
    let files = test.files();
    for plain in ["2025/12/b-2025-12-01.md", "2025/12/c-2025-12-01.md"] {
        assert!(files.contains(&plain.to_owned()), "{files:?}");
    }
}

/// Every line takes time to process, even if it is short. A file of a few KiB that unpacks to a million lines is read
/// only in part, while a log with many ordinary lines is searched completely.
#[test]
fn a_small_file_that_unpacks_to_many_lines_is_an_error() {
    let test = TestDirectory::new();
    test.put_packed("2025/12/a-2025-12-01.md.gz", "a b c\n".repeat(1 << 20).as_bytes());
    let numbers: String = (0..200_000_u64).map(|number| format!("{}\n", number * number)).collect();
    test.put_packed("2025/12/b-2025-12-01.md.gz", format!("{numbers}needle\n").as_bytes());
    let search = |name: &str| {
        let mut lines = 0;
        let mut take = |hit: aurora_logs::SearchHit| {
            lines = hit.line_end;
            true
        };
        test.logs.search(&test.log(name), &Pattern::words("needle").unwrap(), &mut take).map(|()| lines)
    };
    let error = search("a-2025-12-01").unwrap_err();
    assert!(error.to_string().contains("lines"), "{error}");
    assert_eq!(search("b-2025-12-01").unwrap(), 200_001);
}
