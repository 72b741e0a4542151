//! Logs that `aur log write` has written are indexed.

use aurora_logs::{AddedText, LogDirectory, LogText, additions};
use aurora_stages::chunk::log_sections::chunks_of_log;
use aurora_storage::Chunk;
use proptest::prelude::*;

use crate::fixture::Fixture;
use crate::{OAUTH, write};

#[test]
fn phases_are_found_by_a_search() {
    let fixture = Fixture::plain();
    fixture.write("auth.py", "def login():\n    return 1\n");
    write(&fixture, OAUTH);
    let run = fixture.aur(&["mem", "index", "--format", "json"]);
    assert_eq!((run.code, &run.json()["chunks"]["knowledge"]), (Some(0), &3.into()), "{run:?}");
    let found = fixture.aur(&["mem", "search", "research providers", "--type", "knowledge", "--format", "json"]).json();
    assert_eq!(found["results"][0]["name"], "DECOMPOSE", "{found}");
    let found = fixture.aur(&["mem", "search", "oauth2 authentication api", "--type", "knowledge", "--format", "json"]);
    assert!(found.out.contains("oauth-authentication-2025-12-13"), "{found:?}");
}

#[test]
fn logs_in_a_configured_directory_are_indexed() {
    let fixture = Fixture::plain();
    let elsewhere = fixture.path("elsewhere");
    fixture.write_for_user("config.toml", format!("[logs]\npath = {:?}\n", elsewhere.display().to_string()));
    fixture.write("src/auth.py", "def login():\n    return 1\n");
    write(&fixture, OAUTH);
    let run = fixture.aur(&["mem", "index", "src", "--format", "json"]);
    assert_eq!((run.code, &run.json()["chunks"]["knowledge"]), (Some(0), &3.into()), "{run:?}");
    let search = ["mem", "search", "research providers", "--root", "src", "--source", "logs", "--format", "json"];
    let found = fixture.aur(&search).json();
    assert_eq!(found["results"][0]["name"], "DECOMPOSE", "{found}");
    fixture.write_for_user("config.toml", "[logs]\npath = \"relative\"\n");
    let run = fixture.aur(&["mem", "index", "src"]);
    assert!(run.code == Some(2) && run.err.contains("logs.path"), "{run:?}");
}

#[test]
fn the_query_of_an_interaction_is_the_documentation_of_its_phases() {
    let fixture = Fixture::plain();
    let path = write(&fixture, OAUTH);
    let log =
        std::fs::read(fixture.user_directory().join("logs/conversations").join(&path)).expect("the file can be read");
    let chunks = chunks(&path, &log);
    let queries: Vec<&str> = chunks.iter().map(|chunk| chunk.doc.as_str()).collect();
    assert_eq!(queries, ["Implement OAuth2 authentication for our API"; 3]);
}

fn chunks(path: &str, log: &[u8]) -> Vec<Chunk> {
    chunks_of_log(path, &String::from_utf8_lossy(log))
}

fn texts() -> impl Strategy<Value = String> {
    prop_oneof![any::<String>(), "[ a-z`~#\n-]{0,60}", "(### Phase [0-9]: X\n|## Phase 1: Y\n|```\n|~~~\n|text\n)*"]
}

fn phases() -> impl Strategy<Value = Vec<(Option<u32>, String, String)>> {
    let phase = (prop::option::of(1_u32..1000), "[A-Za-z0-9]([a-zA-Z0-9 ():.-]{0,20}[a-zA-Z0-9)])?", texts());
    prop::collection::vec(phase, 0..6)
}

/// Returns the phases with their numbers. A phase without a number gets the number that the program would give it.
fn numbered(phases: &[(Option<u32>, String, String)], mut last: u32) -> Vec<(u32, String)> {
    let number = |(number, name, _): &(Option<u32>, String, String)| {
        last = number.unwrap_or(last + 1);
        (last, name.clone())
    };
    phases.iter().map(number).collect()
}

fn json(phases: &[(Option<u32>, String, String)]) -> serde_json::Value {
    let phase = |(number, name, text): &(Option<u32>, String, String)| serde_json::json!({"number": number, "name": name, "text": text, "output": {"text": text}});
    phases.iter().map(phase).collect()
}

