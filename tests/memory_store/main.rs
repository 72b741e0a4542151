//! Entries of memory survive the death of any process that writes them, and several writers lose nothing.
//!
//! `AURORA_TEST_KILLS` sets how many processes are killed at random moments, and `AURORA_TEST_SEED` repeats them.

mod concurrent;
#[path = "../fixture/mod.rs"]
mod fixture;
mod kills;
mod random;
mod steps;
mod store;
mod writer;
