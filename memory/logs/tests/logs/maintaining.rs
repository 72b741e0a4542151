//! Tests of the compression and the retention of logs.

use std::time::{Duration, Instant, SystemTime};

use aurora_logs::{Action, MaintenanceOptions, MaintenanceReport, Pattern, Policy};
use jiff::Timestamp;

use crate::test_directory::TestDirectory;

const POLICY: Policy = Policy { retention_days: 90, compress_after_days: 7 };
const NOW: &str = "2025-12-20T12:00:00Z";

fn options(is_rehearsal: bool) -> MaintenanceOptions {
    MaintenanceOptions { now: NOW.parse().unwrap(), is_rehearsal, deadline: None, spares_recent: false }
}

fn maintain(test: &TestDirectory, policy: Policy) -> MaintenanceReport {
    test.logs.maintain(policy, options(false), &mut |_, _| {}).unwrap()
}

fn set_modified(test: &TestDirectory, relative: &str, days_ago: u64) {
    let now: Timestamp = NOW.parse().unwrap();
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(now.as_second() as u64 - days_ago * 86_400);
    std::fs::File::options().append(true).open(test.path(relative)).unwrap().set_modified(time).unwrap();
}

#[test]
fn old_logs_are_compressed_and_expired_logs_are_removed() {
    let test = TestDirectory::new();
    let log = "## Phase 1: A\nneedle\n".repeat(100);
    for name in [
        "2025/12/new-2025-12-20.md",
        "2025/12/week-2025-12-13.md",
        "2025/12/older-2025-12-12.md",
        "2025/09/kept-2025-09-21.md",
        "2025/09/gone-2025-09-20.md",
        "2025/09/gone-2025-09-20-2.md",
        "2026/01/future-2026-01-01.md",
    ] {
        test.put(name, &log);
    }
    test.put_packed("2025/01/gone-2025-01-01.md.gz", log.as_bytes());
    // Without a day in the name, the modification time determines the age.
    for (name, days) in [("2025/12/undated-old.md", 91), ("2025/01/undated-new.md", 3), ("2025/12/undated-week.md", 8)]
    {
        test.put(name, &log);
        set_modified(&test, name, days);
    }
    // These files are not logs, because their paths do not have the layout of the log directory.
    for name in
        ["2020/01/gone-2020-01-01.txt", "2020/gone-2020-01-01.md", "gone-2020-01-01.md", "2020/01/x/a-2020-01-01.md"]
    {
        test.put(name, "other");
    }
    let before = test.files();
    let mut planned = Vec::new();
    let dry_run =
        test.logs.maintain(POLICY, options(true), &mut |action, file| planned.push((action, file.to_owned()))).unwrap();
    assert_eq!(test.files(), before);
    planned.sort_by(|a, b| a.1.cmp(&b.1));
    let expected = [
        (Action::Remove, "2025/01/gone-2025-01-01.md.gz"),
        (Action::Remove, "2025/09/gone-2025-09-20-2.md"),
        (Action::Remove, "2025/09/gone-2025-09-20.md"),
        (Action::Compress, "2025/09/kept-2025-09-21.md"),
        (Action::Compress, "2025/12/older-2025-12-12.md"),
        (Action::Remove, "2025/12/undated-old.md"),
        (Action::Compress, "2025/12/undated-week.md"),
    ];
    assert_eq!(planned, expected.map(|(action, file)| (action, file.to_owned())));

    let report = maintain(&test, POLICY);
    assert_eq!((report.compressed, report.removed, report.kept), (3, 4, 4));
    assert_eq!((report.compressed, report.removed, report.kept), (dry_run.compressed, dry_run.removed, dry_run.kept));
    assert!(report.bytes_before == 3 * log.len() as u64 && report.bytes_after < report.bytes_before / 5, "{report:?}");
    assert!(report.unread.is_empty() && report.complete, "{report:?}");
    assert_eq!(
        test.files(),
        [
            "2020/01/gone-2020-01-01.txt",
            "2020/01/x/a-2020-01-01.md",
            "2020/gone-2020-01-01.md",
            "2025/01/undated-new.md",
            "2025/09/kept-2025-09-21.md.gz",
            "2025/12/new-2025-12-20.md",
            "2025/12/older-2025-12-12.md.gz",
            "2025/12/undated-week.md.gz",
            "2025/12/week-2025-12-13.md",
            "2026/01/future-2026-01-01.md",
            "gone-2020-01-01.md",
        ]
    );
    assert_eq!(test.content("2025/12/older-2025-12-12.md.gz"), log);
    // Compression preserves the modification time, and with it the age of a log without a day in its name.
    let again = test
        .logs
        .maintain(Policy { retention_days: 7, compress_after_days: 0 }, options(true), &mut |_, _| {})
        .unwrap();
    assert_eq!((again.removed, again.compressed), (3, 0));
    assert_eq!(maintain(&test, POLICY).compressed, 0);
}

