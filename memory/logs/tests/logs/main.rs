//! Tests of the public interface of a log directory: writing, finding, searching and removing logs.
#![allow(clippy::unwrap_used, reason = "all modules of this file are tests")]

mod adding;
mod configuring;
mod finding;
mod hostile;
mod listing;
mod maintaining;
mod searching;
mod test_directory;
mod writing;
