//! The encodings of messages: JSON with a trailing line feed, or MessagePack with a length prefix.

use std::io::{self, BufReader, Read};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// Maximum size of a message, in bytes.
pub(super) const MAX_MESSAGE_BYTES: usize = 64 << 20;

/// Maximum nesting depth of lists and maps in a MessagePack message. The JSON parser has its own limit.
const MAX_DEPTH: usize = 128;

/// Size of the read buffer, in bytes.
const READ_BYTES: usize = 1 << 16;
/// Maximum memory in bytes that is reserved for a message before it is read or encoded.
const MAX_RESERVED_BYTES: usize = 2 << 20;

/// The encoding of messages after the handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Encoding {
    /// A JSON text on one line.
    Jsonl,
    /// The length as four bytes in big-endian order, followed by MessagePack.
    Msgpack,
}

impl Encoding {
    /// Encodes a message.
    ///
    /// # Errors
    /// Returns an error if the message is too long or contains a value that the encoding cannot represent.
    pub(super) fn encode(self, message: &impl Serialize) -> Result<Vec<u8>, String> {
        self.encode_expecting(4096, message)
    }

    /// Like [`encode`](Self::encode), with an estimate of the encoded size.
    ///
    /// # Errors
    /// See [`encode`](Self::encode).
    pub(super) fn encode_expecting(self, bytes: usize, message: &impl Serialize) -> Result<Vec<u8>, String> {
        let mut bytes = Vec::with_capacity(bytes.min(MAX_RESERVED_BYTES));
        match self {
            Self::Jsonl => {
                serde_json::to_writer(&mut bytes, message).map_err(|error| error.to_string())?;
                bytes.push(b'\n');
            }
            Self::Msgpack => {
                bytes.extend([0; 4]);
                let mut serializer = rmp_serde::Serializer::new(&mut bytes).with_struct_map();
                message.serialize(&mut serializer).map_err(|error| error.to_string())?;
                let length = u32::try_from(bytes.len() - 4).unwrap_or(u32::MAX);
                bytes[..4].copy_from_slice(&length.to_be_bytes());
            }
        }
        if bytes.len() > MAX_MESSAGE_BYTES {
            return Err(format!("a message of {} bytes, more than {MAX_MESSAGE_BYTES}", bytes.len()));
        }
        Ok(bytes)
    }

    /// Decodes a message.
    ///
    /// # Errors
    /// Returns the reason why the bytes are invalid.
    pub(super) fn decode<T: DeserializeOwned>(self, bytes: &[u8]) -> Result<T, String> {
        match self {
            Self::Jsonl => serde_json::from_slice(bytes).map_err(|error| error.to_string()),
            Self::Msgpack => {
                let mut deserializer = rmp_serde::Deserializer::from_read_ref(bytes);
                deserializer.set_max_depth(MAX_DEPTH);
                T::deserialize(&mut deserializer).map_err(|error| error.to_string())
            }
        }
    }
}

/// Splits a stream into messages.
pub(super) struct MessageReader<R> {
    stream: BufReader<R>,
    /// Capacity in bytes to reserve for the next line, which is probably about as long as the last one.
    expected: usize,
}

impl<R: Read> MessageReader<R> {
    pub(super) fn new(stream: R) -> Self {
        Self { stream: BufReader::with_capacity(READ_BYTES, stream), expected: 0 }
    }

    /// Reads the bytes of the next message; `None` at the end of the stream.
    ///
    /// # Errors
    /// Returns an error if a message is incomplete or too long, or if reading fails.
    pub(super) fn next(&mut self, encoding: Encoding) -> io::Result<Option<Vec<u8>>> {
        match encoding {
            Encoding::Jsonl => self.line(),
            Encoding::Msgpack => self.block(),
        }
    }

    fn line(&mut self) -> io::Result<Option<Vec<u8>>> {
        use io::BufRead as _;
        let mut line = Vec::with_capacity(self.expected);
        loop {
            let available = self.stream.fill_buf()?;
            if available.is_empty() {
                return if line.is_empty() { Ok(None) } else { Err(io::Error::other("the last line is not complete")) };
            }
            let (part, used) = match memchr::memchr(b'\n', available) {
                Some(end) => (&available[..end], end + 1),
                None => (available, available.len()),
            };
            if line.len() + part.len() > MAX_MESSAGE_BYTES {
                return Err(io::Error::other(format!("a message of more than {MAX_MESSAGE_BYTES} bytes")));
            }
            line.extend_from_slice(part);
            let is_whole = used > part.len();
            self.stream.consume(used);
            if is_whole {
                self.expected = (line.len() + line.len() / 8).min(MAX_RESERVED_BYTES);
                return Ok(Some(line));
            }
        }
    }

    fn block(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut length = [0; 4];
        let mut read = 0;
        while read < length.len() {
            match self.stream.read(&mut length[read..])? {
                0 if read == 0 => return Ok(None),
                0 => return Err(io::Error::other("the last message is not complete")),
                more => read += more,
            }
        }
        let length = u32::from_be_bytes(length) as usize;
        if length > MAX_MESSAGE_BYTES {
            return Err(io::Error::other(format!("a message of {length} bytes, more than {MAX_MESSAGE_BYTES}")));
        }
        // Not all of the memory is reserved at once, because a program may announce a longer message than it writes.
        let mut block = Vec::with_capacity(length.min(MAX_RESERVED_BYTES));
        self.stream.by_ref().take(length as u64).read_to_end(&mut block)?;
        if block.len() < length {
            return Err(io::Error::other("the last message is not complete"));
        }
        Ok(Some(block))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encoded_messages_are_read_back_in_both_encodings() {
        for encoding in [Encoding::Jsonl, Encoding::Msgpack] {
            let messages = ["a\nb", "", "ü\0"];
            let bytes: Vec<u8> = messages.iter().flat_map(|text| encoding.encode(text).expect("encodes")).collect();
            let mut reader = MessageReader::new(bytes.as_slice());
            for message in messages {
                let bytes = reader.next(encoding).expect("the message is complete").expect("there is a message");
                assert_eq!(encoding.decode::<String>(&bytes).as_deref(), Ok(message));
            }
            assert!(reader.next(encoding).expect("the stream is complete").is_none());
            let mut cut = MessageReader::new(&bytes[..bytes.len() - 1]);
            let rest: Vec<_> = std::iter::from_fn(|| cut.next(encoding).transpose()).collect();
            assert!(rest.last().is_some_and(|last| last.is_err()), "{encoding:?}");
        }
    }
}
