//! Importing databases of aurora-actr, which a script converts to JSON Lines.

use std::fs::{self, File};
use std::path::Path;
use std::process::Command;

use proptest::prelude::*;
use serde_json::Value;

use crate::fixture::{Fixture, Run};
use crate::with_input;

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/memory/import/actr/actr_to_jsonl.py");
const SCHEMA: &str = include_str!("actr/schema.sql");
const ROWS: &str = include_str!("actr/rows.sql");

/// Python program that runs SQL statements on `memory.db`, which is created if it does not exist.
const EXECUTE: &str = "
import sqlite3, sys
database = sqlite3.connect('memory.db', isolation_level=None)
database.execute('PRAGMA foreign_keys = 0')
database.executescript(sys.argv[1])
";

/// A valid row, which is inserted before the invalid rows.
const GOOD: &str = "INSERT INTO chunks (id, type, content) VALUES ('know:good', 'knowledge', '{\"topic\": \"good\"}');";
/// A valid row, which is inserted after the invalid rows.
const GOOD_TOO: &str =
    "INSERT INTO chunks (id, type, content) VALUES ('know:good-too', 'knowledge', '{\"topic\": \"good\"}');";

/// Creates a directory with a database, and runs SQL statements on the database.
fn database(statements: &[&str]) -> Fixture {
    let fixture = Fixture::git();
    execute(&fixture, EXECUTE, &statements.concat());
    fixture
}

fn execute(fixture: &Fixture, program: &str, argument: &str) {
    let run = Run::from_command(Command::new("python3").args(["-c", program, argument]).current_dir(fixture.root()));
    assert_eq!(run.code, Some(0), "{run:?}");
}

fn convert(fixture: &Fixture, arguments: &[&str]) -> Run {
    let temporary = fixture.home().join("tmp");
    fs::create_dir_all(&temporary).expect("the directory can be created");
    let run = Run::from_command(
        Command::new("python3").arg(SCRIPT).args(arguments).current_dir(fixture.root()).env("TMPDIR", &temporary),
    );
    assert!(!run.err.contains("Traceback"), "{run:?}");
    assert_eq!(fs::read_dir(temporary).expect("the directory can be read").count(), 0, "a copy is left");
    run
}

/// Parses JSON Lines.
fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).expect("the text is JSON")).collect()
}

fn ids(run: &Run) -> Vec<String> {
    lines(&run.out).iter().map(|line| line["id"].as_str().expect("the value is a string").to_owned()).collect()
}

/// Returns the files of the directory with their contents.
fn files(fixture: &Fixture) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(fixture.root()).expect("the directory can be read").flatten();
    let files = entries.filter(|entry| entry.path().is_file()).map(|entry| {
        (entry.file_name().to_string_lossy().into_owned(), fs::read(entry.path()).expect("the file can be read"))
    });
    let mut files: Vec<_> = files.collect();
    files.sort();
    files
}

#[test]
fn a_database_becomes_entries() {
    let fixture = database(&[SCHEMA, ROWS]);
    let arguments = ["memory.db", "--root", "/srv/app", "--verbose"];
    let converted = convert(&fixture, &arguments);
    assert_eq!(converted.code, Some(1), "{converted:?}");
    insta::assert_snapshot!("report", converted.err);
    let import = ["mem", "import", "--from", "jsonl", "-", "--format", "json"];
    let imported = with_input(&fixture, &import, &converted.out).json();
    assert_eq!((&imported["added"], &imported["accesses"]), (&7.into(), &3.into()), "{imported}");
    assert_eq!((&imported["not_stored"], &imported["unmapped"]["document"]), (&1.into(), &1.into()), "{imported}");
    let exported = lines(&fixture.aur(&["mem", "export", "--memory", "project"]).out);
    let shown: Vec<String> = exported[1..].iter().map(|line| format!("{line:#}")).collect();
    insta::assert_snapshot!("entries", shown.join("\n"));
    let again = with_input(&fixture, &import, &convert(&fixture, &arguments).out).json();
    assert_eq!((&again["unchanged"], &again["accesses"]), (&7.into(), &0.into()), "{again}");
    let mine = convert(&fixture, &["memory.db", "--memory", "user"]).out;
    let mine = with_input(&fixture, &[&import[..], &["--memory", "user"]].concat(), &mine).json();
    assert_eq!((&mine["added"], &mine["memory"]), (&7.into(), &"user".into()), "{mine}");
}