#[test]
fn zero_days_disable_removal_and_compression() {
    let test = TestDirectory::new();
    test.put("2000/01/old-2000-01-01.md", "text");
    let report = maintain(&test, Policy { retention_days: 0, compress_after_days: 0 });
    assert_eq!((report.kept, test.files().len()), (1, 1));
    assert_eq!(maintain(&test, Policy { retention_days: 0, compress_after_days: 1 }).compressed, 1);
}

/// Covers the states that a killed process can leave: an unfinished file, a log with an equal compressed copy, and a
/// log that is longer than its compressed copy.
#[test]
fn maintenance_cleans_up_after_a_killed_process() {
    let test = TestDirectory::new();
    test.put("2025/12/a-2025-12-01.md", "text");
    test.put("2025/12/.log.0123456789abcdef.tmp", "half");
    test.put("2025/12/b-2025-12-01.md", "text");
    test.put_packed("2025/12/b-2025-12-01.md.gz", b"text");
    // A process was killed while it appended to a compressed log.
    test.put("2025/12/c-2025-12-01.md", "text and more");
    test.put_packed("2025/12/c-2025-12-01.md.gz", b"text");
    test.put("2025/12/d-2025-12-19.md", "text");
    test.put_packed("2025/12/d-2025-12-19.md.gz", b"text");
    assert_eq!(test.logs(Default::default()).len(), 4);
    let report = maintain(&test, POLICY);
    assert_eq!((report.compressed, report.copies_removed, report.unfinished_removed), (3, 3, 1));
    assert_eq!(
        test.files(),
        [
            "2025/12/a-2025-12-01.md.gz",
            "2025/12/b-2025-12-01.md.gz",
            "2025/12/c-2025-12-01.md.gz",
            "2025/12/d-2025-12-19.md"
        ]
    );
    assert_eq!(test.content("2025/12/c-2025-12-01.md.gz"), "text and more");
}

#[test]
fn unreadable_logs_are_reported_and_kept() {
    let test = TestDirectory::new();
    // The logs have a compressed copy with different content, a damaged copy, no copy, and a copy that is longer than
    // the log.
    test.put("2025/12/a-2025-12-01.md", "text");
    test.put_packed("2025/12/a-2025-12-01.md.gz", b"other");
    test.put("2025/12/b-2025-12-01.md", "text");
    test.put("2025/12/b-2025-12-01.md.gz", b"\x1f\x8bno gzip");
    test.put("2025/12/c-2025-12-01.md", "text");
    test.put("2025/12/short-2025-12-01.md", "te");
    test.put_packed("2025/12/short-2025-12-01.md.gz", b"text");
    let before = test.files();
    let report = maintain(&test, POLICY);
    let unread: Vec<_> = report.unread.iter().map(|unread| unread.file.as_str()).collect();
    assert_eq!(unread, ["2025/12/a-2025-12-01.md", "2025/12/b-2025-12-01.md", "2025/12/short-2025-12-01.md"]);
    assert!(report.unread[0].cause.contains("different content"), "{report:?}");
    assert_eq!(report.compressed, 1);
    assert_eq!(test.files().len(), before.len());
}

#[cfg(unix)]
#[test]
fn links_and_unreadable_files_are_kept() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    let test = TestDirectory::new();
    std::fs::write(test.outside().join("secret-2020-01-01.md"), "secret").unwrap();
    std::fs::create_dir(test.outside().join("01")).unwrap();
    std::fs::write(test.outside().join("01/secret-2020-01-01.md"), "secret").unwrap();
    test.put("2020/02/fine-2020-02-01.md", "text");
    test.put("2020/02/closed-2020-02-01.md", "text");
    symlink(test.outside().join("secret-2020-01-01.md"), test.path("2020/02/link-2020-02-01.md")).unwrap();
    symlink(test.outside().join("01"), test.path("2020/01")).unwrap();
    symlink(test.outside(), test.path("2019")).unwrap();
    let closed = test.path("2020/02/closed-2020-02-01.md");
    std::fs::set_permissions(&closed, std::fs::Permissions::from_mode(0o000)).unwrap();
    let is_root = std::fs::File::open(&closed).is_ok();
    let report = maintain(&test, POLICY);
    assert_eq!(report.removed, if is_root { 2 } else { 1 });
    assert_eq!(report.unread.len(), usize::from(!is_root));
    assert!(test.path("2020/02/link-2020-02-01.md").symlink_metadata().is_ok());
    assert!(test.outside().join("01/secret-2020-01-01.md").exists());
    assert!(test.logs(Default::default()).iter().all(|log| log.name.starts_with("closed")));
}

#[test]
fn maintenance_stops_at_its_deadline() {
    let test = TestDirectory::new();
    test.put("2025/12/a-2025-12-01.md", "text");
    let options = MaintenanceOptions { deadline: Some(Instant::now()), ..options(false) };
    let report = test.logs.maintain(POLICY, options, &mut |_, _| {}).unwrap();
    assert!(!report.complete && report.compressed == 0, "{report:?}");
}

