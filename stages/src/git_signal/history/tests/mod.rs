//! Attribution compared with the `git` binary, line by line, on repositories that small scripts build and, if asked, on a real one.

mod cases;
mod fixture;
mod generated;
mod increments;
mod index_stat;
#[cfg(unix)]
mod real;
mod worktree;