#[test]
fn secrets_are_masked_by_the_import() {
    let secret = ["k3Jd82mXq0PzL5vR", "t7NcY1wBs9HfGa4eUiTo"].concat();
    let row = format!(
        "INSERT INTO chunks (id, type, content) VALUES ('a', 'kb', '{{\"topic\": \"a\", \"password\": \"{secret}\"}}');"
    );
    let fixture = database(&[SCHEMA, &row]);
    let converted = convert(&fixture, &["memory.db"]).out;
    assert!(converted.contains(&secret));
    assert_eq!(with_input(&fixture, &["mem", "import", "--from", "jsonl", "-"], &converted).code, Some(0));
    let exported = fixture.aur(&["mem", "export", "--memory", "project"]).out;
    assert!(exported.contains("know:a") && !exported.contains(&secret), "{exported}");
}

#[test]
fn a_derived_id_that_another_chunk_has_gets_a_suffix() {
    let rows = "INSERT INTO chunks (id, type, content) VALUES ('a', 'kb', '{\"topic\": \"one\"}'),
                ('know:a', 'knowledge', '{\"topic\": \"two\"}');";
    let ids = ids(&convert(&database(&[SCHEMA, rows]), &["memory.db"]));
    assert!(ids.len() == 2 && ids[0].starts_with("know:a-") && ids[1] == "know:a", "{ids:?}");
}

/// Tables of version 1 have no columns for histories.
#[test]
fn missing_columns_have_no_values() {
    let fixture = database(&[
        "CREATE TABLE chunks (id TEXT PRIMARY KEY, type TEXT NOT NULL, content JSON NOT NULL, metadata JSON, created_at TIMESTAMP,
         updated_at TIMESTAMP);
         CREATE TABLE activations (chunk_id TEXT PRIMARY KEY, base_level REAL, last_access TIMESTAMP, access_count INTEGER);
         INSERT INTO chunks VALUES ('know:a', 'knowledge', '{\"topic\": \"a\"}', NULL, '2026-01-01 00:00:00', NULL);
         INSERT INTO activations VALUES ('know:a', 0, '2026-01-02 00:00:00', 3);",
    ]);
    let converted = convert(&fixture, &["memory.db"]);
    assert_eq!(converted.code, Some(0), "{converted:?}");
    insta::assert_snapshot!(converted.out, @r#"{"id":"know:a","scope":"project","created_at":"2026-01-01T00:00:00Z","edited_at":"2026-01-01T00:00:00Z","access":{"count":3,"last":"2026-01-02T00:00:00Z","recent":["2026-01-02T00:00:00Z"]},"entry":{"id":"know:a","type":"knowledge","content":{"topic":"a"},"metadata":{"created":"2026-01-01T00:00:00Z"}}}"#);
}

/// If another process has the database open, or was killed before it closed the database, the script also reads the
/// write-ahead log. All files stay unchanged.
#[test]
fn the_write_ahead_log_is_read_and_nothing_is_written() {
    let fixture = database(&[SCHEMA]);
    let program = "
import os, sqlite3, sys
database = sqlite3.connect('memory.db', isolation_level=None)
for setting in ('journal_mode = WAL', 'wal_autocheckpoint = 0', 'foreign_keys = 0'):
    database.execute(f'PRAGMA {setting}')
database.executescript(sys.argv[1])
os._exit(0)
";
    execute(&fixture, program, ROWS);
    fs::remove_file(fixture.path("memory.db-shm")).expect("the file can be removed");
    let before = files(&fixture);
    assert!(before.iter().any(|(name, bytes)| name.ends_with("-wal") && !bytes.is_empty()));
    assert_eq!(ids(&convert(&fixture, &["memory.db"])).len(), 9);
    assert!(files(&fixture) == before);
    fs::remove_file(fixture.path("memory.db-wal")).expect("the file can be removed");
    assert_eq!(convert(&fixture, &["memory.db"]).out, "");
}

