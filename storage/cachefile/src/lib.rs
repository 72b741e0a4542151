//! Append-only cache files: what one run computed and the next run need not compute again.
//!
//! A [`CacheFile`] is a header and a list of checksummed segments. A run appends what it has added; a segment that was cut
//! short or damaged ends the file. Such a file is safe to delete: the next run computes everything again and writes it anew.
//!
//! A repository can contain any file, so a cache file is read only if its header holds a secret that the caller gives and
//! that the author of a repository cannot know.
//!
//! Deliberately absent: locks (one writer at a time is the caller's business), compaction, and any meaning of the content.
//!
//! ```
//! # fn main() -> std::io::Result<()> {
//! # let place = tempfile::tempdir()?;
//! use aurora_cachefile::{CacheFile, Format};
//! use aurora_confined::Directory;
//!
//! let directory = Directory::open_root(place.path())?;
//! let file = CacheFile::new(directory, "words", b"secret of this index", 1 << 20);
//! let format = Format::new(b"EXAMPLE\n", 1, b"");
//! let end = file.append(&format, None, b"first")?;
//! file.append(&format, Some(end), b"second")?;
//!
//! let bytes = file.read(&format).expect("the header is the one that was written");
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
