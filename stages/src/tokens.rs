//! The `tokens` stage, which computes the tokens of each chunk for late interaction. The `embed` stage includes this
//! step. The `tokens` stage is for pipelines in which a custom stage computes the vectors.

use std::sync::Arc;

use aurora_analysis::{PassageReader, QueryEmbedder, StaticModel};
use aurora_pipeline::{
    Access, BatchView, BuildContext, Fingerprint, Stage, StageConfig, StageContext, StageError, Worker, stage_options,
};

use crate::columns::{PREVIOUS, RECORD, Record, TOKENS, Tokens};
use crate::passages::{doc, passage, stored_tokens};
use crate::services::{CustomColumns, Models, service};

stage_options! {
    /// Gives each chunk the tokens that late interaction compares, in a pipeline where a custom stage makes the
    /// vectors. The stage type `embed` includes it.
    pub struct TokenSets {}
}

impl StageConfig for TokenSets {
    const TYPE: &'static str = "tokens";

    fn access(&self) -> Access {
        Access::transform()
            .reads([RECORD.spec()])
            .reads_optional([PREVIOUS.spec()])
            .reads_dynamic_used_for(|uses| uses.embed)
            .writes([TOKENS.spec()])
    }

    fn build(self, cx: &BuildContext<'_>) -> Result<Box<dyn Stage>, StageError> {
        let model = StaticModel::built_in().map_err(StageError::from_error)?;
        service::<Models>(cx)?.set_tokens(model.id());
        Ok(Box::new(TokensStage { model, columns: service(cx)? }))
    }
}

struct TokensStage {
    model: Arc<StaticModel>,
    columns: Arc<CustomColumns>,
}

impl Stage for TokensStage {
    fn open(&self) -> Box<dyn Worker + '_> {
        Box::new(TokensWorker { stage: self, reader: self.model.reader() })
    }

    fn fingerprint(&self) -> Fingerprint {
        let fingerprint = Fingerprint::new(TokenSets::TYPE, 1).with("model", self.model.id());
        let columns: Vec<&str> = self.columns.embedded().collect();
        if columns.is_empty() { fingerprint } else { fingerprint.with("columns", columns.join(",")) }
    }
}

struct TokensWorker<'a> {
    stage: &'a TokensStage,
    reader: PassageReader<'a>,
}

impl Worker for TokensWorker<'_> {
    fn process(&mut self, batch: &mut BatchView<'_>, cx: &StageContext<'_>) -> Result<(), StageError> {
        let records = batch.read(RECORD)?;
        let previous = batch.read_optional(PREVIOUS)?.filter(|_| cx.is_current()).unwrap_or_default();
        let is_stored = |row: usize| previous.get(row).is_some_and(Option::is_some);
        let Self { stage: TokensStage { columns, .. }, reader } = self;
        let of_row = |(row, Record(chunk)): (usize, &Record)| {
            if is_stored(row) {
                return Tokens(chunk.tokens.clone());
            }
            let doc = doc(batch, row, chunk, columns);
            stored_tokens(&reader.read(&passage(chunk, &doc)))
        };
        let tokens = records.iter().enumerate().map(of_row).collect();
        batch.write(TOKENS, tokens)?;
        Ok(())
    }
}
