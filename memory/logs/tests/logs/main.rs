//! Tests of the public interface of a log directory: writing, finding, searching and removing logs.
#![allow(clippy::unwrap_used, reason = "this is a test, its helpers included")]

mod adding;
mod configuring;
mod finding;
mod hostile;
mod listing;
mod maintaining;
mod searching;
mod test_directory;
mod writing;
