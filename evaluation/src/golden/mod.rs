//! Golden sets: questions with known answers, and the files that contain them (JSON Lines or YAML).

mod fields;
mod files;
mod jsonl;
mod question;
mod yaml;

pub use files::{Fault, GoldenErrors, GoldenSource, read, to_jsonl};
pub(crate) use question::FOUND;
pub use question::{Answer, Question};
