//! Memory entries survive the death of any process that writes them, and concurrent writers lose no entries.
//!
//! `AURORA_TEST_KILLS` sets the number of processes that are killed at random moments, and `AURORA_TEST_SEED` repeats
//! the kills of an earlier run.

mod concurrent;
#[path = "../fixture/mod.rs"]
mod fixture;
mod kills;
mod random;
mod steps;
mod store;
mod writer;
