//! Access to LMDB without our storage layer.

use std::path::Path;

use heed::types::Bytes;
use heed::{CommitOrAbort, Database, Env, EnvOpenOptions};

use crate::Outcome;

/// Address space of an environment, in bytes.
const MAP: usize = 1 << 36;

/// A table with uninterpreted keys and values.
pub type Table = Database<'static, Bytes, Bytes>;

/// Opens an environment that is not open anywhere else.
pub fn open(directory: &Path) -> Outcome<Env> {
    let mut options = EnvOpenOptions::new();
    options.max_dbs(16).map_size(MAP);
    // SAFETY: only this bench uses the directory, and no other handle of the directory is open.
    Ok(unsafe { options.open(directory) }?)
}

/// Opens an existing table.
pub fn table(environment: &Env, name: &str) -> Outcome<Table> {
    let opened = environment.open_databases_and_commit(environment.read_txn()?, |opener, transaction| {
        let table = opener.open_database::<Bytes, Bytes>(transaction, Some(name))?;
        Ok::<_, heed::Error>(CommitOrAbort::<_, ()>::Commit(table))
    })?;
    opened.unwrap_commit().ok_or_else(|| format!("no table {name}").into())
}

/// Creates a table.
pub fn new_table(environment: &Env, name: &str) -> Outcome<Table> {
    let made = environment.create_databases_and_commit(environment.write_txn()?, |opener, transaction| {
        let table = opener.create_database::<Bytes, Bytes>(transaction, Some(name))?;
        Ok::<_, heed::Error>(CommitOrAbort::<_, ()>::Commit(table))
    })?;
    Ok(made.unwrap_commit())
}
