//! `parse`: the stage around the parser.

use std::sync::Arc;

use aurora_pipeline::{
    Access, BatchView, BuildContext, Fingerprint, Stage, StageConfig, StageContext, StageError, Worker,
};
use serde::{Deserialize, Serialize};

use super::parser::Parser;
use crate::columns::{LANGUAGE, PATH, STATUS, SYMBOLS, TEXT};

/// `[stage.parse]`.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Parse {}

impl StageConfig for Parse {
    const TYPE: &'static str = "parse";

    fn access(&self) -> Access {
        Access::transform().reads([PATH.spec(), STATUS.spec(), TEXT.spec(), LANGUAGE.spec()]).writes([SYMBOLS.spec()])
    }

    fn build(self, _cx: &BuildContext<'_>) -> Result<Box<dyn Stage>, StageError> {
        Ok(Box::new(ParseStage))
    }
}

struct ParseStage;

impl Stage for ParseStage {
    fn open(&self) -> Box<dyn Worker + '_> {
        Box::new(ParseWorker { parser: Parser::default() })
    }

    fn fingerprint(&self) -> Fingerprint {
        Fingerprint::new(Parse::TYPE, 2)
    }
}

struct ParseWorker {
    parser: Parser,
}

impl Worker for ParseWorker {
    fn process(&mut self, batch: &mut BatchView<'_>, cx: &StageContext<'_>) -> Result<(), StageError> {
        let (paths, statuses) = (batch.read(PATH)?, batch.read(STATUS)?);
        let (texts, languages) = (batch.read(TEXT)?, batch.read(LANGUAGE)?);
        let mut symbols = Vec::with_capacity(paths.len());
        for (row, path) in paths.iter().enumerate() {
            if !statuses[row].needs_parsing() {
                symbols.push(None);
                continue;
            }
            let parsed = self.parser.parse(languages[row], &texts[row]);
            if parsed.errors > 0 {
                cx.warn(path, "syntax errors: what parsed was indexed");
            }
            if let Some(failure) = &parsed.failure {
                cx.warn(path, &failure.to_string());
            }
            cx.count("lines", u64::from(parsed.lines));
            cx.count("bytes", texts[row].len() as u64);
            symbols.push(Some(Arc::new(parsed)));
        }
        batch.write(SYMBOLS, symbols)?;
        Ok(())
    }
}
