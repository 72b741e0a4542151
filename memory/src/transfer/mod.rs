//! Entries that come from elsewhere or go elsewhere: many are written at once, a memory is exported as lines of JSON, and lines
//! of JSON are read.

mod decision;
mod entry;
mod lines;
mod located;
mod problem;
mod put;
mod reader;
mod record;
mod report;
#[cfg(test)]
mod tests;
mod writer;

pub use entry::{Transfer, TransferredEntry};
pub use problem::{TransferEffect, TransferProblem};
pub use reader::{JsonLines, LineDefaults};
pub use report::TransferReport;
