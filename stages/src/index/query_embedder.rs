//! Embeds queries with the custom stage that embedded the chunks of an index.
//!
//! The stage runs in a small pipeline on a background thread. The source of the pipeline emits a chunk for every query,
//! and the sink receives the vectors. A program is therefore started only once for many queries.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use aurora_analysis::{EmbedError, QueryEmbedder};
use aurora_pipeline::{
    Access, BatchView, BuildContext, CellType, ColumnSpec, DynamicType, Emitter, Fingerprint, Pipeline, RunConfig,
    RunError, RunOptions, RunReport, Stage, StageContext, StageError, StagePart, Worker, producer,
};
use aurora_storage::{Chunk, ChunkType};

use super::embedding_stage::EmbeddingStage;
use super::error::IndexError;
use super::options::IndexOptions;
use super::plan::plan;
use super::root::with_indexable_root;
use crate::columns::{
    EMBEDDING, FileStatus, HASH, LANGUAGE, LanguageName, MTIME, PATH, RECORD, Record, RelativePath, SIGNAL, SIZE,
    STATUS, Signal, TEXT,
};

/// Language of a chunk that represents a query. The language distinguishes queries from chunks of files.
const QUERY: &str = "query";
/// Interval at which the source checks whether the run is stopping.
const TICK: Duration = Duration::from_millis(50);

/// Returns an embedder for queries to the index of a root. Returns `None` if the root's pipeline has no custom stage
/// that computes vectors. No program is started before the first query.
///
/// # Errors
/// Fails in the same cases as an index run: if the configuration is invalid, or if a program is not allowed.
pub fn query_embedder(options: &IndexOptions) -> Result<Option<StageEmbedder>, IndexError> {
    let options = with_indexable_root(options)?;
    let Some((stage, part)) = embedding_part(&options)? else { return Ok(None) };
    let id = stage.model_id(&part.fingerprint());
    Ok(Some(StageEmbedder { options, id, dimensions: stage.dimensions, running: Mutex::new(None) }))
}

/// Builds the stage that computes the vectors.
fn embedding_part(options: &IndexOptions) -> Result<Option<(EmbeddingStage, StagePart)>, IndexError> {
    let plan = plan(options)?;
    let Some(stage) = EmbeddingStage::in_plan(&plan).map_err(IndexError::Pipeline)? else { return Ok(None) };
    let Some(planned) = plan.into_stage(&stage.name) else { return Ok(None) };
    let part = planned.build(&BuildContext { root: &options.root, services: &options.services })?;
    Ok(Some((stage, part)))
}

/// A custom stage that embeds queries.
pub struct StageEmbedder {
    options: IndexOptions,
    id: String,
    dimensions: usize,
    /// The running stage. The stage is stopped after the first query that it cannot embed.
    running: Mutex<Option<Running>>,
}

impl StageEmbedder {
    /// Stops the stage, even while it is embedding a query. When this method returns, no program is running.
    pub fn stop(&self) {
        self.options.cancel.cancel();
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        drop(running.take().map(Running::end));
    }
}

impl Drop for StageEmbedder {
    fn drop(&mut self) {
        let running = self.running.get_mut().unwrap_or_else(PoisonError::into_inner);
        drop(running.take().map(Running::end));
    }
}

impl QueryEmbedder for StageEmbedder {
    fn id(&self) -> &str {
        &self.id
    }

    fn dimensions(&self) -> usize {
        self.dimensions
    }

    fn embed_query(&self, text: &str) -> Result<Vec<f32>, EmbedError> {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let failed = |reason: String| EmbedError::Stage { model: self.id.clone(), reason };
        let current = match running.take() {
            Some(current) => current,
            None => Running::start(&self.options).map_err(failed)?,
        };
        match current.embed(text) {
            Some(vector) if vector.len() == self.dimensions => {
                *running = Some(current);
                Ok(vector)
            }
            Some(vector) => Err(failed(format!(
                "the stage returned a vector with {} dimensions instead of {}",
                vector.len(),
                self.dimensions
            ))),
            None => Err(failed(current.end())),
        }
    }
}

/// The running stage in its pipeline.
struct Running {
    queries: Sender<String>,
    vectors: Receiver<Option<Vec<f32>>>,
    thread: JoinHandle<Result<RunReport, RunError>>,
}

impl Running {
    /// Starts the pipeline.
    ///
    /// # Errors
    /// Returns the reason why the pipeline cannot be started.
    fn start(options: &IndexOptions) -> Result<Self, String> {
        let part = embedding_part(options).map_err(|error| error.to_string())?;
        let (_, part) = part.ok_or_else(|| "the pipeline no longer has the stage".to_owned())?;
        let (queries, received) = channel();
        let (answers, vectors) = channel();
        let given = query_columns(&part.access);
        let source = QuerySource { queries: Mutex::new(received), given: given.clone() };
        let sink = VectorSink { answers: Mutex::new(answers) };
        let read = Access::sink().reads_optional([EMBEDDING.spec()]).after([part.name.as_str()]);
        let parts = vec![
            StagePart::new("queries", Access::source().writes(given), Box::new(source)),
            part,
            StagePart::new("vectors", read, Box::new(sink)),
        ];
        let pipeline = Pipeline::assemble(RunConfig { jobs: Some(1), ..RunConfig::default() }, parts);
        let pipeline = pipeline.map_err(|found| format!("the stage cannot embed queries: {found}"))?;
        let run = RunOptions { cancel: options.cancel.clone(), ..RunOptions::default() };
        let thread = Builder::new().name("embed-queries".to_owned()).spawn(move || pipeline.run(run));
        Ok(Self { queries, vectors, thread: thread.map_err(|error| error.to_string())? })
    }

