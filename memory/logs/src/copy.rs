//! Copying Markdown that is stored as it is.

use std::io::{self, Read, Write};
use std::path::Path;

use crate::error::LogError;

/// Which side of a copy has failed.
pub(crate) enum CopyError {
    /// The text that was given.
    Text(io::Error),
    /// The log.
    Log(io::Error),
}

impl CopyError {
    /// The error of an action on the log at a path.
    pub(crate) fn at(self, action: &'static str, log: &Path) -> LogError {
        match self {
            Self::Text(error) => LogError::Text(error),
            Self::Log(error) => LogError::io(action, log)(error),
        }
    }
}

/// Copies a text to its end, and ends its last line.
pub(crate) fn copy_body(body: &mut dyn Read, out: &mut impl Write) -> Result<(), CopyError> {
    let mut buffer = vec![0; 64 << 10];
    let mut last = b'\n';
    loop {
        let read = match body.read(&mut buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read.map_err(CopyError::Text)?,
        };
        let Some(end) = buffer[..read].last() else { break };
        last = *end;
        out.write_all(&buffer[..read]).map_err(CopyError::Log)?;
    }
    if last == b'\n' { Ok(()) } else { out.write_all(b"\n").map_err(CopyError::Log) }
}
