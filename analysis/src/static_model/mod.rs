//! An embedding model that is a table of token vectors, trained on code. The vector of a text is the sum of the vectors
//! of its tokens, scaled to unit length. The vector of a chunk is the weighted sum of the vectors of its fields, scaled
//! to unit length.
//!
//! File format, little-endian throughout:
//!
//! | bytes | content |
//! |---|---|
//! | 8 | `AURSTAT3` |
//! | 3 × 4 | dimensions, rows, length of the JSON |
//! | | JSON: name, version, weights of the fields, training and evaluation data |
//! | | a token string for every row: `u16` length, UTF-8; tokens that continue a word begin with `##` |
//! | | zeros up to a multiple of 64 from the start of the file |
//! | rows × 4 | `f32` scale of every row |
//! | rows × 4 | `f32` weight of every row's token in a query ([`LateInteraction`]) |
//! | rows × dimensions | `i8` values, row after row |

mod late;
mod table;
mod tokenizer;

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use rustc_hash::FxHashMap;
use serde::Deserialize;

use crate::embedder::{EmbedError, Embedder, QueryEmbedder, STATIC};
use crate::model_error::ModelError;
use crate::passage::Passage;
pub use late::LateInteraction;
use table::TokenTable;
pub(crate) use table::normalise;
use tokenizer::{KnownPieces, Vocabulary, pieces};

const MAGIC: &[u8; 8] = b"AURSTAT3";
/// The built-in model, trained on code and documentation in the supported languages. `xtask/model` contains the
/// training program. The JSON in the file contains the evaluation.
static BUILT_IN: &[u8] = include_bytes!("../../models/static-code-v4.bin");
/// Alignment of the table in the file, in bytes.
const ALIGNMENT: usize = 64;

/// Maximum number of tokens that are read from a query, a body or a doc.
const TOKEN_BUDGET: usize = 256;
/// Maximum number of tokens that are read from a name, the scopes or a path.
const NAME_BUDGET: usize = 24;
/// Maximum number of tokens that are read from a signature.
const SIGNATURE_BUDGET: usize = 64;
/// Maximum number of rows of a table. Row numbers must fit in 16 bits.
const MAX_ROWS: usize = 1 << 16;

/// An [`Embedder`] that looks token vectors up in a table and adds them.
pub struct StaticModel {
    bytes: Cow<'static, [u8]>,
    id: String,
    fields: FieldWeights,
    vocabulary: Vocabulary,
    table: TokenTable,
    /// Euclidean length of the values of each row, as bits of an `f32`, or 0 if the length was not computed yet.
    lengths: Box<[AtomicU32]>,
}

/// Weight of each field in the vector of a chunk, as trained.
#[derive(Deserialize)]
struct FieldWeights {
    name: f32,
    scopes: f32,
    signature: f32,
    body: f32,
    path: f32,
}

/// The distinct tokens of a chunk, in ascending order, which [`LateInteraction`] compares with a query.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TokenSets {
    /// Tokens of name, scopes, path, signature and body.
    pub code: Vec<u16>,
    /// Tokens of the documentation.
    pub doc: Vec<u16>,
}

/// Tokens of a passage by field, as rows of the table.
#[derive(Debug, Clone, Default)]
pub struct PassageTokens {
    kind: Vec<u32>,
    name: Vec<u32>,
    scopes: Vec<u32>,
    signature: Vec<u32>,
    path: Vec<u32>,
    doc: Vec<u32>,
    /// Tokens of the body without the tokens of the doc. The body contains the documentation, whose words must not
    /// count as words of the code.
    body: Vec<u32>,
}

/// The fields that the program reads in the JSON of a file. The file has more fields, which are only for people.
#[derive(Deserialize)]
struct About {
    name: String,
    fields: FieldWeights,
}

impl StaticModel {
    /// Returns the built-in model, which is read once per process.
    ///
    /// # Errors
    /// Returns [`ModelError::Damaged`] if the copy of the model in the program is damaged.
    pub fn built_in() -> Result<Arc<Self>, ModelError> {
        static MODEL: OnceLock<Arc<StaticModel>> = OnceLock::new();
        if let Some(model) = MODEL.get() {
            return Ok(Arc::clone(model));
        }
        let mut model = Self::from_bytes(BUILT_IN)?;
        // Configurations refer to the built-in model as `static`, regardless of the name in the file.
        if let Some((_, digest)) = model.id.split_once('@') {
            model.id = format!("{STATIC}@{digest}");
        }
        Ok(Arc::clone(MODEL.get_or_init(|| Arc::new(model))))
    }

