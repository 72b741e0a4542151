//! Append-only cache files: results of one run that the next run can reuse.
//!
//! A [`CacheFile`] is a header followed by checksummed segments. Each run appends its new results. Reading stops at the
//! first segment that is truncated or damaged. A cache file is safe to delete: the next run recomputes its content and
//! writes a new file.
//!
//! A repository can contain any file, so a cache file is used only if its header contains a secret that the caller
//! supplies. The author of a repository cannot know the secret.
//!
//! Deliberately absent: locks (the caller must ensure a single writer), compaction, and any interpretation of the
//! content.
//!
//! ```
//! # fn main() -> std::io::Result<()> {
//! # let temporary = tempfile::tempdir()?;
//! use aurora_cachefile::{CacheFile, Format};
//! use aurora_confined::Directory;
//!
//! let directory = Directory::open_root(temporary.path())?;
//! let file = CacheFile::new(directory, "words", b"secret of this index", 1 << 20);
//! let format = Format::new(b"EXAMPLE\n", 1, b"");
//! let end = file.append(&format, None, b"first")?;
//! file.append(&format, Some(end), b"second")?;
//!
//! let bytes = file.read(&format).expect("the header was just written");
//! let segments: Vec<&[u8]> = file.segments(&bytes, &format).map(|segment| &bytes[segment]).collect();
//! assert_eq!(segments, [b"first".as_slice(), b"second"]);
//!
//! let other_version = Format::new(b"EXAMPLE\n", 2, b"");
//! assert!(file.read(&other_version).is_none());
//! # Ok(())
//! # }
//! ```

#![forbid(unsafe_code)]
#![warn(missing_docs)]
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod cache_file;

pub use cache_file::{CacheFile, Format, Segments};
