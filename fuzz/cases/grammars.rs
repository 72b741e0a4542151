//! Passes any text to every component that reads source code: redaction, detection, highlighting, parser and chunker.
//! Checks that their results have the documented properties (`soundness.rs`), and that a second parse gives the same
//! result.
//!
//! `AURORA_FUZZ_LANGUAGE` names the language of the texts. If it is not set, each text is checked in every language.

mod soundness;

use std::time::Duration;

use aurora_languages::{FileSymbols, LANGUAGES, Language, ParseFailure, ParseLimits, Parser, by_content, by_name};
use aurora_stages::chunk::terms::ChunkTerms;
use aurora_stages::chunk::{ChunkOptions, Source, chunks_of_file};

/// Maximum time of a parse. The default of an index run is longer, and would allow few texts to be checked.
const MAX_PARSE_TIME: Duration = Duration::from_millis(300);

pub(crate) fn run(data: &[u8]) {
    let text = masked(&String::from_utf8_lossy(data));
    match std::env::var("AURORA_FUZZ_LANGUAGE") {
        Ok(name) => check(by_name(&name).expect("the variable names a language"), &text),
        Err(_) => LANGUAGES.iter().for_each(|language| check(language, &text)),
    }
}

/// Masks the secrets of a text.
fn masked(text: &str) -> String {
    let secrets = aurora_redact::find(text);
    soundness::secrets(text, &secrets).expect("the result has the documented properties");
    let masked = aurora_redact::mask(text.to_owned(), &secrets);
    soundness::masks(text, &masked, &secrets).expect("the result has the documented properties");
    masked
}

fn check(language: &'static Language, text: &str) {
    for extension in language.extensions.iter().chain(&[""]) {
        by_content(extension, text);
    }
    soundness::highlights(text, &language.highlight(text)).expect("the result has the documented properties");
    let limits = ParseLimits { time: MAX_PARSE_TIME, ..ParseLimits::default() };
    let parser = Parser::with_limits(limits);
    let symbols = parser.parse(Some(language), text);
    soundness::symbols(text, &symbols, &limits).expect("the result has the documented properties");
    let again = parser.parse(Some(language), text);
    let is_timed_out = |symbols: &FileSymbols| symbols.failure == Some(ParseFailure::TooSlow);
    assert!(
        again == symbols || is_timed_out(&symbols) || is_timed_out(&again),
        "a second parse gives a different result"
    );

    let path = format!("a.{}", language.extensions.first().unwrap_or(&""));
    let source = Source { path: &path, language: language.name, text, symbols: &symbols };
    let found = chunks_of_file(&source, &ChunkOptions::default(), &|| false).expect("the texts are small");
    soundness::chunks(text, &found).expect("the result has the documented properties");
    let mut terms = ChunkTerms::default();
    for chunk in &found.chunks {
        terms.for_chunk(chunk);
    }
}
