//! MCP clients over standard input and output, and over HTTP.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::fixture::Fixture;

/// Returns the first message of a client.
pub(crate) fn initialize() -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}
    }})
}

/// A client that has started `aur mcp`.
pub(crate) struct Client {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    last: u64,
    /// The progress notifications received so far.
    pub(crate) progress: Vec<Value>,
}

impl Client {
    /// Starts the server in the fixture and initializes a session.
    pub(crate) fn start(fixture: &Fixture, arguments: &[&str]) -> Self {
        let mut client = Self::connect(fixture, arguments);
        client.begin();
        client
    }

    /// Starts the server in the fixture without initializing a session.
    pub(crate) fn connect(fixture: &Fixture, arguments: &[&str]) -> Self {
        let mut command = fixture.command();
        command.arg("mcp").args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("the program starts");
        let (input, output) =
            (child.stdin.take().expect("the stream is piped"), child.stdout.take().expect("the stream is piped"));
        Self { child, input, output: BufReader::new(output), last: 1, progress: Vec::new() }
    }

    /// Initializes a session.
    pub(crate) fn begin(&mut self) {
        self.send(&initialize());
        let begun = self.receive(1);
        assert_eq!(begun["result"]["serverInfo"]["name"], "aurora", "{begun}");
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    }

    /// Sends the bytes of a line without changing them.
    pub(crate) fn send_line(&mut self, line: &[u8]) {
        self.input.write_all(line).and_then(|()| self.input.write_all(b"\n")).expect("the server reads");
    }

    /// Sends a text without a line end, closes the input, and returns the next message of the server.
    pub(crate) fn send_last(&mut self, text: &[u8]) -> Value {
        self.input.write_all(text).expect("the server reads");
        // Assigning another descriptor closes the old one.
        self.input = ChildStdin::from(std::os::fd::OwnedFd::from(
            std::fs::File::create("/dev/null").expect("the file can be created"),
        ));
        self.next()
    }

    /// Returns the next message of the server.
    pub(crate) fn next(&mut self) -> Value {
        let mut line = String::new();
        assert!(self.output.read_line(&mut line).expect("a line can be read") > 0, "the server has ended");
        serde_json::from_str(&line).expect("the text is JSON")
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.input, "{message}").expect("the server reads");
    }

    /// Returns the answer to a request. Progress notifications that arrive earlier are stored.
    fn receive(&mut self, id: u64) -> Value {
        loop {
            let message = self.next();
            if message["id"] == id {
                return message;
            }
            if message["method"] == "notifications/progress" {
                self.progress.push(message["params"].clone());
            }
        }
    }

    /// Sends a request and returns the answer.
    pub(crate) fn answer(&mut self, method: &str, parameters: Value) -> Value {
        self.last += 1;
        let id = self.last;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": parameters}));
        self.receive(id)
    }

    /// Sends a request, asserts that it succeeds, and returns the result.
    pub(crate) fn request(&mut self, method: &str, parameters: Value) -> Value {
        let answer = self.answer(method, parameters);
        assert!(answer["result"].is_object(), "{method}: {answer}");
        answer["result"].clone()
    }

    /// Calls a tool. Returns the text of the answer, and whether the answer is an error.
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> (String, bool) {
        let result = self.request("tools/call", json!({"name": tool, "arguments": arguments}));
        text_of(&result)
    }

    /// Sends messages without waiting for answers, kills the server after some time, and returns the complete answers.
    pub(crate) fn send_and_kill(&mut self, messages: &[Value], wait: Duration) -> Vec<Value> {
        messages.iter().for_each(|message| self.send(message));
        let Self { child, output, .. } = self;
        std::thread::scope(|scope| {
            let reading = scope.spawn(move || {
                let lines = output.split(b'\n').map_while(Result::ok);
                // The last line may be incomplete.
                lines.filter_map(|line| serde_json::from_slice(&line).ok()).collect()
            });
            std::thread::sleep(wait);
            child.kill().expect("the process can be killed");
            child.wait().expect("the process ends");
            reading.join().expect("the thread does not panic")
        })
    }

    /// Calls a tool with a progress token.
    pub(crate) fn call_with_progress(&mut self, tool: &str, arguments: Value) -> (String, bool) {
        let parameters = json!({"name": tool, "arguments": arguments, "_meta": {"progressToken": "t"}});
        let result = self.request("tools/call", parameters);
        text_of(&result)
    }
}

fn text_of(result: &Value) -> (String, bool) {
    let text = result["content"][0]["text"].as_str().expect("the value is a string").to_owned();
    (text, result["isError"].as_bool().unwrap_or(false))
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The token of servers that have one.
const TOKEN: &str = "token-of-the-owner";

/// A running `aur serve` in a fixture.
pub(crate) struct HttpServer {
    child: Child,
    address: String,
    /// Whether requests contain the token.
    pub(crate) sends_token: bool,
}

impl HttpServer {
    /// Starts a server without a token.
    pub(crate) fn start(fixture: &Fixture) -> Self {
        Self::start_with(fixture, &[], false)
    }

    /// Starts a server with a token.
    pub(crate) fn start_with_token(fixture: &Fixture, arguments: &[&str]) -> Self {
        fixture.write_for_user("token", TOKEN);
        let file = fixture.user_directory().join("token").display().to_string();
        Self::start_with(fixture, &[&["--token-file", &file], arguments].concat(), true)
    }

    fn start_with(fixture: &Fixture, arguments: &[&str], sends_token: bool) -> Self {
        let mut command = fixture.command();
        command.arg("serve").args(arguments).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("the program starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("the stream is piped"))
            .read_line(&mut line)
            .expect("a line can be read");
        let address =
            line.trim().strip_prefix("Listening on http://").expect("the server prints its address").to_owned();
        Self { child, address, sends_token }
    }

    /// Calls a tool. Returns the text of the answer, and whether the answer is an error.
    pub(crate) fn call(&self, tool: &str, arguments: &Value) -> (String, bool) {
        let answer = self.post(&json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {
            "name": tool, "arguments": arguments
        }}));
        let (_, body) = answer.split_once("\r\n\r\n").expect("the response has a body");
        let body: Value = serde_json::from_str(body).unwrap_or_else(|_| panic!("{tool} {arguments}: {answer}"));
        text_of(&body["result"])
    }

    /// Posts a message and returns the complete HTTP response.
    pub(crate) fn post(&self, message: &Value) -> String {
        self.send(message, &self.address)
    }

    /// Posts a message with the given `Host` header.
    pub(crate) fn send(&self, message: &Value, host: &str) -> String {
        self.send_body(message.to_string().as_bytes(), host)
    }

    /// Posts the bytes of a body without changing them.
    pub(crate) fn post_body(&self, body: &[u8]) -> String {
        self.send_body(body, &self.address)
    }

    fn send_body(&self, body: &[u8], host: &str) -> String {
        let token = if self.sends_token { format!("authorization: Bearer {TOKEN}\r\n") } else { String::new() };
        let head = format!(
            "POST /mcp HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\ncontent-type: application/json\r\n{token}\
             accept: application/json, text/event-stream\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        let mut stream = TcpStream::connect(&self.address).expect("the server listens");
        stream.write_all(&[head.as_bytes(), body].concat()).expect("the request can be sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("the answer can be read");
        answer
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
