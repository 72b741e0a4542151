//! Entries of memory outlive whatever happens to the processes that write them, and several writers lose nothing.
//!
//! `AURORA_TEST_KILLS` says how many processes are killed at random moments; `AURORA_TEST_SEED` repeats them.

mod concurrent;
#[path = "../fixture/mod.rs"]
mod fixture;
mod kills;
mod random;
mod steps;
mod store;
mod writer;
