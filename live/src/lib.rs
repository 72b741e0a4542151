//! Keeps the indexes of projects fresh while a program runs. All searches share one open generation, index runs work in
//! the background and report their progress, and a watch over the tree starts them.
//!
//! Several processes may keep the index of the same project fresh. One process watches the tree and writes the index.
//! The others answer from the generations that this writer publishes, and one of them takes over when the writer ends.
//!
//! Deliberately absent: protocols, and the implementation of index runs and searches (`aurora-stages`, `aurora-query`).
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

pub use live_project::{Labels, LiveProject, RunError, Upkeep};
pub use roots::{OpenedRoots, Roots, UnknownRoot};
pub use run::RunRequest;
pub use status::{RunPhase, RunReason, RunStatus};
pub use watch::Watch;
