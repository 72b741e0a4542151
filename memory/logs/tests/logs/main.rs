//! A directory of logs from outside: what is written, found, searched and removed.
#![allow(clippy::unwrap_used, reason = "this is a test, its helpers included")]

mod adding;
mod configuring;
mod finding;
mod hostile;
mod listing;
mod maintaining;
mod place;
mod searching;
mod writing;
