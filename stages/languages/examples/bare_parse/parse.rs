//! The baseline for measuring indexing runs: a loop that only reads and parses files.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use aurora_languages::Language;

/// Reads every file and parses the files that have a language. Starts `threads` threads, each of which repeatedly takes
/// the next file.
pub(crate) fn parse(files: &[(PathBuf, Option<&Language>)], threads: usize) {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut parser = tree_sitter::Parser::new();
        while let Some((path, language)) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
            let text = std::fs::read(path).expect("the file is readable");
            let Some(grammar) = language.and_then(|language| language.grammar) else { continue };
            parser.set_language(&grammar()).expect("the grammar has a supported version");
            std::hint::black_box(parser.parse(&text, None));
        }
    };
    std::thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
}
