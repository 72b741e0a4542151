//! The `embed` stage, which computes the vector and the tokens of each chunk. Late interaction compares the tokens.

use std::sync::Arc;

use aurora_analysis::{EmbedError, Embedder, Passage, PassageReader, PassageTokens, QueryEmbedder, StaticModel};
use aurora_pipeline::{
    Access, BatchView, BuildContext, CHUNK_STORED, Fingerprint, Problems, Stage, StageConfig, StageContext, StageError,
    Worker, stage_options,
};
use aurora_redact::has_secret;
use aurora_storage::Chunk;

use crate::columns::{EMBEDDING, PREVIOUS, RECORD, Record, StoredId, TOKENS, Tokens};
use crate::passages::{doc, passage, stored_tokens};
use crate::services::{CustomColumns, Models, PreviousIndex, service};

stage_options! {
    /// Gives each chunk a vector, and the tokens that late interaction compares.
    pub struct Embed {
        /// The embedding model: `static`, which is part of the program, or the name of a model in the user's directory
        /// of models.
        #[effect = "`all-MiniLM-L6-v2` instead of `static` on flask: MRR@10 of documentation questions .649 instead of \
            .659, R@10 of commit questions the same."]
        model: String = "static".into(), string;
    }
}

impl StageConfig for Embed {
    const TYPE: &'static str = "embed";

    fn access(&self) -> Access {
        Access::transform()
            .reads([RECORD.spec()])
            .reads_optional([PREVIOUS.spec()])
            .reads_optional([CHUNK_STORED.spec()])
            .reads_dynamic_used_for(|uses| uses.embed)
            .writes([EMBEDDING.spec(), TOKENS.spec()])
    }

    fn check(&self, problems: &mut Problems<'_>) {
        if self.model.is_empty() {
            problems.error("model", "the model has no name").help("`static` is part of the program");
        }
        // The index stores the name as part of the model id, by which a search finds the model.
        if self.model != Self::default().model && has_secret(&self.model) {
            problems.error("model", "the name of a model must not contain a secret, such as a token");
        }
    }

    fn build(self, cx: &BuildContext<'_>) -> Result<Box<dyn Stage>, StageError> {
        let models = service::<Models>(cx)?;
        let embedder = aurora_analysis::embedder(&self.model, &models.directory).map_err(StageError::from_error)?;
        let tokens = StaticModel::built_in().map_err(StageError::from_error)?;
        models.set_vectors(embedder.id(), embedder.dimensions());
        models.set_tokens(tokens.id());
        Ok(Box::new(EmbedStage { embedder, tokens, previous: service(cx)?, columns: service(cx)? }))
    }
}

struct EmbedStage {
    embedder: Arc<dyn Embedder>,
    /// The model whose tokens are stored, regardless of the model that computes the vectors.
    tokens: Arc<StaticModel>,
    previous: Arc<PreviousIndex>,
    columns: Arc<CustomColumns>,
}

impl Stage for EmbedStage {
    fn open(&self) -> Box<dyn Worker + '_> {
        Box::new(EmbedWorker { stage: self, reader: self.tokens.reader() })
    }

    fn fingerprint(&self) -> Fingerprint {
        let fingerprint =
            Fingerprint::new(Embed::TYPE, 2).with("model", self.embedder.id()).with("tokens", self.tokens.id());
        let columns: Vec<&str> = self.columns.embedded().collect();
        if columns.is_empty() { fingerprint } else { fingerprint.with("columns", columns.join(",")) }
    }
}

/// Maximum number of passages per call of the model.
const PASSAGES_PER_CALL: usize = 64;

/// The vector and the tokens of a passage.
type EmbeddedPassage = (Result<Vec<f32>, EmbedError>, PassageTokens);

struct EmbedWorker<'a> {
    stage: &'a EmbedStage,
    reader: PassageReader<'a>,
}

impl Worker for EmbedWorker<'_> {
    fn process(&mut self, batch: &mut BatchView<'_>, cx: &StageContext<'_>) -> Result<(), StageError> {
        let records = batch.read(RECORD)?;
        let mut vectors = self.stored_vectors(batch, cx)?;
        let mut tokens: Vec<Tokens> = records.iter().map(|Record(chunk)| Tokens(chunk.tokens.clone())).collect();
        let missing: Vec<usize> = (0..records.len()).filter(|row| vectors[*row].is_none()).collect();
        if missing.len() < records.len() {
            cx.count("embeddings.reused", (records.len() - missing.len()) as u64);
        }
        for rows in missing.chunks(PASSAGES_PER_CALL) {
            let columns = &self.stage.columns;
            let docs: Vec<_> = rows.iter().map(|row| doc(batch, *row, &records[*row].0, columns)).collect();
            let passages: Vec<_> = rows.iter().zip(&docs).map(|(row, doc)| passage(&records[*row].0, doc)).collect();
            for (row, (vector, read)) in rows.iter().zip(self.embed(&passages, cx)?) {
                tokens[*row] = stored_tokens(&read);
                vectors[*row] = vector_or_warning(vector, &records[*row].0, cx);
            }
        }
        batch.write(EMBEDDING, vectors)?;
        batch.write(TOKENS, tokens)?;
        Ok(())
    }
}

impl EmbedWorker<'_> {
    /// Returns the vector and the tokens of each passage. The static model tokenizes a passage only once for both.
    fn embed(&mut self, passages: &[Passage<'_>], cx: &StageContext<'_>) -> Result<Vec<EmbeddedPassage>, StageError> {
        if cx.cancelled() {
            return Err(StageError::Stopped);
        }
        let EmbedStage { embedder, tokens: model, .. } = self.stage;
        let read: Vec<PassageTokens> = passages.iter().map(|passage| self.reader.read(passage)).collect();
        let vectors = if embedder.id() == model.id() {
            read.iter().map(|tokens| Ok(model.vector(tokens))).collect()
        } else {
            embedder.embed_unless(passages, &|| cx.cancelled()).ok_or(StageError::Stopped)?
        };
        Ok(vectors.into_iter().zip(read).collect())
    }

    /// Returns, for each chunk, the vector from the last run if it is still valid.
    fn stored_vectors(
        &self,
        batch: &BatchView<'_>,
        cx: &StageContext<'_>,
    ) -> Result<Vec<Option<Vec<f32>>>, StageError> {
        let previous = batch.read_optional(PREVIOUS)?.filter(|_| cx.is_current()).unwrap_or_default();
        let snapshot = &self.stage.previous.snapshot;
        let values = batch.read_optional(CHUNK_STORED)?.unwrap_or_default();
        // The vector is outdated if the value of a column in the embedded text has changed.
        let is_current = |row: usize| values.get(row).is_none_or(|values| values.is_current(cx.stage()));
        let stored = |(row, id): (usize, &Option<StoredId>)| match id {
            Some(StoredId(id)) if is_current(row) => snapshot.vector(*id),
            _ => Ok(None),
        };
        let vectors = previous.iter().enumerate().map(stored).collect::<Result<Vec<_>, _>>();
        let mut vectors = vectors.map_err(StageError::from_error)?;
        vectors.resize(batch.chunks(), None);
        Ok(vectors)
    }
}

/// Returns the vector of a chunk, or reports why embedding failed and returns `None`.
fn vector_or_warning(vector: Result<Vec<f32>, EmbedError>, chunk: &Chunk, cx: &StageContext<'_>) -> Option<Vec<f32>> {
    vector
        .inspect_err(|error| {
            cx.count("embeddings.failed", 1);
            cx.warn(&chunk.path, &format!("failed to generate the embedding of {}: {error}", chunk.key));
        })
        .ok()
}
