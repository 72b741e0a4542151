//! The `parse` stage, which finds the symbols of a text.

mod tree_memory;

use std::sync::Arc;
use std::time::Duration;

use aurora_languages::{FileSymbols, LANGUAGES, ParseFailure, ParseLimits, Parser, Truncation, by_name};
use aurora_pipeline::{
    Access, BatchView, BuildContext, Fingerprint, Stage, StageConfig, StageContext, StageError, Worker, stage_options,
};

use crate::columns::{LANGUAGE, PATH, ParsedFile, STATUS, SYMBOLS, TEXT};
use crate::formats;
use crate::formats::documents::CONVERSATION;
use tree_memory::TreeMemory;

stage_options! {
    /// Finds the definitions of a file. Text beyond a limit is indexed without definitions, and the run's report names
    /// the file.
    pub struct Parse {
        /// Maximum time for one file.
        max_seconds: u64 = ParseLimits::default().time.as_secs(), count("seconds");
        /// Larger texts are not parsed.
        max_size: usize = ParseLimits::default().size, count("bytes");
        /// Maximum number of definitions, and of imports, in one file.
        max_symbols: usize = ParseLimits::default().symbols, count("symbols");
    }
}

impl StageConfig for Parse {
    const TYPE: &'static str = "parse";

    fn access(&self) -> Access {
        Access::transform().reads([PATH.spec(), STATUS.spec(), TEXT.spec(), LANGUAGE.spec()]).writes([SYMBOLS.spec()])
    }

    fn build(self, _cx: &BuildContext<'_>) -> Result<Box<dyn Stage>, StageError> {
        let limits =
            ParseLimits { time: Duration::from_secs(self.max_seconds), size: self.max_size, symbols: self.max_symbols };
        Ok(Box::new(ParseStage { limits, trees: TreeMemory::default() }))
    }
}

struct ParseStage {
    limits: ParseLimits,
    trees: TreeMemory,
}

impl Stage for ParseStage {
    fn open(&self) -> Box<dyn Worker + '_> {
        Box::new(ParseWorker { parser: Parser::with_limits(self.limits), trees: &self.trees })
    }

    fn fingerprint(&self) -> Fingerprint {
        // The time limit is not part of the fingerprint, because it does not change the symbols of a file that is
        // parsed in time.
        let languages: Vec<&str> = LANGUAGES.iter().map(|language| language.name).collect();
        Fingerprint::new(Parse::TYPE, 10)
            .with("max_size", self.limits.size)
            .with("max_symbols", self.limits.symbols)
            .with("languages", languages.join(","))
    }
}

struct ParseWorker<'a> {
    parser: Parser,
    trees: &'a TreeMemory,
}

impl Worker for ParseWorker<'_> {
    fn process(&mut self, batch: &mut BatchView<'_>, cx: &StageContext<'_>) -> Result<(), StageError> {
        let (paths, statuses) = (batch.read(PATH)?, batch.read(STATUS)?);
        let (texts, languages) = (batch.read(TEXT)?, batch.read(LANGUAGE)?);
        let mut symbols = Vec::with_capacity(paths.len());
        for (row, path) in paths.iter().enumerate() {
            if !statuses[row].needs_parsing() {
                symbols.push(None);
                continue;
            }
            let parsed = {
                let _reserved = self.trees.reserve(texts[row].len());
                let is_cancelled = || cx.cancelled();
                match formats::has_code(&languages[row]) {
                    _ if *languages[row] == *CONVERSATION => {
                        // The chunk stage reads logs line by line.
                        FileSymbols { lines: texts[row].lines().count() as u32, ..FileSymbols::default() }
                    }
                    true => self.parser.parse_with_code(&texts[row], &is_cancelled),
                    false => self.parser.parse_cancellable(by_name(&languages[row]), &texts[row], &is_cancelled),
                }
            };
            if parsed.failure == Some(ParseFailure::Cancelled) {
                return Err(StageError::Stopped);
            }
            if parsed.errors > 0 {
                cx.warn(path, "syntax errors: what parsed was indexed");
            }
            if let Some(failure) = &parsed.failure {
                cx.warn(path, &failure_message(failure));
            }
            if let Some(truncation) = parsed.truncation {
                cx.warn(path, truncation_message(truncation));
            }
            cx.count("lines", u64::from(parsed.lines));
            cx.count("bytes", texts[row].len() as u64);
            symbols.push(Some(Arc::new(ParsedFile(parsed))));
        }
        batch.write(SYMBOLS, symbols)?;
        Ok(())
    }
}

fn failure_message(failure: &ParseFailure) -> String {
    match failure {
        ParseFailure::TooComplex => format!("{failure}: indexed as plain text"),
        ParseFailure::TooSlow => "parsing takes longer than `max_seconds`: indexed as plain text".to_owned(),
        ParseFailure::TooLarge => "larger than `max_size` of [stage.parse]: indexed as plain text".to_owned(),
        ParseFailure::Cancelled | ParseFailure::Query(_) => failure.to_string(),
    }
}

fn truncation_message(truncation: Truncation) -> &'static str {
    match truncation {
        Truncation::Definitions => {
            "more definitions or imports than `max_symbols`: the rest of the file was indexed as plain text"
        }
        Truncation::Headings => "more headings than `max_symbols`: the rest of the file belongs to the last section",
        Truncation::Lines => "too many lines for the grammar: headings were found as in plain text",
    }
}

#[cfg(test)]
mod tests {
    use super::{ParseFailure, Truncation, failure_message, truncation_message};

    #[test]
    fn messages_name_the_keys_of_the_stage() {
        assert_eq!(failure_message(&ParseFailure::TooComplex), "syntax too complex to parse: indexed as plain text");
        assert!(failure_message(&ParseFailure::TooSlow).contains("`max_seconds`"));
        assert!(failure_message(&ParseFailure::TooLarge).contains("`max_size` of [stage.parse]"));
        assert!(truncation_message(Truncation::Definitions).contains("`max_symbols`"));
        assert!(truncation_message(Truncation::Headings).contains("`max_symbols`"));
        assert!(truncation_message(Truncation::Lines).contains("lines"));
    }
}
