//! The format of memory entries. This crate reads and validates entries, derives metadata, and decides by the score
//! whether an entry is stored.
//!
//! An [`Entry`] is a JSON object with the fields `id`, `type`, `content`, `metadata`, `governance` and
//! `conversation_log_reference`. [`read_json`] and [`read_note`] read an entry, report all mistakes at once, and return
//! a [`Draft`]. A draft has an id and derived metadata. Its [`Verdict`] determines whether it is stored. [`searchable`]
//! returns the texts to index, and [`schema`] returns the JSON Schema of a [`Kind`]. [`read_pattern`] reads a reasoning
//! pattern from a file of a repository.
//!
//! Deliberately absent: storage, the index, commands, and the syntax of retention rules. The caller of [`read_json`]
//! passes a function that checks the rules.
//!
//! ```
//! use aurora_memory_schema::{Kind, read_json};
//!
//! let text = r#"{"content": {"pattern": "oauth-setup", "success_score": 0.92}}"#;
//! let draft = read_json(Kind::Reasoning, "a.json", text, |_, _| Ok(())).expect("a valid entry");
//! assert_eq!(draft.entry().id(), "reas:oauth-setup");
//! assert_eq!(draft.entry().semantic_role(), Some("oauth-decomposition-pattern"));
//! assert!(draft.outcome().is_pattern);
//!
//! let text = r#"{"content": {"pattern": "oauth-setup", "success_score": 92}}"#;
//! let mistakes = read_json(Kind::Reasoning, "a.json", text, |_, _| Ok(())).expect_err("92 is not a score");
//! assert!(mistakes.to_string().contains("`content.success_score` must be a number from 0 to 1, not 92"));
//! ```
#![forbid(unsafe_code)]
#![warn(missing_docs)]
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

pub mod code;
mod derive;
mod draft;
mod entry;
mod field;
mod id;
mod json;
mod kind;
mod label;
pub mod limit;
mod note;
mod pattern;
mod rules;
mod schema;
mod searchable;
mod time;
mod title;
mod verdict;

pub use draft::Draft;
pub use entry::{EditError, Entry, Link, LogReference, StoredError};
pub use json::read_json;
pub use kind::Kind;
pub use label::label_problem;
pub use note::read_note;
pub use pattern::{PatternError, read_pattern};
pub use schema::schema;
pub use searchable::{Searchable, normalized, normalized_text, searchable};
pub use time::parse_time;
pub use verdict::{MIN_PATTERN_SCORE, MIN_SCORE, Outcome, Verdict};
