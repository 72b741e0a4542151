//! The record of searches and verdicts, from which `aur report` computes statistics.
//!
//! Every search of the command line, the HTTP server and the MCP server appends a line of JSON to `usage.jsonl` in the
//! user's directory. The size of the file and the number of old files are limited. A line does not contain the text of
//! the query, unless the user's configuration allows it. An error never makes a search fail.

mod report;

use std::path::Path;

use aurora_query::{Mode, SearchResults};
use aurora_redact::masked;
use aurora_storage::Verdict;
use serde::{Deserialize, Serialize};

use crate::rotating_file::RotatingFile;
use crate::user;
use crate::user_settings::{SettingsTable as _, UsageSettings};

pub use report::{DayUsage, FeedbackCounts, Latencies, UsageGroup, UsageReport};

/// Number of full files of records that are kept.
const OLD_FILES: usize = 3;
/// Maximum length in bytes of a recorded query. The rest of a longer query is left out.
const MAX_QUERY_BYTES: usize = 1 << 10;

/// The interface that answered a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Interface {
    /// The command line.
    Cli,
    /// The HTTP server.
    Http,
    /// The MCP server.
    Mcp,
}

impl Interface {
    /// Returns the name of the interface.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Cli => "cli",
            Self::Http => "http",
            Self::Mcp => "mcp",
        }
    }
}

/// A line of the file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct UsageRecord {
    /// Time in Unix seconds.
    time: i64,
    via: Interface,
    /// The searched projects.
    roots: Vec<String>,
    #[serde(flatten)]
    event: UsageEvent,
}

/// A recorded event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "event")]
enum UsageEvent {
    /// An answered search.
    Search {
        mode: Mode,
        /// Duration in milliseconds.
        ms: f64,
        results: usize,
        /// Whether a result is close to the query, see [`has_close_result`].
        close: bool,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        query: Option<String>,
    },
    /// A verdict on results.
    Feedback { verdict: Verdict, chunks: usize },
}

/// Whether an answer contains a result that is close to the query.
pub fn has_close_result(found: &SearchResults) -> bool {
    !found.hits.is_empty() && !found.is_distant()
}

/// The record of searches.
#[derive(Debug)]
pub struct UsageLog {
    file: RotatingFile,
    /// Whether the texts of queries are recorded.
    with_queries: bool,
}

impl UsageLog {
    /// Opens the record in the user's directory. Returns `None` if the user has turned it off, if `[usage]` is invalid,
    /// or if the path of the directory is not absolute.
    pub fn open() -> Option<Self> {
        let settings = UsageSettings::load().ok().filter(|settings| settings.enabled)?;
        Some(Self { file: file(&settings)?, with_queries: settings.queries })
    }

    /// Records answers. `roots` are the searched projects.
    pub fn searches<'r>(
        &self,
        via: Interface,
        answers: impl Iterator<Item = &'r SearchResults>,
        roots: &[&Path],
        now: i64,
    ) {
        let mut lines = Vec::new();
        for found in answers {
            let event = UsageEvent::Search {
                mode: found.mode,
                ms: (found.took.as_secs_f64() * 1e6).round() / 1e3,
                results: found.hits.len(),
                close: has_close_result(found),
                query: self.with_queries.then(|| shortened(masked(found.query.clone()))),
            };
            encode(UsageRecord { time: now, via, roots: names(roots), event }, &mut lines);
        }
        self.append(&lines);
    }

    /// Records a verdict on results of a project.
    pub fn feedback(&self, via: Interface, verdict: Verdict, chunks: usize, root: &Path, now: i64) {
        let mut lines = Vec::new();
        let event = UsageEvent::Feedback { verdict, chunks };
        encode(UsageRecord { time: now, via, roots: names(&[root]), event }, &mut lines);
        self.append(&lines);
    }

    fn append(&self, lines: &[u8]) {
        if let Err(error) = self.file.append(lines) {
            tracing::debug!("the search was not recorded in {}: {error}", self.file.path().display());
        }
    }
}

/// Returns the beginning of a query whose secrets are masked. A secret that is cut before it is masked may not be
/// recognised.
fn shortened(mut query: String) -> String {
    query.truncate(query.floor_char_boundary(MAX_QUERY_BYTES));
    query
}

/// Returns the file of records; `None` if the path of the user's directory is not absolute.
fn file(settings: &UsageSettings) -> Option<RotatingFile> {
    let directory = user::absolute_directory()?.path().join("usage");
    Some(RotatingFile::new(directory, "usage.jsonl", settings.max_bytes, OLD_FILES))
}

fn names(roots: &[&Path]) -> Vec<String> {
    roots.iter().map(|root| masked(root.display().to_string())).collect()
}

fn encode(record: UsageRecord, lines: &mut Vec<u8>) {
    // Records contain only values that JSON can represent.
    if let Ok(line) = serde_json::to_vec(&record) {
        lines.extend(line);
        lines.push(b'\n');
    }
}
