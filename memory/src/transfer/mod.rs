//! Export and import of entries as lines of JSON, and batch writes of imported entries.

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
