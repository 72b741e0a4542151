//! Reads conversation logs. A log that is larger than [`PART_BYTES`] is read in parts, so that memory does not grow
//! with the size of the log.

use std::fs::File;
use std::io::{self, BufRead, Read, Seek};

use aurora_logs::LogReader;
use aurora_redact::{Secret, find, mask, masked_personal};

use super::content::FileBytes;

/// Size of a part of a log, in bytes of the decompressed text. Smaller logs are read as a whole.
pub(crate) const PART_BYTES: usize = 512 << 10;
/// Number of bytes before and after a part in which secrets are searched for as well, because a secret can cross the
/// end of a part, and because some rules depend on preceding lines.
const CONTEXT_BYTES: usize = 64 << 10;

/// Returns the BLAKE3 hash of the bytes of a log, and its content. Returns `None` if `is_stopped` returns true first.
///
/// # Errors
/// Fails if the file cannot be read.
pub(super) fn read_log(mut file: File, is_stopped: &dyn Fn() -> bool) -> io::Result<Option<([u8; 32], FileBytes)>> {
    let mut hasher = blake3::Hasher::new();
    let mut bytes = vec![0; CONTEXT_BYTES];
    loop {
        if is_stopped() {
            return Ok(None);
        }
        let length = file.read(&mut bytes)?;
        hasher.update(&bytes[..length]);
        if length == 0 {
            break;
        }
        // A sparse file may be larger than the disk.
        if length == CONTEXT_BYTES && bytes.iter().all(|byte| *byte == 0) {
            return Ok(Some((*hasher.finalize().as_bytes(), FileBytes::Binary)));
        }
    }
    let hash = *hasher.finalize().as_bytes();
    file.rewind()?;
    let mut reader = LogReader::new(file)?;
    let mut text = Vec::new();
    let read = reader.by_ref().take(PART_BYTES as u64 + 1).read_to_end(&mut text);
    let content = match read {
        Ok(length) if length <= PART_BYTES => FileBytes::Whole(text),
        // The rest is decompressed as well, so that a damaged log is recognised before a part of it is stored.
        Ok(_) if reader.is_packed() => match skip(&mut reader, is_stopped) {
            Ok(true) => FileBytes::LargeLog,
            Ok(false) => return Ok(None),
            Err(error) => FileBytes::Damaged(error),
        },
        Ok(_) => FileBytes::LargeLog,
        Err(error) if reader.is_packed() => FileBytes::Damaged(error),
        Err(error) => return Err(error),
    };
    Ok(Some((hash, content)))
}

