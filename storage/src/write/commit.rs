//! The single thread that owns write transactions.

use std::sync::Arc;
use std::thread::JoinHandle;

use aurora_lmdb_pages::Guard;
use crossbeam_channel::{Receiver, Sender, bounded};
use heed::types::Bytes;
use heed::{CommitOrAbort, Database, MdbError, PutFlags, RwTxn};

use crate::error::StorageError;
use crate::fault;
use crate::index_id::IndexId;
use crate::manifest::FORMAT_VERSION;
use crate::read::Snapshot;
use crate::store::IndexStore;
use crate::tables::{FORMAT_MARK, Operation, Table, meta_key, signature};

type RawTable = Database<'static, Bytes, Bytes>;
type RawTables = [RawTable; Table::COUNT];

/// Maximum number of batches that wait for the thread. In addition to these, the batch being built and the batch being
/// written are in memory.
const MAX_WAITING: usize = 1;

/// The thread that applies batches, and the channel to it.
type WriterThread = (Sender<Vec<Operation>>, JoinHandle<Result<(), StorageError>>);

/// Collects operations into batches. The thread applies each batch in a separate transaction.
pub(crate) struct Committer {
    base: Snapshot,
    store: Arc<IndexStore>,
    limit: usize,
    batch: Vec<Operation>,
    bytes: usize,
    thread: Option<WriterThread>,
    /// Message of the thread's error, which has already been returned to a caller.
    failure: Option<String>,
}

impl Committer {
    /// Creates a committer. The first batch starts the thread. `base` is the generation to change. `limit` is the size
    /// of a batch in bytes.
    pub(crate) fn new(base: &Snapshot, limit: usize) -> Self {
        Self {
            base: base.clone(),
            store: Arc::clone(base.store()),
            limit,
            batch: Vec::new(),
            bytes: 0,
            thread: None,
            failure: None,
        }
    }

    /// Adds an operation that may be committed before later ones. No reader of a published generation may depend on the
    /// row that the operation changes.
    pub(crate) fn push(&mut self, operation: Operation) -> Result<(), StorageError> {
        self.push_together([operation])
    }

    /// Adds several operations, which are committed in the same transaction.
    pub(crate) fn push_together(
        &mut self,
        operations: impl IntoIterator<Item = Operation>,
    ) -> Result<(), StorageError> {
        operations.into_iter().for_each(|operation| self.push_last(operation));
        if self.bytes >= self.limit { self.flush() } else { Ok(()) }
    }

    /// Adds an operation to the current batch. Does not send the batch to the thread, even if it is full.
    pub(crate) fn push_last(&mut self, operation: Operation) {
        self.add(operation.sealed());
    }

    /// Adds operations that already have their checksums, like [`Self::push`].
    pub(crate) fn push_sealed(&mut self, operations: Vec<Operation>) -> Result<(), StorageError> {
        for operation in operations {
            self.add(operation);
            if self.bytes >= self.limit {
                self.flush()?;
            }
        }
        Ok(())
    }

    fn add(&mut self, operation: Operation) {
        self.bytes += operation.size();
        self.batch.push(operation);
    }

    /// Sends the last batch to the thread, and waits until everything is on disk.
    pub(crate) fn finish(&mut self) -> Result<(), StorageError> {
        let flushed = self.flush();
        let stopped = self.stop();
        flushed.and(stopped)
    }

    fn flush(&mut self) -> Result<(), StorageError> {
        self.bytes = 0;
        let batch = std::mem::take(&mut self.batch);
        if batch.is_empty() {
            return Ok(());
        }
        if self.failure.is_some() {
            return self.stop();
        }
        let (sender, _) = match &self.thread {
            Some(thread) => thread,
            None => self.thread.insert(start(self.base.clone(), Arc::clone(&self.store))?),
        };
        // The thread closes the channel when it fails.
        if sender.send(batch).is_ok() { Ok(()) } else { self.stop() }
    }

