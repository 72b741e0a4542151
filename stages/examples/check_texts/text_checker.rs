//! Runs the steps of production on one text, and checks that each result fulfils its documentation.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use aurora_languages::{FileSymbols, Language, ParseFailure, ParseLimits, Parser, by_content};
use aurora_stages::chunk::terms::ChunkTerms;
use aurora_stages::chunk::{ChunkOptions, Source, chunks_of_file};

use crate::soundness;

/// Maximum CPU time of a step beyond its time limit. Texts have at most some hundred KiB, which every step reads in a
/// fraction of this time unless its running time is quadratic.
const TOLERANCE: Duration = Duration::from_secs(2);

/// Checks texts of one language.
pub(crate) struct TextChecker {
    language: &'static Language,
    limits: ParseLimits,
    /// A parser that has parsed all earlier texts.
    parser: Parser,
    options: ChunkOptions,
    panicked: Arc<Mutex<String>>,
}

impl TextChecker {
    /// Creates a checker whose parser may take `limit` per text.
    pub(crate) fn new(language: &'static Language, limit: Duration) -> Self {
        let limits = ParseLimits { time: limit, ..ParseLimits::default() };
        let panicked = Arc::new(Mutex::new(String::new()));
        let message = Arc::clone(&panicked);
        std::panic::set_hook(Box::new(move |panic| {
            *message.lock().unwrap_or_else(PoisonError::into_inner) = panic.to_string();
        }));
        let parser = Parser::with_limits(limits);
        Self { language, limits, parser, options: ChunkOptions::default(), panicked }
    }

    /// Returns the answer to a text.
    pub(crate) fn check(&mut self, text: &str) -> String {
        match catch_unwind(AssertUnwindSafe(|| self.steps(text))) {
            Ok(Ok(None)) => "sound".to_owned(),
            Ok(Ok(Some(limit))) => format!("limited {limit}"),
            Ok(Err(wrong)) => format!("wrong {wrong}"),
            Err(_) => {
                self.parser = Parser::with_limits(self.limits);
                format!("wrong {}", self.panicked.lock().unwrap_or_else(PoisonError::into_inner))
            }
        }
    }

    /// Returns the limit that ended the parse, if any.
    fn steps(&mut self, text: &str) -> Result<Option<String>, String> {
        let text = timed("redaction", TOLERANCE, || masked(text))??;
        let text = text.as_str();
        timed("detection", TOLERANCE, || {
            for extension in self.language.extensions.iter().chain(&[""]) {
                by_content(extension, text);
            }
        })?;
        let highlights = timed("highlighting", TOLERANCE, || self.language.highlight(text))?;
        soundness::highlights(text, &highlights)?;

        let longest = self.limits.time + TOLERANCE;
        let symbols = timed("parse", longest, || self.parser.parse(Some(self.language), text))?;
        soundness::symbols(text, &symbols, &self.limits)?;
        self.parses_the_same(text, &symbols)?;

        let path = format!("a.{}", self.language.extensions.first().unwrap_or(&""));
        let source = Source { path: &path, language: self.language.name, text, symbols: &symbols };
        let found = timed("chunks", TOLERANCE, || chunks_of_file(&source, &self.options, &|| false))??;
        soundness::chunks(text, &found)?;
        let mut terms = ChunkTerms::default();
        timed("terms", TOLERANCE, || {
            for chunk in &found.chunks {
                terms.of(chunk);
            }
        })?;
        Ok(symbols.failure.map(|failure| failure.to_string()))
    }

    /// Checks that a parser that has read other texts finds the same as a new parser.
    fn parses_the_same(&self, text: &str, found: &FileSymbols) -> Result<(), String> {
        let is_timed_out = |symbols: &FileSymbols| symbols.failure == Some(ParseFailure::TooSlow);
        if is_timed_out(found) {
            return Ok(());
        }
        let again = Parser::with_limits(self.limits).parse(Some(self.language), text);
        if again == *found || is_timed_out(&again) {
            return Ok(());
        }
        let difference = found.symbols.iter().zip(&again.symbols).find(|(one, other)| one != other);
        Err(format!("a second parse differs: {difference:?}"))
    }
}

/// Masks the secrets of a text.
fn masked(text: &str) -> Result<String, String> {
    let secrets = aurora_redact::find(text);
    soundness::secrets(text, &secrets)?;
    let masked = aurora_redact::mask(text.to_owned(), &secrets);
    soundness::masks(text, &masked, &secrets)?;
    Ok(masked)
}

/// Returns an error if a step takes longer than `longest`.
fn timed<T>(step: &str, longest: Duration, run: impl FnOnce() -> T) -> Result<T, String> {
    let begun = thread_cpu_time();
    let result = run();
    let took = thread_cpu_time().saturating_sub(begun);
    if took > longest { Err(format!("{step} takes longer than {longest:?}: {took:?}")) } else { Ok(result) }
}

/// Returns the CPU time of this thread, which other processes do not affect.
#[cfg(target_os = "linux")]
fn thread_cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

#[cfg(not(target_os = "linux"))]
fn thread_cpu_time() -> Duration {
    static START: std::sync::LazyLock<std::time::Instant> = std::sync::LazyLock::new(std::time::Instant::now);
    START.elapsed()
}
