//! `parse`: the stage around the parser.

use std::sync::Arc;
use std::time::Duration;

use aurora_pipeline::{
    Access, BatchView, BuildContext, Described, Fingerprint, Key, Stage, StageConfig, StageContext, StageError, Worker,
};
use serde::{Deserialize, Serialize};

use super::parser::{ParseFailure, ParseLimits, Parser};
use super::tree_memory::TreeMemory;
use crate::columns::{LANGUAGE, PATH, STATUS, SYMBOLS, TEXT};

/// `[stage.parse]`: how much of one file is looked at. What is beyond a limit is indexed as plain text, and the run's
/// report says so.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Parse {
    /// Longest time for one file, in seconds.
    pub max_seconds: u64,
    /// Texts of more bytes are not parsed.
    pub max_size: usize,
    /// Most definitions, and most imports, of one file.
    pub max_symbols: usize,
}

impl Default for Parse {
    fn default() -> Self {
        let limits = ParseLimits::default();
        Self { max_seconds: limits.time.as_secs(), max_size: limits.size, max_symbols: limits.symbols }
    }
}

impl Described for Parse {
    const SUMMARY: &'static str = "Finds the definitions of a file. Text beyond a limit is indexed without definitions, and the \
        run's report names the file.";
    const KEYS: &'static [Key] = &[
        Key::count("max_seconds", "seconds", "Longest time for one file."),
        Key::count("max_size", "bytes", "Larger texts are not parsed."),
        Key::count("max_symbols", "symbols", "Most definitions, and most imports, of one file."),
    ];
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
        Box::new(ParseWorker { parser: Parser::within(self.limits), trees: &self.trees })
    }

    fn fingerprint(&self) -> Fingerprint {
        // Time is left out: it says how patient a run is, not what is found.
        Fingerprint::new(Parse::TYPE, 3).with("max_size", self.limits.size).with("max_symbols", self.limits.symbols)
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
                let _held = self.trees.hold(texts[row].len());
                self.parser.parse_unless(languages[row], &texts[row], &|| cx.cancelled())
            };
            if parsed.failure == Some(ParseFailure::Stopped) {
                return Err(StageError::Stopped);
            }
            if parsed.errors > 0 {
                cx.warn(path, "syntax errors: what parsed was indexed");
            }
            if let Some(failure) = &parsed.failure {
                cx.warn(path, &failure.to_string());
            }
            if let Some(reason) = parsed.cut {
                cx.warn(path, reason);
            }
            cx.count("lines", u64::from(parsed.lines));
            cx.count("bytes", texts[row].len() as u64);
            symbols.push(Some(Arc::new(parsed)));
        }
        batch.write(SYMBOLS, symbols)?;
        Ok(())
    }
}