/// Returns the number and the name of each phase that the indexer finds.
fn indexed(log: &[u8]) -> Vec<(u32, String)> {
    let field = |chunk: &Chunk, name: &str| {
        let found = chunk.metadata.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| format!("{value:?}"))
    };
    let mut phases = Vec::new();
    for chunk in chunks("2025/12/a-2025-12-13.md", log) {
        // A long phase is divided into several chunks. All except the first have a parent.
        if chunk.parent.is_none() && field(&chunk, "phase_name").is_some() {
            let digits = field(&chunk, "phase_number")
                .expect("the phase has a number")
                .replace(|c: char| !c.is_ascii_digit(), "");
            phases.push((digits.parse().expect("the text is a number"), chunk.name));
        }
    }
    phases
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn every_written_phase_is_indexed(query in texts(), first in phases(), second in phases(), response in texts()) {
        prop_assume!(!query.trim().is_empty());
        let place = tempfile::tempdir().expect("a temporary directory can be created");
        let logs = LogDirectory::create(place.path()).expect("the directory can be created");
        let input = serde_json::json!({"query": query, "phases": json(&first), "response": response, "timestamp": "2025-12-13T14:32:15Z"});
        let read = aurora_logs::interaction("a.json", input.to_string().as_bytes()).expect("the interaction is valid");
        let written = logs.write(LogText::Interaction(read), 2).expect("the log can be written");
        let expected = numbered(&first, 0);
        prop_assert_eq!(indexed(&std::fs::read(&written.path).expect("the file can be read")), expected.clone());

        let log = logs.files(Default::default()).expect("the logs can be listed").next().expect("there is a log").expect("the log can be read");
        let input = serde_json::json!({"phases": json(&second), "response": response});
        let added = additions("a.json", input.to_string().as_bytes()).expect("the additions are valid");
        logs.append(&log, AddedText::Sections(added), jiff::Timestamp::UNIX_EPOCH).expect("the log can be changed");
        let last = expected.last().map_or(0, |(number, _)| *number);
        let expected = [expected, numbered(&second, last)].concat();
        prop_assert_eq!(indexed(&std::fs::read(&written.path).expect("the file can be read")), expected);
    }
}

