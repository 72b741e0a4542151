//! Requests that are small but expensive to answer. The work for each request is limited, and the server answers other
//! requests meanwhile.

use std::io::{BufRead, BufReader, Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::client::Server;
use crate::fixture::Fixture;
use crate::indexed;

/// Maximum increase of the 99th percentile of the response time of `/healthz` during an attack, compared with the
/// percentile while threads of the test keep the processors busy.
const MAX_DELAY: Duration = Duration::from_millis(100);
/// Maximum number of measurements per attack. On a busy machine, a single measurement may be too slow, so the test
/// repeats the measurement before it fails.
const ROUNDS: usize = 4;
/// Number of requests to `/healthz` in each measurement.
const SAMPLES: usize = 100;
/// Maximum memory of the server during all attacks, in KiB. Before memory was limited, one attack took 3 GiB.
const MAX_MEMORY_KIB: u64 = 1 << 20;

/// An attack: name, method, path, body, and the expected statuses.
type Attack = (&'static str, &'static str, &'static str, String, &'static [u16]);

/// Creates a repository with several hundred definitions.
fn repository() -> Fixture {
    let fixture = indexed();
    for file in 0..8 {
        let function = |n: usize| {
            let body: String = (0..20).map(|line| format!("    value_{line} = word_{n} + other_{line}\n")).collect();
            format!("def function_{file}_{n}(argument):\n{body}    return helper(value_1)\n\n")
        };
        fixture.write(&format!("src/many_{file}.py"), (0..40).map(function).collect::<String>());
    }
    fixture.write("src/helper.py", "def helper(value):\n    return value\n");
    let run = fixture.aur(&["mem", "index", "--quiet"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    fixture
}

/// Returns short patterns, each of which takes megabytes of memory when it is compiled.
fn large_patterns(count: usize) -> Vec<String> {
    (0..count).map(|n| format!("\\w{{100}}{n}")).collect()
}

fn attacks() -> Vec<Attack> {
    let search = |body: Value| body.to_string();
    let words: String = (0..1_600).map(|n| format!("wordNumber{n} ")).collect();
    let words = &words[..16_000];
    let batch = |query: Value, count: usize| json!({"queries": vec![query; count]}).to_string();
    vec![
        ("256 large patterns", "POST", "/api/v1/search", search(json!({"grep": large_patterns(256)})), &[422]),
        (
            "a batch of large patterns",
            "POST",
            "/api/v1/search/batch",
            batch(json!({"grep": large_patterns(256)}), 100),
            &[200],
        ),
        (
            "patterns of classes",
            "POST",
            "/api/v1/search",
            search(json!({"grep": vec!["[\\pL\\pN\\w]".repeat(370); 3]})),
            &[200, 422],
        ),
        ("nested repetitions", "POST", "/api/v1/search", search(json!({"grep": ["(?:(?:\\w{50}){50}){50}"]})), &[422]),
        (
            "long globs",
            "POST",
            "/api/v1/search",
            search(json!({"query": "x", "path": vec!["{a*,b?,[c-z]*}/".repeat(250); 256]})),
            &[422],
        ),
        (
            "many globs",
            "POST",
            "/api/v1/search",
            search(json!({"query": "value", "path": (0..256).map(|n| format!("[a-z]*{n}*.py")).collect::<Vec<_>>()})),
            &[200],
        ),
        (
            "many conditions",
            "POST",
            "/api/v1/search",
            search(json!({"query": "value", "where": (0..256).map(|n| format!("churn>{n}")).collect::<Vec<_>>()})),
            &[200],
        ),
        (
            "a long query",
            "POST",
            "/api/v1/search",
            search(json!({"query": words, "limit": 1000, "facets": true, "highlight": true, "snippets": 100})),
            &[200, 504],
        ),
        (
            "a large budget",
            "POST",
            "/api/v1/search",
            search(json!({"query": "value word helper", "limit": 1000, "budget": 1_000_000})),
            &[200, 504],
        ),
        (
            "a batch of everything",
            "POST",
            "/api/v1/search/batch",
            batch(
                json!({"query": "value word helper", "limit": 1000, "content": true, "snippets": 100, "highlight": true}),
                100,
            ),
            &[200, 504],
        ),
        (
            "a body of a million small texts",
            "POST",
            "/api/v1/search",
            format!("{{\"grep\":[{}\"a\"]}}", "\"a\",".repeat(250_000)),
            &[422],
        ),
        ("a deep body", "POST", "/api/v1/search", "[".repeat(1_000_000), &[400, 422]),
        ("a long unknown field", "POST", "/api/v1/search", format!("{{\"{}\":1}}", "x".repeat(1_000_000)), &[422]),
        (
            "a large article",
            "POST",
            "/api/v1/sessions/1/articles",
            json!({"content": "a b ".repeat(250_000)}).to_string(),
            &[201, 422, 504],
        ),
        (
            "many verdicts",
            "POST",
            "/api/v1/feedback",
            json!({"verdict": "good", "ids": vec!["src/many_1.py:7"; 1_000]}).to_string(),
            &[200, 504],
        ),
        ("a deep message of an agent", "POST", "/mcp", "[".repeat(250_000), &[400]),
        (
            "a message of many numbers",
            "POST",
            "/mcp",
            format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"status","arguments":{{"a":[{}1]}}}}}}"#,
                "1,".repeat(125_000)
            ),
            &[200],
        ),
        (
            "an unknown message of many names",
            "POST",
            "/mcp",
            format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"unknown","params":{{{}"z":1}}}}"#,
                (0..20_000).map(|n| format!("\"{n}\":[],")).collect::<String>()
            ),
            &[200, 404],
        ),
        (
            "a large graph",
            "GET",
            "/api/v1/graph?name=helper&relation=callers&depth=32&min_confidence=0",
            String::new(),
            &[200, 504],
        ),
        ("a file with its tokens", "GET", "/api/v1/file?path=src/many_1.py&highlight=true", String::new(), &[200]),
        (
            "a name that nothing has",
            "GET",
            "/api/v1/chunk?id=src/manyyy_1.py:xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx:7",
            String::new(),
            &[404],
        ),
    ]
}

