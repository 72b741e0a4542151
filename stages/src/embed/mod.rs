//! `embed`: one vector per chunk.

use std::sync::Arc;

use aurora_analysis::{Embedder, Passage};
use aurora_pipeline::{
    Access, BatchView, BuildContext, Fingerprint, Problems, Stage, StageConfig, StageContext, StageError, Worker,
};
use aurora_storage::Chunk;
use serde::{Deserialize, Serialize};

use crate::columns::{EMBEDDING, RECORD, Record};
use crate::job::Job;

/// `[stage.embed]`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Embed {
    /// `static`, which is part of the program, or the name of a model that was added.
    pub model: String,
}

impl Default for Embed {
    fn default() -> Self {
        Self { model: "static".into() }
    }
}

impl StageConfig for Embed {
    const TYPE: &'static str = "embed";

    fn access(&self) -> Access {
        Access::transform().reads([RECORD.spec()]).writes([EMBEDDING.spec()])
    }

    fn check(&self, problems: &mut Problems<'_>) {
        if self.model.is_empty() {
            problems.error("model", "the model has no name").help("`static` is part of the program");
        }
    }

    fn build(self, cx: &BuildContext<'_>) -> Result<Box<dyn Stage>, StageError> {
        let job = Job::of(cx)?;
        let embedder = aurora_analysis::embedder(&self.model, &job.models).map_err(StageError::from_error)?;
        job.set_model(embedder.as_ref());
        Ok(Box::new(EmbedStage { embedder }))
    }
}

struct EmbedStage {
    embedder: Arc<dyn Embedder>,
}

impl Stage for EmbedStage {
    fn open(&self) -> Box<dyn Worker + '_> {
        Box::new(EmbedWorker { stage: self })
    }

    fn fingerprint(&self) -> Fingerprint {
        Fingerprint::new(Embed::TYPE, 1).with("model", self.embedder.id())
    }
}

struct EmbedWorker<'a> {
    stage: &'a EmbedStage,
}

impl Worker for EmbedWorker<'_> {
    fn process(&mut self, batch: &mut BatchView<'_>, cx: &StageContext<'_>) -> Result<(), StageError> {
        let records = batch.read(RECORD)?;
        let passages: Vec<_> = records.iter().map(|Record(chunk)| passage(chunk)).collect();
        let vectors = self.stage.embedder.embed(&passages);
        let vectors = vectors.into_iter().zip(records).map(|(vector, Record(chunk))| match vector {
            Ok(vector) => Some(vector),
            Err(error) => {
                cx.count("embeddings.failed", 1);
                cx.warn(&chunk.path, &format!("failed to generate the embedding of {}: {error}", chunk.key));
                None
            }
        });
        let vectors = vectors.collect();
        batch.write(EMBEDDING, vectors)?;
        Ok(())
    }
}

fn passage(chunk: &Chunk) -> Passage<'_> {
    Passage {
        kind: chunk.chunk_type.as_str(),
        qualified_name: &chunk.qualified_name,
        signature: &chunk.signature,
        doc: &chunk.doc,
        body: &chunk.text,
    }
}
