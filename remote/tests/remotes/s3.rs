//! The same transfers over the S3 protocol, against a small server on the loopback interface.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::thread;

use aurora_remote::{Remote, RemoteError, RemoteUrl, Trust};

use crate::fixture::{Project, Share, commit, tree};

/// Objects by key.
type Objects = Arc<Mutex<BTreeMap<String, Vec<u8>>>>;

/// Starts a server that keeps objects in memory. If `is_conditional` is not set, it ignores `If-None-Match`, as old
/// servers do.
fn serve(is_conditional: bool) -> (String, Objects) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = format!("http://{}", listener.local_addr().expect("the listener has an address"));
    let objects = Objects::default();
    let shared = Arc::clone(&objects);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let objects = Arc::clone(&shared);
            thread::spawn(move || while answer(&stream, &objects, is_conditional).is_some() {});
        }
    });
    (address, objects)
}

/// Answers one request. Returns `None` at the end of the connection.
fn answer(stream: &TcpStream, objects: &Objects, is_conditional: bool) -> Option<()> {
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
    let mut objects = objects.lock().expect("no other thread has panicked");
    let (status, body) = match method.as_str() {
        "PUT" if is_conditional && headers.contains_key("if-none-match") && objects.contains_key(&key) => {
            ("412 Precondition Failed", Vec::new())
        }
        "PUT" => {
            objects.insert(key, body);
            ("200 OK", Vec::new())
        }
        "DELETE" => {
            objects.remove(&key);
            ("204 No Content", Vec::new())
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

fn open(share: &Share) -> Remote {
    let url = RemoteUrl::parse("s3://bucket/team/app").expect("the URL is valid");
    let trust = Trust { allows_unsigned: true, ..Trust::default() };
    Remote::open(url, trust, Some(share.records.path().join("records")), true).expect("the remote can be opened")
}

/// Runs a test of this program in a new process with the endpoint in the environment, because a process must not change
/// its own environment while threads run.
fn in_process(test: &str, endpoint: &str) {
    let run = Command::new(std::env::current_exe().expect("the path is known"))
        .args(["--exact", test, "--ignored", "--nocapture"])
        .envs([
            ("AWS_ENDPOINT", endpoint),
            ("AWS_ALLOW_HTTP", "true"),
            ("AWS_ACCESS_KEY_ID", "id"),
            ("AWS_SECRET_ACCESS_KEY", "hunter2"),
            ("AWS_REGION", "us-east-1"),
        ])
        .output()
        .expect("the test can be started");
    let text = String::from_utf8_lossy(&run.stdout).into_owned() + &String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success() && text.contains("1 passed"), "{text}");
    assert!(!text.contains("hunter2"), "{text}");
}

#[test]
fn indexes_are_pushed_to_and_pulled_from_an_s3_bucket() {
    let (endpoint, objects) = serve(true);
    in_process("s3::transfer_with_s3", &endpoint);
    let objects = objects.lock().expect("no thread has panicked");
    assert!(objects.keys().all(|key| key.starts_with("team/app/")), "{:?}", objects.keys());
    assert!(objects.contains_key("team/app/manifests/0000000000000002"), "{:?}", objects.keys());
}

#[test]
#[ignore = "runs in a process with the endpoint in its environment"]
fn transfer_with_s3() {
    let (share, project) = (Share::new(), Project::with(&tree(60), &commit(1)));
    let first = project.push(&open(&share), None).expect("the index can be pushed");
    assert!(!project.push(&open(&share), None).expect("the index can be pushed").written);
    project.write(&tree(61), &commit(2));
    let second = project.push(&open(&share), None).expect("the index can be pushed");
    assert!(second.uploaded_bytes < first.uploaded_bytes);
    let clone = Project::empty();
    clone.pull_newest(&open(&share)).expect("the index can be pulled");
    assert_eq!(clone.digest(), project.digest());
    assert_eq!(open(&share).verify(true).expect("the remote can be read").problems, [""; 0]);
}

#[test]
fn a_server_that_ignores_conditions_is_refused() {
    let (endpoint, objects) = serve(false);
    in_process("s3::push_without_conditions", &endpoint);
    assert!(objects.lock().expect("no thread has panicked").keys().all(|key| !key.contains("manifests")));
}

#[test]
#[ignore = "runs in a process with the endpoint in its environment"]
fn push_without_conditions() {
    let (share, project) = (Share::new(), Project::with(&tree(2), &commit(1)));
    assert!(matches!(project.push(&open(&share), None), Err(RemoteError::NoConditionalWrites)));
}
