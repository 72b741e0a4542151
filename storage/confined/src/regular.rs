//! Reads regular files, up to a maximum size.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use crate::refusal::Refusal;
use crate::system;

/// Opens a regular file that the user has named, for reading. Follows symbolic links.
///
/// # Errors
/// Returns [`Refusal::NotRegular`] for directories, pipes and devices. Never blocks.
pub fn open_regular(path: &Path) -> io::Result<File> {
    check_regular(system::open_named(path)?)
}

/// Reads a regular file that the user has named. Follows symbolic links.
///
/// # Errors
/// Returns the errors of [`open_regular`], and [`Refusal::TooLarge`] if the file has more than `limit` bytes.
pub fn read_regular(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    read_open(open_regular(path)?, limit)
}

/// Reads a regular file that the user has named, as text. Follows symbolic links.
///
/// # Errors
/// Returns the errors of [`read_regular`], and [`io::ErrorKind::InvalidData`] if the file is not UTF-8.
pub fn read_regular_to_string(path: &Path, limit: u64) -> io::Result<String> {
    decode_utf_8(read_regular(path, limit)?)
}

/// Fails unless the open file is a regular file.
pub(crate) fn check_regular(file: File) -> io::Result<File> {
    if file.metadata()?.is_file() { Ok(file) } else { Err(Refusal::NotRegular.into()) }
}

/// Reads a file to its end. Fails if it has more than `limit` bytes.
pub(crate) fn read_open(file: File, limit: u64) -> io::Result<Vec<u8>> {
    let len = file.metadata()?.len();
    if len > limit {
        return Err(Refusal::TooLarge { limit }.into());
    }
    // The capacity is one byte more than the file size, so that detecting the end needs no second allocation.
    let mut bytes = Vec::with_capacity(usize::try_from(len + 1).unwrap_or(0));
    // The limit is checked again, because a file may grow while it is read, and files in /proc report a length of 0.
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit { Err(Refusal::TooLarge { limit }.into()) } else { Ok(bytes) }
}

pub(crate) fn decode_utf_8(bytes: Vec<u8>) -> io::Result<String> {
    String::from_utf8(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error.utf8_error()))
}
