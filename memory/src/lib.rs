//! Memory: entries that people and agents write, each with a history, a scope and a lifespan, and an index that follows them.
//!
//! A [`Memory`] is a directory with a store of entries, which is the truth, and an index of the engine, which follows: a
//! pipeline whose source is the entries that have changed. A change is one durable transaction; the next search first brings
//! the index in line with it, so that writing never waits for an index run.
//!
//! Entries come and go as lines of JSON: see [`Memory::export`], [`JsonLines`] and [`Memory::put_all`].
//!
//! Deliberately absent: arguments and printing, what an entry looks like (`aurora-memory-schema`), how conditions are read
//! (`aurora-memory-policy`), directories of Markdown (`aurora-memory-import`), and ranking, which is `aurora-query`'s.
#![forbid(unsafe_code)]
#![warn(missing_docs)]
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod config;
mod digest;
mod error;
mod facts;
mod home;
mod index;
mod learning;
mod lifecycle;
mod listing;
mod memory;
mod place;
mod report;
mod rules;
mod scope;
mod searching;
mod session;
mod store;
mod transfer;
mod verification;

pub use error::MemoryError;
pub use learning::{Helpfulness, OutcomeReport, TaskOutcome};
pub use lifecycle::Pruned;
pub use listing::{ListFilter, ListOrder};
pub use memory::{Memory, Placement};
pub use place::{MemoryPlace, Owner};
pub use report::{EntryReport, ReportedFacts};
pub use rules::{MemoryRules, Visibility};
pub use scope::{Scope, UnknownScope};
pub use session::{NewTurn, check_session};
pub use store::{Change, MemoryCheck, MemoryCompaction, Retrieved, Version};
pub use transfer::{
    JsonLines, LineDefaults, Transfer, TransferEffect, TransferProblem, TransferReport, TransferredEntry,
};
