//! Tests that a stopped parse frees its memory. The test measures the memory of its process, so no other test may run
//! in this process.
#![cfg(target_os = "linux")]

use std::fs;
use std::ops::ControlFlow;

use aurora_bounded_parser::{Grammar, Limits, Stopped, parse};
use tree_sitter::Language;

const MIB: usize = 1 << 20;

const LIMITS: Limits = Limits { copied: 4 * MIB, nodes: 10_000, reads: MIB };

fn parse_to_limit(language: &Language, text: &str) {
    let grammar = Grammar::new(language).expect("the grammar is supported");
    let parsed = parse(&grammar, text.as_bytes(), LIMITS, &mut || ControlFlow::Continue(()));
    assert_eq!(parsed.err(), Some(Stopped::AtLimit));
}

fn resident_bytes() -> usize {
    let pages = fs::read_to_string("/proc/self/statm").expect("Linux provides this file");
    let pages: usize =
        pages.split(' ').nth(1).and_then(|pages| pages.parse().ok()).expect("the file has the resident pages");
    pages * 4096
}

/// If nothing were freed, a hundred parses that reach the limit would use 400 MiB.
#[test]
fn a_parse_that_reaches_the_limit_frees_its_memory() {
    let texts = [
        (tree_sitter_javascript::LANGUAGE.into(), "}{a:".repeat(600)),
        // The scanner still has the tag name in memory when it reaches the limit.
        (tree_sitter_html::LANGUAGE.into(), format!("<{}", "a".repeat(2 * MIB))),
    ];
    for (language, text) in texts {
        parse_to_limit(&language, &text);
        let before = resident_bytes();
        for _ in 0..100 {
            parse_to_limit(&language, &text);
        }
        let grown = resident_bytes().saturating_sub(before);
        assert!(grown < 64 * MIB, "the memory grew by {grown} bytes");
    }
}
