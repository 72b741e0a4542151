//! Databases that somebody has made to do harm, or that are damaged.

use std::fs;

use aurora_memory_import::ActrError;
use proptest::prelude::*;

use crate::database::TestDatabase;
use crate::{Found, read, shown};

/// A good row, before and behind the bad ones.
const GOOD: &str = "INSERT INTO chunks (id, type, content) VALUES ('know:good', 'knowledge', '{\"topic\": \"good\"}');";
const GOOD_TOO: &str =
    "INSERT INTO chunks (id, type, content) VALUES ('know:good-too', 'knowledge', '{\"topic\": \"good\"}');";

fn names(found: &Found) -> String {
    let shown = found.iter().map(|found| match found {
        Ok(found) => format!("entry {}", found.entry.id()),
        Err(problem) => format!("{:?} [{}] {}: {}", problem.effect, problem.reason, problem.what, problem.why),
    });
    shown.collect::<Vec<_>>().join("\n")
}

/// Bad rows are reported, each with its reason, and the others are read.
#[test]
fn rows_that_are_none_are_reported() {
    let tables = include_str!("schema.sql").replace(" NOT NULL", "").replace("id TEXT PRIMARY KEY", "id");
    let rows: [(&str, &str); 21] = [
        ("no id", "(NULL, 'code', '{}', NULL, NULL)"),
        ("a blob as id", "(x'00ff', 'code', '{}', NULL, NULL)"),
        ("a long id", "(hex(zeroblob(4000)), 'code', '{}', NULL, NULL)"),
        ("an id that is not UTF-8", "(CAST(x'c328' AS TEXT), 'code', '{}', NULL, NULL)"),
        ("an id with control characters", "('a' || char(10, 27) || '[31m', 'code', '{\"file\": \"a\"}', NULL, NULL)"),
        ("an id of white space", "('  ', 'knowledge', '{\"topic\": \"a\"}', NULL, NULL)"),
        ("the same id twice", "('know:good', 'knowledge', '{\"topic\": \"other\"}', NULL, NULL)"),
        ("a number as type", "('a', 5, '{}', NULL, NULL)"),
        ("a blob as content", "('know:b', 'knowledge', x'7b7d', NULL, NULL)"),
        ("a number as content", "('know:c', 'knowledge', 1.5, NULL, NULL)"),
        ("content that is not UTF-8", "('know:d', 'knowledge', CAST(x'7b22ff227d' AS TEXT), NULL, NULL)"),
        ("content that is too long", "('know:e', 'knowledge', replace(hex(zeroblob(5000000)), '0', 'x'), NULL, NULL)"),
        ("content that is a huge blob", "('know:f', 'knowledge', zeroblob(50000000), NULL, NULL)"),
        ("content that is a list", "('know:g', 'knowledge', '[]', NULL, NULL)"),
        ("content that is not JSON", "('know:h', 'knowledge', '{\"a\": NaN}', NULL, NULL)"),
        ("nested content", "('know:i', 'knowledge', replace(hex(zeroblob(10000)), '00', '['), NULL, NULL)"),
        ("content without knowledge", "('know:j', 'knowledge', '{\"a\": 1}', NULL, NULL)"),
        ("NUL in a text", "('know:k', 'knowledge', '{\"topic\": \"a\\u0000b\"}', NULL, NULL)"),
        (
            "lines in the wrong order",
            "('code:l', 'code', '{\"file\": \"a\", \"line_start\": 5, \"line_end\": 2}', NULL, NULL)",
        ),
        ("metadata that is a list", "('know:m', 'knowledge', '{\"topic\": \"a\"}', '[1]', NULL)"),
        ("a time that is none", "('know:n', 'knowledge', '{\"topic\": \"a\"}', NULL, 'soon')"),
    ];
    let mut report = Vec::new();
    for (name, row) in rows {
        let bad = format!("INSERT INTO chunks (id, type, content, metadata, updated_at) VALUES {row};");
        let database = TestDatabase::without_tables(&[&tables, GOOD, &bad, GOOD_TOO].concat());
        let found = read(&database.path()).expect("a database");
        let good = |id: &str| found.iter().flatten().any(|found| found.entry.id() == id);
        assert!(good("know:good") && good("know:good-too"), "{name}: {}", shown(&found));
        report.push(format!(
            "{name}\n{}",
            names(&found).replace("entry know:good-too", "").replace("entry know:good", "")
        ));
    }
    insta::assert_snapshot!(report.join("\n"));
}

#[test]
fn relationships_and_activations_that_are_none_are_reported() {
    let tables = include_str!("schema.sql").replace(" NOT NULL", "").replace("TEXT PRIMARY KEY", "");
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
    let database = TestDatabase::without_tables(&[&tables, GOOD, GOOD_TOO, rows].concat());
    insta::assert_snapshot!(shown(&read(&database.path()).expect("a database")));
}

/// Schemas that would run something, or never end.
#[test]
fn what_only_looks_like_a_table_is_refused() {
    let columns = "id, type, content, metadata, created_at, updated_at";
    let schemas: [(&str, String); 9] = [
        ("nothing", String::new()),
        ("other tables", "CREATE TABLE t (a); INSERT INTO t VALUES (1);".to_owned()),
        ("a view", format!("CREATE TABLE t ({columns}); CREATE VIEW chunks AS SELECT * FROM t;")),
        (
            "a view without an end",
            format!(
                "CREATE VIEW chunks ({columns}) AS WITH RECURSIVE n (a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM n)
                 SELECT 'know:' || a, 'knowledge', '{{\"topic\": \"a\"}}', NULL, NULL, NULL FROM n;"
            ),
        ),
        (
            "views that contain each other",
            "CREATE VIEW chunks AS SELECT * FROM b; CREATE VIEW b AS SELECT * FROM chunks;".to_owned(),
        ),
        ("a virtual table", format!("CREATE VIRTUAL TABLE chunks USING fts5 ({columns});")),
        (
            "a computed column",
            "CREATE TABLE chunks (id, type, content AS (hex(zeroblob(1000000))), metadata);".to_owned(),
        ),
        ("no row numbers", format!("CREATE TABLE chunks ({columns}, PRIMARY KEY (id)) WITHOUT ROWID;")),
        ("a column in their place", format!("CREATE TABLE chunks ({columns}, _ROWID_);")),
    ];
    let report = schemas.map(|(name, script)| {
        let database = TestDatabase::without_tables(&script);
        let error = read(&database.path()).expect_err(name);
        format!("{name}: {}", error.to_string().replace(&database.path().display().to_string(), "DB"))
    });
    insta::assert_snapshot!(report.join("\n"));
}

