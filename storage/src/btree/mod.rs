//! Reads LMDB's pages without trusting them.
//!
//! LMDB follows the offsets in its pages unchecked: one flipped bit, or a truncated file, ends the process with a
//! signal. Readers therefore map the file themselves and traverse the trees here, with every number checked against the
//! page and the file. LMDB manages the reader table, which protects the pages of a generation from being reused, and
//! does all the writing.
//!
//! The layout is that of LMDB's data version 1: native byte order, words as wide as a pointer.

mod check;
mod cursor;
mod guard;
mod ledger;
mod meta;
mod page;
mod seal;

pub(crate) use check::{check_structure, first_damage};
pub(crate) use cursor::Cursor;
pub(crate) use guard::Guard;
pub(crate) use meta::{MAX_UNBORN_BYTES, Meta, MetaError, free_pages, is_unborn, missing_pages_are_free};
pub(crate) use page::{Damage, Pages, Tree};
pub(crate) use seal::{Mark, Unsealed, crc, seal, unseal};
