//! Tests of the findings of an audit.

use aurora_memory_policy::Scope;
use aurora_memory_schema::{Kind, read_json};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;
use crate::memory::Placement;
use crate::session::NewTurn;
use crate::transfer::TransferredEntry;

const NOW: i64 = 1_800_000_000;

/// A memory with entries that were imported, so that duplicates are possible.
struct TestMemory {
    memory: Memory,
    _directory: TempDir,
    next: i64,
}

impl TestMemory {
    fn new() -> Self {
        let directory = TempDir::new().expect("a temporary directory");
        Self { memory: Memory::for_test(Owner::User, directory.path()), _directory: directory, next: NOW - 1_000 }
    }

    /// Adds an entry, one second after the previous one.
    fn add(&mut self, kind: Kind, id: &str, content: &Value) -> &mut Self {
        self.next += 1;
        let document = json!({"id": id, "content": content}).to_string();
        let draft = read_json(kind, id, &document, |_, _| Ok(())).expect("a valid entry");
        let entry = TransferredEntry {
            entry: draft.into_entry().expect("the score is high enough"),
            has_derived_id: false,
            placement: Placement { scope: Scope::User, session: None },
            created: self.next,
            edited: self.next,
            is_current: false,
            access: None,
            source: id.to_owned(),
        };
        self.memory.put_all(&mut std::iter::once(Ok(entry)), NOW).expect("the memory can be written");
        self
    }

    fn note(&mut self, id: &str, text: &str) -> &mut Self {
        self.add(Kind::Note, id, &json!({"text": text}))
    }

    /// Returns the kinds, ids and details of the findings.
    fn audit(&self, options: &AuditOptions<'_>) -> Vec<String> {
        let options = AuditOptions {
            kinds: options.kinds.clone(),
            prompts: options.prompts.clone(),
            instructions: options.instructions.clone(),
            code: None,
            unused_days: options.unused_days.max(1),
        };
        let audit = self.memory.audit(&options, NOW).expect("the memory can be read");
        audit.findings.iter().map(|found| format!("{:?} {}: {}", found.kind, found.id, found.detail)).collect()
    }
}

const LONG: &str = "The staging database of the billing service is reset on every Sunday at noon by the job that the operations team runs";

#[test]
fn duplicates_name_the_oldest_entry() {
    let mut test = TestMemory::new();
    test.note("note:z", LONG).note("note:a", &LONG.to_uppercase()).note("note:n", &format!("{LONG} by hand"));
    test.note("note:other", "The production database of the shop is never reset, not even on a Sunday");
    assert_eq!(
        test.audit(&AuditOptions::default()),
        [
            "Duplicate note:a: has the same text as note:z",
            "NearDuplicate note:n: has almost the same text as note:z (similarity 0.91)",
        ]
    );
    let kinds = vec![FindingKind::NearDuplicate];
    assert_eq!(test.audit(&AuditOptions { kinds, ..AuditOptions::default() }).len(), 1);
}

#[test]
fn echoes_repeat_prompts_and_instructions() {
    let mut test = TestMemory::new();
    let turn = |speaker, text| NewTurn { session: "s", speaker, text, reply_to: None, time: NOW };
    for (speaker, text) in
        [("user", "How are tokens refreshed?"), ("assistant", "They are refreshed by a job at night")]
    {
        test.memory.add_turn(&turn(speaker, text), Scope::Session, NOW).expect("the turn is valid");
    }
    test.note("note:prompt", "how are tokens refreshed?").note("note:answer", "They are refreshed by a job at night");
    test.note("note:logged", "Explain the retry policy of the gateway to me in detail");
    test.note("note:near", "Please explain the retry policy of the gateway to me in detail");
    test.note("note:system", "You are a careful assistant. Answer briefly.");
    test.note("note:rule", "run cargo fmt before each commit");
    test.note("note:people", "You are welcome to deploy on Friday");
    let options = AuditOptions {
        prompts: vec!["Explain the retry policy of the gateway to me in detail".to_owned()],
        instructions: vec![("AGENTS.md".to_owned(), "Always run `cargo fmt` before each commit, and test.".to_owned())],
        kinds: vec![FindingKind::Echo],
        ..AuditOptions::default()
    };
    assert_eq!(
        test.audit(&options),
        [
            "Echo note:logged: is a prompt of a session",
            "Echo note:near: is almost the same as a prompt of a session",
            "Echo note:prompt: is a prompt of a session",
            "Echo note:rule: repeats AGENTS.md",
            "Echo note:system: is an instruction to an agent",
        ]
    );
}

#[test]
fn newer_values_of_the_same_key_contradict_older_ones() {
    let mut test = TestMemory::new();
    test.note("note:a", "staging.port = 8080")
        .note("note:b", "staging.port = 8443")
        .note("note:c", "Staging.Port: 8443");
    test.note("note:h1", "# Staging\nport: 80\nhost: a").note("note:h2", "# Staging\n- port: 81\n- host: a");
    test.note("note:d1", "# Deploys\nport: 90").note("note:n1", "Note: use ripgrep").note("note:n2", "Note: use git");
    test.note("note:s", "Monday: a\nTuesday: b").note("note:t", "Monday: c\nTuesday: d");
    let fact = |title: &str, id: &str, text: &str| json!({"title": title, "facts": [{"id": id, "statement": text}]});
    test.add(Kind::Knowledge, "know:a", &fact("Gateway", "timeout", "30 seconds"));
    test.add(Kind::Knowledge, "know:b", &fact("gateway", "timeout", "60 seconds"));
    test.add(Kind::Knowledge, "know:c", &fact("Other", "timeout", "90 seconds"));
    let kinds = vec![FindingKind::Contradiction];
    assert_eq!(
        test.audit(&AuditOptions { kinds, ..AuditOptions::default() }),
        [
            "Contradiction know:a: `timeout` is `30 seconds`, but know:b, which is newer, has `60 seconds`",
            "Contradiction note:a: `staging.port` is `8080`, but note:c, which is newer, has `8443`",
            "Contradiction note:h1: `port` is `80`, but note:h2, which is newer, has `81`",
        ]
    );
}

#[test]
fn secrets_and_unused_entries_are_found() {
    let mut test = TestMemory::new();
    let token = ["ghp", "_", "k3Jd82mXq0PzL5vRt7NcY1wBs9HfGa4eUiTo"].concat();
    test.note("note:old", "An old text");
    // An earlier version of the program stored secrets.
    test.memory
        .store()
        .write(|writer| {
            let version = writer.get("note:old")?.expect("the entry exists");
            let mut document = version.document.clone().expect("the entry has a document");
            document["content"]["text"] = format!("The key is {token}").into();
            writer.put("note:old", Version { document: Some(document), created: NOW - 100 * DAY, edited: 0, ..version })
        })
        .expect("the memory can be written");
    test.note("note:new", "A new text");
    let found = test.audit(&AuditOptions { unused_days: 90, ..AuditOptions::default() });
    assert_eq!(
        found,
        [
            "Secret note:old: the stored text contains a secret, which an edit masks",
            "NeverRetrieved note:old: no search has returned it in 100 days",
        ]
    );
}