    /// Closes the channel, and waits for the thread to end. Returns the thread's error. Later calls return
    /// [`StorageError::WriterStopped`] with the message of that error.
    fn stop(&mut self) -> Result<(), StorageError> {
        let stopped =
            |reason: &str| StorageError::WriterStopped { path: self.store.data.clone(), reason: reason.to_owned() };
        let Some((sender, thread)) = self.thread.take() else {
            return self.failure.as_deref().map_or(Ok(()), |reason| Err(stopped(reason)));
        };
        drop(sender);
        let result = thread.join().unwrap_or_else(|_| Err(stopped("its thread panicked")));
        self.failure = result.as_ref().err().map(StorageError::to_string);
        result
    }
}

/// Starts the thread that applies batches.
fn start(base: Snapshot, store: Arc<IndexStore>) -> Result<WriterThread, StorageError> {
    let (sender, receiver) = bounded(MAX_WAITING);
    let data = store.data.clone();
    let run = move || apply_all(&base, &store, &receiver);
    let thread = std::thread::Builder::new().name("aurora-writer".to_owned()).spawn(run);
    thread.map(|thread| (sender, thread)).map_err(|error| StorageError::io(&data, error))
}

impl Drop for Committer {
    fn drop(&mut self) {
        // An error is ignored: either it has already been returned, or the caller discards the rows.
        let _ = self.stop();
    }
}

fn apply_all(base: &Snapshot, store: &IndexStore, batches: &Receiver<Vec<Operation>>) -> Result<(), StorageError> {
    let mut tables = None;
    let (pages, generation) = (base.pages(), base.meta());
    let mut guard = base.check(Guard::new(&pages, generation, store.is_valid()))?;
    // From here on, only LMDB changes the file.
    store.set_valid();
    for batch in batches {
        let signed = (Table::Meta, meta_key::TRANSACTION);
        let touched = batch.iter().map(|operation| (operation.table, &operation.key[..])).chain([signed]);
        for (table, key) in touched {
            let checked = guard.check(&pages, generation, base.tree(table), key);
            base.check(checked)?;
        }
        apply(store, &mut tables, &batch).map_err(|error| StorageError::lmdb(&store.data, error))?;
        fill_up(store)?;
    }
    Ok(())
}

/// Applies a batch in one transaction, and waits until it is on disk. If the transaction fails, no operation of the
/// batch has an effect.
fn apply(store: &IndexStore, tables: &mut Option<RawTables>, batch: &[Operation]) -> heed::Result<()> {
    let tables = match tables {
        Some(tables) => tables,
        None => tables.insert(open_tables(store)?),
    };
    let mut transaction = store.lmdb.write_txn()?;
    for operation in batch {
        let table = &tables[operation.table as usize];
        match &operation.value {
            Some(value) => put(table, &mut transaction, &operation.key, value)?,
            None => {
                table.delete(&mut transaction, &operation.key)?;
            }
        }
    }
    sign(&tables[Table::Meta as usize], &mut transaction)?;
    fault::point();
    transaction.commit()?;
    fault::point();
    Ok(())
}

/// Writes the number of the transaction to the meta table.
fn sign(meta: &Database<'_, Bytes, Bytes>, transaction: &mut RwTxn<'_>) -> heed::Result<()> {
    let row = signature(transaction.id() as u64);
    meta.put(transaction, &row.key, row.value.as_deref().unwrap_or_default())
}

/// Sets the value of a key. Appending a key at the end of the table needs no search. Elsewhere, the value is written
/// only if it differs from the stored value.
fn put(table: &RawTable, transaction: &mut RwTxn<'_>, key: &[u8], value: &[u8]) -> heed::Result<()> {
    match table.put_with_flags(transaction, PutFlags::APPEND, key, value) {
        Err(heed::Error::Mdb(MdbError::KeyExist)) => {}
        result => return result,
    }
    if table.get(transaction, key)? == Some(value) {
        return Ok(());
    }
    table.put(transaction, key, value)
}

