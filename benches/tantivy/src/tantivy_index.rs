//! Tantivy's index of the corpus.
//!
//! A document contains the number of a chunk, and the tokenizer reads the terms of that chunk directly from the corpus,
//! without an intermediate list of owned tokens. Term frequencies are indexed, but no positions, and nothing is stored.

use std::path::Path;
use std::sync::Arc;

use tantivy::collector::TopDocs;
use tantivy::query::{BooleanQuery, Occur, Query, TermQuery};
use tantivy::schema::{FAST, Field, IndexRecordOption, NumericOptions, STRING, Schema, TextFieldIndexing, TextOptions};
use tantivy::tokenizer::{Token, TokenStream, Tokenizer};
use tantivy::{Index, IndexReader, IndexWriter, ReloadPolicy, Searcher, TantivyDocument, Term};

use crate::Outcome;
use crate::corpus::{Corpus, File, Terms};
use crate::lab::MEMORY;
use crate::measure::{Cost, Watch};

/// Name of the tokenizer.
const REPLAY: &str = "replay";
/// Names of the fields.
const TERMS: &str = "terms";
const NUMBER: &str = "number";
const PATH: &str = "path";

/// Field of a document in addition to the terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExtraField {
    /// No other field.
    Nothing,
    /// The number of the chunk, to look up the chunk of a document.
    Number,
    /// The path of the file, to delete documents by path.
    Path,
}

/// Builds an index. The cost includes the commit and the merges of the merge policy.
pub fn build(directory: &Path, corpus: &Arc<Corpus>, threads: usize, extra: ExtraField) -> Outcome<Cost> {
    std::fs::create_dir_all(directory)?;
    let watch = Watch::start();
    let index = Index::create_in_dir(directory, schema(extra))?;
    register(&index, corpus);
    let writer: IndexWriter = index.writer_with_num_threads(threads, MEMORY)?;
    for copy in 0..corpus.copies {
        for file in corpus.files_of(copy) {
            add(&index, &writer, &file)?;
        }
    }
    commit(writer)?;
    Ok(watch.read())
}

/// Merges an index into one segment.
pub fn merge(directory: &Path) -> Outcome<()> {
    let index = Index::open_in_dir(directory)?;
    let mut writer: IndexWriter = index.writer_with_num_threads(1, MEMORY)?;
    let segments = index.searchable_segment_ids()?;
    if segments.len() > 1 {
        writer.merge(&segments).wait()?;
    }
    writer.garbage_collect_files().wait()?;
    writer.wait_merging_threads()?;
    Ok(())
}

/// Replaces the chunks of files with the same chunks. Returns the total cost, from opening the writer to the end of the
/// merges, and the cost from the first deletion to the commit.
pub fn update(directory: &Path, corpus: &Arc<Corpus>, files: &[&File]) -> Outcome<(Cost, Cost)> {
    let whole = Watch::start();
    let index = Index::open_in_dir(directory)?;
    register(&index, corpus);
    let mut writer: IndexWriter = index.writer_with_num_threads(1, MEMORY)?;
    let path = index.schema().get_field(PATH)?;
    let watch = Watch::start();
    for file in files {
        writer.delete_term(Term::from_field_text(path, &file.path));
        add(&index, &writer, file)?;
    }
    writer.commit()?;
    let between = watch.read();
    writer.wait_merging_threads()?;
    Ok((whole.read(), between))
}

fn schema(extra: ExtraField) -> Schema {
    let mut schema = Schema::builder();
    let indexing = TextFieldIndexing::default().set_tokenizer(REPLAY).set_index_option(IndexRecordOption::WithFreqs);
    schema.add_text_field(TERMS, TextOptions::default().set_indexing_options(indexing));
    match extra {
        ExtraField::Nothing => {}
        ExtraField::Number => {
            schema.add_u64_field(NUMBER, NumericOptions::from(FAST));
        }
        ExtraField::Path => {
            schema.add_text_field(PATH, STRING);
        }
    }
    schema.build()
}

fn register(index: &Index, corpus: &Arc<Corpus>) {
    index.tokenizers().register(REPLAY, Replay(Arc::clone(corpus)));
}

fn add(index: &Index, writer: &IndexWriter, file: &File) -> Outcome<()> {
    let schema = index.schema();
    let terms = schema.get_field(TERMS)?;
    let (number, path) = (schema.get_field(NUMBER).ok(), schema.get_field(PATH).ok());
    for chunk in file.chunks.clone() {
        let mut document = TantivyDocument::default();
        document.add_text(terms, chunk.to_string());
        if let Some(number) = number {
            document.add_u64(number, u64::from(chunk));
        }
        if let Some(path) = path {
            document.add_text(path, &file.path);
        }
        writer.add_document(document)?;
    }
    Ok(())
}

fn commit(mut writer: IndexWriter) -> Outcome<()> {
    writer.commit()?;
    writer.wait_merging_threads()?;
    Ok(())
}

/// A tokenizer whose input is the number of a chunk, and whose output is the terms of the chunk.
#[derive(Clone)]
struct Replay(Arc<Corpus>);

struct Replayed<'c> {
    terms: Terms<'c>,
    token: Token,
}

impl Tokenizer for Replay {
    type TokenStream<'a> = Replayed<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Replayed<'a> {
        let chunk = text.parse().expect("a document contains the number of a chunk");
        Replayed { terms: self.0.terms(chunk), token: Token::default() }
    }
}

impl TokenStream for Replayed<'_> {
    fn advance(&mut self) -> bool {
        let Some((_, term)) = self.terms.next() else { return false };
        self.token.text.clear();
        self.token.text.push_str(term);
        self.token.position = self.token.position.wrapping_add(1);
        true
    }

    fn token(&self) -> &Token {
        &self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.token
    }
}

/// An open index.
pub struct TantivyIndex {
    searcher: Searcher,
    terms: Field,
    _reader: IndexReader,
}

impl TantivyIndex {
    /// Opens an index.
    pub fn open(directory: &Path) -> Outcome<Self> {
        let index = Index::open_in_dir(directory)?;
        let reader: IndexReader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
        Ok(Self { searcher: reader.searcher(), terms: index.schema().get_field(TERMS)?, _reader: reader })
    }

    /// Returns the number of segments.
    pub fn segments(&self) -> usize {
        self.searcher.segment_readers().len()
    }

    /// Returns the `k` best documents that contain any of the terms, with their scores.
    pub fn best(&self, terms: &[String], k: usize) -> Outcome<Vec<(f32, tantivy::DocAddress)>> {
        let clause = |term: &String| -> (Occur, Box<dyn Query>) {
            let term = Term::from_field_text(self.terms, term);
            (Occur::Should, Box::new(TermQuery::new(term, IndexRecordOption::WithFreqs)))
        };
        let query = BooleanQuery::new(terms.iter().map(clause).collect());
        Ok(self.searcher.search(&query, &TopDocs::with_limit(k).order_by_score())?)
    }

    /// Returns the chunk of a document.
    pub fn chunk(&self, document: tantivy::DocAddress) -> Outcome<u32> {
        let segment = self.searcher.segment_reader(document.segment_ord);
        let numbers = segment.fast_fields().u64(NUMBER)?;
        Ok(numbers.first(document.doc_id).ok_or("a document has no number")? as u32)
    }
}