    /// Creates a model from the bytes of its file. Builds an index of the tokens, and does not copy the bytes.
    ///
    /// # Errors
    /// Returns [`ModelError::Damaged`] if the bytes are not a complete and consistent file.
    pub fn from_bytes(bytes: impl Into<Cow<'static, [u8]>>) -> Result<Self, ModelError> {
        let bytes = bytes.into();
        Self::parse(bytes).map_err(|reason| ModelError::Damaged { path: PathBuf::from(STATIC), reason })
    }

    fn parse(bytes: Cow<'static, [u8]>) -> Result<Self, String> {
        if !bytes.starts_with(MAGIC) {
            return Err("it does not start with AURSTAT3".to_owned());
        }
        let number = |at: usize| {
            let field = bytes.get(at..at + 4).and_then(|field| field.try_into().ok());
            field.map(|field| u32::from_le_bytes(field) as usize).ok_or("it ends inside its header")
        };
        let (dimensions, rows, json) = (number(8)?, number(12)?, number(16)?);
        if dimensions == 0 || rows == 0 || rows > MAX_ROWS || rows.saturating_mul(dimensions + 10) > bytes.len() {
            return Err(format!("{rows} rows of {dimensions} dimensions do not fit its {} bytes", bytes.len()));
        }
        let json = bytes.get(20..20 + json).ok_or("it ends inside its JSON")?;
        let about: About = serde_json::from_slice(json).map_err(|error| format!("its JSON: {error}"))?;
        let (vocabulary, end) = Vocabulary::read(&bytes, 20 + json.len(), rows)?;
        let start = end.next_multiple_of(ALIGNMENT);
        let table = TokenTable::new(dimensions, rows, start, bytes.len())?;
        // The digest covers only the header, tokens, scales and weights. They differ between any two trainings, so
        // hashing the megabytes of values is not necessary.
        let digest = blake3::hash(&bytes[..table.start_of_values()]).to_hex();
        let id = format!("{}@{}", about.name, &digest[..16]);
        let lengths = std::iter::repeat_with(AtomicU32::default).take(vocabulary.len()).collect();
        Ok(Self { id, fields: about.fields, vocabulary, table, lengths, bytes })
    }

    /// Returns the Euclidean length of the values of a row, which is never zero.
    fn length(&self, row: u32) -> f32 {
        let compute = || {
            let squares = aurora_kernels::squares_signed(self.table.values(&self.bytes, row));
            (squares as f32).sqrt().max(f32::MIN_POSITIVE)
        };
        let Some(known) = self.lengths.get(row as usize) else { return compute() };
        match f32::from_bits(known.load(Ordering::Relaxed)) {
            0.0 => {
                let length = compute();
                known.store(length.to_bits(), Ordering::Relaxed);
                length
            }
            length => length,
        }
    }

    /// Returns at most `limit` tokens of a text, as strings of the vocabulary.
    ///
    /// The text is split into pieces of identifiers (`getUserData` → `get`, `user`, `data`), lower-cased and then split
    /// by greedy longest-match WordPiece. Pieces have no tokens if they contain non-ASCII characters, are longer than
    /// 64 bytes, or cannot be split into tokens of the vocabulary.
    pub fn tokens(&self, text: &str, limit: usize) -> Vec<&str> {
        let mut rows = Vec::new();
        self.rows(text, limit, &mut rows);
        rows.iter()
            .map(|&row| std::str::from_utf8(self.vocabulary.token(&self.bytes, row)).unwrap_or_default())
            .collect()
    }

    /// Appends the rows of at most `limit` tokens of `text` to `rows`, which must be empty.
    fn rows(&self, text: &str, limit: usize, rows: &mut Vec<u32>) {
        pieces(text, &mut |piece| {
            self.vocabulary.word_piece(&self.bytes, piece, rows);
            rows.len() < limit
        });
        rows.truncate(limit);
    }