/// Each invalid row is reported with a reason, and the other rows are converted.
#[test]
fn bad_rows_are_reported() {
    let tables = SCHEMA.replace(" NOT NULL", "").replace("id TEXT PRIMARY KEY", "id");
    let bad = "INSERT INTO chunks (id, type, content, metadata, updated_at) VALUES
        (NULL, 'code', '{}', NULL, NULL),
        (x'00ff', 'code', '{}', NULL, NULL),
        (hex(zeroblob(4000)), 'code', '{}', NULL, NULL),
        (CAST(x'c328' AS TEXT), 'code', '{}', NULL, NULL),
        ('a' || char(10, 27) || '[31m', 'code', '{\"file\": \"a\"}', NULL, NULL),
        ('  ', 'knowledge', '{\"topic\": \"a\"}', NULL, NULL),
        ('a', 5, '{}', NULL, NULL),
        ('know:b', 'knowledge', x'7b7d', NULL, NULL),
        ('know:c', 'knowledge', 1.5, NULL, NULL),
        ('know:d', 'knowledge', CAST(x'7b22ff227d' AS TEXT), NULL, NULL),
        ('know:e', 'knowledge', replace(hex(zeroblob(5000000)), '0', 'x'), NULL, NULL),
        ('know:f', 'knowledge', zeroblob(50000000), NULL, NULL),
        ('know:g', 'knowledge', '[]', NULL, NULL),
        ('know:h', 'knowledge', '{\"a\": NaN}', NULL, NULL),
        ('know:i', 'knowledge', '{\"a\": 1e999}', NULL, NULL),
        ('know:j', 'knowledge', replace(hex(zeroblob(10000)), '00', '['), NULL, NULL),
        ('know:k', 'knowledge', '{\"topic\": \"\\ud800\"}', NULL, NULL),
        ('know:l', 'knowledge', '{\"a\": ' || hex(zeroblob(5000)) || '}', NULL, NULL),
        ('know:m', 'knowledge', '{\"topic\": \"a\"}', '[1]', NULL),
        ('know:n', 'knowledge', '{\"topic\": \"a\"}', NULL, 'soon');";
    let fixture = database(&[&tables, GOOD, bad, GOOD_TOO]);
    let converted = convert(&fixture, &["memory.db", "--verbose"]);
    let ids = ids(&converted);
    assert!(ids.first().is_some_and(|id| id == "know:good") && ids.last().is_some_and(|id| id == "know:good-too"));
    insta::assert_snapshot!("bad_rows", format!("{}\n{}", ids.join("\n"), converted.err));
    // The script converts these documents, but the program reports that they are not valid entries.
    let rows = "INSERT INTO chunks (id, type, content) VALUES
        ('know:a', 'knowledge', '{\"a\": 1}'), ('know:b', 'knowledge', '{\"topic\": \"a\\u0000b\"}'),
        ('code:c', 'code', '{\"file\": \"a\", \"line_start\": 5, \"line_end\": 2}');";
    let fixture = database(&[SCHEMA, rows, GOOD]);
    let converted = convert(&fixture, &["memory.db"]);
    let import = ["mem", "import", "--from", "jsonl", "-", "--format", "json"];
    let imported = with_input(&fixture, &import, &converted.out).json();
    assert_eq!((&imported["added"], &imported["unmapped"]["document"]), (&1.into(), &3.into()), "{imported}");
}

