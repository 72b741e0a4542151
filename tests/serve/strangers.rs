//! Requests that are rejected because of the machine of the client, the host name, the origin or the token.

use serde_json::json;

use crate::client::Server;
use crate::{Fixture, indexed};

const TOKEN: &str = "0123456789abcdef0123456789abcdef";

#[test]
fn foreign_host_names_are_refused() {
    let fixture = indexed();
    let server = Server::start(&fixture, &["--allow-host", "search.example.org"]);
    let port = server.address.rsplit(':').next().expect("the address has a port").to_owned();
    for (host, status) in [
        ("localhost", 200),
        ("LOCALHOST:1", 200),
        ("127.0.0.1", 200),
        ("[::1]:80", 200),
        ("search.example.org", 200),
        ("Search.Example.Org.:80", 200),
        ("attacker.example", 421),
        ("localhost.attacker.example", 421),
        ("127.0.0.1.attacker.example", 421),
        ("", 400),
        ("a b", 400),
        ("LocalHost.", 200),
        ("[0:0::1]:65535", 200),
        ("[::ffff:127.0.0.1]", 200),
        ("search.example.org.attacker.example", 421),
        ("0x7f.1", 421),
        ("127.0.0.1.", 421),
        ("[127.0.0.1].evil.com", 400),
        ("[::1].evil.com", 400),
        ("[::1]evil.com", 400),
        ("[localhost]", 400),
        ("[127.0.0.1]", 400),
        ("[[::1]]", 400),
        ("[::1%25lo]", 400),
        ("::1", 400),
        ("127.0.0.1]", 400),
        ("localhost:evil", 400),
        ("localhost:", 400),
        ("localhost:65536", 400),
        ("localhost:0", 400),
        ("localhost:-1", 400),
        ("localhost:80:80", 400),
        ("localhost..", 400),
        (".localhost", 400),
        ("localhost@attacker.example", 400),
        ("attacker.example@localhost", 400),
        ("localhost/attacker.example", 400),
        ("localhost#.attacker.example", 400),
        ("localhost,attacker.example", 400),
        ("local%68ost", 400),
    ] {
        let answer = server.request("GET", "/api/v1/stats", &[&format!("host: {host}")], "");
        assert_eq!(answer.status, status, "{host}: {answer:?}");
    }
    let two = server.request("GET", "/healthz", &["host: localhost", "host: attacker.example"], "");
    assert_eq!(two.status, 400, "{two:?}");
    let absolute =
        format!("GET http://attacker.example:{port}/healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
    assert_eq!(server.send(absolute.as_bytes()).status, 421);
    for target in [
        "http://localhost@attacker.example/healthz",
        "http://attacker.example@localhost/healthz",
        "http://localhost:x/healthz",
    ] {
        let request = format!("GET {target} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
        assert_eq!(server.send(request.as_bytes()).status, 400, "{target}");
    }
}

#[test]
fn requests_from_foreign_pages_are_refused() {
    let fixture = indexed();
    let server = Server::start(&fixture, &["--allow-origin", "https://search.example.org"]);
    let own = format!("origin: http://{}", server.address);
    let answer = |head: &[&str]| server.request("GET", "/api/v1/stats", head, "");
    assert_eq!(answer(&[&own]).status, 200);
    let refused =
        ["https://attacker.example", "null", "http://localhost:1", "", "localhost", "http://"].map(str::to_owned);
    let address = &server.address;
    let alike = [
        "ftp://{}",
        "https://{}",
        "//{}",
        "{}",
        "http://{}/",
        "http://{}.attacker.example",
        "http://{}@attacker.example",
        "http://user@{}",
    ];
    for origin in refused.into_iter().chain(alike.map(|form| form.replace("{}", address))) {
        let origin = &format!("origin: {origin}");
        let answer = answer(&[origin]);
        assert_eq!(answer.status, 403, "{origin}: {answer:?}");
        assert!(!answer.head.contains("access-control"), "{answer:?}");
    }
    assert_eq!(answer(&["sec-fetch-site: cross-site"]).status, 403);
    let allowed = answer(&["origin: https://search.example.org"]);
    assert_eq!(allowed.status, 200);
    assert!(allowed.head.contains("access-control-allow-origin: https://search.example.org"), "{allowed:?}");
    let preflight = |origin: &str| {
        let head = [origin, "access-control-request-method: POST"];
        server.request("OPTIONS", "/api/v1/search", &head, "")
    };
    let granted = preflight("origin: https://search.example.org");
    assert!(granted.status == 204 && granted.head.contains("access-control-allow-headers"), "{granted:?}");
    assert_eq!(preflight("origin: https://attacker.example").status, 403);
}

#[test]
fn requests_without_the_token_are_refused() {
    let fixture = indexed();
    fixture.write_for_user("token", format!("{TOKEN}\n"));
    let file = fixture.user_directory().join("token");
    let server = Server::start(&fixture, &["--token-file", file.to_str().expect("the path is UTF-8")]);
    let shown = |head: &[&str], path: &str| server.request("GET", path, head, "").status;
    let right = format!("authorization: Bearer {TOKEN}");
    for path in ["/api/v1/stats", "/metrics", "/openapi.json", "/nothing"] {
        assert_eq!(shown(&[], path), 401, "{path}");
        assert_eq!(shown(&["authorization: Bearer 0123456789abcdef"], path), 401, "{path}");
        assert_eq!(shown(&["authorization: Basic dXNlcjpwYXNz"], path), 401, "{path}");
        assert_ne!(shown(&[&right], path), 401, "{path}");
    }
    assert_eq!((shown(&[], "/healthz"), shown(&[], "/readyz")), (200, 200));
    let refused = server.post("/api/v1/search", &json!({"query": "page"}));
    assert!(refused.head.contains("www-authenticate: bearer") && !refused.body.contains("PageCache"), "{refused:?}");
}

#[test]
fn other_machines_are_not_served_without_a_token() {
    let fixture = Fixture::plain();
    let run = fixture.aur(&["serve", "--root", ".", "--listen", "0.0.0.0:0"]);
    assert_eq!(run.code, Some(2), "{run:?}");
    assert!(run.err.contains("token-file") && run.out.is_empty(), "{run:?}");
    fixture.write_for_user("short", "secret");
    let short = fixture.user_directory().join("short");
    let run = fixture.aur(&["serve", "--root", ".", "--token-file", short.to_str().expect("the path is UTF-8")]);
    assert!(run.code == Some(2) && run.err.contains("at least 16"), "{run:?}");
}

#[test]
fn a_unix_socket_is_removed_at_the_end() {
    use std::io::{BufRead, BufReader, Read, Write};
    use std::os::unix::net::UnixStream;
    let fixture = indexed();
    let path = fixture.home().join("aur.sock");
    // A file that is not a socket is not replaced. A socket that a killed process has left is replaced.
    std::fs::write(&path, "a file").expect("the file can be written");
    let taken = fixture.aur(&["serve", "--socket", path.to_str().expect("the path is UTF-8")]);
    assert!(taken.code == Some(2) && path.is_file(), "{taken:?}");
    std::fs::remove_file(&path).expect("the file can be removed");
    drop(std::os::unix::net::UnixListener::bind(&path).expect("the socket can be created"));
    assert!(path.exists());
    let mut command = fixture.command();
    command
        .args(["serve", "--socket"])
        .arg(&path)
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::null());
    let mut child = command.spawn().expect("the program starts");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("the stream is piped")).read_line(&mut line).expect("a line can be read");
    assert_eq!(line.trim(), format!("Listening on unix:{}", path.display()));
    let mut stream = UnixStream::connect(&path).expect("the server listens");
    stream
        .write_all(b"GET /healthz HTTP/1.1\r\nhost: anything\r\nconnection: close\r\n\r\n")
        .expect("the request can be sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("the answer can be read");
    assert!(answer.ends_with(r#"{"status":"ok"}"#), "{answer}");
    rustix::process::kill_process(rustix::process::Pid::from_child(&child), rustix::process::Signal::TERM)
        .expect("the signal can be sent");
    assert_eq!(child.wait().expect("the program ends").code(), Some(0));
    assert!(!path.exists());
}
