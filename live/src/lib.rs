//! Projects whose index stays fresh while a program runs: one opened generation that all questions share, index runs in the
//! background with their progress, and a watch over the tree that starts them.
//!
//! Several processes may keep the same project: one of them watches the tree and writes, the others answer from what it publishes,
//! and one of these takes over when it ends.
//!
//! Deliberately absent: protocols, and how an index run or a search works (`aurora-stages`, `aurora-query`).
#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod backoff;
mod changes;
mod generation;
mod live_project;
mod priority;
mod recorder;
mod roots;
mod run;
mod status;
mod watch;

pub use live_project::{LiveProject, RunError, Upkeep};
pub use roots::{OpenedRoots, Root, Roots, UnknownRoot};
pub use run::RunRequest;
pub use status::{RunPhase, RunReason, RunStatus};
pub use watch::Watch;
