//! Answers in JSON with a size limit. The thread that computes an answer also serializes it.

use std::io::{self, Write};

use axum::body::Bytes;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use tokio::sync::OwnedSemaphorePermit;

use crate::problem::Problem;

/// An answer in JSON.
pub(crate) struct Answer(Bytes);

impl Answer {
    /// Creates an answer. `share` is the answer's part of the memory for answers, and is released when the answer has
    /// been sent.
    pub(crate) fn new(json: Vec<u8>, share: OwnedSemaphorePermit) -> Self {
        Self(Bytes::from_owner(HeldJson { json, _share: share }))
    }
}

impl IntoResponse for Answer {
    fn into_response(self) -> Response {
        ([(header::CONTENT_TYPE, "application/json")], self.0).into_response()
    }
}

struct HeldJson {
    json: Vec<u8>,
    _share: OwnedSemaphorePermit,
}

impl AsRef<[u8]> for HeldJson {
    fn as_ref(&self) -> &[u8] {
        &self.json
    }
}

/// Serializes a value to at most `limit` bytes of JSON.
pub(crate) fn json(value: &impl Serialize, limit: usize) -> Result<Vec<u8>, Problem> {
    let mut buffer = JsonBuffer::new(limit);
    buffer.push(value)?;
    Ok(buffer.bytes)
}

/// A buffer of limited size for JSON values.
pub(crate) struct JsonBuffer {
    bytes: Vec<u8>,
    limit: usize,
    /// Whether a value did not fit into the buffer.
    pub(crate) is_full: bool,
}

impl JsonBuffer {
    pub(crate) fn new(limit: usize) -> Self {
        Self { bytes: Vec::new(), limit, is_full: false }
    }

    /// Appends a value. If the value does not fit, the buffer stays unchanged.
    pub(crate) fn push(&mut self, value: &impl Serialize) -> Result<(), Problem> {
        let start = self.bytes.len();
        let written = serde_json::to_writer(&mut *self, value);
        written.map_err(|error| {
            self.bytes.truncate(start);
            if !error.is_io() {
                return Problem::bug(&error);
            }
            self.is_full = true;
            Problem::too_large(self.limit)
        })
    }

    /// Appends a short text even if the buffer is full.
    pub(crate) fn push_short(&mut self, json: &[u8]) {
        self.bytes.extend_from_slice(json);
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

impl Write for JsonBuffer {
    fn write(&mut self, more: &[u8]) -> io::Result<usize> {
        if more.len() > self.limit.saturating_sub(self.bytes.len()) {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.bytes.extend_from_slice(more);
        Ok(more.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_that_does_not_fit_leaves_the_buffer_unchanged() {
        let mut buffer = JsonBuffer::new(10);
        buffer.push(&[1, 2]).expect("the value fits");
        assert!(!buffer.is_full);
        assert!(buffer.push(&"too long for it").is_err());
        assert!(buffer.is_full);
        buffer.push(&[3]).expect("the value fits");
        buffer.push_short(b"beyond");
        assert!(buffer.push(&4).is_err());
        assert_eq!(buffer.into_bytes(), b"[1,2][3]beyond");
        assert_eq!(json(&"12345678", 10).expect("the value fits").len(), 10);
        assert!(json(&"123456789", 10).is_err());
    }
}
