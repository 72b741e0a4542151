//! Tests that compare attribution with the `git` binary, line by line. The repositories are built by small scripts. On
//! request, a test compares a real repository.

mod ancestors;
mod cases;
mod diff_cache;
pub(super) mod fixture;
mod generated;
mod generator;
mod increments;
#[cfg(unix)]
mod real;
mod touches;
mod touches_of_repository;
mod worktree;
mod worktree_index;