/// Requests `/healthz` repeatedly on one connection, and returns the 99th percentile of the response time.
fn health(server: &Server) -> Duration {
    let mut stream = server.connect();
    stream.set_nodelay(true).expect("the option can be set");
    let mut reader = BufReader::new(stream.try_clone().expect("the connection can be cloned"));
    let request = format!("GET /healthz HTTP/1.1\r\nhost: {}\r\n\r\n", server.address);
    let mut times: Vec<Duration> = (0..SAMPLES)
        .map(|_| {
            let begun = Instant::now();
            stream.write_all(request.as_bytes()).expect("the request can be sent");
            let mut length = 0;
            loop {
                let mut line = String::new();
                assert!(reader.read_line(&mut line).expect("a line can be read") > 0, "the connection was closed");
                if let Some(given) = line.to_lowercase().strip_prefix("content-length:") {
                    length = given.trim().parse().expect("the text is a number");
                }
                if line == "\r\n" {
                    break;
                }
            }
            reader.read_exact(&mut vec![0; length]).expect("the body can be read");
            let took = begun.elapsed();
            std::thread::sleep(Duration::from_millis(1));
            took
        })
        .collect();
    times.sort_unstable();
    times[SAMPLES * 99 / 100 - 1]
}

/// Returns the result of [`health`] while a number of threads repeat an action.
fn health_during(server: &Server, threads: usize, something: impl Fn() + Sync) -> Duration {
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    something();
                }
            });
        }
        let measured = health(server);
        is_over.store(true, Ordering::Relaxed);
        measured
    })
}

