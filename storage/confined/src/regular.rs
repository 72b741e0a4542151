//! Reading regular files, with a limit.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use crate::refusal::Refusal;
use crate::system;

/// Opens a regular file that the user has named, for reading; symbolic links are followed.
///
/// # Errors
/// [`Refusal::NotRegular`] for directories, pipes and devices; never blocks.
pub fn open_regular(path: &Path) -> io::Result<File> {
    regular(system::open_named(path)?)
}

/// The content of a regular file that the user has named; symbolic links are followed.
///
/// # Errors
/// Also [`Refusal::TooLarge`] if it has more than `limit` bytes.
pub fn read_regular(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    read_open(open_regular(path)?, limit)
}

/// The same as text.
///
/// # Errors
/// Also [`io::ErrorKind::InvalidData`] if it is not UTF-8.
pub fn read_regular_to_string(path: &Path, limit: u64) -> io::Result<String> {
    text(read_regular(path, limit)?)
}

/// Fails unless the open file is a regular one.
pub(crate) fn regular(file: File) -> io::Result<File> {
    if file.metadata()?.is_file() { Ok(file) } else { Err(Refusal::NotRegular.into()) }
}

/// Reads a file to its end, but no more than `limit` bytes.
pub(crate) fn read_open(file: File, limit: u64) -> io::Result<Vec<u8>> {
    let told = file.metadata()?.len();
    if told > limit {
        return Err(Refusal::TooLarge { limit }.into());
    }
    // One byte more than the file has, so that its end is seen without another allocation.
    let mut bytes = Vec::with_capacity(usize::try_from(told + 1).unwrap_or(0));
    // A file may grow, and those of /proc tell no length.
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit { Err(Refusal::TooLarge { limit }.into()) } else { Ok(bytes) }
}

pub(crate) fn text(bytes: Vec<u8>) -> io::Result<String> {
    String::from_utf8(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error.utf8_error()))
}
