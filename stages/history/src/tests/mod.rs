//! Attribution compared with the `git` binary, line by line, on repositories that small scripts build and, on request,
//! on a real repository.

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
