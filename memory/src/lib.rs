//! Memory: entries written by people and agents, each with a history, a scope and a lifespan, and an index of the entries.
//!
//! A [`Memory`] is a directory with two parts. The store of entries is the source of truth. The index is derived from the store
//! by a pipeline whose source is the entries that have changed. Every change is one durable transaction. The next search updates
//! the index first, so that writing never waits for an index run.
//!
//! Entries are exported and imported as lines of JSON; see [`Memory::export`], [`JsonLines`] and [`Memory::put_all`].
//!
//! Deliberately absent: arguments and printing, the format of entries (`aurora-memory-schema`), the parsing of conditions
//! (`aurora-memory-policy`), directories of Markdown (`aurora-memory-import`), and ranking (`aurora-query`).
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
mod searching;
mod session;
mod store;
mod transfer;
mod verification;

pub use aurora_memory_policy::{Scope, UnknownScope};
pub use error::MemoryError;
pub use learning::{Helpfulness, OutcomeReport, TaskOutcome};
pub use lifecycle::Pruned;
pub use listing::{ListFilter, ListOrder};
pub use memory::{Memory, Placement};
pub use place::{MemoryPlace, Owner};
pub use report::{EntryReport, ReportedFacts};
pub use rules::{MemoryRules, Visibility};
pub use session::{NewTurn, check_session};
pub use store::{Change, MemoryCheck, MemoryCompaction, Retrieved, Version};
pub use transfer::{
    JsonLines, LineDefaults, Transfer, TransferEffect, TransferProblem, TransferReport, TransferredEntry,
};
