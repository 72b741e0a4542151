//! Follows the section "An embedding service" of `docs/guides/custom-stages.md` with a local service. Also tests index
//! runs and searches while the service cannot be reached, and a search after the trust in the program was revoked.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use crate::command;
use crate::fixture::{Fixture, Run};

/// An embedding service that counts letters, so that texts with similar words get similar vectors.
const SERVICE: &str = r#"
import http.server, json

class Service(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        assert request["model"] == "all-minilm"
        vectors = [[text.lower().count(chr(97 + at)) if at < 26 else 0 for at in range(384)] for text in request["input"]]
        answer = json.dumps({"data": [{"embedding": vector} for vector in vectors]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass

server = http.server.HTTPServer(("127.0.0.1", 0), Service)
print(server.server_port, flush=True)
server.serve_forever()
"#;

/// A running service.
struct Service {
    process: Child,
    url: String,
}

impl Service {
    fn start() -> Self {
        let mut process =
            Command::new("python3").args(["-c", SERVICE]).stdout(Stdio::piped()).spawn().expect("python3 starts");
        let mut port = String::new();
        BufReader::new(process.stdout.take().expect("the stream is piped"))
            .read_line(&mut port)
            .expect("a line can be read");
        Self { process, url: format!("http://127.0.0.1:{}/v1/embeddings", port.trim()) }
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn an_embedding_service_replaces_the_built_in_model() {
    let fixture = Fixture::plain();
    fixture.write("src/charge.py", "def charge(card):\n    '''Takes money.'''\n    return card\n");
    fixture.write("src/render.py", "def render(page):\n    '''Shows html.'''\n    return page\n");
    let example = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("plugins/examples/embedding");
    let read = |file: &str| std::fs::read_to_string(example.join(file)).expect("the file can be read");
    assert!(read("embedding.py").lines().count() <= 22);
    fixture.write(".aurora/plugins/embedding.py", read("embedding.py"));
    fixture.write(".aurora/pipeline.toml", read("pipeline.toml"));

    let service = Service::start();
    let run =
        |url: &str, arguments: &[&str]| Run::from_command(command(&fixture).args(arguments).env("EMBEDDING_URL", url));
    assert_eq!(run(&service.url, &["mem", "index"]).code, Some(2), "the program is not trusted yet");
    assert_eq!(run(&service.url, &["plugin", "trust", "embed", "--yes"]).code, Some(0));
    let indexed = run(&service.url, &["mem", "index"]);
    assert_eq!((indexed.code, indexed.err.as_str()), (Some(0), ""), "{indexed:?}");
    assert!(indexed.out.contains("Embeddings: stage:embed@"), "{}", indexed.out);

    let found = run(&service.url, &["mem", "search", "htmll", "--mode", "dense", "--format", "json"]);
    assert_eq!((found.code, found.err.as_str()), (Some(0), ""), "{found:?}");
    let results = found.json();
    assert_eq!(results["results"][0]["file"], "src/render.py", "the file contains no word of the query: {results}");
    let doctor = run(&service.url, &["doctor"]);
    assert!(doctor.out.contains("384 dimensions"), "{doctor:?}");

    let nowhere = "http://127.0.0.1:1/";
    let without = run(nowhere, &["mem", "search", "render"]);
    assert_eq!(without.code, Some(0), "{without:?}");
    assert!(without.out.contains("render.py") && without.err.contains("the embedding service"), "{without:?}");
    let dense = run(nowhere, &["mem", "search", "render", "--mode", "dense"]);
    assert_eq!((dense.code, dense.out.as_str()), (Some(2), ""));

    fixture.write("src/charge.py", "def charge(card, amount):\n    return amount\n");
    let missing = run(nowhere, &["mem", "index"]);
    assert_eq!(missing.code, Some(1), "{missing:?}");
    assert!(missing.err.contains("the next run tries again"), "{}", missing.err);
    let why = run(nowhere, &["pipeline", "graph", "--why"]);
    assert!(why.out.contains("on rows without a result"), "{}", why.out);
    let completed = run(&service.url, &["mem", "index", "--format", "json"]).json();
    let counters = &completed["report"]["counters"];
    assert_eq!((&counters["embed.rows"], &completed["files"]["refreshed"]), (&1.into(), &1.into()), "{completed}");

    assert_eq!(run(&service.url, &["plugin", "trust", "embed", "--revoke"]).code, Some(0));
    let refused = run(&service.url, &["mem", "search", "render"]);
    assert_eq!(refused.code, Some(0), "{refused:?}");
    assert!(refused.err.contains("`aur plugin trust embed` shows it"), "{}", refused.err);
}
