//! Adds to the shown hits the details that are too expensive to compute for every candidate: matching lines, whether
//! the file has changed since it was indexed, and texts that fit a budget.

use aurora_confined::Directory;
use aurora_inverted::idf;
use aurora_storage::{ChunkType, Snapshot};
use rustc_hash::FxHashMap;

use crate::corpus::Corpus;
use crate::phases::Stopwatch;
use crate::present::budget::{Context, FileLocation, PackedHit, Piece, pack};
use crate::present::freshness::{FileState, file_state};
use crate::present::lines::{is_whole, line_numbers};
use crate::present::results::{Hit, IndexInfo, RootInfo, SearchResults};
use crate::present::snippet::Marker;
use crate::query::QueryError;
use crate::searcher::Searcher;
use crate::work::WorkBudget;

/// Options of the details.
#[derive(Debug, Clone, Copy)]
pub struct Details<'a> {
    /// Maximum number of lines of a snippet; 0 for no snippets.
    pub snippet_lines: usize,
    /// The current time, in Unix seconds. Ages are relative to this time.
    pub now: i64,
    /// Cancellation of the request and limits on its work.
    pub work: &'a WorkBudget,
}

/// Adds to the results the searched generations and the weights of the matched terms, and to every hit its snippet and
/// the state of its file. Adds the time to the duration of the search. `searchers` must be the searchers of the search, in the same order.
///
/// # Errors
/// Fails if an index cannot be read.
pub fn complete(searchers: &[&Searcher], results: &mut SearchResults, details: &Details<'_>) -> Result<(), QueryError> {
    let mut watch = Stopwatch::start();
    let projects: Vec<&&Searcher> = searchers.iter().filter(|searcher| !searcher.is_memory()).collect();
    match projects[..] {
        [only] => results.index = Some(info(only.snapshot(), details.now)?),
        _ => {
            results.roots =
                projects.iter().map(|searcher| root_info(searcher, details.now)).collect::<Result<_, _>>()?
        }
    }
    let corpus = Corpus::new(searchers.iter().map(|searcher| searcher.snapshot()));
    for term in results.hits.iter().flat_map(|hit| &hit.explanation.matched_terms) {
        details.work.check()?;
        if !results.term_weights.contains_key(term) {
            let frequency = corpus.doc_frequency(term)?;
            results.term_weights.insert(term.clone(), idf(corpus.chunks(), u64::from(frequency)));
        }
    }
    let mut files: Vec<Files<'_>> = searchers.iter().map(|searcher| Files::new(searcher)).collect();
    let marker = Marker::new(&results.term_weights, Some(&results.patterns));
    for hit in &mut results.hits {
        details.work.check()?;
        let files = &mut files[hit.root_place];
        hit.file_state = Some(files.state(hit)?);
        if hit.chunk_type.is_source_code() {
            hit.imports = files.snapshot.relations(hit.id)?.map(|relations| relations.imports).unwrap_or_default();
        }
        if details.snippet_lines == 0 {
            continue;
        }
        let Some(chunk) = files.snapshot.text(hit.id)? else { continue };
        let mut lines = marker.best_lines(&chunk.text, &hit.name, details.snippet_lines);
        let numbers = files.numbers(hit, &chunk.text)?;
        for line in &mut lines {
            line.line = numbers.get(line.place).copied().flatten();
        }
        hit.snippet = lines;
    }
    let took = watch.lap();
    results.took += took;
    if !results.phases.is_empty() {
        results.phases.present += took;
    }
    Ok(())
}

fn info(snapshot: &Snapshot, now: i64) -> Result<IndexInfo, QueryError> {
    let manifest = snapshot.manifest();
    Ok(IndexInfo {
        generation: manifest.generation,
        updated: manifest.updated,
        age_seconds: now.saturating_sub(manifest.updated).max(0),
        commit: manifest.head_commit.clone(),
        complete: snapshot.is_complete()?,
    })
}

fn root_info(searcher: &Searcher, now: i64) -> Result<RootInfo, QueryError> {
    Ok(RootInfo {
        name: searcher.name().to_owned(),
        path: searcher.root().map(|root| root.to_string_lossy().into_owned()).unwrap_or_default(),
        index: info(searcher.snapshot(), now)?,
    })
}

