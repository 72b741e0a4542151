//! Tests of hostile input. It must yield an error in bounded time and memory, and never a panic.

mod common;

use aurora_memory_schema::{Kind, limit, read_json, read_note, searchable};
use common::no_rules;
use proptest::prelude::*;

/// Returns the first message for a text.
fn check(text: &str) -> String {
    let mistakes = read_json(Kind::Note, "a.json", text, no_rules).expect_err("the text is invalid");
    let message = mistakes.iter().next().expect("there is a mistake").message.clone();
    assert!(mistakes.to_string().len() < 100_000, "{}", mistakes.to_string().len());
    message
}

#[test]
fn nesting_is_bounded() {
    let deep = "lists and objects are nested more than 127 levels deep";
    assert_eq!(check(&"[".repeat(1_000_000)), deep);
    assert_eq!(check(&r#"{"a":"#.repeat(1_000_000)), deep);
    let within = |levels: usize| {
        format!(r#"{{"content": {{"text": "a", "deep": {}{}}}}}"#, "[".repeat(levels), "]".repeat(levels))
    };
    assert_eq!(check(&within(limit::DEPTH - 1)), deep);
    let draft = read_json(Kind::Note, "a.json", &within(limit::DEPTH - 2), no_rules).expect("the text is valid");
    assert_eq!(searchable(draft.entry()).text, "a");
}

#[test]
fn texts_are_bounded() {
    let text = |bytes: usize| format!(r#"{{"content": {{"text": "{}"}}}}"#, "é".repeat(bytes / 2));
    assert!(read_json(Kind::Note, "a.json", &text(limit::TEXT_BYTES), no_rules).is_ok());
    assert_eq!(check(&text(limit::TEXT_BYTES + 2)), "`content.text` has 4194306 bytes; at most 4194304 are allowed");
    assert!(check(&text(limit::DOCUMENT_BYTES)).ends_with("bytes; at most 8388608 are allowed"));
    assert!(read_note("a.md", &"a ".repeat(limit::TEXT_BYTES / 2)).is_ok());
    assert!(read_note("a.md", &"a".repeat(limit::TEXT_BYTES + 1)).is_err());
}

#[test]
fn millions_of_mistakes_are_handled_quickly() {
    let pad = |unit: &str| unit.repeat(limit::DOCUMENT_BYTES / unit.len() - 10);
    assert_eq!(check(&format!("{{{}\"a\":1}}", pad("\"a\":1,"))), "`a` is not a field of an entry");
    check(&format!("{{\"metadata\":{{\"keywords\":[{}1]}}}}", pad("1,")));
    check(&format!("{{\"content\":{{\"text\":\"a\",\"facts\":{{{}\"\\u0000\":1}}}}}}", pad("\"\\u0000\":1,")));
    check(&format!("{{\"{}\": 1}}", "k".repeat(limit::DOCUMENT_BYTES / 2)));
    check(&format!("{{\"content\":{}}}", "9".repeat(1_000_000)));
    check(&format!("{{\"content\":{{\"text\":1{}}}}}", "0".repeat(300)));
    let front_matter: String = (0..200_000).map(|n| format!("k{n}: x\nwrong\n")).collect();
    assert!(read_note("a.md", &format!("---\n{front_matter}---\ntext")).is_err());
}

#[test]
fn numbers_out_of_range_are_not_scores() {
    let check = |number: &str| {
        let text = format!(r#"{{"content": {{"pattern": "a", "success_score": {number}}}}}"#);
        read_json(Kind::Reasoning, "a.json", &text, no_rules).map(|draft| draft.entry().score())
    };
    for number in ["1e400", "-1e-400", "1.0000000000000002", "18446744073709551616", "-0.1"] {
        assert_eq!(check(number).is_ok(), number == "-1e-400", "{number}");
    }
    assert_eq!(check("1e-400").expect("the text is valid"), Some(0.0));
    assert_eq!(check("1E0").expect("the text is valid"), Some(1.0));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn reading_any_text_never_panics(text in "\\PC{0,80}", kind in proptest::sample::select(Kind::ALL.to_vec())) {
        let _ = read_json(kind, &text, &text, no_rules);
        let _ = read_note("a.md", &text);
    }

    #[test]
    fn reading_any_tokens_never_panics(
        tokens in proptest::collection::vec(
            proptest::sample::select(vec![
                "{", "}", "[", "]", ":", ",", "\"content\"", "\"text\"", "\"a\"", "\"\\u0000\"", "\"\\ud83d\\ude00\"", "\"\\ud800\"",
                "1", "-0", "1e9", "0.5", "true", "null", " ", "\n", "\"metadata\"", "\"governance\"", "\"retention_rules\"", "\"if\"",
            ]),
            0..40,
        ),
    ) {
        for text in [tokens.concat(), format!("{{\"content\": {{{}}}", tokens.concat())] {
            for &kind in Kind::ALL {
                let _ = read_json(kind, "a.json", &text, no_rules);
            }
        }
    }

    #[test]
    fn reading_any_front_matter_never_panics(lines in proptest::collection::vec("(title|tags|id|date|x|- |#|)(: ?|)[a-z\\[\\],\"' -]{0,12}", 0..8)) {
        let _ = read_note("a.md", &format!("---\n{}\n---\ntext", lines.join("\n")));
    }
}