#[test]
fn daily_maintenance_runs_once_a_day() {
    let test = TestDirectory::new();
    let second = Duration::from_secs(1);
    let now = Timestamp::now();
    let run = |now| test.logs.maintain_daily(POLICY, now, second).unwrap().is_some();
    assert!(run(now));
    assert!(!run(now));
    let later = now + jiff::SignedDuration::from_hours(25);
    assert!(run(later));
    // A modification time that a wrong clock has set a year in the future must not prevent maintenance for a year.
    std::fs::File::options()
        .append(true)
        .open(test.path(".maintained"))
        .unwrap()
        .set_modified(SystemTime::now() + Duration::from_secs(365 * 86_400))
        .unwrap();
    assert!(run(now) && !run(now));
}

#[test]
fn daily_maintenance_removes_nothing_after_a_clock_jump() {
    let test = TestDirectory::new();
    let now = Timestamp::from_second(Timestamp::now().as_second()).unwrap();
    test.write("retry", &now.to_string());
    let daily = |now| test.logs.maintain_daily(POLICY, now, Duration::from_secs(9)).unwrap();
    assert!(daily(now).is_some_and(|report| report.withheld_since.is_none()));
    let later = now + jiff::SignedDuration::from_hours(24 * 365 * 74);
    for _ in 0..2 {
        test.write("cache", &later.to_string());
        let report = daily(later).unwrap();
        assert!(report.withheld_since.is_some() && report.removed == 0, "{report:?}");
    }
    assert_eq!(test.files().len(), 3);
    // Maintenance runs again at a time within the retention period, and on request.
    assert!(
        daily(now + jiff::SignedDuration::from_hours(24 * 60)).is_some_and(|report| report.withheld_since.is_none())
    );
    let options = MaintenanceOptions { now: later, ..options(false) };
    assert_eq!(test.logs.maintain(POLICY, options, &mut |_, _| {}).unwrap().removed, 1);
}

#[test]
fn daily_maintenance_keeps_logs_that_were_just_written() {
    let test = TestDirectory::new();
    test.put("2020/01/other-2020-01-01.md", "text");
    set_modified(&test, "2020/01/other-2020-01-01.md", 3);
    // Another process could have just written these logs and printed their paths to the user.
    let written = ["cache", "retry"].map(|query| test.write(query, "2020-01-01T00:00:00Z").file);
    let report = test.logs.maintain_daily(POLICY, Timestamp::now(), Duration::from_secs(9)).unwrap();
    assert_eq!(report.map(|report| (report.removed, report.kept)), Some((1, 2)));
    assert_eq!(test.files(), written);
    assert_eq!(maintain(&test, POLICY).removed, 2);
}

#[test]
fn only_one_of_many_callers_runs_daily_maintenance() {
    let test = TestDirectory::new();
    let now = Timestamp::now();
    let runs: usize = std::thread::scope(|scope| {
        let run = |_| scope.spawn(|| test.logs.maintain_daily(POLICY, now, Duration::from_secs(1)).unwrap().is_some());
        let threads: Vec<_> = (0..16).map(run).collect();
        threads.into_iter().map(|thread| usize::from(thread.join().unwrap())).sum()
    });
    assert_eq!(runs, 1);
}

/// Searches and appends while logs are compressed. Every search must find every log exactly once, and no appended text
/// may be lost.
#[test]
fn logs_stay_complete_while_they_are_compressed() {
    let test = TestDirectory::new();
    for number in 0..40 {
        test.put(&format!("2025/12/log{number}-2025-12-01.md"), format!("## A\nneedle {number}\n"));
    }
    let pattern = Pattern::words("needle").unwrap();
    std::thread::scope(|scope| {
        let maintainer = scope.spawn(|| {
            for _ in 0..30 {
                maintain(&test, POLICY);
            }
        });
        let adder = scope.spawn(|| {
            for round in 0..60 {
                let log = test.log(&format!("log{}-2025-12-01", round % 40));
                let text = aurora_logs::AddedText::Markdown { section: "More", body: &mut &b"more\n"[..] };
                test.logs.append(&log, text, Timestamp::UNIX_EPOCH).unwrap();
            }
        });
        let mut rounds = 0;
        while rounds < 10 || !(maintainer.is_finished() && adder.is_finished()) {
            rounds += 1;
            let mut found = 0;
            for log in test.logs(Default::default()) {
                let mut take = |_| {
                    found += 1;
                    true
                };
                test.logs.search(&log, &pattern, &mut take).unwrap();
            }
            assert_eq!(found, 40);
        }
    });
    maintain(&test, POLICY);
    let files = test.files();
    assert_eq!(files.len(), 40);
    let added: usize = files.iter().map(|file| test.content(file).matches("### More").count()).sum();
    assert_eq!(added, 60);
}