/// Keeps a processor busy for a while.
fn burn() {
    let begun = Instant::now();
    let mut number = 1u64;
    while begun.elapsed() < Duration::from_millis(5) {
        number = std::hint::black_box(number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
    }
}

/// Returns a value in KiB from the `/proc` status of the server's process.
fn memory_kib(server: &Server, name: &str) -> u64 {
    let path = format!("/proc/{}/status", server.process().as_raw_nonzero());
    let status = std::fs::read_to_string(path).expect("the file can be read");
    let line = status.lines().find_map(|line| line.strip_prefix(name)).expect("the status has the field");
    line.trim_start_matches(':').trim().trim_end_matches("kB").trim().parse().expect("the text is a number")
}

/// Returns the processor time of the server in clock ticks.
fn ticks(server: &Server) -> u64 {
    let path = format!("/proc/{}/stat", server.process().as_raw_nonzero());
    let stat = std::fs::read_to_string(path).expect("the file can be read");
    let fields: Vec<&str> = stat.rsplit(')').next().expect("the text has fields").split_whitespace().collect();
    fields[11].parse::<u64>().expect("the text is a number") + fields[12].parse::<u64>().expect("the text is a number")
}

#[test]
fn no_request_delays_others() {
    let fixture = repository();
    let server = Server::start(&fixture, &["--rate", "0", "--timeout", "2"]);
    assert_eq!(server.post("/api/v1/sessions", &json!({})).status, 201);
    let processors = std::thread::available_parallelism().map_or(2, usize::from);
    // The server has one thread for each search, and a thread pool that all searches share.
    let busy = 2 * processors;
    let head = ["content-type: application/json", "accept: application/json, text/event-stream"];
    for (name, method, path, body, statuses) in attacks() {
        let attack = || {
            let answer = server.request(method, path, &head, &body);
            // Because of the many concurrent requests, some requests may be rejected or time out.
            let is_expected = statuses.contains(&answer.status) || matches!(answer.status, 503 | 504);
            assert!(is_expected, "{name}: {answer:.500?}");
            assert!(answer.body.len() <= (32 << 20) + (1 << 20), "{name}: {} bytes", answer.body.len());
        };
        let measured: Vec<_> = (0..ROUNDS)
            .map(|_| (health_during(&server, busy, burn), health_during(&server, busy, attack)))
            .scan(false, |is_done, round| {
                let goes_on = !*is_done;
                *is_done = round.1 <= round.0 + MAX_DELAY;
                goes_on.then_some(round)
            })
            .collect();
        let (during_load, during_attack) = measured[measured.len() - 1];
        assert!(during_attack <= during_load + MAX_DELAY, "{name} delays others: {measured:?}");
    }
    let peak = memory_kib(&server, "VmHWM");
    assert!(peak <= MAX_MEMORY_KIB, "the server has used {peak} KiB");
}

#[test]
fn work_ends_with_its_request() {
    let fixture = indexed();
    // Searching these texts with a pattern that has many states takes long.
    for file in 0..60 {
        let lines: String = (0..60).map(|n| format!("    word_{n} = '{}'\n", "a".repeat(200))).collect();
        fixture.write(&format!("src/slow_{file}.py"), format!("def slow_{file}():\n{lines}    return word_1\n"));
    }
    assert_eq!(fixture.aur(&["mem", "index", "--quiet"]).code, Some(0));
    let server = Server::start(&fixture, &["--timeout", "1"]);
    let slow = json!({"grep": ["(?-u:(?:[a-z_ =']{1,60}){1,60})[A-Z]"], "record": false});
    let batch = json!({"queries": vec![slow.clone(); 100]});
    let abandoned = json!({"queries": vec![slow; 100]}).to_string();
    let late = server.post("/api/v1/search/batch", &batch);
    assert_eq!(late.status, 504, "{late:?}");
    // The work also ends when the client disconnects.
    let mut stream = server.connect();
    let head = format!(
        "POST /api/v1/search/batch HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        server.address,
        abandoned.len()
    );
    stream.write_all((head + &abandoned).as_bytes()).expect("the request can be sent");
    std::thread::sleep(Duration::from_millis(300));
    drop(stream);
    // Answering the whole batch would take many minutes. If the server is idle earlier, it has given up the batch.
    let is_idle = || {
        let before = ticks(&server);
        std::thread::sleep(Duration::from_millis(500));
        ticks(&server) - before < 10
    };
    assert!((0..60).any(|_| is_idle()), "the server still works on a request without a client");
    let answer = server.post("/api/v1/search", &json!({"query": "slow", "record": false}));
    assert_eq!(answer.status, 200, "{answer:?}");
    // The server does not compare such a long id with the ids of all chunks.
    let long = format!("code:src/slow_1.py:{}", "ab".repeat(250_000));
    let answer = server.post("/api/v1/feedback", &json!({"verdict": "good", "ids": [long]}));
    assert_eq!(answer.status, 404, "{answer:.500?}");
}

#[test]
fn an_answer_is_limited() {
    let fixture = indexed();
    // All functions have different texts.
    let word = |n: usize| format!("{n:03}").bytes().map(|digit| char::from(digit + 50)).collect::<String>();
    let line = |n: usize, line: usize| format!("    {}_{} = needle + {}\n", word(n), word(line), word(n * 7 + line));
    let function = |n: usize| {
        let lines: String = (0..55).map(|at| line(n, at)).collect();
        format!("def {}():\n{lines}\n", word(n))
    };
    let functions: String = (0..150).map(function).collect();
    fixture.write("src/long.py", functions);
    assert_eq!(fixture.aur(&["mem", "index", "--quiet"]).code, Some(0));
    let server = Server::start(&fixture, &["--timeout", "3600"]);
    let query =
        json!({"query": "needle", "mode": "sparse", "limit": 1000, "content": true, "snippets": 100, "record": false});
    let answer = server.post("/api/v1/search/batch", &json!({"queries": vec![query; 100]}));
    assert_eq!(answer.status, 200, "{answer:.500?}");
    assert!(answer.body.len() <= (32 << 20) + (1 << 20), "{} bytes", answer.body.len());
    let answer = answer.json();
    let answers = answer["answers"].as_array().expect("the value is a list");
    assert_eq!(answers.len(), 100);
    assert!(answers[0]["results"].as_array().is_some_and(|results| results.len() > 100), "{:.500}", answers[0]);
    assert!(answers[99]["error"].as_str().is_some_and(|error| error.contains("32 MiB")), "{:.500}", answers[99]);
}

#[test]
fn unknown_methods_create_no_metrics() {
    let fixture = indexed();
    let server = Server::start(&fixture, &[]);
    for number in 0..20 {
        assert!(server.request(&format!("INVENTED{number}"), "/healthz", &[], "").status >= 400);
    }
    let figures = server.get("/metrics").body;
    assert!(figures.contains(r#"method="other""#) && !figures.contains("INVENTED"), "{figures}");
}
