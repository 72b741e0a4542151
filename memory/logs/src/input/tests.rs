use jiff::Timestamp;

use super::*;

/// Maximum nesting depth of objects and lists.
const MAX_DEPTH: usize = FORM.max_depth;

const SEED: &str = r#"{
  "query": "Implement OAuth2 authentication for our API",
  "id": "aurora-20251213-143215-abc123",
  "timestamp": "2025-12-13T15:32:15.250+01:00",
  "phases": [
    {"name": "ASSESS", "output": {"complexity": "complex", "confidence": 0.870}},
    {"number": 4, "name": " VERIFY (Decomposition) ", "text": "checked", "output": null},
    {"number": null, "name": "ROUTE", "output": []}
  ],
  "interactions": [{"agent": "Which budget?", "user": "$2000", "turn": 1}, {"question": "q", "answer": "a"}],
  "response": "Done.",
  "summary": {"duration_ms": 12785, "complexity": "complex", "verification_score": 0.93,
    "tokens": {"llm": 8450}, "cost_usd": 0.0234, "subgoals": 4, "none": null}
}"#;

#[test]
fn an_interaction_is_read() {
    let read = interaction("a.json", SEED.as_bytes()).unwrap();
    assert_eq!(read.id.unwrap().as_str(), "aurora-20251213-143215-abc123");
    assert_eq!(read.time, Some("2025-12-13T14:32:15.25Z".parse::<Timestamp>().unwrap()));
    let phases: Vec<_> = read.sections.phases.iter().map(|phase| (phase.number, phase.name.as_str())).collect();
    assert_eq!(phases, [(None, "ASSESS"), (Some(4), "VERIFY (Decomposition)"), (None, "ROUTE")]);
    assert_eq!(read.sections.phases[0].output.compact(), r#"{"complexity":"complex","confidence":0.870}"#);
    assert_eq!(read.sections.phases[1].output.compact(), "null");
    assert_eq!(read.sections.summary.len(), 6);
    let bare = interaction("a.json", b"\xef\xbb\xbf{\"query\": \"a\", \"phases\": [], \"id\": null}").unwrap();
    assert_eq!((bare.id, bare.time, bare.sections.is_empty()), (None, None, true));
}

#[test]
fn additions_contain_only_sections() {
    assert_eq!(additions("a.json", br#"{"response": "x"}"#).unwrap().response.as_deref(), Some("x"));
    insta::assert_snapshot!(additions("a.json", b"{}").unwrap_err(), @r"
    error[A0111]: the JSON adds nothing: give at least one of `phases`, `interactions`, `response`, `summary`
     --> a.json:1:1
    1 |
    ");
    insta::assert_snapshot!(additions("a.json", br#"{"query": "a", "response": "x"}"#).unwrap_err(), @r#"
    error[A0102]: `query` is not a field of an interaction
     --> a.json:1:2
    1 | {"query": "a", "response": "x"}
      = help: the fields are `phases`, `interactions`, `response`, `summary`
    "#);
}

/// Malformed texts. A snapshot lists all mistakes in each text.
pub(super) const MALFORMED: [&[u8]; 24] = [
    b"",
    b" \n ",
    b"{",
    b"{\"query\": \"a\",\n \"phases\": [}",
    b"{\"query\": \"a\", \"phases\": []} x",
    b"{\"query\": \"\xff\"}",
    b"[]",
    b"\"query\"",
    b"{}",
    b"{\"query\": \"a\"}",
    b"{\"query\": \" \", \"phases\": {}}",
    b"{\"query\": 3,\n\"phases\": null}",
    b"{\"query\": \"a\",\n\"phases\": [1, null, \"x\"]}",
    b"{\"query\": \"a\",\n\"phases\": [{}]}",
    b"{\"query\": \"a\", \"phases\": [\n {\"number\": 0, \"name\": \"\", \"output\": 1},\n {\"number\": 1.5, \"name\": \"a\\nb\", \"output\": 1},\n {\"number\": \"1\", \"name\": \"# x\", \"output\": 1},\n {\"number\": 1000, \"name\": \"C#\", \"output\": 1}]}",
    b"{\"query\": \"a\", \"phases\": [{\"nmae\": \"ASSESS\", \"outptu\": {}, \"text\": 4}]}",
    b"{\"query\": \"a\", \"query\": \"b\", \"phases\": []}",
    b"{\"query\": \"a\", \"phases\": [], \"id\": \"../x\"}",
    b"{\"query\": \"a\", \"phases\": [], \"timestamp\": \"2025-12-13\"}",
    b"{\"query\": \"a\", \"phases\": [], \"timestamp\": \"1969-12-31T23:59:59Z\"}",
    b"{\"query\": \"a\", \"phases\": [], \"timestmap\": 12, \"anything\": 1}",
    b"{\"query\": \"a\", \"phases\": [],\n\"interactions\": [{}, 3, {\"agent\": 1, \"user\": \"x\"}, {\"question\": \"q\"}]}",
    b"{\"query\": \"a\", \"phases\": [],\n\"response\": {},\n\"summary\": {\"duration_ms\": -1, \"complexity\": 3, \"verification_score\": 1.2, \"tokens\": \"many\", \"cost_usd\": []}}",
    b"{\"query\": \"\\ud800\", \"phases\": [], \"response\": \"\\udc00\", \"summary\": {\"\\ud800\": 1}}",
];

#[test]
fn every_mistake_is_reported_at_once() {
    let mut report = String::new();
    for text in MALFORMED {
        let mistakes = interaction("a.json", text).unwrap_err();
        report.push_str(&format!("{}\n{mistakes}\n\n", String::from_utf8_lossy(text)));
    }
    insta::assert_snapshot!(report);
}

#[test]
fn nesting_is_bounded() {
    let deep = |levels: usize| {
        let output = "[".repeat(levels) + &"]".repeat(levels);
        format!("{{\"query\": \"a\", \"phases\": [{{\"name\": \"A\", \"output\": {output}}}]}}")
    };
    assert!(interaction("a.json", deep(MAX_DEPTH - 3).as_bytes()).is_ok());
    for levels in [MAX_DEPTH - 2, 200_000] {
        let error = interaction("a.json", deep(levels).as_bytes()).unwrap_err().to_string();
        assert!(error.contains("more than 128 levels deep"), "{error}");
    }
}

#[test]
fn mistakes_beyond_the_limit_are_not_shown() {
    let text = format!("{{\"query\": \"a\",\n\"phases\": [{}0]}}", "0,\n".repeat(50_000));
    let mistakes = interaction("a.json", text.as_bytes()).unwrap_err();
    let last = mistakes.iter().last().unwrap().message.clone();
    assert_eq!((mistakes.iter().count(), last.as_str()), (101, "only the first 100 mistakes are shown"));
}
