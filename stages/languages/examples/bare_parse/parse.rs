//! The bare loop that index runs are measured against: files are read and parsed, and nothing else.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use aurora_languages::Language;

/// Reads every file, and parses those that have a language, on several threads. Each thread takes the next file.
pub(crate) fn parse(files: &[(PathBuf, Option<&Language>)], threads: usize) {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut parser = tree_sitter::Parser::new();
        while let Some((path, language)) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
            let text = std::fs::read(path).expect("a readable file");
            let Some(language) = language else { continue };
            parser.set_language(&(language.grammar)()).expect("a grammar of this version");
            std::hint::black_box(parser.parse(&text, None));
        }
    };
    std::thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
}
