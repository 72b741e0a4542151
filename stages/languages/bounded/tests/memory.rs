//! The memory of texts that are given up. The test has a process of its own: it asks how much memory the process holds.
#![cfg(target_os = "linux")]

use std::fs;
use std::ops::ControlFlow;

use aurora_bounded_parser::{Grammar, Limits, Stopped, parse};
use tree_sitter::Language;

const MIB: usize = 1 << 20;

const LIMITS: Limits = Limits { copied: 4 * MIB, nodes: 10_000, reads: MIB };

fn give_up(language: &Language, text: &str) {
    let grammar = Grammar::new(language).expect("the grammar is supported");
    let parsed = parse(&grammar, text.as_bytes(), LIMITS, &mut || ControlFlow::Continue(()));
    assert_eq!(parsed.err(), Some(Stopped::AtLimit));
}

fn resident_bytes() -> usize {
    let pages = fs::read_to_string("/proc/self/statm").expect("Linux has it");
    let pages: usize = pages.split(' ').nth(1).and_then(|pages| pages.parse().ok()).expect("has the resident pages");
    pages * 4096
}

/// A hundred texts that reach the limit hold 400 MiB if nothing is freed.
#[test]
fn the_memory_of_a_text_that_is_given_up_is_freed() {
    let texts = [
        (tree_sitter_javascript::LANGUAGE.into(), "}{a:".repeat(600)),
        // The scanner has the name of the tag when it reaches the limit.
        (tree_sitter_html::LANGUAGE.into(), format!("<{}", "a".repeat(2 * MIB))),
    ];
    for (language, text) in texts {
        give_up(&language, &text);
        let before = resident_bytes();
        for _ in 0..100 {
            give_up(&language, &text);
        }
        let grown = resident_bytes().saturating_sub(before);
        assert!(grown < 64 * MIB, "{grown} bytes");
    }
}