/// Reads all bytes. Returns false if `is_stopped` returns true first.
fn skip(from: &mut impl Read, is_stopped: &dyn Fn() -> bool) -> io::Result<bool> {
    while !is_stopped() {
        if io::copy(&mut from.by_ref().take(PART_BYTES as u64), &mut io::sink())? == 0 {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The kinds of data that are masked in a log.
#[derive(Debug, Clone, Copy)]
pub(super) struct Masking {
    pub(super) secrets: bool,
    pub(super) personal: bool,
}

/// Reads the masked text of a log in parts.
pub(super) struct LogParts<R> {
    reader: R,
    masking: Masking,
    part_bytes: usize,
    context_bytes: usize,
    /// The end of the last part, the next part, and the text after it, not masked.
    text: String,
    /// Length of the end of the last part in `text`.
    done: usize,
    /// Bytes that were read and do not form a complete character yet.
    undecoded: Vec<u8>,
    is_at_end: bool,
}

impl LogParts<LogReader> {
    pub(super) fn new(file: File, masking: Masking) -> io::Result<Self> {
        Ok(Self::with_sizes(LogReader::new(file)?, masking, PART_BYTES, CONTEXT_BYTES))
    }
}

impl<R: BufRead> LogParts<R> {
    fn with_sizes(reader: R, masking: Masking, part_bytes: usize, context_bytes: usize) -> Self {
        let (text, undecoded) = (String::new(), Vec::new());
        Self { reader, masking, part_bytes, context_bytes, text, done: 0, undecoded, is_at_end: false }
    }

    /// Returns the masked text of the next part, and the secrets that begin in it. Returns `None` at the end of the
    /// log. A part ends at the end of a line, unless the line is longer than a part.
    ///
    /// # Errors
    /// Fails if the log cannot be read.
    pub(super) fn next_part(&mut self) -> io::Result<Option<(String, Vec<Secret>)>> {
        self.fill()?;
        let limit = self.text.floor_char_boundary(self.done + self.part_bytes);
        let line_end = || self.text[self.done..limit].rfind('\n').map(|at| self.done + at + 1);
        let end = if limit == self.text.len() { limit } else { line_end().unwrap_or(limit) };
        if end == self.done {
            return Ok(None);
        }
        let mut secrets = if self.masking.secrets { find(&self.text) } else { Vec::new() };
        let mut masked = mask(self.text.clone(), &secrets);
        if self.masking.personal {
            masked = masked_personal(masked);
        }
        let part = masked[self.done..end].to_owned();
        secrets.retain(|secret| (self.done..end).contains(&secret.span.start));
        let context = self.text.floor_char_boundary(end.saturating_sub(self.context_bytes));
        let context = self.text[context..end].find('\n').map_or(context, |at| context + at + 1);
        self.text.drain(..context);
        self.done = end - context;
        Ok(Some((part, secrets)))
    }

    /// Whether all text was returned.
    pub(super) fn is_finished(&mut self) -> io::Result<bool> {
        self.fill()?;
        Ok(self.text.len() == self.done)
    }

    /// Reads the text of the next part and the text after it.
    fn fill(&mut self) -> io::Result<()> {
        while !self.is_at_end && self.text.len() < self.done + self.part_bytes + self.context_bytes {
            let before = self.undecoded.len();
            self.reader.by_ref().take(self.context_bytes as u64).read_to_end(&mut self.undecoded)?;
            self.is_at_end = self.undecoded.len() == before;
            let complete = if self.is_at_end { before } else { complete_length(&self.undecoded) };
            self.text += &String::from_utf8_lossy(&self.undecoded[..complete]);
            self.undecoded.drain(..complete);
        }
        Ok(())
    }
}

/// Returns the length of the bytes without an incomplete character at their end.
fn complete_length(bytes: &[u8]) -> usize {
    let starts = (bytes.len().saturating_sub(3)..bytes.len()).rev();
    let is_incomplete = |at: &usize| {
        std::str::from_utf8(&bytes[*at..]).is_err_and(|error| error.valid_up_to() == 0 && error.error_len().is_none())
    };
    starts.into_iter().find(is_incomplete).unwrap_or(bytes.len())
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use proptest::prelude::*;

    use super::*;

    const ALL: Masking = Masking { secrets: true, personal: true };

    fn parts(log: &[u8], masking: Masking, part_bytes: usize, context_bytes: usize) -> (Vec<String>, usize) {
        let mut parts = LogParts::with_sizes(log, masking, part_bytes, context_bytes);
        let (mut texts, mut secrets) = (Vec::new(), 0);
        while let Some((text, found)) = parts.next_part().expect("a log in memory can be read") {
            assert!(text.len() <= part_bytes);
            secrets += found.iter().filter(|secret| !secret.continues).count();
            assert_eq!(
                parts.is_finished().expect("a log in memory can be read"),
                log.len() <= texts.len() || {
                    texts.iter().map(String::len).sum::<usize>() + text.len() == String::from_utf8_lossy(log).len()
                }
            );
            texts.push(text);
        }
        (texts, secrets)
    }

    fn read(bytes: &[u8]) -> FileBytes {
        let mut file = tempfile::tempfile().expect("a temporary file can be created");
        file.write_all(bytes).and_then(|()| file.rewind()).expect("the file can be written");
        let (hash, content) =
            read_log(file, &|| false).expect("the file can be read").expect("nothing stops the reader");
        assert_eq!(hash, *blake3::hash(bytes).as_bytes());
        content
    }

    fn packed(text: &[u8]) -> Vec<u8> {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        packed.write_all(text).and_then(|()| packed.finish()).expect("a text in memory can be compressed")
    }

    #[test]
    fn compressed_logs_are_read_like_plain_logs() {
        let (small, large) = (b"a line\n".to_vec(), b"a line\n".repeat(100_000));
        for (small, large) in [(packed(&small), packed(&large)), (small.clone(), large)] {
            assert!(matches!(read(&small), FileBytes::Whole(text) if text == b"a line\n"));
            assert!(matches!(read(&large), FileBytes::LargeLog));
        }
        assert!(matches!(read(b""), FileBytes::Whole(text) if text.is_empty()));
        assert!(matches!(read(&[0; CONTEXT_BYTES]), FileBytes::Binary));
        assert!(matches!(read(&[b"a\0b\n".repeat(CONTEXT_BYTES)].concat()), FileBytes::Whole(_)));
        let whole = packed(&b"a line\n".repeat(100_000));
        assert!(matches!(read(&whole[..whole.len() - 20]), FileBytes::Damaged(_)));
        assert!(matches!(read(&packed(&vec![b'a'; 70 << 20])), FileBytes::Damaged(_)), "a decompression bomb");
    }

    #[test]
    fn a_secret_across_the_end_of_a_part_is_masked_and_counted_once() {
        let token = ["ghp", "_", "k3Jd82mXq0PzL5vRt7NcY1wBs9HfGa4eUiTo"].concat();
        let key = format!(
            "-----BEGIN PRIVATE KEY-----\n{}-----END PRIVATE KEY-----\n",
            "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n".repeat(8)
        );
        let log = format!("{}token {token} of jane@example.org\n{key}{}", "words\n".repeat(30), "words\n".repeat(30));
        let whole = masked_personal(aurora_redact::masked(log.clone()));
        for size in 40..400 {
            let (texts, secrets) = parts(log.as_bytes(), ALL, size, 600);
            assert_eq!(
                (texts.concat(), secrets),
                (whole.clone(), find(&log).iter().filter(|secret| !secret.continues).count())
            );
        }
        let none = Masking { secrets: false, personal: false };
        assert_eq!(parts(log.as_bytes(), none, 100, 600), (parts(log.as_bytes(), none, 100, 600).0, 0));
    }

    proptest! {
        #[test]
        fn parts_contain_the_whole_text(
            log in prop::collection::vec(prop_oneof![
                "[a-zé€😀]{0,30}\n".prop_map(String::into_bytes),
                prop::collection::vec(any::<u8>(), 0..9),
            ], 0..40),
            (part, context) in (4..90usize, 1..40usize),
        ) {
            let log = log.concat();
            let none = Masking { secrets: false, personal: false };
            prop_assert_eq!(parts(&log, none, part, context).0.concat(), String::from_utf8_lossy(&log));
        }
    }
}
