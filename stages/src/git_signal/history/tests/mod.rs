//! Attribution compared with the `git` binary, line by line, on repositories that small scripts build and, if asked, on a real one.

mod cases;
mod comparisons;
pub(super) mod fixture;
mod generated;
mod generator;
mod increments;
mod index_stat;
#[cfg(unix)]
mod real;
mod touches;
mod touches_of_repository;
mod worktree;
