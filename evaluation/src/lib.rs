//! Measures a search with questions that have known answers, generates such questions from a repository, and learns the
//! weights of the search from them.
//!
//! - [`golden`] reads and writes golden sets; [`metrics`] computes the metrics of a list of results; [`interval`]
//!   estimates the uncertainty of a mean or a difference; [`report`] summarises the results of a run and compares them
//!   with another run or with minimum values.
//! - [`engine::Engine`] asks an index the questions, in process, without recording accesses.
//! - [`mine`] generates golden sets from a repository: from documented functions and files, from names that are defined
//!   once, and from commits.
//! - [`tune`] learns the numbers of the search configuration by a deterministic, cross-validated optimisation. It
//!   treats all numbers alike, whatever their names.
//!
//! Deliberately absent: indexing and parsing. The caller passes an [`mine::IndexerBackend`], which finds the
//! definitions of a file and indexes the trees that mining writes.
//!
//! ```
//! use aurora_evaluation::metrics::{Found, Metric, measure};
//! use aurora_evaluation::golden;
//!
//! let directory = std::env::temp_dir().join("aurora-evaluation-example");
//! std::fs::create_dir_all(&directory)?;
//! let file = directory.join("golden.jsonl");
//! std::fs::write(&file, r#"{"query": "retry with backoff", "relevant": [{"path": "net/retry.go", "line_start": 3, "line_end": 9}]}"#)?;
//! let questions = golden::read([golden::GoldenSource::named(&file)])?;
//! let results = [
//!     Found { file: "net/dial.go".into(), lines: Some((1, 40)) },
//!     Found { file: "net/retry.go".into(), lines: Some((4, 12)) },
//! ];
//! assert_eq!(measure(&questions[0], &results, None).value(Metric::Mrr), Some(0.5));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

pub mod engine;
pub mod golden;
pub mod interval;
pub mod metrics;
pub mod mine;
pub mod random;
pub mod report;
pub mod tune;