#[test]
fn bad_relationships_and_activations_are_reported() {
    let tables = SCHEMA.replace(" NOT NULL", "").replace("TEXT PRIMARY KEY", "");
    let rows = "INSERT INTO relationships (from_chunk, to_chunk, relationship_type, weight) VALUES
        (NULL, 'know:good', 'a', 1), ('know:good', 5, 'a', 1), ('know:good', 'know:good-too', x'00', 1),
        ('know:good', 'know:good-too', CAST(x'ff' AS TEXT), 1), ('know:good', 'know:good-too', hex(zeroblob(9999)), 1),
        ('know:good', 'know:good-too', 'a', 9e999), ('know:good', 'know:good-too', 'b', 'x'),
        ('know:good', 'know:good-too', 'c' || char(10), 0.5);
        INSERT INTO activations (chunk_id, base_level, last_access, access_count, access_history) VALUES
        (NULL, 0, 0, 1, NULL), ('know:good', 0, x'00', 1, NULL), ('know:good', 0, 9e99, 9e99, '{}'),
        ('know:good', 0, NULL, 'x', '[1, 2.5, null, \"a\", 99999999999999]'), ('know:good', 0, 5, -9223372036854775808, NULL),
        ('know:good-too', 0, 0, 9223372036854775807, replace(hex(zeroblob(5000000)), '0', 'x'));
        UPDATE chunks SET created_at = '2026-01-01 00:00:00', updated_at = 0;";
    let fixture = database(&[&tables, GOOD, GOOD_TOO, rows]);
    let converted = convert(&fixture, &["memory.db", "--verbose"]);
    insta::assert_snapshot!("bad_relationships", format!("{}{}", converted.out, converted.err));
    assert_eq!(with_input(&fixture, &["mem", "import", "--from", "jsonl", "-"], &converted.out).code, Some(0));
}

/// Some of the refused schemas would run code or never end.
#[test]
fn schema_objects_that_are_not_plain_tables_are_refused() {
    let columns = "id, type, content, metadata, created_at, updated_at";
    let check = |schema: String, expected: &str| {
        let run = convert(&database(&[&schema]), &["memory.db"]);
        assert!(run.code == Some(2) && run.out.is_empty() && run.err.contains(expected), "{schema}: {run:?}");
    };
    check("CREATE TABLE t (a);".to_owned(), "it has no table `chunks`");
    for schema in [
        format!("CREATE TABLE t ({columns}); CREATE VIEW chunks AS SELECT * FROM t;"),
        format!(
            "CREATE VIEW chunks ({columns}) AS WITH RECURSIVE n (a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM n)
             SELECT 'know:' || a, 'knowledge', '{{\"topic\": \"a\"}}', NULL, NULL, NULL FROM n;"
        ),
        "CREATE VIEW chunks AS SELECT * FROM b; CREATE VIEW b AS SELECT * FROM chunks;".to_owned(),
        format!("CREATE VIRTUAL TABLE chunks USING fts5 ({columns});"),
        "CREATE TABLE chunks (id, type, content AS (hex(zeroblob(1000000))), metadata);".to_owned(),
        format!("CREATE TABLE chunks ({columns}, PRIMARY KEY (id)) WITHOUT ROWID;"),
        format!("CREATE TABLE chunks ({columns}, _ROWID_);"),
        format!("{SCHEMA} DROP TABLE activations; CREATE VIEW activations AS SELECT * FROM chunks;"),
    ] {
        check(schema, "is not an ordinary table");
    }
    // Other objects in a schema have no effect.
    let index = "CREATE INDEX i ON chunks (lower(content), id, type, content, metadata);
                 CREATE VIEW v AS SELECT * FROM chunks;";
    assert_eq!(ids(&convert(&database(&[SCHEMA, GOOD, index]), &["memory.db"])), ["know:good"]);
}

#[test]
fn files_that_are_not_databases_are_refused() {
    let fixture = database(&[SCHEMA, GOOD]);
    let whole = fs::read(fixture.path("memory.db")).expect("the file can be read");
    fixture.write("text", "no database, but a text").write("empty", "").write("half", &whole[..700]);
    fixture.write("directory/file", "").write("journal.db", &whole).write("journal.db-journal", "a journal");
    // The file exceeds the maximum size, so it is not copied.
    File::create(fixture.path("sparse"))
        .and_then(|file| file.set_len(65 << 30))
        .expect("the sparse file can be created");
    let check = |file: &str, expected: &str| {
        let run = convert(&fixture, &[file]);
        assert!(run.code == Some(2) && run.out.is_empty() && run.err.contains(expected), "{file}: {run:?}");
    };
    check("text", "file is not a database");
    check("empty", "it has no table `chunks`");
    check("half", "malformed");
    check("gone", "No such file");
    check("directory", "not a regular file");
    check("journal.db", "the last write was interrupted");
    check("sparse", "not a regular file of at most");
    #[cfg(unix)]
    {
        use std::os::unix::fs::symlink;

        use rustix::fs::{CWD, FileType, Mode, mknodat};

        mknodat(CWD, fixture.path("pipe"), FileType::Fifo, Mode::from_raw_mode(0o600), 0)
            .expect("the pipe can be created");
        check("pipe", "not a regular file");
        // The database may be a symbolic link, but its write-ahead log must not be one.
        symlink("memory.db", fixture.path("link")).expect("the link can be created");
        assert_eq!(ids(&convert(&fixture, &["link"])), ["know:good"]);
        symlink("memory.db", fixture.path("memory.db-wal")).expect("the link can be created");
        check("memory.db", "symbolic links");
    }
}