/// Creates the tables and the id of a new index.
pub(crate) fn create_tables(store: &IndexStore) -> Result<(), StorageError> {
    open_tables(store).map(drop).map_err(|error| StorageError::lmdb(&store.data, error))
}

/// Opens the tables. In a new file, creates them together with the format row and the id of the index.
fn open_tables(store: &IndexStore) -> heed::Result<RawTables> {
    let transaction = store.lmdb.write_txn()?;
    let opened = store.lmdb.create_databases_and_commit(transaction, |opener, transaction| {
        let mut open = |table: Table| opener.create_database(transaction, Some(table.name()));
        let tables = Table::all().map(&mut open).collect::<heed::Result<Vec<_>>>()?;
        let Ok(tables): Result<[Database<'_, Bytes, Bytes>; Table::COUNT], _> = tables.try_into() else {
            unreachable!("every table was opened")
        };
        let meta = &tables[Table::Meta as usize];
        if meta.get(transaction, meta_key::FORMAT)?.is_none() {
            let mark = [FORMAT_MARK, &FORMAT_VERSION.to_le_bytes()].concat();
            meta.put(transaction, meta_key::FORMAT, &mark)?;
            let id = IndexId::random().map_err(heed::Error::Io)?;
            let row = Operation::put(Table::Meta, meta_key::ID, id.as_bytes().to_vec()).sealed();
            meta.put(transaction, &row.key, row.value.as_deref().unwrap_or_default())?;
            sign(meta, transaction)?;
        }
        Ok::<_, heed::Error>(CommitOrAbort::<_, ()>::Commit(tables))
    })?;
    fault::point();
    Ok(opened.unwrap_commit())
}

