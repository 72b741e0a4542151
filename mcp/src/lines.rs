//! A transport with one message per line. It answers invalid messages with an error and continues.
//!
//! The transport of `rmcp` silently drops a line that is not JSON, so a client would wait for the answer forever.

use std::io;
use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::{ClientJsonRpcMessage, ErrorCode, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::Mutex;
use tokio::task::JoinHandle;
use tokio_util::bytes::{Bytes, BytesMut};
use tokio_util::codec::{AnyDelimiterCodec, AnyDelimiterCodecError, Decoder as _};

use crate::message::{Refusal, decode};

/// Maximum number of bytes in a line. By default, `aur serve` has the same limit for requests, and a lower limit for
/// MCP messages.
const MAX_LINE_BYTES: usize = 1 << 20;
/// Minimum number of bytes for which each read has room. By default, an empty buffer has room for only 64 bytes.
const MIN_READ_BYTES: usize = 8 << 10;

/// Both directions of a connection. Clones share the connection.
pub(crate) struct Lines<R, W> {
    input: Arc<Mutex<Input<R>>>,
    output: Arc<Mutex<W>>,
}

impl<R, W> Clone for Lines<R, W> {
    fn clone(&self) -> Self {
        Self { input: Arc::clone(&self.input), output: Arc::clone(&self.output) }
    }
}

impl<R: AsyncRead, W> Lines<R, W> {
    pub(crate) fn new(input: R, output: W) -> Self {
        let lines = AnyDelimiterCodec::new_with_max_length(b"\n".to_vec(), Vec::new(), MAX_LINE_BYTES);
        let input = Input { read: input, received: BytesMut::new(), lines, answering: None };
        Self { input: Arc::new(Mutex::new(input)), output: Arc::new(Mutex::new(output)) }
    }
}

impl<R, W> Transport<RoleServer> for Lines<R, W>
where
    R: AsyncRead + Unpin + Send + 'static,
    W: AsyncWrite + Unpin + Send + 'static,
{
    type Error = io::Error;

    fn send(&mut self, message: ServerJsonRpcMessage) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let output = Arc::clone(&self.output);
        async move { write(&output, serde_json::to_vec(&message)?).await }
    }

    /// Receives the next message. The future may be dropped at any time, because the whole state is stored in `input`.
    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        let mut input = self.input.lock().await;
        loop {
            if let Some(answering) = &mut input.answering {
                let written = answering.await;
                input.answering = None;
                written.ok()?.ok()?;
            }
            let refusal = match input.next().await {
                Ok(Some(line)) => match decode(&line) {
                    Ok(Some(message)) => return Some(message),
                    Ok(None) => continue,
                    Err(refusal) => refusal,
                },
                Err(AnyDelimiterCodecError::MaxChunkLengthExceeded) => {
                    let reason = format!("a message has at most {MAX_LINE_BYTES} bytes");
                    Refusal::new(Value::Null, ErrorCode::INVALID_REQUEST, reason)
                }
                Ok(None) => return None,
                Err(AnyDelimiterCodecError::Io(error)) => {
                    tracing::error!("cannot read the input: {error}");
                    return None;
                }
            };
            let output = Arc::clone(&self.output);
            // A separate task writes the answer, so that the message is complete even if this future is dropped.
            input.answering = Some(tokio::spawn(async move { write(&output, refusal.to_json()).await }));
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.output.lock().await.flush().await
    }
}

async fn write<W: AsyncWrite + Unpin>(output: &Mutex<W>, mut line: Vec<u8>) -> io::Result<()> {
    line.push(b'\n');
    let mut output = output.lock().await;
    output.write_all(&line).await?;
    output.flush().await
}

struct Input<R> {
    read: R,
    /// Received bytes that have not been decoded yet.
    received: BytesMut,
    /// Splits the input into lines, and skips the remainder of an overlong line.
    lines: AnyDelimiterCodec,
    /// The task that writes the answer to the last invalid line, until it has finished.
    answering: Option<JoinHandle<io::Result<()>>>,
}

impl<R: AsyncRead + Unpin> Input<R> {
    /// Returns the next line, or the text between the last line end and the end of the input.
    async fn next(&mut self) -> Result<Option<Bytes>, AnyDelimiterCodecError> {
        loop {
            if let Some(line) = self.lines.decode(&mut self.received)? {
                return Ok(Some(line));
            }
            self.received.reserve(MIN_READ_BYTES);
            if self.read.read_buf(&mut self.received).await? == 0 {
                return self.lines.decode_eof(&mut self.received);
            }
        }
    }
}
