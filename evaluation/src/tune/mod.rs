//! Learns the numbers of the search configuration from questions with known answers.
//!
//! A deterministic coordinate ascent over all numbers of the configuration raises one metric. The objective is the mean
//! of the metric in each set of questions, averaged over the sets, so that every set counts equally. Cross-validation
//! measures the gain: for every fold, the numbers are learned from the other folds and measured on this fold.
//! Therefore, no question is measured with numbers that were learned from it. The proposed configuration, in contrast,
//! is learned from all folds.

mod ascent;
mod error;
mod evidence;
mod folds;
mod optimise;
mod racing;
mod remembered;
mod report;
mod space;

pub use error::TuneError;
pub use evidence::config_file;
pub use optimise::{TuneOptions, tune};
pub use remembered::RememberedScores;
pub use report::{Comparison, ParameterChange, TuneReport, TunedSet};
pub use space::UnknownKeys;
