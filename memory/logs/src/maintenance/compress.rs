//! Compression of a log.

use std::fs::FileTimes;
use std::io::{self, BufReader, Write as _};

use aurora_confined::Directory;
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::directory::{LogDirectory, remove_file};
use crate::draft::Draft;
use crate::layout::{PACKED, PLAIN};
use crate::reader::{Bounded, TextSize};

/// Sizes of the files of a log, in bytes.
pub(super) struct Sizes {
    /// Size of the plain file.
    pub(super) before: u64,
    /// Size of the compressed file.
    pub(super) after: u64,
}

/// Compresses the log `name`. Returns `None` without any change in two cases: if another process has changed or
/// compressed the log in the meantime, or if the log compresses so well that the limits for decompression would prevent
/// reading the log again.
pub(super) fn compress(logs: &LogDirectory, month: &Directory, name: &str) -> io::Result<Option<Sizes>> {
    let (plain, packed) = (format!("{name}{PLAIN}"), format!("{name}{PACKED}"));
    // The metadata is read before the file is opened, so that the check at the end detects a replaced file.
    let before = month.metadata(&plain)?;
    let file = month.open_file(&plain)?;
    let modified = file.metadata()?.modified()?;
    let mut draft = Draft::create(month)?;
    let mut encoder = GzEncoder::new(draft.file(), Compression::default());
    let mut text = Bounded::new(BufReader::with_capacity(64 << 10, &file), TextSize::UNBOUNDED);
    io::copy(&mut text, &mut encoder)?;
    encoder.finish()?.flush()?;
    // The modification time is preserved, because it determines the age of a log without a day in its name.
    draft.file().set_times(FileTimes::new().set_modified(modified))?;
    draft.synchronise()?;
    let after = draft.file().metadata()?.len();
    if text.size().check(TextSize::max_unpacked(after)).is_err() {
        return Ok(None);
    }
    let _names = logs.try_lock()?;
    if month.metadata(&plain)? != before || !draft.publish(&packed)? {
        return Ok(None);
    }
    remove_file(month, &plain)?;
    month.synchronise()?;
    Ok(Some(Sizes { before: before.len, after }))
}
