//! Comparison of a log with a compressed copy that a killed process left behind.

use std::io::{self, BufRead as _};

use aurora_confined::Directory;

use crate::reader::LogReader;

/// Returns `true` if a log begins with the content of its compressed copy. Both are equal if a process was killed while
/// it compressed the log. The log is longer if a process was killed while it appended to a compressed log.
pub(super) fn begins_with_copy(month: &Directory, name: &str) -> io::Result<bool> {
    let (mut log, mut copy) = (LogReader::open_plain(month, name)?, LogReader::open_packed(month, name)?);
    loop {
        let expected = copy.fill_buf()?;
        if expected.is_empty() {
            return Ok(true);
        }
        let found = log.fill_buf()?;
        let common = expected.len().min(found.len());
        if common == 0 || expected[..common] != found[..common] {
            return Ok(false);
        }
        copy.consume(common);
        log.consume(common);
    }
}
