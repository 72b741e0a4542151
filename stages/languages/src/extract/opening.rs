//! Finds the comments at the start of a text that describe the whole text.

use std::ops::Range;

use crate::extract::captures::LeadingNode;
use crate::extract::docs::is_adjacent;
use crate::lines::begins_line;
use crate::spans::slice;
use crate::symbols::{Constant, Symbol};

/// Maximum number of runs of comments that are returned.
const MAX_RUNS: usize = 8;
/// Prefixes of lines that may precede the comments: the `#!` line, the tag that opens the code, and instructions to the
/// compiler.
const PREAMBLES: [&str; 7] = ["#!", "<?", "#pragma", "{-#", "'use ", "\"use ", "%YAML"];

/// Returns the runs of adjacent comments at the start of a text, except comments that document a symbol or a constant.
pub(super) fn opening(
    leading: &[LeadingNode],
    symbols: &[Symbol],
    constants: &[Constant],
    text: &str,
) -> Vec<Range<u32>> {
    let mut runs = runs(leading, text);
    let Some(end) = runs.last().map(|run| run.end) else { return runs };
    let start_of = |symbol: &Symbol| symbol.doc_bytes.as_ref().map_or(symbol.bytes.start, |doc| doc.start);
    let documented = symbols.iter().take_while(|symbol| start_of(symbol).min(symbol.bytes.start) < end);
    // A comment directly above `#![allow(…)]` or `{-# LANGUAGE … #-}` describes that line.
    let is_about_line = |run: &&Range<u32>| {
        let line = next_line(run, text);
        names_constant(constants, line.clone())
            || ["#!", "{-#"].iter().any(|begin| slice(text, &line).starts_with(begin))
    };
    let mut docs: Vec<Range<u32>> = documented.filter_map(|symbol| symbol.doc_bytes.clone()).collect();
    docs.extend(runs.iter().filter(is_about_line).cloned());
    runs.retain(|run| !docs.iter().any(|doc| doc.start < run.end && run.start < doc.end));
    runs
}

/// Returns the runs of adjacent comments that are preceded only by comments, blank lines and [`PREAMBLES`].
fn runs(leading: &[LeadingNode], text: &str) -> Vec<Range<u32>> {
    let mut runs: Vec<Range<u32>> = Vec::new();
    let mut from = 0;
    for Range { start, end } in leading.iter().filter(|item| item.is_comment).map(|item| item.bytes.clone()) {
        if !begins_line(text, start) || !is_preamble(slice(text, &(from..start))) {
            break;
        }
        from = end;
        if start == 0 && text.starts_with("#!") {
            continue;
        }
        let last = runs.last_mut().filter(|run| is_adjacent(text, run.end, start));
        if let Some(run) = last {
            run.end = end;
        } else if runs.len() < MAX_RUNS {
            runs.push(start..end);
        } else {
            break;
        }
    }
    runs
}

fn is_preamble(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.all(|line| PREAMBLES.iter().any(|begin| line.starts_with(begin)))
}

/// Returns the span of the line directly after a run of comments. The span is empty if the line is blank.
fn next_line(run: &Range<u32>, text: &str) -> Range<u32> {
    let after = slice(text, &(run.end..text.len() as u32));
    let start = run.end + (after.len() - after.trim_start().len()) as u32;
    let line = slice(text, &(start..text.len() as u32)).lines().next().unwrap_or_default();
    if is_adjacent(text, run.end, start) { start..start + line.len() as u32 } else { start..start }
}

/// Whether a line contains the name of a constant.
fn names_constant(constants: &[Constant], line: Range<u32>) -> bool {
    let first = constants.partition_point(|constant| constant.at < line.start);
    constants.get(first).is_some_and(|constant| constant.at < line.end)
}

#[cfg(test)]
mod tests {
    use crate::{Parser, by_name};

    fn opening(language: &str, text: &str) -> Vec<String> {
        let language = by_name(language).expect("the build includes the language");
        let found = Parser::new().parse(Some(language), text);
        let run = |run: &std::ops::Range<u32>| language.comment_text(&text[run.start as usize..run.end as usize]);
        found.opening.iter().map(run).collect()
    }

    #[test]
    fn comments_at_the_start_describe_the_file() {
        for (language, text, expected) in [
            (
                "typescript",
                "/* One. */\n\n// Two,\n// three.\n\n/** Of f. */\nfunction f() {}\n",
                vec!["One.", "Two,\nthree."],
            ),
            ("javascript", "#!/usr/bin/env node\n'use strict';\n// One.\n\nf();\n// Two.\n", vec!["One."]),
            ("php", "<?php\n/* One. */\n\nnamespace A;\n/** Of B. */\nclass B {}\n", vec!["One."]),
            ("bash", "#!/bin/sh\n# One.\n\nls\n# Two.\n", vec!["One."]),
            ("go", "// One.\n\n// Package a.\npackage a\n", vec!["One.", "Package a."]),
            ("rust", "// One.\n\n//! Two.\n\n// Of the line.\n#![allow(dead_code)]\nfn f() {}\n", vec!["One.", "Two."]),
            ("go", "package a // One.\n\n// Of f.\nfunc f() {}\n", vec![]),
            ("typescript", "// Of a.\nconst a = 1;\n", vec![]),
            ("python", "f() # One.\n", vec![]),
        ] {
            assert_eq!(opening(language, text), expected, "{text}");
        }
    }

    #[test]
    fn the_number_of_runs_is_bounded() {
        let text = "// One.\n\n".repeat(100) + "f();\n";
        assert_eq!(opening("javascript", &text).len(), super::MAX_RUNS);
    }
}