/// Extends the file to the length that its meta page implies.
///
/// LMDB does not write a page that is allocated and freed in the same transaction. If such pages are at the end of the
/// file, they are missing, and only the list of free pages distinguishes the file from a truncated one.
fn fill_up(store: &IndexStore) -> Result<(), StorageError> {
    let page = u64::from(store.lmdb.unnamed_database_stat().page_size);
    let extent = (store.lmdb.info().last_page_number as u64 + 1) * page;
    if store.length()? >= extent {
        return Ok(());
    }
    store.extend(extent)
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::process::{Command, Stdio};
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;
    use crate::environment::Environment;
    use crate::opening::OpenMode;

    /// Environment variable with the directory in which the child process writes.
    const DIRECTORY: &str = "AURORA_STORAGE_TEST_GROWTH";
    /// Number of rows that one call of [`write`] adds. Together they have 6 MB.
    const ROWS: u32 = 100;

    /// Adds rows to the index. Each round continues where the previous one ended.
    fn write(environment: &Environment, round: u32) -> Result<(), StorageError> {
        let base = environment.snapshot()?;
        let mut committer = Committer::new(&base, 1 << 18);
        for number in round * ROWS..(round + 1) * ROWS {
            committer.push(Operation::put(Table::Postings, number.to_be_bytes(), value(number)))?;
        }
        committer.finish()
    }

    fn value(number: u32) -> Vec<u8> {
        vec![number as u8; 60_000]
    }

    /// Checks that a snapshot has all rows of the first `rounds` rounds, and no later rows.
    fn check(snapshot: &Snapshot, rounds: u32) {
        for number in 0..rounds * ROWS {
            let found = snapshot.get(Table::Postings, &number.to_be_bytes()).expect("the page is valid");
            assert!(found == Some(&value(number)), "row {number} of {rounds} rounds");
        }
        let later = snapshot.get(Table::Postings, &(rounds * ROWS).to_be_bytes()).expect("the page is valid");
        assert!(later.is_none(), "a row after {rounds} rounds");
    }

    fn create(directory: &Path) -> Environment {
        Environment::open(directory, OpenMode::Create).expect("the index can be opened")
    }

    #[test]
    fn the_file_grows_while_readers_keep_old_snapshots() {
        let directory = tempfile::tempdir().expect("a temporary directory can be created");
        let environment = create(directory.path());
        let before = environment.store.lmdb.info().map_size;
        let mut snapshots = vec![environment.snapshot().expect("the index can be opened")];
        for round in 0..4 {
            write(&environment, round).expect("the rows can be written");
            snapshots.push(environment.snapshot().expect("the index can be opened"));
            for (rounds, snapshot) in snapshots.iter().enumerate() {
                check(snapshot, rounds as u32);
            }
        }
        assert!(environment.store.length().expect("the data file exists") > 4 * 6_000_000);
        assert_eq!(environment.store.lmdb.info().map_size, before);
    }

    #[test]
    fn readers_read_while_the_file_grows() {
        let directory = tempfile::tempdir().expect("a temporary directory can be created");
        let environment = create(directory.path());
        write(&environment, 0).expect("the rows can be written");
        let snapshot = environment.snapshot().expect("the index can be opened");
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let readers: Vec<_> = (0..2)
                .map(|_| {
                    scope.spawn(|| {
                        while !done.load(Ordering::Relaxed) {
                            check(&snapshot, 1);
                            drop(environment.snapshot().expect("the index can be opened"));
                        }
                    })
                })
                .collect();
            let written = (1..4).try_for_each(|round| write(&environment, round));
            done.store(true, Ordering::Relaxed);
            readers.into_iter().for_each(|reader| reader.join().expect("the reader did not panic"));
            written.expect("the rows can be written");
        });
        check(&snapshot, 1);
        check(&environment.snapshot().expect("the index can be opened"), 4);
    }

    /// The child process of [`another_process_makes_the_file_grow`]. Does nothing as a separate test.
    #[test]
    fn growing_writer() {
        if let Ok(directory) = std::env::var(DIRECTORY) {
            write(&create(Path::new(&directory)), 0).expect("the rows can be written");
        }
    }

    #[test]
    fn another_process_makes_the_file_grow() {
        let directory = tempfile::tempdir().expect("a temporary directory can be created");
        let environment = create(directory.path());
        let before = environment.snapshot().expect("the index can be opened");
        let mut child = Command::new(std::env::current_exe().expect("the test program has a path"));
        child.args(["write::commit::tests::growing_writer", "--exact"]);
        let status = child.env(DIRECTORY, directory.path()).stdout(Stdio::null()).status();
        assert!(status.expect("the child process can be started").success());
        check(&before, 0);
        check(&environment.snapshot().expect("the index can be opened"), 1);
    }

    /// The child process of [`a_full_map_is_an_error`]. Does nothing as a separate test.
    #[cfg(target_os = "linux")]
    #[test]
    fn limited_writer() {
        let Ok(directory) = std::env::var(DIRECTORY) else { return };
        let environment = create(Path::new(&directory));
        let map = environment.store.lmdb.info().map_size;
        assert!(map < 300_000 << 10, "a map of {map} bytes");
        write(&environment, 0).expect("the rows can be written");
        let first = environment.snapshot().expect("the index can be opened");
        let error = (1..100).find_map(|round| write(&environment, round).err());
        assert!(matches!(error, Some(StorageError::MapFull { .. })), "{error:?}");
        check(&first, 1);
        assert_eq!(environment.store.lmdb.info().map_size, map);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_map_is_an_error() {
        let directory = tempfile::tempdir().expect("a temporary directory can be created");
        let program = std::env::current_exe().expect("the test program has a path");
        let mut child = Command::new("sh");
        child.args(["-c", r#"ulimit -v 300000; exec "$0" write::commit::tests::limited_writer --exact"#]).arg(program);
        let status = child.env(DIRECTORY, directory.path()).stdout(Stdio::null()).status();
        assert!(status.expect("the child process can be started").success());
        // Earlier commits still exist, and a process with more address space can write to the file.
        let environment = create(directory.path());
        let snapshot = environment.snapshot().expect("the index can be opened");
        let found = snapshot.get(Table::Postings, &(ROWS - 1).to_be_bytes()).expect("the page is valid");
        assert!(found == Some(&value(ROWS - 1)));
        write(&environment, 100).expect("the rows can be written");
    }
}
