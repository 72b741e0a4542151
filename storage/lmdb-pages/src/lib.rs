//! Reads the pages of an LMDB file without trusting them.
//!
//! # Why this crate exists
//!
//! A damaged or hostile file must never crash a search. LMDB maps its file and follows the offsets in the pages
//! unchecked: one flipped bit, or a truncated file, ends the process with a signal, and a crafted file makes a writer
//! write anywhere in its memory. A repository can contain such a file. Readers therefore map the file themselves and
//! traverse the trees here, with every number checked against the page and the file. LMDB manages the reader table,
//! which protects the pages of a generation from being reused, and does all the writing. Before a write, [`Guard`]
//! checks the pages that the write uses, or [`first_damage`] checks the whole structure.
//!
//! LMDB has no checksums either. If a caller appends a checksum to every value ([`seal()`]), the checksum is checked
//! when the value is read (see [`Tree::with_seal`]).
//!
//! # What it costs
//!
//! - A check of the whole structure takes about 0.25 s of processor time per GB. It is necessary only before the first
//!   write to a file that another program may have changed.
//! - A lookup takes 1.2 times as long as with LMDB's own cursor, 1.3 times with a checksum; a scan of all values with
//!   their checksums takes twice as long (10⁶ values of 120 bytes, 1.5 µs for each lookup).
//! - About 1,100 lines of code depend on LMDB's file format, and must change with it.
//!
//! # What it does not do
//!
//! It does not open, map, lock or write files, and it does not protect a reader from a writer: the bytes must not
//! change while they are read. It reads data version 1 of LMDB in the native byte order, with words as wide as a
//! pointer. It supports no duplicate keys, and repairs no damage.
//!
//! # When it can be deleted
//!
//! The crate can be deleted when LMDB checks its own pages, or when the index moves to a store that does. The tests
//! `tests/damage` and `tests/hostile` must then pass with the cursors of that store. [`seal()`] stays, unless the store
//! has checksums.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use aurora_lmdb_pages::{Cursor, Meta, Unsealed};
//! # let directory = tempfile::tempdir()?;
//! # let environment = unsafe { heed::EnvOpenOptions::new().max_dbs(1).open(directory.path())? };
//! # let transaction = environment.write_txn()?;
//! # environment.create_databases_and_commit(transaction, |opener, transaction| {
//! #     let table = opener.create_database::<heed::types::Str, heed::types::Str>(transaction, Some("colours"))?;
//! #     table.put(transaction, "grass", "green")?;
//! #     Ok::<_, heed::Error>(heed::CommitOrAbort::<_, ()>::Commit(()))
//! # })?;
//!
//! // An LMDB file with the key `grass` in the table `colours`.
//! let mut file = std::fs::read(directory.path().join("data.mdb"))?;
//! let colour = |file: &[u8]| {
//!     let meta = Meta::newest(file).expect("the meta pages are valid");
//!     let unsealed = Unsealed::new(meta.last_page + 1);
//!     let pages = meta.pages(file, &unsealed);
//!     let table = Cursor::named(pages, meta.main, "colours")?.expect("the table exists");
//!     Ok(Cursor::get(pages, table, b"grass")?.map(<[u8]>::to_vec))
//! };
//! assert_eq!(colour(&file), Ok(Some(b"green".to_vec())));
//!
//! // Damage results in an error.
//! let page_size = Meta::newest(&file).expect("the meta pages are valid").page_size;
//! file[2 * page_size..].fill(0xff);
//! let error: aurora_lmdb_pages::Damage = colour(&file).expect_err("the pages are damaged");
//! assert!(error.0.contains("page"));
//! # Ok(())
//! # }
//! ```

#![forbid(unsafe_code)]
#![warn(missing_docs)]
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod check;
mod cursor;
mod guard;
mod ledger;
mod meta;
mod page;
mod seal;
mod sparse;

pub use check::{check_structure, first_damage};
pub use cursor::{Cursor, Entry};
pub use guard::Guard;
pub use meta::{MAX_UNBORN_BYTES, Meta, MetaError, free_pages, is_unborn, missing_pages_are_free};
pub use page::{Damage, Pages, Tree};
pub use seal::{Mark, Unsealed, crc, seal, unseal};
pub use sparse::Sparse;