    /// Returns a reader of passages.
    pub fn reader(&self) -> PassageReader<'_> {
        PassageReader { model: self, known: KnownPieces::default() }
    }

    /// Computes `normalise(Σ weight · normalise(Σ vectors of the field's tokens))` over name, scopes with the kind,
    /// signature, path and body. The doc is excluded, because otherwise chunks with matching code would rank below
    /// chunks with matching prose.
    pub fn vector(&self, tokens: &PassageTokens) -> Vec<f32> {
        let mut scopes = [tokens.kind.as_slice(), &tokens.scopes].concat();
        scopes.truncate(NAME_BUDGET);
        let fields = [
            (&tokens.name, self.fields.name),
            (&scopes, self.fields.scopes),
            (&tokens.signature, self.fields.signature),
            (&tokens.path, self.fields.path),
            (&tokens.body, self.fields.body),
        ];
        let mut sum = vec![0f32; self.table.dimensions()];
        let mut part = vec![0f32; self.table.dimensions()];
        for (rows, weight) in fields {
            self.add_field(rows, weight, &mut part, &mut sum);
        }
        normalise(&mut sum);
        sum
    }

    fn add_field(&self, rows: &[u32], weight: f32, part: &mut [f32], sum: &mut [f32]) {
        part.fill(0.0);
        self.table.add(&self.bytes, rows, part);
        normalise(part);
        sum.iter_mut().zip(part).for_each(|(sum, part)| *sum += weight * *part);
    }
}

/// Splits passages into tokens, and caches the tokens of frequent words.
pub struct PassageReader<'m> {
    model: &'m StaticModel,
    known: KnownPieces,
}

impl PassageReader<'_> {
    /// Returns the tokens of a passage, from which its vector and its token sets are computed.
    pub fn read(&mut self, passage: &Passage<'_>) -> PassageTokens {
        let mut tokens = PassageTokens {
            kind: self.rows(passage.kind, NAME_BUDGET),
            name: self.rows(passage.name, NAME_BUDGET),
            scopes: self.rows(passage.scopes(), NAME_BUDGET),
            signature: self.rows(passage.signature, SIGNATURE_BUDGET),
            path: self.rows(passage.path_tail(), NAME_BUDGET),
            doc: self.rows(passage.doc, TOKEN_BUDGET),
            body: Vec::new(),
        };
        tokens.body = self.rows(passage.body, TOKEN_BUDGET + tokens.doc.len());
        remove_once(&mut tokens.body, &tokens.doc);
        tokens.body.truncate(TOKEN_BUDGET);
        tokens
    }

    /// Returns the rows of at most `limit` tokens of `text`.
    fn rows(&mut self, text: &str, limit: usize) -> Vec<u32> {
        let mut rows = Vec::with_capacity(limit.min(text.len() / 4));
        let StaticModel { vocabulary, bytes, .. } = self.model;
        pieces(text, &mut |piece| {
            self.known.word_piece(vocabulary, bytes, piece, &mut rows);
            rows.len() < limit
        });
        rows.truncate(limit);
        rows
    }
}

impl PassageTokens {
    /// Returns the distinct tokens.
    pub fn sets(&self) -> TokenSets {
        let code = [&self.name, &self.scopes, &self.signature, &self.path, &self.body];
        TokenSets { code: sorted_set(code.into_iter().flatten()), doc: sorted_set(&self.doc) }
    }
}

/// Removes one occurrence of each element of `others` from `rows`.
fn remove_once(rows: &mut Vec<u32>, others: &[u32]) {
    if others.is_empty() {
        return;
    }
    let mut left: FxHashMap<u32, u32> = FxHashMap::default();
    others.iter().for_each(|&row| *left.entry(row).or_default() += 1);
    rows.retain(|row| match left.get_mut(row) {
        Some(left @ 1..) => {
            *left -= 1;
            false
        }
        _ => true,
    });
}

/// Returns the distinct rows in ascending order.
fn sorted_set<'r>(rows: impl IntoIterator<Item = &'r u32>) -> Vec<u16> {
    let mut set: Vec<u16> = rows.into_iter().filter_map(|&row| u16::try_from(row).ok()).collect();
    set.sort_unstable();
    set.dedup();
    set
}

impl QueryEmbedder for StaticModel {
    fn id(&self) -> &str {
        &self.id
    }

    fn dimensions(&self) -> usize {
        self.table.dimensions()
    }

    fn embed_query(&self, text: &str) -> Result<Vec<f32>, EmbedError> {
        let mut rows = Vec::new();
        self.rows(text, TOKEN_BUDGET, &mut rows);
        let mut vector = vec![0f32; self.table.dimensions()];
        self.table.add(&self.bytes, &rows, &mut vector);
        normalise(&mut vector);
        Ok(vector)
    }
}

impl Embedder for StaticModel {
    fn embed_unless(
        &self,
        passages: &[Passage<'_>],
        is_stopped: &(dyn Fn() -> bool + Sync),
    ) -> Option<Vec<Result<Vec<f32>, EmbedError>>> {
        let mut reader = self.reader();
        passages.iter().map(|passage| (!is_stopped()).then(|| Ok(self.vector(&reader.read(passage))))).collect()
    }
}

#[cfg(test)]
mod tests;
