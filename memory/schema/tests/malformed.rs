//! Tests of documents that are not JSON, lack required fields, or have unknown fields. They check the messages, and
//! that the schemas reject the documents.

mod common;

use aurora_memory_schema::{Kind, read_json};
use common::Schema::Rejects;
use common::{mistakes, no_rules};

#[test]
fn texts_that_are_not_json_are_rejected() {
    let documents = [
        "",
        "  \n ",
        "{\"content\": {\"text\": \"é\"}\n",
        "{\"content\": {\"text\": \"a\"},}",
        "{\"content\": {\"text\": 'a'}}",
        "{\"content\": {\"text\": \"é\" \"b\"}}",
        "{\"content\": // why\n{}}",
        "{\"content\": {\"text\": \"\\ud800\"}}",
        "{\"content\": {\"text\": \"a\nb\"}}",
        "{\"content\": {\"weight\": 1e999}}",
        "{\"content\": {\"weight\": NaN}}",
        "{} {}",
        "[1]",
        "null",
        "\u{feff}{}",
    ];
    let shown = documents.map(|text| read_json(Kind::Note, "a.json", text, no_rules).unwrap_err().to_string());
    insta::assert_snapshot!(shown.join("\n\n"), @r#"
    error[A0301]: not JSON: EOF while parsing a value
     --> a.json:1:1
    1 | 

    error[A0301]: not JSON: EOF while parsing a value
     --> a.json:1:1
    1 | 

    error[A0301]: not JSON: EOF while parsing an object
     --> a.json:1:26
    1 | {"content": {"text": "é"}

    error[A0301]: not JSON: trailing comma
     --> a.json:1:27
    1 | {"content": {"text": "a"},}

    error[A0301]: not JSON: expected value
     --> a.json:1:22
    1 | {"content": {"text": 'a'}}

    error[A0301]: not JSON: expected `,` or `}`
     --> a.json:1:26
    1 | {"content": {"text": "é" "b"}}

    error[A0301]: not JSON: expected value
     --> a.json:1:13
    1 | {"content": // why

    error[A0301]: not JSON: unexpected end of hex escape
     --> a.json:1:29
    1 | {"content": {"text": "\ud800"}}

    error[A0301]: not JSON: control character (\u0000-\u001F) found while parsing a string
     --> a.json:1:24
    1 | {"content": {"text": "a

    error[A0301]: not JSON: number out of range
     --> a.json:1:28
    1 | {"content": {"weight": 1e999}}

    error[A0301]: not JSON: expected value
     --> a.json:1:24
    1 | {"content": {"weight": NaN}}

    error[A0301]: not JSON: trailing characters
     --> a.json:1:4
    1 | {} {}

    error[A0301]: an entry must be a JSON object
     --> a.json:1:1
    1 | [1]

    error[A0301]: an entry must be a JSON object
     --> a.json:1:1
    1 | null

    error[A0301]: not JSON: the text begins with a byte order mark
     --> a.json:1:1
    1 | ﻿{}
      = help: save the file as UTF-8 without a byte order mark
    "#);
}

#[test]
fn missing_fields_are_reported() {
    insta::assert_snapshot!(mistakes(&[
        (Kind::Note, Rejects, "{}"),
        (Kind::Note, Rejects, r#"{"content": {}}"#),
        (Kind::Note, Rejects, r#"{"content": {"text": " "}}"#),
        (Kind::Turn, Rejects, r#"{"content": {"role": "user"}}"#),
        (Kind::Reasoning, Rejects, r#"{"content": {"success_score": 0.9}}"#),
        (Kind::Reasoning, Rejects, r#"{"id": "reas:a", "content": {}}"#),
        (Kind::Knowledge, Rejects, r#"{"content": {"confidence": 0.9, "facts": []}}"#),
        (Kind::Knowledge, Rejects, r#"{"content": {"facts": [{"statement": "a"}, {"id": "F2"}]}}"#),
        (Kind::Code, Rejects, "{}"),
        (Kind::Code, Rejects, r#"{"content": {"function": "login"}}"#),
        (Kind::Note, Rejects, r#"{"content": {"text": "a"}, "metadata": {"links": [{"relation": "related"}]}}"#),
        (Kind::Note, Rejects, r#"{"content": {"text": "a"}, "governance": {"retention_rules": [{"if": "x"}, {"then": "y"}]}}"#),
    ]), @r#"
    error[A0304]: `content` is missing; it must be an object
     --> a.json:1:1
    1 | {}

    error[A0304]: `content.text` is missing; it must be a string that is not blank
     --> a.json:1:13
    1 | {"content": {}}

    error[A0303]: `content.text` must be a string that is not blank, not " "
     --> a.json:1:22
    1 | {"content": {"text": " "}}

    error[A0304]: `content.text` is missing; it must be a string that is not blank
     --> a.json:1:13
    1 | {"content": {"role": "user"}}

    error[A0304]: `id` and `content.pattern` are both missing; one of them must name the entry
     --> a.json:1:1
    1 | {"content": {"success_score": 0.9}}

    error[A0304]: `content.success_score` is missing; it must be a number from 0 to 1
     --> a.json:1:29
    1 | {"id": "reas:a", "content": {}}

    error[A0304]: `content` must have a `topic`, a `summary`, or at least one of the `facts`
     --> a.json:1:13
    1 | {"content": {"confidence": 0.9, "facts": []}}

    error[A0304]: `content.facts[1].statement` is missing; it must be a string that is not blank
     --> a.json:1:44
    1 | {"content": {"facts": [{"statement": "a"}, {"id": "F2"}]}}

    error[A0304]: `id` and `content.file` are both missing; one of them must name the entry
     --> a.json:1:1
    1 | {}

    error[A0304]: `id` and `content.file` are both missing; one of them must name the entry
     --> a.json:1:1
    1 | {"content": {"function": "login"}}

    error[A0304]: `metadata.links[0].to` is missing; it must be an id such as `know:stripe-api`
     --> a.json:1:51
    1 | {"content": {"text": "a"}, "metadata": {"links": [{"relation": "related"}]}}

    error[A0304]: `governance.retention_rules[0].then` is missing; it must be a string that is not blank
     --> a.json:1:63
    1 | {"content": {"text": "a"}, "governance": {"retention_rules": [{"if": "x"}, {"then": "y"}]}}

    error[A0304]: `governance.retention_rules[1].if` is missing; it must be a string that is not blank
     --> a.json:1:76
    1 | {"content": {"text": "a"}, "governance": {"retention_rules": [{"if": "x"}, {"then": "y"}]}}
    "#);
}

#[test]
fn unknown_fields_are_reported() {
    insta::assert_snapshot!(mistakes(&[
        (Kind::Note, Rejects, r#"{"content": {"text": "a"}, "metdata": {}}"#),
        (Kind::Note, Rejects, r#"{"content": {"text": "a"}, "chunk_id": "note:a", "activation": 0.85}"#),
        (Kind::Note, Rejects, r#"{"content": {"text": "a"}, "keywords": ["b"], "text": "c"}"#),
        (Kind::Note, Rejects, r#"{"content": {"text": "a"}, "something": 1, "a.b\n": 2}"#),
        (Kind::Note, Rejects, r#"{"content": {"text": "a"}, "governance": {"compliance_tag": ["b"]}}"#),
    ]), @r#"
    error[A0302]: `metdata` is not a field of an entry
     --> a.json:1:28
    1 | {"content": {"text": "a"}, "metdata": {}}
      = help: did you mean `metadata`?

    error[A0302]: `chunk_id` is not a field of an entry
     --> a.json:1:28
    1 | {"content": {"text": "a"}, "chunk_id": "note:a", "activation": 0.85}
      = help: did you mean `id`?

    error[A0302]: `activation` is not a field of an entry
     --> a.json:1:50
    1 | {"content": {"text": "a"}, "chunk_id": "note:a", "activation": 0.85}
      = help: leave it out: memory computes it

    error[A0302]: `keywords` is not a field of an entry
     --> a.json:1:28
    1 | {"content": {"text": "a"}, "keywords": ["b"], "text": "c"}
      = help: it belongs in `metadata`

    error[A0302]: `text` is not a field of an entry
     --> a.json:1:47
    1 | {"content": {"text": "a"}, "keywords": ["b"], "text": "c"}
      = help: it belongs in `content`

    error[A0302]: `something` is not a field of an entry
     --> a.json:1:28
    1 | {"content": {"text": "a"}, "something": 1, "a.b\n": 2}
      = help: the fields are `id`, `type`, `content`, `metadata`, `governance`, `conversation_log_reference`

    error[A0302]: `["a.b\n"]` is not a field of an entry
     --> a.json:1:44
    1 | {"content": {"text": "a"}, "something": 1, "a.b\n": 2}
      = help: the fields are `id`, `type`, `content`, `metadata`, `governance`, `conversation_log_reference`

    error[A0302]: `governance.compliance_tag` is not a field of `governance`
     --> a.json:1:43
    1 | {"content": {"text": "a"}, "governance": {"compliance_tag": ["b"]}}
      = help: did you mean `compliance_tags`?
    "#);
}

#[test]
fn invalid_ids_and_links_are_reported() {
    insta::assert_snapshot!(mistakes(&[
        (Kind::Reasoning, Rejects, r#"{"id": "know:a", "content": {"success_score": 0.9}}"#),
        (Kind::Reasoning, Rejects, r#"{"id": "auth-flow", "content": {"success_score": 0.9}}"#),
        (Kind::Note, Rejects, r#"{"id": "note:", "content": {"text": "a"}}"#),
        (Kind::Note, Rejects, r#"{"id": "", "content": {"text": "a"}}"#),
        (Kind::Note, Rejects, r#"{"id": 7, "content": {"text": "a"}}"#),
        (Kind::Note, Rejects, r#"{"id": "note:a\u001b[31m", "content": {"text": "a"}}"#),
        (Kind::Note, Rejects, r#"{"content": {"text": "a"}, "metadata": {"links": [{"to": "stripe", "weight": 2}, {"to": "know:a", "relation": "", "wieght": 1}]}}"#),
    ]), @r#"
    error[A0307]: `id` must begin with `reas:`, and "know:a" does not
     --> a.json:1:8
    1 | {"id": "know:a", "content": {"success_score": 0.9}}

    error[A0307]: `id` must begin with `reas:`, and "auth-flow" does not
     --> a.json:1:8
    1 | {"id": "auth-flow", "content": {"success_score": 0.9}}
      = help: write "reas:auth-flow"

    error[A0307]: `id` must have a name after `note:`
     --> a.json:1:8
    1 | {"id": "note:", "content": {"text": "a"}}

    error[A0307]: `id` must not be empty
     --> a.json:1:8
    1 | {"id": "", "content": {"text": "a"}}

    error[A0303]: `id` must be a string, not 7
     --> a.json:1:8
    1 | {"id": 7, "content": {"text": "a"}}

    error[A0307]: `id` must not contain control characters: "note:a\u{1b}[31m"
     --> a.json:1:8
    1 | {"id": "note:a\u001b[31m", "content": {"text": "a"}}

    error[A0307]: `metadata.links[0].to` must be an id such as `know:stripe-api`, not "stripe"
     --> a.json:1:58
    1 | {"content": {"text": "a"}, "metadata": {"links": [{"to": "stripe", "weight": 2}, {"to": "know:a", "relation": "", "wieght": 1}]}}

    error[A0303]: `metadata.links[0].weight` must be a number from 0 to 1, not 2
     --> a.json:1:78
    1 | {"content": {"text": "a"}, "metadata": {"links": [{"to": "stripe", "weight": 2}, {"to": "know:a", "relation": "", "wieght": 1}]}}

    error[A0303]: `metadata.links[1].relation` must be a string of 1 to 128 bytes without control characters, not ""
     --> a.json:1:111
    1 | …adata": {"links": [{"to": "stripe", "weight": 2}, {"to": "know:a", "relation": "", "wieght": 1}]}}

    error[A0302]: `metadata.links[1].wieght` is not a field of `metadata.links[1]`
     --> a.json:1:115
    1 | …a": {"links": [{"to": "stripe", "weight": 2}, {"to": "know:a", "relation": "", "wieght": 1}]}}
      = help: did you mean `weight`?
    "#);
    let long = format!(r#"{{"id": "note:{}", "content": {{"text": "a"}}}}"#, "x".repeat(252));
    assert!(mistakes(&[(Kind::Note, Rejects, &long)]).contains("`id` must have at most 256 bytes, not 257"));
}

#[test]
fn mistakes_are_in_the_order_of_the_text() {
    let text = r#"{
  "id": "reas:a",
  "content": {
    "success_score": 2,
    "facts": []
  },
  "governance": {
    "lifespan_policy": "forever",
    "retention_rules": [
      {"if": "is_pattern == true", "then": "retain_indefinitely"},
      {
        "if": "acess_count > 0",
        "then": "retain_while_active"
      }
    ]
  },
  "score": 0.9
}"#;
    let check_rule = |condition: &str, action: &str| {
        if condition.contains("acess") {
            Err(format!("no `acess_count` in `{condition}`, for `{action}`"))
        } else {
            Ok(())
        }
    };
    let found = read_json(Kind::Reasoning, "notes/a.json", text, check_rule).unwrap_err();
    insta::assert_snapshot!(found, @r#"
    error[A0303]: `content.success_score` must be a number from 0 to 1, not 2
     --> notes/a.json:4:22
    4 |     "success_score": 2,

    error[A0303]: `governance.lifespan_policy` must be one of "conditional", "time-based", "indefinite", not "forever"
     --> notes/a.json:8:24
    8 |     "lifespan_policy": "forever",

    error[A0308]: `governance.retention_rules[1]`: no `acess_count` in `acess_count > 0`, for `retain_while_active`
      --> notes/a.json:12:15
    12 |         "if": "acess_count > 0",

    error[A0302]: `score` is not a field of an entry
      --> notes/a.json:17:3
    17 |   "score": 0.9
       = help: the fields are `id`, `type`, `content`, `metadata`, `governance`, `conversation_log_reference`
    "#);
}
