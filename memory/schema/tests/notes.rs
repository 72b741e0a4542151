//! Tests of reading notes from Markdown and plain text.

use std::collections::BTreeMap;

use aurora_memory_schema::read_note;
use serde_json::{Value, json};

/// Formats the id, title and document of a note, or the mistakes in the note.
fn check(text: &str) -> String {
    match read_note("a.md", text) {
        Ok(draft) => {
            let entry = draft.entry();
            let fields = ["content", "governance", "metadata"].map(|section| {
                let fields = entry.document().get(section).and_then(Value::as_object);
                // The fields are sorted, because the order of a `serde_json` map depends on the features of
                // `serde_json`.
                let fields: BTreeMap<&String, &Value> = fields.into_iter().flatten().collect();
                fields.iter().map(|(name, value)| format!("\n{section}.{name}: {value}")).collect::<String>()
            });
            format!("{} ({}){}", entry.id(), entry.title(), fields.concat())
        }
        Err(mistakes) => mistakes.to_string(),
    }
}

#[test]
fn front_matter_is_read() {
    let note = |text: &str| read_note("a.md", text).unwrap_or_else(|mistakes| panic!("{mistakes}"));
    let check = |front_matter: &str, field: &str, expected: Value| {
        let document = json!(note(&format!("---\n{front_matter}\n---\nRotate keys.\n")).entry());
        assert_eq!(document.pointer(field).unwrap_or(&Value::Null), &expected, "{front_matter}");
    };
    check("title: Deploy: part 2", "/content/title", json!("Deploy: part 2"));
    check("Title: 'Keys'", "/content/title", json!("Keys"));
    check("title:", "/content/title", Value::Null);
    check("title: x", "/content/text", json!("Rotate keys.\n"));
    check("tags: ops, keys , ops", "/governance/compliance_tags", json!(["ops", "keys"]));
    check("tags: [ops, \"on call\"]", "/governance/compliance_tags", json!(["ops", "on call"]));
    check("tags: #ops #", "/governance/compliance_tags", json!(["ops #"]));
    check("tags:\n  - ops\n\n  - 'keys'", "/governance/compliance_tags", json!(["ops", "keys"]));
    check("tags:\n- ops\n- keys\ndomain: x", "/governance/compliance_tags", json!(["ops", "keys"]));
    check("tags: []", "/governance/compliance_tags", Value::Null);
    check("domain: security", "/metadata/domain", json!("security"));
    check("domain: security", "/metadata/derived", json!(["keywords", "semantic_role"]));
    check("id: note:keys", "/id", json!("note:keys"));
    check("date: 2025-12-12", "/metadata/created", json!("2025-12-12"));
    check("created: 2025-12-12T10:00:00Z\ndate: 2020-01-01", "/metadata/created", json!("2025-12-12T10:00:00Z"));
    check("created: 2025-12-12\ndate: soon", "/metadata/front_matter", json!({"date": "soon"}));
    check(
        "# comment\nlayout: post\naliases:\n  - a: 1\n    b: 2\ndate:",
        "/metadata/front_matter/aliases",
        json!("- a: 1\n    b: 2"),
    );
    assert_eq!(note("---\r\ntitle: Keys\r\n---\r\ntext\r\n").entry().title(), "Keys");
    assert_eq!(note("---\r\ntitle: Keys\r\n---\r\ntext\r\n").entry().document()["content"]["text"], "text\r\n");
}

#[test]
fn the_text_is_not_changed() {
    let check = |text: &str, expected: &str| {
        let draft = read_note("a.md", text).unwrap_or_else(|mistakes| panic!("{mistakes}"));
        assert_eq!(draft.entry().document()["content"]["text"], expected);
    };
    check(" a \r\n\r\n b\n\n", " a \r\n\r\n b\n\n");
    check("\u{feff}a", "a");
    check("---\nA thematic break.\n---\nb", "---\nA thematic break.\n---\nb");
    check("---\ntitle: not closed\n", "---\ntitle: not closed\n");
    check("--- \ntitle: a\n--- \nb", "b");
    check("---\n---\nb", "b");
    check("text\n---\ntitle: a\n---\n", "text\n---\ntitle: a\n---\n");
}