    /// Returns the vector of a query, or `None` if the stage returns none.
    fn embed(&self, text: &str) -> Option<Vec<f32>> {
        self.queries.send(text.to_owned()).ok()?;
        self.vectors.recv().ok().flatten()
    }

    /// Ends the pipeline and waits for it. Returns the reason why the last query has no vector.
    fn end(self) -> String {
        drop(self.queries);
        match self.thread.join() {
            Ok(Ok(report)) => {
                let reason = report.failures.values().flat_map(|tally| tally.iter()).next();
                reason
                    .map(|(reason, _)| reason.to_owned())
                    .unwrap_or_else(|| "the stage returned no vector for the query".to_owned())
            }
            Ok(Err(error)) => error.to_string(),
            Err(_) => "the stage panicked".to_owned(),
        }
    }
}

/// Returns the columns that the source of queries writes: path, record, and the other columns that the stage requires
/// and that a query can have.
fn query_columns(access: &Access) -> Vec<ColumnSpec> {
    let mut given = vec![PATH.spec(), RECORD.spec()];
    let known = [SIZE.spec(), MTIME.spec(), STATUS.spec(), HASH.spec(), TEXT.spec(), LANGUAGE.spec(), SIGNAL.spec()];
    given.extend(known.into_iter().filter(|column| access.required().any(|read| read.name() == column.name())));
    let is_custom = |column: &&ColumnSpec| !matches!(column.cell(), CellType::Native { .. });
    let custom = access.required().filter(is_custom);
    given.extend(custom.map(|column| ColumnSpec::dynamic(column.name(), DynamicType::String)));
    given
}

/// A source that emits a file with one chunk for every query.
struct QuerySource {
    queries: Mutex<Receiver<String>>,
    given: Vec<ColumnSpec>,
}

impl Stage for QuerySource {
    fn open(&self) -> Box<dyn Worker + '_> {
        producer(|out: &mut Emitter<'_>, cx: &StageContext<'_>| {
            let queries = self.queries.lock().unwrap_or_else(PoisonError::into_inner);
            loop {
                match queries.recv_timeout(TICK) {
                    Ok(query) => self.emit(query, out)?,
                    Err(RecvTimeoutError::Disconnected) => return Ok(()),
                    Err(RecvTimeoutError::Timeout) if cx.cancelled() => return Err(StageError::Stopped),
                    Err(RecvTimeoutError::Timeout) => {}
                }
            }
        })
    }

    fn fingerprint(&self) -> Fingerprint {
        Fingerprint::new("queries", 1)
    }
}

impl QuerySource {
    fn emit(&self, query: String, out: &mut Emitter<'_>) -> Result<(), StageError> {
        let mut draft = out.batch(1);
        draft.add_chunks(vec![0])?;
        for column in &self.given {
            // Must handle every column that `query_columns` returns.
            match column.name() {
                name if name == PATH.name() => draft.write(PATH, vec![RelativePath::from(QUERY)])?,
                name if name == SIZE.name() => draft.write(SIZE, vec![query.len() as u64])?,
                name if name == MTIME.name() => draft.write(MTIME, vec![0])?,
                name if name == STATUS.name() => draft.write(STATUS, vec![FileStatus::Added])?,
                name if name == HASH.name() => draft.write(HASH, vec![Default::default()])?,
                name if name == TEXT.name() => draft.write(TEXT, vec![query.as_str().into()])?,
                name if name == LANGUAGE.name() => draft.write(LANGUAGE, vec![LanguageName::from(QUERY)])?,
                name if name == SIGNAL.name() => draft.write(SIGNAL, vec![Signal::default()])?,
                name if name == RECORD.name() => draft.write(RECORD, vec![Record(query_chunk(query.clone()))])?,
                name => draft.write_dynamic(name, vec![None])?,
            }
        }
        out.emit(draft)
    }
}

/// Converts a query to a chunk.
fn query_chunk(query: String) -> Chunk {
    let empty = Chunk::empty(QUERY.to_owned(), ChunkType::Doc);
    Chunk { language: QUERY.to_owned(), text: query, ..empty }
}

/// A sink that sends one vector per query to the embedder.
struct VectorSink {
    answers: Mutex<Sender<Option<Vec<f32>>>>,
}

impl Stage for VectorSink {
    fn open(&self) -> Box<dyn Worker + '_> {
        Box::new(|batch: &mut BatchView<'_>, _: &StageContext<'_>| {
            let vectors = batch.read_optional(EMBEDDING)?.unwrap_or_default();
            let answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
            // Sending fails if the embedder was dropped during a query.
            let _ = answers.send(vectors.first().cloned().flatten());
            Ok(())
        })
    }

    fn fingerprint(&self) -> Fingerprint {
        Fingerprint::new("vectors", 1)
    }
}
