//! File access confined to a directory.
//!
//! A repository controls the content of its tree: it can contain symbolic links to a user's files, named pipes, devices
//! and endless files. A [`Directory`] opens files relative to its handle, and follows no symbolic link in any
//! component. It opens only regular files, never blocks, and reads no more bytes than the caller allows. It creates new
//! files exclusively. To replace a file, it writes the new content under a random name and then renames it.
//!
//! On Linux the kernel resolves a path in one call (`openat2` with `RESOLVE_BENEATH` and `RESOLVE_NO_SYMLINKS`). On
//! other Unix systems, and where that call is not available, each component is opened with `O_NOFOLLOW`. On other
//! systems each component is examined before it is used. This gives no protection if another process changes the tree
//! between the check and the use.
//!
//! [`read_regular`] is for files that the user names: it follows symbolic links but keeps all other restrictions.
//!
//! Deliberately absent: access control, and any interpretation of file contents.
//!
//! ```
//! # fn main() -> std::io::Result<()> {
//! # let temporary = tempfile::tempdir()?;
//! use aurora_confined::Directory;
//!
//! let root = Directory::open_root(temporary.path())?;
//! let state = root.create_directory(".state")?;
//! state.replace("seen", |file| std::io::Write::write_all(file, b"42"))?;
//! assert_eq!(root.read(".state/seen", 1 << 10)?, b"42");
//! assert!(root.read("../elsewhere", 1 << 10).is_err());
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod descriptors;
mod directory;
mod metadata;
mod refusal;
mod regular;
mod temporary;
#[cfg(test)]
mod tests;

#[cfg(not(unix))]
mod portable;
#[cfg(unix)]
mod unix;
#[cfg(not(unix))]
use portable as system;
#[cfg(unix)]
use unix as system;

pub use descriptors::raise_open_file_limit;
pub use directory::Directory;
pub use metadata::{EntryKind, Metadata};
pub use refusal::{Refusal, refusal_of};
pub use regular::{open_regular, read_regular, read_regular_to_string};
