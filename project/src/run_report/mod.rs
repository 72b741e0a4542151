//! The report of an index run for a job: JSON, Markdown, JUnit, OpenMetrics and a page of HTML.
//!
//! [`RunThresholds`] are the requirements that a job makes, [`checks`] compares a run with them, and [`IndexReport`] is
//! what the formats show. Each format escapes the paths and reasons of a repository on its own. Deliberately absent:
//! the evaluation of golden sets, and the annotations of CI systems.

mod changes;
mod chart;
mod check;
mod checks;
mod escape;
mod html;
mod junit;
mod markdown;
mod metrics;
mod quality;
mod report;
#[cfg(feature = "schema")]
mod schema;
mod thresholds;
mod timeline;
mod write;

pub use check::Check;
pub use checks::checks;
pub use quality::{QualityThreshold, ScoredQuestions, quality_check};
pub use report::{IndexReport, ReportStatus, StopReason};
#[cfg(feature = "schema")]
pub use schema::schema;
pub use thresholds::{ColumnThreshold, RunThresholds};
pub use write::ReportDirectory;
