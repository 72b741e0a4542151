//! A server that a test starts, and a client that can send arbitrary bytes.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::fixture::Fixture;

/// A running server, which is terminated when this value is dropped.
pub(crate) struct Server {
    child: Child,
    /// The address in the form `127.0.0.1:PORT`.
    pub(crate) address: String,
}

/// An HTTP response.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// The status line and the headers, converted to lower case.
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Server {
    /// Starts `aur serve` in the fixture on a free port.
    pub(crate) fn start(fixture: &Fixture, arguments: &[&str]) -> Self {
        let mut command = fixture.command();
        command.arg("serve").args(arguments).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("the program starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("the stream is piped"))
            .read_line(&mut line)
            .expect("a line can be read");
        let address =
            line.trim().strip_prefix("Listening on http://").expect("the server prints its address").to_owned();
        Self { child, address }
    }

    /// Opens a connection with a read timeout of five minutes.
    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).expect("the server listens");
        stream.set_read_timeout(Some(Duration::from_secs(300))).expect("the timeout can be set");
        stream
    }

    /// Sends the bytes of a request and reads the response until the connection is closed.
    pub(crate) fn send(&self, request: &[u8]) -> Answer {
        let mut stream = self.connect();
        // A server that rejects a request may close the connection before the whole request is sent.
        let _ = stream.write_all(request);
        Answer::read(stream)
    }

    /// Posts a JSON object. Returns `None` if the server has ended.
    pub(crate) fn try_post(&self, path: &str, body: &Value) -> Option<Answer> {
        let mut stream = TcpStream::connect(&self.address).ok()?;
        let body = body.to_string();
        let (address, length) = (&self.address, body.len());
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-type: application/json\r\n\
             content-length: {length}\r\n\r\n"
        );
        stream.write_all((head + &body).as_bytes()).ok()?;
        Some(Answer::read(stream)).filter(|answer| answer.status != 0)
    }

    /// Sends a request with a method, a path, additional headers, and a body.
    pub(crate) fn request(&self, method: &str, path: &str, head: &[&str], body: &str) -> Answer {
        let mut lines = vec![format!("{method} {path} HTTP/1.1"), "connection: close".to_owned()];
        if !head.iter().any(|line| line.starts_with("host:")) {
            lines.push(format!("host: {}", self.address));
        }
        lines.extend(head.iter().map(|line| (*line).to_owned()));
        if !body.is_empty() {
            lines.push(format!("content-length: {}", body.len()));
        }
        self.send(format!("{}\r\n\r\n{body}", lines.join("\r\n")).as_bytes())
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.request("GET", path, &[], "")
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Answer {
        self.request("POST", path, &["content-type: application/json"], &body.to_string())
    }

    /// Returns the id of the server's process.
    pub(crate) fn process(&self) -> rustix::process::Pid {
        rustix::process::Pid::from_child(&self.child)
    }

    /// Kills the server.
    pub(crate) fn kill(&self) {
        rustix::process::kill_process(self.process(), rustix::process::Signal::KILL).expect("the process is running");
    }

    /// Tells the server to terminate, and returns the exit code.
    pub(crate) fn terminate(mut self) -> Option<i32> {
        rustix::process::kill_process(self.process(), rustix::process::Signal::TERM).expect("the process is running");
        self.child.wait().expect("the program ends").code()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Answer {
    /// Reads a response until the connection is closed.
    pub(crate) fn read(mut stream: TcpStream) -> Self {
        let mut bytes = Vec::new();
        // The connection may be reset after the response. This does not matter.
        let _ = stream.read_to_end(&mut bytes);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        Self { status, head: head.to_lowercase(), body: body.to_owned() }
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error} in {self:?}"))
    }
}
