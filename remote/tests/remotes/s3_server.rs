//! A small server that speaks the part of the S3 protocol that remotes use, on the loopback interface.
#![allow(dead_code, reason = "each test program uses its own part of the server")]

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

/// Objects by key.
pub(crate) type Objects = BTreeMap<String, Vec<u8>>;

/// A running server with the bucket `bucket`, in memory.
pub(crate) struct S3Server {
    pub(crate) endpoint: String,
    shared: Arc<Shared>,
}

struct Shared {
    objects: Mutex<Objects>,
    /// Whether the server respects `If-None-Match`. Old servers ignore it.
    is_conditional: bool,
    /// Number of requests for parts that are still answered.
    parts_left: AtomicI64,
    connections: AtomicU64,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Objects> {
        self.objects.lock().expect("no thread has panicked")
    }
}

impl S3Server {
    /// Starts a server that ends with the process.
    pub(crate) fn start(is_conditional: bool) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let endpoint = format!("http://{}", listener.local_addr().expect("the listener has an address"));
        let shared = Arc::new(Shared {
            objects: Mutex::default(),
            is_conditional,
            parts_left: AtomicI64::new(i64::MAX),
            connections: AtomicU64::new(0),
        });
        let served = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = Arc::clone(&served);
                shared.connections.fetch_add(1, Ordering::SeqCst);
                thread::spawn(move || while answer(&stream, &shared).is_some() {});
            }
        });
        Self { endpoint, shared }
    }

    /// Returns the stored objects.
    pub(crate) fn objects(&self) -> MutexGuard<'_, Objects> {
        self.shared.lock()
    }

    /// Answers only this number of further requests for parts; all others wait.
    pub(crate) fn answer_parts(&self, number: i64) {
        self.shared.parts_left.store(number, Ordering::SeqCst);
    }

    /// Returns the number of accepted connections.
    pub(crate) fn connections(&self) -> u64 {
        self.shared.connections.load(Ordering::SeqCst)
    }

    /// Returns the environment of clients of this server.
    pub(crate) fn environment(&self) -> [(&'static str, &str); 5] {
        [
            ("AWS_ENDPOINT", &self.endpoint),
            ("AWS_ALLOW_HTTP", "true"),
            ("AWS_ACCESS_KEY_ID", "id"),
            ("AWS_SECRET_ACCESS_KEY", "hunter2"),
            ("AWS_REGION", "us-east-1"),
        ]
    }
}

/// Answers one request. Returns `None` at the end of the connection.
fn answer(stream: &TcpStream, shared: &Shared) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
    let mut words = line.split(' ');
    let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim().split_once(':') else { break };
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    let length = headers.get("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    let key = path.trim_start_matches("/bucket").trim_start_matches('/').to_owned();
    if key.contains("/parts/") && shared.parts_left.fetch_sub(1, Ordering::SeqCst) <= 0 {
        // Waits until the client closes the connection.
        drop(reader.read(&mut [0]));
        return None;
    }
    if key.contains("/manifests/") && !shared.is_conditional {
        // Lets other clients write between two requests of one client.
        thread::sleep(Duration::from_millis(200));
    }
    let mut objects = shared.lock();
    let (status, body) = match method.as_str() {
        "PUT" if shared.is_conditional && headers.contains_key("if-none-match") && objects.contains_key(&key) => {
            ("412 Precondition Failed", Vec::new())
        }
        "PUT" => {
            objects.insert(key, body);
            ("200 OK", Vec::new())
        }
        "POST" if query.split('&').any(|part| part.starts_with("delete")) => {
            let text = String::from_utf8_lossy(&body);
            let keys = text.split("<Key>").skip(1).filter_map(|rest| rest.split("</Key>").next());
            keys.for_each(|key| drop(objects.remove(key)));
            ("200 OK", b"<?xml version=\"1.0\"?><DeleteResult></DeleteResult>".to_vec())
        }
        "GET" if query.contains("list-type=2") => ("200 OK", listing(&objects, query)),
        _ => match objects.get(&key) {
            Some(object) => ("200 OK", object.clone()),
            None => ("404 Not Found", Vec::new()),
        },
    };
    drop(objects);
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Length: {}\r\nETag: \"{}\"\r\nLast-Modified: Thu, 01 Jan 2026 00:00:00 GMT\r\n\r\n",
        body.len(),
        blake3::hash(&body).to_hex()
    );
    let mut out = stream;
    out.write_all(head.as_bytes()).ok()?;
    if method != "HEAD" { out.write_all(&body).ok() } else { Some(()) }
}

/// Returns the objects whose keys begin with the prefix in a query.
fn listing(objects: &BTreeMap<String, Vec<u8>>, query: &str) -> Vec<u8> {
    let prefix = query.split('&').find_map(|pair| pair.strip_prefix("prefix=")).unwrap_or_default().replace("%2F", "/");
    let entries = objects.iter().filter(|(key, _)| key.starts_with(&prefix)).map(|(key, object)| {
        format!(
            "<Contents><Key>{key}</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified><ETag>\"x\"</ETag><Size>{}</Size></Contents>",
            object.len()
        )
    });
    let entries: String = entries.collect();
    format!("<?xml version=\"1.0\"?><ListBucketResult><IsTruncated>false</IsTruncated>{entries}</ListBucketResult>")
        .into()
}
