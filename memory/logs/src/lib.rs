//! Conversation logs. A log is a Markdown file with the complete record of one interaction. Logs are stored in a
//! directory for each year and month.
//!
//! [`LogDirectory`] writes logs durably and atomically, appends to logs, lists, finds and searches logs, compresses old
//! logs, and removes logs whose retention period is over. [`interaction`] reads an interaction from JSON and reports
//! all mistakes at once. [`Settings`] contains the settings in the table `[logs]` of the user's configuration.
//!
//! Deliberately absent: indexing of logs (see `aurora-stages`), masking of secrets in the text of a log, which is a
//! complete record (only the name of a log is masked), and printing.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let directory = tempfile::tempdir()?;
//! # let path = directory.path().join("conversations");
//! use aurora_logs::{LogDirectory, LogText, interaction};
//!
//! let logs = LogDirectory::create(&path)?;
//! let text = r#"{"query": "Fix database migration issue", "timestamp": "2025-12-13T14:32:15Z",
//!                "phases": [{"name": "ASSESS", "output": {"complexity": "simple"}}]}"#;
//! let written = logs.write(LogText::Interaction(interaction("a.json", text.as_bytes())?), 2)?;
//! assert_eq!(written.file, "2025/12/database-migration-2025-12-13.md");
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]
#![warn(missing_docs)]
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod append;
mod copy;
mod directory;
mod document;
mod draft;
mod error;
mod fence;
mod find;
mod header;
mod heading;
mod input;
mod interaction;
mod json_text;
mod keywords;
mod layout;
mod listing;
mod maintenance;
mod query_id;
mod reader;
mod rfc_3339;
mod search;
mod sections;
mod settings;
mod transcript;
mod weak_words;
mod write;

pub use append::{AddedText, Appended};
pub use directory::LogDirectory;
pub use error::{LogError, UnreadLog};
pub use fence::FenceTracker;
pub use find::{Candidate, Found};
pub use header::LogHeader;
pub use heading::{Section, SectionTracker, parse_phase};
pub use input::{additions, interaction};
pub use interaction::{Interaction, JsonText, Phase, Sections};
pub use keywords::keywords;
pub use layout::{DateRange, LogFile, Month, date};
pub use listing::{LogFiles, LogSummary, Summaries};
pub use maintenance::{Action, MaintenanceOptions, MaintenanceReport, Policy};
pub use query_id::{InvalidId, QueryId};
pub use reader::{Lines, LogReader, MAX_LINE_BYTES};
pub use rfc_3339::rfc_3339;
pub use search::{MatchingLine, Pattern, PatternError, SearchHit};
pub use sections::SectionText;
pub use settings::{Settings, TABLE};
pub use transcript::read_transcript;
pub use write::{LogText, Written};
