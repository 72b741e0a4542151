//! Copying of Markdown that a log stores verbatim.

use std::io::{self, Read, Write};
use std::path::Path;

use crate::error::LogError;

/// Maximum length of a text in bytes. The limit is necessary, because the input can be endless, such as the output of a
/// program.
const MAX_TEXT_BYTES: u64 = 256 << 20;

/// An error while copying. It distinguishes errors of the source from errors of the log.
pub(crate) enum CopyError {
    /// The text could not be read.
    Text(io::Error),
    /// The log could not be read or written.
    Log(io::Error),
}

impl CopyError {
    /// Converts the error to a [`LogError`]. `action` is the failed action on the log, and `log` is the path of the
    /// log.
    pub(crate) fn at(self, action: &'static str, log: &Path) -> LogError {
        match self {
            Self::Text(error) => LogError::Text(error),
            Self::Log(error) => LogError::io(action, log)(error),
        }
    }
}

/// Copies a text, and terminates its last line with a line break. Fails if the text is longer than
/// [`MAX_TEXT_BYTES`].
pub(crate) fn copy_body(body: &mut dyn Read, out: &mut impl Write) -> Result<(), CopyError> {
    let mut buffer = vec![0; 64 << 10];
    let (mut last, mut bytes) = (b'\n', 0);
    loop {
        let read = match body.read(&mut buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read.map_err(CopyError::Text)?,
        };
        let Some(end) = buffer[..read].last() else { break };
        last = *end;
        bytes += read as u64;
        if bytes > MAX_TEXT_BYTES {
            let reason = format!("it has more than {MAX_TEXT_BYTES} bytes");
            return Err(CopyError::Text(io::Error::new(io::ErrorKind::FileTooLarge, reason)));
        }
        out.write_all(&buffer[..read]).map_err(CopyError::Log)?;
    }
    if last == b'\n' { Ok(()) } else { out.write_all(b"\n").map_err(CopyError::Log) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endless_text_is_an_error() {
        let copied = copy_body(&mut io::repeat(b'x'), &mut io::sink());
        assert!(matches!(copied, Err(CopyError::Text(error)) if error.kind() == io::ErrorKind::FileTooLarge));
    }
}
