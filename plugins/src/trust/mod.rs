//! Consent of the user to run programs.
//!
//! A repository can name a program in its pipeline file. The program only runs after the user has seen its command and
//! digest and has agreed. A consent is given for a digest, so it is valid in every clone and work tree in which the
//! program has the same digest. The records are stored outside of any repository.

mod changes;
mod consents;
mod digest_list;
mod earlier_records;
mod files;
mod identity;
mod imports;

pub use consents::{Consent, ConsentError, Consents};
pub use digest_list::{DigestList, DigestListError};
pub use files::ProgramError;
pub use identity::{ProgramFile, ProgramIdentity, digest_of_inputs};
