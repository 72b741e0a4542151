//! `chunk`: the stage around the chunker. Turns symbols into chunk records with their history and
//! terms; takes the chunks of refreshed files from the index instead.

use std::sync::Arc;

use aurora_analysis::Analyzer;
use aurora_pipeline::{
    Access, BatchView, BuildContext, Fingerprint, Stage, StageConfig, StageContext, StageError, Worker,
};
use aurora_storage::{ArchivedChunk, Chunk, Field, GitHistory, GitSignal, HistoryTier, TermVector};
use rustc_hash::FxHashMap;

use super::{ChunkOptions, Source, chunks_of_file};
use crate::columns::{
    Attribution, BLAME, FileStatus, LANGUAGE, PATH, RECORD, Record, STATUS, SYMBOLS, TERMS, TEXT, Terms,
};
use crate::git_signal::history::{ChunkHistory, FileBlame};
use crate::job::Job;

impl StageConfig for ChunkOptions {
    const TYPE: &'static str = "chunk";

    fn access(&self) -> Access {
        Access::transform()
            .reads([PATH.spec(), STATUS.spec(), TEXT.spec(), LANGUAGE.spec(), SYMBOLS.spec()])
            .reads_optional([BLAME.spec()])
            .writes([RECORD.spec(), TERMS.spec()])
            .restructures()
    }

    fn build(self, cx: &BuildContext<'_>) -> Result<Box<dyn Stage>, StageError> {
        Ok(Box::new(ChunkStage { job: Job::of(cx)?, options: self }))
    }
}

struct ChunkStage {
    job: Arc<Job>,
    options: ChunkOptions,
}

impl Stage for ChunkStage {
    fn open(&self) -> Box<dyn Worker + '_> {
        Box::new(ChunkWorker { stage: self, analyzer: Analyzer })
    }

    fn fingerprint(&self) -> Fingerprint {
        Fingerprint::new(ChunkOptions::TYPE, 3)
            .with("options", format!("{:?}", self.options))
            .with("analyzer", aurora_analysis::ANALYZER_VERSION)
    }
}

struct ChunkWorker<'a> {
    stage: &'a ChunkStage,
    analyzer: Analyzer,
}

impl Worker for ChunkWorker<'_> {
    fn process(&mut self, batch: &mut BatchView<'_>, cx: &StageContext<'_>) -> Result<(), StageError> {
        let (mut owners, mut records) = (Vec::new(), Vec::new());
        let (paths, statuses, texts) = (batch.read(PATH)?, batch.read(STATUS)?, batch.read(TEXT)?);
        let (languages, symbols) = (batch.read(LANGUAGE)?, batch.read(SYMBOLS)?);
        let blames = batch.read_optional(BLAME)?;
        for (row, path) in paths.iter().enumerate() {
            let mut chunks = match (&statuses[row], &symbols[row]) {
                (FileStatus::Refreshed, _) => self.stored_chunks(path)?,
                (_, Some(symbols)) => {
                    let source = Source { path, language: languages[row], text: &texts[row], symbols };
                    chunks_of_file(&source, &self.stage.options).unwrap_or_else(|reason| {
                        cx.warn(path, &reason);
                        Vec::new()
                    })
                }
                _ => Vec::new(),
            };
            let attribution = blames.map_or(&Attribution::NoRepository, |blames| &blames[row]);
            set_signals(&mut chunks, attribution);
            cx.count("chunks", chunks.len() as u64);
            owners.extend(std::iter::repeat_n(row as u32, chunks.len()));
            records.extend(chunks.into_iter().map(Record));
        }
        let terms = records.iter().map(|Record(chunk)| Terms(terms_of(&self.analyzer, chunk))).collect();
        batch.add_chunks(owners)?;
        batch.write(RECORD, records)?;
        batch.write(TERMS, terms)?;
        Ok(())
    }
}

impl ChunkWorker<'_> {
    fn stored_chunks(&self, path: &str) -> Result<Vec<Chunk>, StageError> {
        let previous = &self.stage.job.previous;
        let Some(file) = previous.file(path).map_err(StageError::from_error)? else { return Ok(Vec::new()) };
        let mut chunks = Vec::with_capacity(file.chunks.len());
        for id in file.chunks {
            chunks.extend(previous.chunk(id).map_err(StageError::from_error)?.map(ArchivedChunk::to_chunk));
        }
        Ok(chunks)
    }
}

/// Tells the chunks of a file what its attribution says of their lines.
fn set_signals(chunks: &mut [Chunk], attribution: &Attribution) {
    let of_file = match attribution {
        Attribution::NoRepository => GitSignal::None,
        Attribution::Untracked => GitSignal::Untracked,
        Attribution::File { history, .. } => of_history(ChunkHistory::clone(history), HistoryTier::File),
        Attribution::Pending => GitSignal::Pending,
        Attribution::Unavailable(reason) => GitSignal::Unavailable { reason: reason.to_string() },
        Attribution::Lines { blame, .. } => {
            let blame = blame.worktree();
            return chunks.iter_mut().for_each(|chunk| chunk.git = of_lines(&blame, chunk.line_start, chunk.line_end));
        }
    };
    chunks.iter_mut().for_each(|chunk| chunk.git = of_file.clone());
}

/// What the attribution of a file says of some of its lines, counted from 1.
fn of_lines(blame: &FileBlame, line_start: u32, line_end: u32) -> GitSignal {
    of_history(blame.summary(line_start.saturating_sub(1)..line_end), HistoryTier::Line)
}

fn of_history(history: ChunkHistory, tier: HistoryTier) -> GitSignal {
    let Some(newest) = history.newest else { return GitSignal::Untracked };
    GitSignal::Tracked(GitHistory {
        tier,
        commits: history.commits,
        touches: history.commits,
        newest_commit: newest.id.to_string(),
        newest_time: newest.author_time,
        first_time: history.first_time.unwrap_or(newest.author_time),
        authors: history.authors.iter().map(|(author, _)| author.name.clone()).collect(),
        commit_times: history.commit_times,
    })
}

/// The terms of a chunk by field. Where the text holds the documentation, its words count as documentation
/// only: said twice, they outweigh the code of chunks without any.
pub fn terms_of(analyzer: &Analyzer, chunk: &Chunk) -> TermVector {
    let mut terms = TermVector::builder();
    let mut said: FxHashMap<String, u32> = FxHashMap::default();
    analyzer.terms(&chunk.doc, &mut |term: &str| *said.entry(term.to_owned()).or_default() += 1);
    let mut add = |field, text: &str| {
        analyzer.terms(text, &mut |term: &str| {
            terms.add(field, term);
        });
    };
    add(Field::Name, &chunk.name);
    add(Field::QualifiedName, &chunk.qualified_name);
    add(Field::Signature, &chunk.signature);
    add(Field::Path, &chunk.path);
    add(Field::Doc, &chunk.doc);
    analyzer.terms(&chunk.text, &mut |term: &str| match said.get_mut(term) {
        Some(left @ 1..) => *left -= 1,
        _ => {
            terms.add(Field::Body, term);
        }
    });
    terms.finish()
}
