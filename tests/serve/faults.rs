//! Clients that misbehave, and the termination of the server. Other clients are served nevertheless.

use std::io::Write;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::client::{Answer, Server};
use crate::indexed;

/// Whether the server answers a search.
fn is_served(server: &Server) -> bool {
    server.post("/api/v1/search", &json!({"query": "page", "record": false})).status == 200
}

#[test]
fn oversized_and_malformed_bodies_are_refused() {
    let fixture = indexed();
    let server = Server::start(&fixture, &[]);
    let large = json!({"query": "x".repeat(2 << 20)}).to_string();
    let json = ["content-type: application/json"];
    assert_eq!(server.request("POST", "/api/v1/search", &json, &large).status, 413);
    let long = json!({"query": "word ".repeat(10_000)}).to_string();
    assert_eq!(server.request("POST", "/api/v1/search", &json, &long).status, 422);
    let deep = "[".repeat(100_000);
    assert_eq!(server.request("POST", "/api/v1/search", &json, &deep).status, 422);
    for (request, status) in [
        (&b"\0\x01\x02\r\n\r\n"[..], 400),
        (b"GET / HTTP/9.9\r\n\r\n", 400),
        (b"POST /api/v1/search HTTP/1.1\r\nhost: localhost\r\ncontent-length: -1\r\n\r\n", 400),
    ] {
        assert_eq!(server.send(request).status, status, "{}", String::from_utf8_lossy(request));
    }
    let head = format!("GET / HTTP/1.1\r\nhost: localhost\r\nx: {}\r\n\r\n", "y".repeat(1 << 20));
    assert_eq!(server.send(head.as_bytes()).status, 431);
    assert!(is_served(&server));
}

#[test]
fn silent_and_half_open_clients_do_not_block_others() {
    let fixture = indexed();
    let server = Server::start(&fixture, &[]);
    let mut held: Vec<TcpStream> = Vec::new();
    for number in 0..600 {
        let mut stream = server.connect();
        let begun: &[u8] = match number % 3 {
            0 => b"",
            1 => b"POST /api/v1/search HT",
            _ => b"POST /api/v1/search HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{",
        };
        stream.write_all(begun).expect("the request can be sent");
        held.push(stream);
    }
    assert!(is_served(&server));
    // The clients disconnect in the middle of a request.
    drop(held);
    assert!(is_served(&server));
}

#[test]
fn clients_that_never_read_do_not_block_others() {
    let fixture = indexed();
    // Together, these clients would exceed the rate limit.
    let server = Server::start(&fixture, &["--rate", "0"]);
    let request = format!("GET /openapi.json HTTP/1.1\r\nhost: {}\r\n\r\n", server.address);
    let held: Vec<TcpStream> = (0..50)
        .map(|_| {
            let mut stream = server.connect();
            stream.set_write_timeout(Some(Duration::from_millis(20))).expect("the timeout can be set");
            for _ in 0..200 {
                if stream.write_all(request.as_bytes()).is_err() {
                    break;
                }
            }
            stream
        })
        .collect();
    assert!(is_served(&server));
    drop(held);
}

#[test]
fn many_clients_at_once_are_all_answered() {
    let fixture = indexed();
    let server = Server::start(&fixture, &[]);
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..64)
            .map(|_| scope.spawn(|| server.post("/api/v1/search", &json!({"query": "remove the oldest page"})).status))
            .collect();
        clients.into_iter().map(|client| client.join().expect("the thread does not panic")).collect()
    });
    assert!(statuses.iter().all(|status| *status == 200), "{statuses:?}");
}

#[test]
fn a_terminating_server_answers_the_pending_request() {
    let fixture = indexed();
    let server = Server::start(&fixture, &[]);
    let mut stream = server.connect();
    let body = json!({"query": "page"}).to_string();
    let head = format!(
        "POST /api/v1/search HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        server.address,
        body.len()
    );
    stream.write_all(head.as_bytes()).expect("the request can be sent");
    // The server accepts connections in order. So after this answer, it has accepted the connection with the pending
    // request.
    assert!(is_served(&server));
    let (idle, address) = (server.connect(), server.address.clone());
    let begun = Instant::now();
    let waiter = std::thread::spawn(move || server.terminate());
    std::thread::sleep(Duration::from_millis(200));
    stream.write_all(body.as_bytes()).expect("the request can be sent");
    let answer = Answer::read(stream);
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(waiter.join().expect("the thread does not panic"), Some(0));
    assert!(begun.elapsed() < Duration::from_secs(60));
    assert!(TcpStream::connect(address).is_err());
    drop(idle);
}

#[test]
fn a_client_that_exceeds_the_rate_gets_a_retry_time() {
    let fixture = indexed();
    let server = Server::start(&fixture, &["--rate", "5"]);
    let answers: Vec<Answer> = (0..200).map(|_| server.get("/healthz")).collect();
    let refused = answers.iter().find(|answer| answer.status == 429).expect("a request is rejected");
    assert!(refused.head.contains("\r\nretry-after: 1"), "{refused:?}");
    assert!(answers.iter().any(|answer| answer.status == 200));
    drop(server);
    let server = Server::start(&fixture, &["--rate", "0"]);
    assert!((0..200).all(|_| server.get("/healthz").status == 200));
}
