//! Pipelines whose source supplies the documents that have changed since the last run.

use std::marker::PhantomData;
use std::sync::Arc;

use aurora_pipeline::{
    Access, BuildContext, Emitter, Fingerprint, Registry, Stage, StageConfig, StageContext, StageError, Worker,
    producer,
};
use serde::Deserialize;

use crate::columns::{DOCUMENT, Document, LANGUAGE, LanguageName, MTIME, PATH, RelativePath, SIZE};
use crate::index::PipelineChoice;

/// A source of documents that are not files, such as the entries of a memory. A run of [`pipeline`] gets the source as
/// a service.
pub trait DocumentSource: Send + Sync + Sized + 'static {
    /// The type of the source stage.
    const TYPE: &'static str;
    /// The version of the source stage.
    const VERSION: u32;
    /// The name of the pipeline.
    const PIPELINE: &'static str;
    /// TOML text with the settings of the `incremental-check` stage, followed by the stages between `incremental-check`
    /// and `embed`.
    const STAGES: &'static str;
    /// The language of the documents.
    const LANGUAGE: &'static str;
    /// The directory of the documents. Its name is `@` followed by the name of the supplier, or begins with `@@` if the
    /// paths of the documents have no meaning.
    const DIRECTORY: &'static str;
    /// Maximum number of documents in a batch.
    const MAX_BATCH: usize;

    /// Supplies the documents that have changed. The run deletes all other indexed documents, unless the source calls
    /// [`Documents::keep_others`].
    ///
    /// # Errors
    /// Fails if the documents cannot be read or the run has been stopped.
    fn supply(&self, out: &mut Documents<'_, '_, Self>, cx: &StageContext<'_>) -> Result<(), StageError>;
}

/// Returns the pipeline of a source.
pub fn pipeline<S: DocumentSource>() -> PipelineChoice {
    let text = format!(
        "[stage.{}]\n[stage.incremental-check]\ngit = false\n{}[stage.embed]\nmodel = \"static\"\n[stage.store]\n\
         [stage.bm25]\n",
        S::TYPE,
        S::STAGES
    );
    PipelineChoice::Text { name: S::PIPELINE.to_owned(), text }
}

/// Returns the built-in stage types and the stage of a source.
pub fn registry<S: DocumentSource>() -> Registry {
    let mut registry = crate::registry();
    registry.register::<SourceConfig<S>>();
    registry
}

/// Emits documents in batches.
pub struct Documents<'a, 'e, S> {
    out: &'a mut Emitter<'e>,
    rows: Vec<(String, Document)>,
    source: PhantomData<S>,
}

impl<S: DocumentSource> Documents<'_, '_, S> {
    /// Emits a document with a path.
    ///
    /// # Errors
    /// Fails if the run has been stopped.
    pub fn push(&mut self, path: String, document: Document) -> Result<(), StageError> {
        self.rows.push((path, document));
        if self.rows.len() < S::MAX_BATCH { Ok(()) } else { self.emit() }
    }

    /// Declares that all indexed documents that are not emitted are unchanged.
    ///
    /// # Errors
    /// Fails if the run has been stopped.
    pub fn keep_others(&mut self) -> Result<(), StageError> {
        self.push(S::DIRECTORY.to_owned(), Document::Rest)
    }

    fn emit(&mut self) -> Result<(), StageError> {
        let rows = std::mem::take(&mut self.rows);
        if rows.is_empty() {
            return Ok(());
        }
        let size = |document: &Document| if let Document::Text(text) = document { text.len() as u64 } else { 0 };
        let mut batch = self.out.batch(rows.len());
        batch.write(SIZE, rows.iter().map(|(_, document)| size(document)).collect())?;
        batch.write(MTIME, vec![0; rows.len()])?;
        batch.write(LANGUAGE, vec![LanguageName::from(S::LANGUAGE); rows.len()])?;
        batch.expect_bytes(3 * rows.iter().map(|(_, document)| size(document)).sum::<u64>());
        let (paths, documents): (Vec<_>, Vec<_>) =
            rows.into_iter().map(|(path, document)| (RelativePath::from(path), Some(document))).unzip();
        batch.write(PATH, paths)?;
        batch.write(DOCUMENT, documents)?;
        self.out.emit(batch)
    }
}

/// The table of a source stage, which has no keys.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, bound = "")]
struct SourceConfig<S> {
    #[serde(skip)]
    source: PhantomData<S>,
}

impl<S: DocumentSource> StageConfig for SourceConfig<S> {
    const TYPE: &'static str = S::TYPE;

    fn access(&self) -> Access {
        Access::source().writes([PATH.spec(), SIZE.spec(), MTIME.spec(), LANGUAGE.spec(), DOCUMENT.spec()])
    }

    fn build(self, cx: &BuildContext<'_>) -> Result<Box<dyn Stage>, StageError> {
        Ok(Box::new(SourceStage(service::<S>(cx)?)))
    }
}

/// Returns the document source of a run.
///
/// # Errors
/// Fails if the run does not have this source.
pub fn service<S: DocumentSource>(cx: &BuildContext<'_>) -> Result<Arc<S>, StageError> {
    cx.services
        .get::<S>()
        .ok_or_else(|| StageError::new(format!("this stage runs only in the pipeline of {}", S::PIPELINE)))
}

struct SourceStage<S>(Arc<S>);

impl<S: DocumentSource> Stage for SourceStage<S> {
    fn open(&self) -> Box<dyn Worker + '_> {
        producer(|out: &mut Emitter<'_>, cx: &StageContext<'_>| {
            let mut documents = Documents { out, rows: Vec::new(), source: PhantomData };
            self.0.supply(&mut documents, cx)?;
            documents.emit()
        })
    }

    fn fingerprint(&self) -> Fingerprint {
        Fingerprint::new(S::TYPE, S::VERSION)
    }
}
