//! Stages with `use = "process"`, which run a program.
//!
//! The program reads messages from its standard input and writes answers to its standard output. The format is
//! specified in `docs/reference/stage-protocol.md`. [`Process`] is the configuration. Each worker of the stage has its
//! own process. Deliberately absent: the decision which programs may run, which is made in [`crate::trust`].

mod child;
mod codec;
mod command;
mod config;
pub mod conformance;
mod conversation;
mod documents;
mod handshake;
mod heartbeats;
mod missing;
mod prepared;
mod processes;
mod restarts;
mod stage;
mod stderr_lines;

pub use command::HelperDirectory;
pub use config::Process;
pub use documents::Documents;
pub use missing::missing_parts;
pub use prepared::ProgramHashes;
