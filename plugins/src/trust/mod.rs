//! Which programs the user has allowed to run.
//!
//! A repository can name a program in its pipeline. It runs only after the user has seen its command and its digest, and has
//! allowed both for this repository. The record is outside of any repository.

mod consents;
mod identity;

pub use consents::{Consent, ConsentError, Consents};
pub use identity::{ProgramError, ProgramFile, ProgramIdentity, digest_of_inputs};