/// The file begins like a database, and is so large that copying it takes long, unless the file system can share blocks
/// between copies.
#[cfg(unix)]
#[test]
fn an_interrupted_conversion_leaves_no_copy() {
    use rustix::process::{Pid, Signal, kill_process};

    let fixture = Fixture::plain();
    fixture.write("memory.db", "SQLite format 3\0").write("tmp/other", "");
    let file = File::options().append(true).open(fixture.path("memory.db")).expect("the file can be opened");
    file.set_len(8 << 30).expect("the sparse file can be created");
    let temporary = fixture.path("tmp");
    let has_copy = |directory: &Path| {
        let entries = fs::read_dir(directory).expect("the directory can be read").flatten();
        entries.into_iter().any(|entry| entry.path().join("memory.db").exists())
    };
    let mut command = Command::new("python3");
    let mut child = command
        .arg(SCRIPT)
        .arg(fixture.path("memory.db"))
        .env("TMPDIR", &temporary)
        .spawn()
        .expect("the program starts");
    while !has_copy(&temporary) && child.try_wait().expect("the status of the process is available").is_none() {
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    if child.try_wait().expect("the status of the process is available").is_none() {
        kill_process(Pid::from_child(&child), Signal::TERM).expect("the script runs");
    }
    let code = child.wait().expect("the program ends").code();
    assert!(code == Some(130) || code == Some(2), "{code:?}");
    assert_eq!(fs::read_dir(&temporary).expect("the directory can be read").count(), 1);
}

/// A table in which all cells of a page refer to the same child page, so that a short file seems to repeat its rows.
#[test]
fn pages_that_are_used_twice_are_reported_as_damage() {
    let fixture = database(&["PRAGMA page_size = 512; CREATE TABLE chunks (id, type, content);
         WITH RECURSIVE n (a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM n WHERE a < 400)
         INSERT INTO chunks SELECT 'know:' || a, 'knowledge', '{\"topic\": \"' || hex(zeroblob(40)) || '\"}' FROM n;"]);
    let mut bytes = fs::read(fixture.path("memory.db")).expect("the file can be read");
    let mut changed = 0;
    for page in bytes.chunks_mut(512).skip(1).filter(|page| page[0] == 5) {
        // The cells of an interior page begin with the number of a child page. The loop makes all cells refer to the
        // first child page.
        let cells = usize::from(u16::from_be_bytes([page[3], page[4]]));
        let place =
            |cell: usize, page: &[u8]| usize::from(u16::from_be_bytes([page[12 + 2 * cell], page[13 + 2 * cell]]));
        let child: [u8; 4] = page[place(0, page)..][..4].try_into().expect("the slice has four bytes");
        for cell in 1..cells {
            let at = place(cell, page);
            page[at..at + 4].copy_from_slice(&child);
            changed += 1;
        }
    }
    assert!(changed > 20);
    fixture.write("memory.db", bytes);
    let run = convert(&fixture, &["memory.db", "--verbose"]);
    assert!(run.code == Some(1) && run.err.contains("its rows are not in order"), "{run:?}");
    assert!(ids(&run).len() < 400);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// The script must end, whichever bytes of the file are changed.
    #[test]
    fn the_script_survives_damage_anywhere(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..24)) {
        let fixture = database(&[SCHEMA, ROWS]);
        let mut bytes = fs::read(fixture.path("memory.db")).expect("the file can be read");
        for (place, byte) in changes {
            *place.get_mut(&mut bytes) = byte;
        }
        fixture.write("memory.db", bytes);
        let run = convert(&fixture, &["memory.db"]);
        prop_assert!(run.code.is_some_and(|code| code <= 2) && run.out.lines().count() < 100, "{:?}", run);
    }
}
