//! Memories: searchable entries that people and agents write. Each entry has a history, a scope and a lifespan.
//!
//! A [`Memory`] is a directory with two parts. The store of entries is the source of truth. The index is derived from
//! the store by a pipeline that reads the changed entries. Every change is one durable transaction. A write never waits
//! for an index run, because each search first updates the index.
//!
//! [`CombinedSearch`] searches memories together with code. [`AgentMemory`] gives the agents of a server access to the
//! shared entries and to the entries of their own sessions.
//!
//! Entries are exported and imported as lines of JSON; see [`Memory::export`], [`JsonLines`] and [`Memory::put_all`].
//!
//! Deliberately absent: command-line arguments and output, the format of entries (`aurora-memory-schema`), retention
//! policies (`aurora-memory-policy`), the import of Markdown directories (`aurora-memory-import`), and ranking
//! (`aurora-query`).
#![forbid(unsafe_code)]
#![warn(missing_docs)]
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod agents;
mod audit;
mod combined;
mod config;
mod digest;
mod error;
mod facts;
mod growth;
mod home;
mod index;
mod learning;
mod lifecycle;
mod listing;
mod memory;
mod place;
mod recall;
mod report;
mod rules;
mod searching;
mod session;
mod store;
mod transfer;
mod verification;

pub use agents::{
    AgentMemory, AgentSession, DATA_NOTICE, MAX_ENTRY_BYTES, MAX_SERVER_BYTES, MAX_SERVER_ENTRIES, MAX_SESSION_BYTES,
    MAX_SESSION_ENTRIES, MemoryOperation, NewMemory, NewMemoryKind, OperationError, OperationResult, Remembered,
};
pub use audit::{Audit, AuditOptions, Finding, FindingKind, ProjectCode, Repair};
pub use aurora_memory_policy::{Scope, UnknownScope};
pub use combined::{CombinedSearch, MemorySearch, SearchedMemories, unusable_note};
pub use error::MemoryError;
pub use growth::MemoryGrowth;
pub use learning::{Helpfulness, OutcomeReport, TaskOutcome};
pub use lifecycle::Pruned;
pub use listing::{ListFilter, ListOrder};
pub use memory::{Memory, Placement};
pub use place::{MemoryPlace, Owner};
pub use recall::{recall_header, recall_request};
pub use report::{EntryReport, ReportedFacts};
pub use rules::{MemoryRules, Visibility};
pub use session::{NewTurn, check_session};
pub use store::{Change, MemoryCheck, MemoryCompaction, Retrieved, Version};
pub use transfer::{
    JsonLines, LineDefaults, Transfer, TransferEffect, TransferProblem, TransferReport, TransferredEntry,
};
