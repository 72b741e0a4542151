//! Stages that are programs of their own: `use = "process"`.
//!
//! The program reads messages from its standard input and writes answers to its standard output, as
//! `docs/reference/stage-protocol.md` says. [`Process`] is the configuration; each worker of the stage has a process of its own.
//! Deliberately absent: who may run, which is [`crate::trust`]'s part.

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