#[test]
fn notes_get_ids_titles_and_metadata() {
    let shown = [
        check("---\ntitle: Key rotation\ntags: ops\n---\nRotate the signing keys of the token service every month."),
        check("# Why deploys hang\n\nThe kubernetes rollout waits for the readiness of every container.\n"),
        check("日本語のメモ: トークンの更新"),
        check("!!!"),
    ];
    insta::assert_snapshot!(shown.join("\n\n"), @r##"
    note:key-rotation (Key rotation)
    content.text: "Rotate the signing keys of the token service every month."
    content.title: "Key rotation"
    governance.compliance_tags: ["ops"]
    metadata.derived: ["keywords","semantic_role","domain"]
    metadata.domain: "security"
    metadata.keywords: ["key","rotation","rotate","signing","token"]
    metadata.semantic_role: "key-note"

    note:why-deploys-hang (Why deploys hang)
    content.text: "# Why deploys hang\n\nThe kubernetes rollout waits for the readiness of every container.\n"
    metadata.derived: ["keywords","semantic_role","domain"]
    metadata.domain: "infrastructure"
    metadata.keywords: ["deploys","hang","kubernetes","rollout","waits"]
    metadata.semantic_role: "deploys-note"

    note:日本語のメモ-トークンの更新 (日本語のメモ: トークンの更新)
    content.text: "日本語のメモ: トークンの更新"
    metadata.derived: ["keywords","semantic_role","domain"]
    metadata.domain: "general"
    metadata.keywords: ["日本語","メモ","トークン","更新"]
    metadata.semantic_role: "日本語-note"

    note:entry-8d60f8ae53f4 (!!!)
    content.text: "!!!"
    metadata.derived: ["domain"]
    metadata.domain: "general"
    "##);
}

#[test]
fn mistakes_are_reported_with_their_lines() {
    let shown = [
        check(""),
        check("---\ntitle: a\n---\n \n"),
        check("a\nb\0c"),
        check(
            "---\ntitle: a\nid: know:b\nwhat is this\ndate: 12.12.2025\ntitle: b\ndomain: >\n  long\ntags: [a, b\n---\ntext",
        ),
        check("---\ncreated: 2025-12-12T10:00\nid: keys\ntags: a\tb\n---\ntext"),
    ];
    insta::assert_snapshot!(shown.join("\n\n"), @r#"
    error[A0304]: the note has no text
     --> a.md:1:1
    1 | 

    error[A0304]: the note has no text
     --> a.md:3:4
    3 | ---

    error[A0303]: a note must not contain NUL characters
     --> a.md:2:2
    2 | b�c

    error[A0307]: `id` must begin with `note:`, and "know:b" does not
     --> a.md:3:1
    3 | id: know:b

    error[A0309]: "what is this" is not a line of front matter
     --> a.md:4:1
    4 | what is this
      = help: write `key: value`, or end the front matter above with `---`

    error[A0303]: `date` must be a date such as 2025-12-12, or a time such as 2025-12-12T14:20:00Z (RFC 3339), not "12.12.2025"
     --> a.md:5:1
    5 | date: 12.12.2025

    error[A0305]: `title` is set twice in the front matter
     --> a.md:6:1
    6 | title: b

    error[A0303]: `domain` must be on one line
     --> a.md:7:1
    7 | domain: >

    error[A0303]: `tags` must be a list, `[a, b]`, or separated by commas
     --> a.md:9:1
    9 | tags: [a, b

    error[A0303]: `created` must be a date such as 2025-12-12, or a time such as 2025-12-12T14:20:00Z (RFC 3339), not "2025-12-12T10:00"
     --> a.md:2:1
    2 | created: 2025-12-12T10:00

    error[A0307]: `id` must begin with `note:`, and "keys" does not
     --> a.md:3:1
    3 | id: keys
      = help: write "note:keys"

    error[A0303]: `tags` must be a string of 1 to 128 bytes without control characters, not "a\tb"
     --> a.md:4:1
    4 | tags: a	b
    "#);
    let tags: Vec<String> = (0..300).map(|n| n.to_string()).collect();
    assert!(check(&format!("---\ntags: {}\n---\ntext", tags.join(","))).contains("`tags` has more than 256 values"));
}