#[test]
fn large_logs_are_indexed_and_decompression_bombs_are_skipped() {
    let fixture = Fixture::plain();
    fixture.write("auth.py", "def login():\n    return 1\n");
    let logs = fixture.user_directory().join("logs/conversations/2025/12");
    std::fs::create_dir_all(&logs).expect("the directory can be created");
    let log = |last: &str| {
        format!("# Conversation: Long\n\n{}## Phase 2: END\n{last}\n", "## Phase 1: WORK\nsome words\n".repeat(9_000))
            + &"filler words of a long log\n".repeat(200_000)
    };
    let pack = |text: &[u8]| {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        std::io::Write::write_all(&mut packed, text).expect("a text in memory can be packed");
        packed.finish().expect("a text in memory can be packed")
    };
    std::fs::write(logs.join("plain-2025-12-01.md"), log("the plain zebra")).expect("the file can be written");
    std::fs::write(logs.join("packed-2025-12-02.md.gz"), pack(log("the packed giraffe").as_bytes())).expect("written");
    std::fs::write(logs.join("bomb-2025-12-03.md.gz"), pack(&vec![b'a'; 80 << 20])).expect("written");
    let run = fixture.aur(&["mem", "index", "--format", "json"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    for word in ["zebra", "giraffe"] {
        let found = fixture.aur(&["mem", "search", word, "--source", "logs", "--format", "json"]).json();
        assert_eq!(found["results"][0]["name"], "END", "{found}");
    }
    let skipped = fixture.aur(&["mem", "stats", "--skipped"]);
    let bomb = "bomb-2025-12-03.md.gz: cannot unpack the document: it unpacks to more than ";
    assert!(skipped.out.contains(bomb), "{skipped:?}");
}

#[test]
fn a_log_in_parts_has_exact_lines_masks_and_updates() {
    let fixture = Fixture::plain();
    fixture.write("auth.py", "def login():\n    return 1\n");
    let name = "long-2025-12-01.md";
    let logs = "logs/conversations/2025/12";
    let token = ["ghp", "_", "k3Jd82mXq0PzL5vRt7NcY1wBs9HfGa4eUiTo"].concat();
    // The parts end at different places in the phases, and some end within a token.
    let phase = |number: usize| {
        let filler = "filler words of a phase\n".repeat(400 + number % 700);
        format!("## Phase {number}: WORK\ncaf\u{e9} {token} of jane{number}@example.org\n{filler}marker{number}\n\n")
    };
    let log: String = (1..200).map(phase).collect();
    assert!(log.len() > 3 * (512 << 10), "{}", log.len());
    let put = |text: &str| fixture.write_for_user(&format!("{logs}/{name}"), text);
    let index = || fixture.aur(&["mem", "index", "--format", "json"]);
    let digest = || {
        let verified = fixture.aur(&["mem", "verify", "--digest"]);
        assert_eq!(verified.code, Some(0), "{verified:?}");
        verified.out
    };
    put(&log);
    let run = index();
    assert_eq!((run.code, &run.json()["files"]["indexed"]), (Some(0), &2.into()), "{run:?}");
    assert_eq!(fixture.aur(&["mem", "verify"]).code, Some(0));
    for number in [1, 77, 150, 199] {
        let marker = format!("marker{number}");
        let search = ["mem", "search", &marker, "--source", "logs", "--show-content", "--format", "json"];
        let found = fixture.aur(&search).json();
        let best = &found["results"][0];
        let text = best["content"].as_str().expect("the value is a string");
        assert!(text.contains(&marker) && !text.contains(&token[4..]) && !text.contains("@example"), "{text}");
        let first = best["line_start"].as_u64().expect("the value is a number") as usize;
        let lines: Vec<&str> = log.lines().skip(first - 1).take(text.lines().count()).collect();
        let same = text.lines().zip(&lines).filter(|(shown, line)| shown == *line).count();
        assert_eq!(lines[0], text.lines().next().expect("a line"), "{number}");
        assert!(same + 1 >= lines.len(), "only the masked line differs");
    }
    // Nothing has changed.
    let before = digest();
    assert_eq!(index().json()["files"]["unchanged"], 2);
    assert_eq!(digest(), before);
    // A new time alone changes only the row of the file.
    put(&log);
    assert_eq!(index().json()["files"]["indexed"], 0);
    assert_eq!(digest(), before);
    // The log grows, changes in the middle, and shrinks.
    for text in [format!("{log}{}", phase(699)), log.replace("marker77\n", "marker77 changed\n"), phase(3)] {
        put(&text);
        assert_eq!(index().json()["files"]["indexed"], 1);
        let updated = digest();
        assert_eq!(fixture.aur(&["mem", "index", "--force", "--quiet"]).code, Some(0));
        assert_eq!(digest(), updated);
        std::fs::remove_dir_all(fixture.path(".aurora/index")).expect("the index can be removed");
        assert_eq!(index().code, Some(0));
        assert_eq!(digest(), updated);
    }
}

#[test]
fn personal_data_in_logs_is_masked_in_the_index_only() {
    let fixture = Fixture::plain();
    fixture.write("auth.py", "AUTHOR = \"jane@example.org\"\n");
    let path =
        write(&fixture, &OAUTH.replace("Research providers first.", "Ask jane@example.org or +44 20 7946 0958."));
    let text = || fixture.aur(&["mem", "search", "ask", "--source", "logs", "--show-content", "--format", "json"]).out;
    assert_eq!(fixture.aur(&["mem", "index"]).code, Some(0));
    let found = text();
    assert!(found.contains("Ask ") && !found.contains("jane@") && !found.contains("7946"), "{found}");
    let code = fixture.aur(&["mem", "search", "AUTHOR", "--show-content", "--format", "json"]).out;
    assert!(code.contains("jane@example.org"), "{code}");
    let log = std::fs::read_to_string(fixture.user_directory().join("logs/conversations").join(&path)).expect("a log");
    assert!(log.contains("jane@example.org"));
    fixture
        .write(".aurora/pipeline.toml", "extends = \"default\"\n[stage.incremental-check]\nredact_personal = false\n");
    assert_eq!(fixture.aur(&["mem", "index"]).code, Some(0));
    assert!(text().contains("jane@example.org"));
}