/// Packs the texts of the hits, best first, into `budget` tokens; see [`Context`]. `searchers` must be the searchers of
/// the search, in the same order.
///
/// # Errors
/// Fails if an index cannot be read.
pub fn packed(
    searchers: &[&Searcher],
    results: &SearchResults,
    budget: usize,
    work: &WorkBudget,
) -> Result<Context, QueryError> {
    let mut files: Vec<Files<'_>> = searchers.iter().map(|searcher| Files::new(searcher)).collect();
    let mut pieces = Vec::with_capacity(results.hits.len());
    for hit in &results.hits {
        work.check()?;
        let Some(chunk) = searchers[hit.root_place].snapshot().text(hit.id)? else { continue };
        let text = chunk.text;
        let named = text.lines().position(|line| !hit.name.is_empty() && line.contains(&hit.name)).unwrap_or(0);
        pieces.push(Piece {
            file: FileLocation {
                root_place: hit.root_place,
                source: hit.source,
                root: hit.root.clone(),
                path: hit.file.clone(),
            },
            whole: has_lines(hit.chunk_type) && is_whole(&text, (hit.line_start, hit.line_end)),
            head: named + hit.signature.lines().count().max(1),
            text,
            hit: PackedHit {
                rank: hit.rank,
                id: hit.key.clone(),
                chunk_type: hit.chunk_type,
                name: if hit.qualified_name.is_empty() { hit.name.clone() } else { hit.qualified_name.clone() },
                line_start: hit.line_start,
                line_end: hit.line_end,
                complexity: hit.complexity,
                score: hit.score,
                complete: true,
            },
        });
    }
    // Only the files with several hits are read, because only these files can have gaps between hits.
    let mut hits_of_file: FxHashMap<(usize, &str), usize> = FxHashMap::default();
    for hit in &results.hits {
        *hits_of_file.entry((hit.root_place, &hit.file)).or_default() += 1;
    }
    for hit in &results.hits {
        work.check()?;
        if hits_of_file[&(hit.root_place, hit.file.as_str())] > 1 {
            files[hit.root_place].read(hit)?;
        }
    }
    let blank = |file: &FileLocation, line: u32| {
        let text = files[file.root_place].texts.get(&file.path).and_then(Option::as_ref);
        text.and_then(|text| text.lines().nth(line.saturating_sub(1) as usize))
            .is_some_and(|line| line.trim().is_empty())
    };
    Ok(pack(pieces, budget, &blank, work)?)
}

/// Returns whether chunks of a type have lines in a file that a reader can open.
fn has_lines(kind: ChunkType) -> bool {
    !kind.is_memory()
}

/// Maximum size of a file that is read for line numbers, in bytes.
const MAX_FILE_BYTES: u64 = 1 << 30;

/// The files of the hits. Every file is examined once.
struct Files<'a> {
    /// `None` if the sources are missing, as for an imported index.
    root: Option<Directory>,
    snapshot: &'a Snapshot,
    states: FxHashMap<String, FileState>,
    /// Contents of files that have not changed since they were indexed.
    texts: FxHashMap<String, Option<String>>,
}

impl<'a> Files<'a> {
    fn new(searcher: &'a Searcher) -> Self {
        Self {
            root: searcher.source_directory().and_then(|root| Directory::open_root(root).ok()),
            snapshot: searcher.snapshot(),
            states: FxHashMap::default(),
            texts: FxHashMap::default(),
        }
    }

    fn state(&mut self, hit: &Hit) -> Result<FileState, QueryError> {
        if let Some(state) = self.states.get(&hit.file) {
            return Ok(*state);
        }
        // Conversations are in the user's directory, not below the root.
        let state = match (self.snapshot.file(&hit.file)?, &self.root) {
            (Some(known), Some(root)) if hit.chunk_type != ChunkType::Knowledge => file_state(root, &known),
            _ => FileState::Unknown,
        };
        self.states.insert(hit.file.clone(), state);
        Ok(state)
    }

    /// Returns the content of a hit's file if the file has not changed since it was indexed.
    fn read(&mut self, hit: &Hit) -> Result<Option<&str>, QueryError> {
        if !self.texts.contains_key(&hit.file) {
            let text = match self.state(hit)? {
                FileState::Unchanged => {
                    let root = self.root.as_ref();
                    let bytes = root.and_then(|root| root.read(&hit.file, MAX_FILE_BYTES).ok());
                    bytes.and_then(aurora_encoding::decode).map(|text| text.text)
                }
                _ => None,
            };
            self.texts.insert(hit.file.clone(), text);
        }
        Ok(self.texts.get(&hit.file).and_then(Option::as_deref))
    }

    fn numbers(&mut self, hit: &Hit, text: &str) -> Result<Vec<Option<u32>>, QueryError> {
        let span = (hit.line_start, hit.line_end);
        if !has_lines(hit.chunk_type) {
            return Ok(vec![None; text.lines().count()]);
        }
        let file = if is_whole(text, span) { None } else { self.read(hit)? };
        Ok(line_numbers(text, span, file))
    }
}
