//! Attribution compared with the `git` binary, line by line, on repositories that small scripts build.

mod cases;
mod fixture;
mod generated;
mod increments;
mod index_stat;
mod worktree;
