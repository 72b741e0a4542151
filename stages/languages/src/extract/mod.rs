//! Extracts symbols from a syntax tree.

mod blocks;
pub(crate) mod boundaries;
pub(crate) mod captures;
mod constants;
pub(crate) mod docs;
pub(crate) mod headings;
mod opening;
pub(crate) mod outline;
mod overloads;
pub(crate) mod parts;
mod references;
mod scope;
pub(crate) mod sections;
mod signature;
mod span_cursor;
