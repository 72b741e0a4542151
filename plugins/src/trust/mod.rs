//! The programs that the user has allowed to run.
//!
//! A repository can name a program in its pipeline. It runs only after the user has seen its command and its digest. A consent is for
//! the digest, so it holds in every clone and work tree where the program is the same. The records are outside of any repository.

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
