//! The format of a store of records: its tables, and the signature row that every transaction writes.

use aurora_lmdb_pages::{Cursor, Damage, Mark, Tree, seal};
use heed::types::Bytes;
use heed::{CommitOrAbort, CommitToken, Database, OnCommit, RwTxn};

use crate::store::{IndexStore, Mapped};

/// A table of records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordTable {
    /// Name of the table in the environment.
    pub name: &'static str,
    /// Number that identifies the table in the checksums of its values. Each table must have a different number.
    pub mark: u8,
    /// Whether stores of earlier versions may lack the table. A missing optional table counts as empty.
    pub is_optional: bool,
}

/// The table that contains the id of the store. It is the last table of every store.
/// Stores of earlier versions may lack it. The origin of such a store is unknown.
pub(super) const IDENTITY: RecordTable = RecordTable { name: "identity", mark: 0x50, is_optional: true };
/// Name of the table that contains the signature.
const FORMAT: &str = "format";
/// Key of the signature row. Its value is the version and the number of the transaction that wrote the newest rows.
const SIGNATURE: &[u8] = b"signature";

/// Maximum length of a key in bytes. LMDB allows 511.
pub(super) const MAX_KEY_BYTES: usize = 500;

/// The version and tables of a store.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RecordFormat {
    /// Version of the values.
    pub(crate) version: u32,
    /// Number that identifies the signature in its checksum.
    pub(crate) mark: Mark,
    /// All tables, with [`IDENTITY`] as the last one.
    pub(crate) tables: &'static [RecordTable],
}

type RecordDatabase = Database<'static, Bytes, Bytes>;

/// The open tables of LMDB.
pub(crate) struct OpenTables {
    /// The databases in the order of [`RecordFormat::tables`].
    pub(crate) tables: Vec<RecordDatabase>,
    /// The database of the signature.
    pub(crate) format: RecordDatabase,
}

/// Tables that are being opened.
struct Opening<'t>(Vec<Database<'t, Bytes, Bytes>>, Database<'t, Bytes, Bytes>);

impl OnCommit for Opening<'_> {
    type Committed = OpenTables;

    fn on_commit(self, token: &CommitToken) -> OpenTables {
        let tables = self.0.into_iter().map(|table| table.on_commit(token)).collect();
        OpenTables { tables, format: self.1.on_commit(token) }
    }
}

impl RecordFormat {
    /// Opens the tables. Creates missing tables together with the signature.
    pub(crate) fn open(&self, store: &IndexStore) -> heed::Result<OpenTables> {
        let transaction = store.lmdb.write_txn()?;
        let opened = store.lmdb.create_databases_and_commit(transaction, |opener, transaction| {
            let mut tables = Vec::with_capacity(self.tables.len());
            let mut is_changed = false;
            for table in self.tables {
                is_changed |= opener.open_database::<Bytes, Bytes>(transaction, Some(table.name))?.is_none();
                tables.push(opener.create_database::<Bytes, Bytes>(transaction, Some(table.name))?);
            }
            let format: Database<'_, Bytes, Bytes> = opener.create_database(transaction, Some(FORMAT))?;
            if is_changed || format.get(transaction, SIGNATURE)?.is_none() {
                self.sign(&format, transaction)?;
            }
            Ok::<_, heed::Error>(CommitOrAbort::<_, ()>::Commit(Opening(tables, format)))
        })?;
        Ok(opened.unwrap_commit())
    }

    /// Writes the signature row. Every transaction that changes a table must call this function.
    pub(crate) fn sign(&self, table: &Database<'_, Bytes, Bytes>, transaction: &mut RwTxn<'_>) -> heed::Result<()> {
        let number = transaction.id() as u64;
        let mut value = [&self.version.to_le_bytes()[..], &number.to_le_bytes()].concat();
        seal(self.mark, SIGNATURE, &mut value);
        table.put(transaction, SIGNATURE, &value)
    }

    /// Returns the trees of the tables. Checks that the store has this format, and that the tables belong to the newest
    /// transaction.
    pub(crate) fn trees(&self, mapped: &Mapped) -> Result<Vec<Tree>, Damage> {
        let (pages, main) = (mapped.pages(), mapped.meta.main);
        match (main.is_empty(), mapped.meta.transaction) {
            (true, 0) => return Ok(vec![Tree::EMPTY; self.tables.len()]),
            (true, _) => return Err(Damage("its tables are lost".to_owned())),
            _ => {}
        }
        let Some(format) = Cursor::named(pages, main, FORMAT)? else {
            return Err(Damage("it was written by an earlier version, without checksums".to_owned()));
        };
        let signature = Cursor::get(pages, format.with_seal(Some(self.mark)), SIGNATURE)?;
        let parse = |bytes: &[u8]| {
            let (version, rest) = bytes.split_first_chunk()?;
            Some((u32::from_le_bytes(*version), u64::from_le_bytes(rest.try_into().ok()?)))
        };
        let (version, transaction) =
            signature.and_then(parse).ok_or_else(|| Damage("it has no format mark".to_owned()))?;
        if version != self.version {
            return Err(Damage(format!("it has format {version}, this program reads format {}", self.version)));
        }
        let number = |bytes: &[u8]| Some(parse(bytes)?.1);
        if transaction != mapped.meta.transaction || mapped.is_rolled_back((FORMAT, self.mark, SIGNATURE), number) {
            return Err(Damage("its tables belong to an earlier generation".to_owned()));
        }
        let tree = |table: &RecordTable| {
            let tree = Cursor::named(pages, main, table.name)?;
            let tree = tree.or(table.is_optional.then_some(Tree::EMPTY));
            let tree = tree.ok_or_else(|| Damage(format!("it has no table `{}`", table.name)))?;
            Ok(tree.with_seal(Some(table.mark)))
        };
        self.tables.iter().map(tree).collect()
    }
}
