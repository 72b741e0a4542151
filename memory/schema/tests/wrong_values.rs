//! Tests of documents with invalid values. They check the messages, and that the schemas reject the documents if a
//! schema can express the rule.

mod common;

use aurora_memory_schema::Kind;
use common::Schema::{CannotExpress, Rejects};
use common::mistakes;

#[test]
fn invalid_values_are_reported() {
    insta::assert_snapshot!(mistakes(&[
        (Kind::Note, Rejects, r#"{"content": "text"}"#),
        (Kind::Note, Rejects, r#"{"content": {"text": ["a"]}}"#),
        (Kind::Note, Rejects, r#"{"content": {"text": "a", "title": null}}"#),
        (Kind::Note, Rejects, r#"{"type": "turn", "content": {"text": "a"}}"#),
        (Kind::Reasoning, Rejects, r#"{"content": {"pattern": "a", "success_score": 1.5}}"#),
        (Kind::Reasoning, Rejects, r#"{"content": {"pattern": "a", "success_score": -0.1, "tool_sequence": "grep"}}"#),
        (Kind::Reasoning, Rejects, r#"{"content": {"pattern": "a", "success_score": "0.9", "subgoals": [{"id": 1}, 2]}}"#),
        (Kind::Reasoning, Rejects, r#"{"content": {"pattern": "a", "success_score": true, "tools_used": [{"tools": [1]}]}}"#),
        (Kind::Knowledge, Rejects, r#"{"content": {"topic": "a", "facts": [{"statement": "b"}, "c", {"statement": ""}]}}"#),
        (Kind::Knowledge, Rejects, r#"{"content": {"topic": "a", "confidence": null}, "metadata": {"validated": "yes"}}"#),
        (Kind::Code, Rejects, r#"{"content": {"file": "a", "line_start": 0, "line_end": 1.5}}"#),
        (Kind::Code, CannotExpress, r#"{"content": {"file": "a", "line_start": 9, "line_end": 3}}"#),
        (Kind::Note, Rejects, r#"{"content": {"text": "a"}, "metadata": {"usage_count": -1, "execution_time_ms": "5", "total_cost_usd": -0.5}}"#),
        (Kind::Note, Rejects, r#"{"content": {"text": "a"}, "metadata": []}"#),
    ]), @r#"
    error[A0303]: `content` must be an object, not "text"
     --> a.json:1:13
    1 | {"content": "text"}

    error[A0303]: `content.text` must be a string that is not blank, not a list
     --> a.json:1:22
    1 | {"content": {"text": ["a"]}}

    error[A0303]: `content.title` must be a string that is not blank, not null
     --> a.json:1:36
    1 | {"content": {"text": "a", "title": null}}
      = help: leave the field out

    error[A0303]: `type` must be "note", not "turn"
     --> a.json:1:10
    1 | {"type": "turn", "content": {"text": "a"}}

    error[A0303]: `content.success_score` must be a number from 0 to 1, not 1.5
     --> a.json:1:47
    1 | {"content": {"pattern": "a", "success_score": 1.5}}

    error[A0303]: `content.success_score` must be a number from 0 to 1, not -0.1
     --> a.json:1:47
    1 | {"content": {"pattern": "a", "success_score": -0.1, "tool_sequence": "grep"}}

    error[A0303]: `content.tool_sequence` must be a list of strings, not "grep"
     --> a.json:1:70
    1 | {"content": {"pattern": "a", "success_score": -0.1, "tool_sequence": "grep"}}
      = help: put brackets around it

    error[A0303]: `content.success_score` must be a number from 0 to 1, not "0.9"
     --> a.json:1:47
    1 | {"content": {"pattern": "a", "success_score": "0.9", "subgoals": [{"id": 1}, 2]}}
      = help: remove the quotes

    error[A0303]: `content.subgoals[0].id` must be a string, not 1
     --> a.json:1:74
    1 | {"content": {"pattern": "a", "success_score": "0.9", "subgoals": [{"id": 1}, 2]}}

    error[A0303]: `content.subgoals[1]` must be an object, not 2
     --> a.json:1:78
    1 | {"content": {"pattern": "a", "success_score": "0.9", "subgoals": [{"id": 1}, 2]}}

    error[A0303]: `content.success_score` must be a number from 0 to 1, not true
     --> a.json:1:47
    1 | {"content": {"pattern": "a", "success_score": true, "tools_used": [{"tools": [1]}]}}

    error[A0303]: `content.tools_used[0].tools[0]` must be a string, not 1
     --> a.json:1:79
    1 | {"content": {"pattern": "a", "success_score": true, "tools_used": [{"tools": [1]}]}}

    error[A0303]: `content.facts[1]` must be an object, not "c"
     --> a.json:1:58
    1 | {"content": {"topic": "a", "facts": [{"statement": "b"}, "c", {"statement": ""}]}}

    error[A0303]: `content.facts[2].statement` must be a string that is not blank, not ""
     --> a.json:1:77
    1 | {"content": {"topic": "a", "facts": [{"statement": "b"}, "c", {"statement": ""}]}}

    error[A0303]: `content.confidence` must be a number from 0 to 1, not null
     --> a.json:1:42
    1 | {"content": {"topic": "a", "confidence": null}, "metadata": {"validated": "yes"}}
      = help: leave the field out

    error[A0303]: `metadata.validated` must be true or false, not "yes"
     --> a.json:1:75
    1 | {"content": {"topic": "a", "confidence": null}, "metadata": {"validated": "yes"}}

    error[A0303]: `content.line_start` must be an integer ≥ 1, not 0
     --> a.json:1:41
    1 | {"content": {"file": "a", "line_start": 0, "line_end": 1.5}}

    error[A0303]: `content.line_end` must be an integer ≥ 1, not 1.5
     --> a.json:1:56
    1 | {"content": {"file": "a", "line_start": 0, "line_end": 1.5}}

    error[A0303]: `content.line_end` is 3, less than `content.line_start`, which is 9
     --> a.json:1:56
    1 | {"content": {"file": "a", "line_start": 9, "line_end": 3}}

    error[A0303]: `metadata.usage_count` must be an integer ≥ 0, not -1
     --> a.json:1:56
    1 | {"content": {"text": "a"}, "metadata": {"usage_count": -1, "execution_time_ms": "5", "total_cost_usd": -0.5}}

    error[A0303]: `metadata.execution_time_ms` must be a number ≥ 0, not "5"
     --> a.json:1:81
    1 | …"content": {"text": "a"}, "metadata": {"usage_count": -1, "execution_time_ms": "5", "total_cost_usd": -0.5}}
      = help: remove the quotes

    error[A0303]: `metadata.total_cost_usd` must be a number ≥ 0, not -0.5
     --> a.json:1:104
    1 | …}, "metadata": {"usage_count": -1, "execution_time_ms": "5", "total_cost_usd": -0.5}}

    error[A0303]: `metadata` must be an object, not a list
     --> a.json:1:40
    1 | {"content": {"text": "a"}, "metadata": []}
    "#);
}

#[test]
fn invalid_times_and_lines_are_reported() {
    insta::assert_snapshot!(mistakes(&[
        (Kind::Note, Rejects, r#"{"content": {"text": "a"}, "metadata": {"timestamp": "yesterday", "created": 1765549200}}"#),
        (Kind::Note, Rejects, r#"{"content": {"text": "a"}, "metadata": {"timestamp": "2025-12-12T14:20:00"}}"#),
        (Kind::Note, Rejects, r#"{"content": {"text": "a"}, "metadata": {"acquired": "2025-13-01"}}"#),
        (Kind::Note, CannotExpress, r#"{"content": {"text": "a"}, "metadata": {"acquired": "2025-02-29"}}"#),
        (Kind::Note, Rejects, r#"{"content": {"text": "a"}, "conversation_log_reference": {"date": "12.12.2025", "line_range": [5]}}"#),
        (Kind::Note, Rejects, r#"{"content": {"text": "a"}, "conversation_log_reference": {"line_range": [0, 7]}}"#),
        (Kind::Note, CannotExpress, r#"{"content": {"text": "a"}, "conversation_log_reference": {"line_range": [9, 7]}}"#),
    ]), @r#"
    error[A0303]: `metadata.timestamp` must be a date such as 2025-12-12, or a time such as 2025-12-12T14:20:00Z (RFC 3339), not "yesterday"
     --> a.json:1:54
    1 | {"content": {"text": "a"}, "metadata": {"timestamp": "yesterday", "created": 1765549200}}

    error[A0303]: `metadata.created` must be a date such as 2025-12-12, or a time such as 2025-12-12T14:20:00Z (RFC 3339), not 1765549200
     --> a.json:1:78
    1 | {"content": {"text": "a"}, "metadata": {"timestamp": "yesterday", "created": 1765549200}}

    error[A0303]: `metadata.timestamp` must be a date such as 2025-12-12, or a time such as 2025-12-12T14:20:00Z (RFC 3339), not "2025-12-12T14:20:00"
     --> a.json:1:54
    1 | {"content": {"text": "a"}, "metadata": {"timestamp": "2025-12-12T14:20:00"}}
      = help: append `Z` for UTC, or an offset such as `+01:00`

    error[A0303]: `metadata.acquired` must be a date such as 2025-12-12, or a time such as 2025-12-12T14:20:00Z (RFC 3339), not "2025-13-01"
     --> a.json:1:53
    1 | {"content": {"text": "a"}, "metadata": {"acquired": "2025-13-01"}}

    error[A0303]: `metadata.acquired` must be a date such as 2025-12-12, or a time such as 2025-12-12T14:20:00Z (RFC 3339), not "2025-02-29"
     --> a.json:1:53
    1 | {"content": {"text": "a"}, "metadata": {"acquired": "2025-02-29"}}

    error[A0303]: `conversation_log_reference.date` must be a date such as 2025-12-12, or a time such as 2025-12-12T14:20:00Z (RFC 3339), not "12.12.2025"
     --> a.json:1:67
    1 | {"content": {"text": "a"}, "conversation_log_reference": {"date": "12.12.2025", "line_range": [5]}}

    error[A0303]: `conversation_log_reference.line_range` must be the first and the last line, two ascending integers ≥ 1, not [5]
     --> a.json:1:95
    1 | …ext": "a"}, "conversation_log_reference": {"date": "12.12.2025", "line_range": [5]}}

    error[A0303]: `conversation_log_reference.line_range` must be the first and the last line, two ascending integers ≥ 1, not [0, 7]
     --> a.json:1:73
    1 | {"content": {"text": "a"}, "conversation_log_reference": {"line_range": [0, 7]}}

    error[A0303]: `conversation_log_reference.line_range` must be the first and the last line, two ascending integers ≥ 1, not [9, 7]
     --> a.json:1:73
    1 | {"content": {"text": "a"}, "conversation_log_reference": {"line_range": [9, 7]}}
    "#);
}

#[test]
fn invalid_tags_policies_and_texts_are_reported() {
    insta::assert_snapshot!(mistakes(&[
        (Kind::Note, Rejects, r#"{"content": {"text": "a"}, "governance": {"lifespan_policy": "time-baesd"}}"#),
        (Kind::Note, Rejects, r#"{"content": {"text": "a"}, "governance": {"lifespan_policy": 5, "compliance_tags": "tested"}}"#),
        (Kind::Note, Rejects, r#"{"content": {"text": "a"}, "governance": {"compliance_tags": ["b", "", "c\td", 4]}}"#),
        (Kind::Note, Rejects, r#"{"content": {"text": "a"}, "metadata": {"keywords": ["b", " "], "domain": ""}}"#),
        (Kind::Note, CannotExpress, r#"{"content": {"text": "a\u0000b", "more": {"c": ["\u0000"]}}}"#),
        (Kind::Note, CannotExpress, "{\"content\": {\"text\": \"a\"},\n\"content\": {\"text\": \"b\", \"x y\": 1, \"x y\": 2}}"),
    ]), @r#"
    error[A0303]: `governance.lifespan_policy` must be one of "conditional", "time-based", "indefinite", not "time-baesd"
     --> a.json:1:62
    1 | {"content": {"text": "a"}, "governance": {"lifespan_policy": "time-baesd"}}
      = help: did you mean `time-based`?

    error[A0303]: `governance.lifespan_policy` must be one of "conditional", "time-based", "indefinite", not 5
     --> a.json:1:62
    1 | {"content": {"text": "a"}, "governance": {"lifespan_policy": 5, "compliance_tags": "tested"}}

    error[A0303]: `governance.compliance_tags` must be a list of strings, not "tested"
     --> a.json:1:84
    1 | …ntent": {"text": "a"}, "governance": {"lifespan_policy": 5, "compliance_tags": "tested"}}
      = help: put brackets around it

    error[A0303]: `governance.compliance_tags[1]` must be a string of 1 to 128 bytes without control characters, not ""
     --> a.json:1:68
    1 | {"content": {"text": "a"}, "governance": {"compliance_tags": ["b", "", "c\td", 4]}}

    error[A0303]: `governance.compliance_tags[2]` must be a string of 1 to 128 bytes without control characters, not "c\td"
     --> a.json:1:72
    1 | {"content": {"text": "a"}, "governance": {"compliance_tags": ["b", "", "c\td", 4]}}

    error[A0303]: `governance.compliance_tags[3]` must be a string of 1 to 128 bytes without control characters, not 4
     --> a.json:1:80
    1 | {"content": {"text": "a"}, "governance": {"compliance_tags": ["b", "", "c\td", 4]}}

    error[A0303]: `metadata.keywords[1]` must be a string of 1 to 128 bytes without control characters, not " "
     --> a.json:1:59
    1 | {"content": {"text": "a"}, "metadata": {"keywords": ["b", " "], "domain": ""}}

    error[A0303]: `metadata.domain` must be a string of 1 to 128 bytes without control characters, not ""
     --> a.json:1:75
    1 | {"content": {"text": "a"}, "metadata": {"keywords": ["b", " "], "domain": ""}}

    error[A0303]: `content.text` must not contain NUL characters (`\u0000`)
     --> a.json:1:22
    1 | {"content": {"text": "a\u0000b", "more": {"c": ["\u0000"]}}}

    error[A0303]: `content.more.c[0]` must not contain NUL characters (`\u0000`)
     --> a.json:1:49
    1 | {"content": {"text": "a\u0000b", "more": {"c": ["\u0000"]}}}

    error[A0305]: `content` is set twice
     --> a.json:2:1
    2 | "content": {"text": "b", "x y": 1, "x y": 2}}
      = help: it is also set on line 1

    error[A0305]: `content["x y"]` is set twice
     --> a.json:2:36
    2 | "content": {"text": "b", "x y": 1, "x y": 2}}
      = help: it is also set on line 2
    "#);
    let tags = vec!["\"t\""; 257].join(", ");
    let many = format!(r#"{{"content": {{"text": "a"}}, "governance": {{"compliance_tags": [{tags}]}}}}"#);
    assert!(
        mistakes(&[(Kind::Note, Rejects, &many)])
            .contains("`governance.compliance_tags` has 257 values; at most 256 are allowed")
    );
    let long = format!(r#"{{"content": {{"text": "a"}}, "metadata": {{"keywords": ["{}"]}}}}"#, "é".repeat(65));
    assert!(
        mistakes(&[(Kind::Note, CannotExpress, &long)])
            .contains("`metadata.keywords[0]` must be a string of 1 to 128 bytes")
    );
}
