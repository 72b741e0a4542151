//! Databases of aurora-actr: what becomes of them, and that none of them does harm.

mod copies;
mod database;
mod hostile;

use std::path::Path;

use aurora_memory_import::{ActrDatabase, ActrError, ActrOptions, ImportEffect, ImportProblem, ImportedEntry};
use database::TestDatabase;
use serde_json::json;

/// What a database gives.
pub(crate) type Found = Vec<Result<ImportedEntry, ImportProblem>>;

pub(crate) fn read(path: &Path) -> Result<Found, ActrError> {
    let options = ActrOptions { root: Some(Path::new("/srv/app")), check_rule: |_, _| Ok(()) };
    Ok(ActrDatabase::open(path, options, |_| {})?.collect())
}

/// All of it, for people.
pub(crate) fn shown(found: &Found) -> String {
    let lines = found.iter().map(|found| match found {
        Ok(ImportedEntry { entry, created, edited, access, source }) => {
            let access = access.as_ref().map(|access| json!([access.count, access.last, access.recent]));
            let shown = json!({ "entry": entry, "created": created, "edited": edited, "access": access });
            format!("{source}\n{shown:#}")
        }
        Err(ImportProblem { effect, id, what, reason, why, .. }) => {
            let id = id.as_deref().map(|id| format!(" {id}")).unwrap_or_default();
            format!("{effect:?} [{reason}]{id}: {what}: {why}")
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn chunks_relationships_and_accesses_become_entries() {
    let database = TestDatabase::new(&[include_str!("rows.sql")]);
    let found = read(&database.path()).expect("a database");
    insta::assert_snapshot!(shown(&found));
    // A second reading says the same.
    assert_eq!(read(&database.path()).expect("a database"), found);
}

#[test]
fn an_id_that_another_chunk_has_is_made_once() {
    let rows = "INSERT INTO chunks (id, type, content) VALUES ('a', 'kb', '{\"topic\": \"one\"}'),
                ('know:a', 'knowledge', '{\"topic\": \"two\"}'), ('know:a', 'doc', '{}'), ('x', 'knowledge', '{}')";
    let rows = rows.replace("('know:a', 'doc', '{}'), ", "");
    let database = TestDatabase::new(&[&rows]);
    let found = read(&database.path()).expect("a database");
    let ids: Vec<&str> = found.iter().flatten().map(|found| found.entry.id()).collect();
    assert_eq!(ids.len(), 2);
    assert!(ids[0].starts_with("know:a-") && ids[1] == "know:a", "{ids:?}");
}

/// The tables of version 1 had no histories.
#[test]
fn columns_that_are_missing_have_no_values() {
    let database = TestDatabase::without_tables(
        "CREATE TABLE chunks (id TEXT PRIMARY KEY, type TEXT NOT NULL, content JSON NOT NULL, metadata JSON, created_at TIMESTAMP,
         updated_at TIMESTAMP);
         CREATE TABLE activations (chunk_id TEXT PRIMARY KEY, base_level REAL, last_access TIMESTAMP, access_count INTEGER);
         INSERT INTO chunks VALUES ('know:a', 'knowledge', '{\"topic\": \"a\"}', NULL, '2026-01-01 00:00:00', NULL);
         INSERT INTO activations VALUES ('know:a', 0, '2026-01-02 00:00:00', 3);",
    );
    let found = read(&database.path()).expect("a database");
    let [Ok(ImportedEntry { access: Some(access), created, edited, .. })] = &found[..] else { panic!("{found:?}") };
    assert_eq!((access.count, access.last, &access.recent[..]), (3, 1_767_312_000, &[1_767_312_000][..]));
    assert_eq!((*created, *edited), (Some(1_767_225_600), Some(1_767_225_600)));
}

/// What a process has not moved from the write-ahead log into the database yet is read, while it has the database open, and when
/// it is gone. The files stay as they are.
#[test]
fn the_write_ahead_log_is_read_and_nothing_is_written() {
    let database = TestDatabase::new(&[]);
    let writer = database.connection();
    writer.execute_batch("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0").expect("a mode");
    writer.execute_batch(include_str!("rows.sql")).expect("rows");
    let entries = |found: &Found| found.iter().filter(|found| found.is_ok()).count();
    let before = database.files();
    assert!(before.iter().any(|(name, bytes)| name.ends_with("-wal") && !bytes.is_empty()));
    let found = read(&database.path()).expect("a database");
    assert_eq!(entries(&found), 7);
    assert_eq!(database.files(), before);
    // As after a power cut: without the file that processes share.
    let copy = TestDatabase::empty();
    for (name, bytes) in before.iter().filter(|(name, _)| !name.ends_with("-shm")) {
        std::fs::write(copy.directory().join(name), bytes).expect("writable");
    }
    let state = copy.files();
    assert_eq!(read(&copy.path()).expect("a database"), found);
    assert_eq!(copy.files(), state);
    // Without its log, the database has no rows yet.
    let alone = TestDatabase::empty();
    std::fs::write(alone.path(), &before[0].1).expect("writable");
    assert_eq!(read(&alone.path()).expect("a database"), []);
}

#[test]
fn scores_below_the_bound_are_not_stored() {
    let rows = "INSERT INTO chunks (id, type, content) VALUES
                ('reas:a', 'soar', '{\"pattern\": \"a\", \"success_score\": 0.49}'),
                ('reas:b', 'soar', '{\"pattern\": \"b\", \"success_score\": 0.5}')";
    let database = TestDatabase::new(&[rows]);
    let found = read(&database.path()).expect("a database");
    let effects: Vec<_> = found.iter().map(|found| found.as_ref().err().map(|problem| problem.effect)).collect();
    assert_eq!(effects, [Some(ImportEffect::NotStored), None]);
}
