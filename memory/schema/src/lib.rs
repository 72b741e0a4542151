//! What an entry of memory looks like, how it is read, and whether it is stored.
//!
//! An [`Entry`] is a JSON object with the fields `id`, `type`, `content`, `metadata`, `governance` and
//! `conversation_log_reference`. [`read_json`] and [`read_note`] read one, report all mistakes at once, and give a [`Draft`]. A
//! draft has an id and derived metadata; its [`Verdict`] says whether it is stored. [`searchable`] gives the text that is
//! indexed, [`schema`] the JSON Schema of a [`Kind`].
//!
//! Deliberately absent: storage, the index, commands, and the language of retention rules. Whoever reads an entry passes a
//! function that checks a rule.
//!
//! ```
//! use aurora_memory_schema::{Kind, read_json};
//!
//! let text = r#"{"content": {"pattern": "oauth-setup", "success_score": 0.92}}"#;
//! let draft = read_json(Kind::Reasoning, "a.json", text, |_, _| Ok(())).expect("an entry without mistakes");
//! assert_eq!(draft.entry().id(), "reas:oauth-setup");
//! assert_eq!(draft.entry().semantic_role(), Some("oauth-decomposition-pattern"));
//! assert!(draft.outcome().is_pattern);
//!
//! let text = r#"{"content": {"pattern": "oauth-setup", "success_score": 92}}"#;
//! let mistakes = read_json(Kind::Reasoning, "a.json", text, |_, _| Ok(())).expect_err("92 is no score");
//! assert!(mistakes.to_string().contains("`content.success_score` must be a number from 0 to 1, not 92"));
//! ```
#![forbid(unsafe_code)]
#![warn(missing_docs)]
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod blank;
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
mod report;
mod schema;
mod searchable;
mod show;
mod time;
mod title;
mod verdict;

pub use draft::Draft;
pub use entry::{EditError, Entry, LifespanPolicy, Link, LogReference, RetentionRule, StoredError};
pub use json::read_json;
pub use kind::Kind;
pub use label::label_problem;
pub use note::read_note;
pub use schema::schema;
pub use searchable::{Searchable, searchable};
pub use verdict::{LOWEST_SCORE, Outcome, PATTERN_SCORE, Verdict};
