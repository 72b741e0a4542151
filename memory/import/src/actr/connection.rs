//! Opens a database that somebody else may have made to do harm.
//!
//! As <https://www.sqlite.org/security.html> advises: nothing runs that the schema contains, and what a statement may take is
//! bounded.

use std::path::Path;

use aurora_memory_schema::limit::DOCUMENT_BYTES;
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags, Result};

/// Longest string, blob and row, in bytes.
const LONGEST_VALUE: i32 = 4 * DOCUMENT_BYTES as i32;

/// Bounds of statements, all of which are short.
const LIMITS: [(Limit, i32); 9] = [
    (Limit::SQLITE_LIMIT_LENGTH, LONGEST_VALUE),
    (Limit::SQLITE_LIMIT_SQL_LENGTH, 1 << 20),
    (Limit::SQLITE_LIMIT_COLUMN, 200),
    (Limit::SQLITE_LIMIT_EXPR_DEPTH, 20),
    (Limit::SQLITE_LIMIT_COMPOUND_SELECT, 3),
    (Limit::SQLITE_LIMIT_VDBE_OP, 25_000),
    (Limit::SQLITE_LIMIT_ATTACHED, 0),
    (Limit::SQLITE_LIMIT_TRIGGER_DEPTH, 1),
    (Limit::SQLITE_LIMIT_WORKER_THREADS, 0),
];

/// What is switched on, and off.
const SWITCHES: [(DbConfig, bool); 4] = [
    (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
    (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
    (DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false),
    (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
];

pub(super) fn open(path: &Path) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let connection = Connection::open_with_flags(path, flags)?;
    for (limit, value) in LIMITS {
        connection.set_limit(limit, value)?;
    }
    for (switch, is_on) in SWITCHES {
        connection.set_db_config(switch, is_on)?;
    }
    connection.execute_batch("PRAGMA query_only = 1; PRAGMA mmap_size = 0; PRAGMA cell_size_check = 1")?;
    Ok(connection)
}