/// Other objects of a schema are of no effect.
#[test]
fn triggers_indexes_and_defaults_do_not_run() {
    let script =
        "CREATE INDEX i ON chunks (json_extract(content, '$.a'), id, type, content, metadata, created_at, updated_at);
        CREATE TRIGGER t AFTER INSERT ON chunks BEGIN DELETE FROM chunks; END;
        CREATE VIEW v AS SELECT * FROM chunks;
        DROP TRIGGER t;";
    let database = TestDatabase::new(&[GOOD, script]);
    assert_eq!(names(&read(&database.path()).expect("a database")), "entry know:good");
}

#[test]
fn files_that_are_no_database_are_refused() {
    let database = TestDatabase::new(&[GOOD]);
    let whole = fs::read(database.path()).expect("readable");
    let shown = |error: ActrError| {
        let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}")).unwrap_or_default();
        let directory = database.directory().canonicalize().expect("a directory").display().to_string();
        format!("{error}{cause}").replace(&directory, "").replace(&database.directory().display().to_string(), "")
    };
    let mut report = Vec::new();
    let files: [(&str, &[u8]); 3] = [("text", b"no database, but a text"), ("empty", b""), ("half", &whole[..700])];
    for (name, content) in files {
        let path = database.directory().join(name);
        fs::write(&path, content).expect("writable");
        report.push(shown(read(&path).expect_err(name)));
    }
    report.push(shown(read(&database.directory().join("gone")).expect_err("nothing is there")));
    fs::create_dir(database.directory().join("directory")).expect("writable");
    report.push(shown(read(&database.directory().join("directory")).expect_err("a directory")));
    fs::write(database.directory().join("memory.db-journal"), "a journal").expect("writable");
    report.push(shown(read(&database.path()).expect_err("a journal")));
    insta::assert_snapshot!(report.join("\n"));
}

#[cfg(unix)]
#[test]
fn pipes_and_links_do_not_hold_the_reader_up() {
    use std::os::unix::fs::symlink;

    use rustix::fs::{CWD, FileType, Mode, mknodat};

    let database = TestDatabase::new(&[GOOD]);
    let pipe = database.directory().join("pipe");
    mknodat(CWD, &pipe, FileType::Fifo, Mode::from_raw_mode(0o600), 0).expect("made");
    assert!(read(&pipe).expect_err("a pipe").to_string().contains("not a regular file"));
    // The database may be named by a link; the log beside it may not be one.
    let link = database.directory().join("link");
    symlink("memory.db", &link).expect("linked");
    assert_eq!(names(&read(&link).expect("a database")), "entry know:good");
    symlink("memory.db", database.directory().join("memory.db-wal")).expect("linked");
    assert!(read(&database.path()).expect_err("a link").to_string().contains("symbolic link"));
}

/// A table whose pages name each other, so that a short file has rows without end.
#[test]
fn pages_that_are_used_twice_are_damage() {
    let database = TestDatabase::without_tables("PRAGMA page_size = 512; CREATE TABLE chunks (id, type, content);");
    let rows = "WITH RECURSIVE n (a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM n WHERE a < 400)
        INSERT INTO chunks SELECT 'know:' || a, 'knowledge', '{\"topic\": \"' || hex(zeroblob(40)) || '\"}' FROM n;";
    database.connection().execute_batch(rows).expect("rows");
    let mut bytes = fs::read(database.path()).expect("readable");
    let mut changed = 0;
    for page in bytes.chunks_mut(512).skip(1).filter(|page| page[0] == 5) {
        // An interior page: cells begin with the number of a child, and all lead to the first one's now.
        let cells = usize::from(u16::from_be_bytes([page[3], page[4]]));
        let place =
            |cell: usize, page: &[u8]| usize::from(u16::from_be_bytes([page[12 + 2 * cell], page[13 + 2 * cell]]));
        let child: [u8; 4] = page[place(0, page)..][..4].try_into().expect("four bytes");
        for cell in 1..cells {
            let at = place(cell, page);
            page[at..at + 4].copy_from_slice(&child);
            changed += 1;
        }
    }
    assert!(changed > 20);
    fs::write(database.path(), bytes).expect("writable");
    let found = read(&database.path()).expect("a database");
    assert!(found.iter().filter(|found| found.is_ok()).count() < 400);
    assert!(names(&found).contains("its rows are not in order"), "{}", names(&found));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// Whatever bytes are changed, the reader comes to an end.
    #[test]
    fn damage_anywhere_is_survived(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..24)) {
        let database = TestDatabase::new(&[include_str!("rows.sql")]);
        let mut bytes = fs::read(database.path()).expect("readable");
        for (place, byte) in changes {
            *place.get_mut(&mut bytes) = byte;
        }
        fs::write(database.path(), bytes).expect("writable");
        if let Ok(found) = read(&database.path()) {
            prop_assert!(found.len() < 100);
        }
    }
}
