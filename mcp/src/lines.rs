//! A transport with one message per line. It answers invalid messages with an error and continues.
//!
//! The transport of `rmcp` silently drops a line that is not JSON, so a client would wait for the answer forever.

use std::io;
use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::{ClientJsonRpcMessage, ErrorCode, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::sync::Mutex;
use tokio::task::JoinHandle;

use crate::message::{Refusal, decode};

/// Maximum number of bytes in a line. `aur serve` has the same limit for requests.
const MAX_LINE_BYTES: usize = 1 << 20;

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
        let input = Input { read: BufReader::new(input), line: Vec::new(), is_skipping: false, answering: None };
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
                Ok(Some(Line::Whole(line))) => match decode(&line) {
                    Ok(Some(message)) => return Some(message),
                    Ok(None) => continue,
                    Err(refusal) => refusal,
                },
                Ok(Some(Line::TooLong)) => {
                    let reason = format!("a message has at most {MAX_LINE_BYTES} bytes");
                    Refusal::new(Value::Null, ErrorCode::INVALID_REQUEST, reason)
                }
                Ok(None) => return None,
                Err(error) => {
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
    read: BufReader<R>,
    /// The beginning of the line that is being received.
    line: Vec<u8>,
    /// Whether the remainder of an overlong line is being skipped.
    is_skipping: bool,
    /// The task that writes the answer to the last invalid line, until it has finished.
    answering: Option<JoinHandle<io::Result<()>>>,
}

enum Line {
    /// A line, or the text between the last line end and the end of the input.
    Whole(Vec<u8>),
    /// A line of more than [`MAX_LINE_BYTES`], whose remainder must be skipped.
    TooLong,
}

impl<R: AsyncRead + Unpin> Input<R> {
    async fn next(&mut self) -> io::Result<Option<Line>> {
        loop {
            let available = self.read.fill_buf().await?;
            let is_end = available.is_empty();
            let line_end = available.iter().position(|byte| *byte == b'\n');
            let text = &available[..line_end.unwrap_or(available.len())];
            let is_too_long = !self.is_skipping && self.line.len() + text.len() > MAX_LINE_BYTES;
            if is_too_long {
                self.line = Vec::new();
                self.is_skipping = true;
            } else if !self.is_skipping {
                self.line.extend_from_slice(text);
            }
            let consumed = line_end.map_or(available.len(), |end| end + 1);
            self.read.consume(consumed);
            let was_skipped = self.is_skipping && line_end.is_some();
            if was_skipped {
                self.is_skipping = false;
            }
            if is_too_long {
                return Ok(Some(Line::TooLong));
            }
            if is_end && (self.is_skipping || self.line.is_empty()) {
                return Ok(None);
            }
            if is_end || (line_end.is_some() && !was_skipped) {
                return Ok(Some(Line::Whole(std::mem::take(&mut self.line))));
            }
        }
    }
}
