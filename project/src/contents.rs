//! Statistics of an index.

use aurora_query::{Facet, facets};
use aurora_stages::index::{ColumnState, column_states};
use aurora_storage::{ChunkType, LabelKind, Snapshot, StorageError, TableSize};
use serde::Serialize;

use crate::project::Project;
use crate::stamp;

/// Statistics of an index, for programs.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Serialize)]
pub struct ContentsReport {
    /// The indexed directory.
    pub root: String,
    /// Number of the generation.
    pub generation: u64,
    /// Whether the last run processed everything that was requested, and every stage has a result for every row.
    pub complete: bool,
    /// Time at which the index was created, as `2025-12-29T08:00:00Z`.
    pub created: String,
    /// Time at which the generation was published.
    pub updated: String,
    /// The commit that was checked out; `None` without a git repository.
    pub head_commit: Option<String>,
    /// Number of files in the index.
    pub files: u64,
    /// Number of chunks in the index.
    pub chunks: u64,
    /// Numbers of chunks by type.
    pub types: Vec<Share>,
    /// Numbers of chunks by language, highest first.
    pub languages: Vec<Share>,
    /// Columns of custom stages, with their values.
    pub columns: Vec<Facet>,
    /// Completeness of the columns of custom stages.
    pub column_states: Vec<ColumnState>,
    /// The model that computed the vectors; `None` if the index has no vectors.
    pub model: Option<ModelShape>,
    /// Size of the index on disk, in bytes.
    pub index_bytes: u64,
    /// Sizes of the tables.
    pub tables: Vec<TableSize>,
    /// Number of segments of the inverted index.
    pub segments: usize,
    /// Number of terms in all segments.
    pub terms: u64,
    /// Number of postings in all segments.
    pub postings: u64,
}

/// The number of chunks with a common property.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Serialize)]
pub struct Share {
    /// The common property.
    pub name: String,
    /// Number of chunks.
    pub chunks: u32,
}

/// An embedding model.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Serialize)]
pub struct ModelShape {
    /// Id of the model.
    pub id: String,
    /// Number of dimensions of a vector.
    pub dimensions: usize,
}

/// Computes statistics of one generation of the project's index.
///
/// # Errors
/// Fails if the index cannot be read.
pub fn contents(project: &Project, snapshot: &Snapshot) -> Result<ContentsReport, StorageError> {
    let manifest = snapshot.manifest();
    let shares = |kind| {
        let rows = snapshot.labels(kind);
        rows.map(|row| row.map(|(name, chunks)| Share { name, chunks })).collect::<Result<Vec<_>, _>>()
    };
    let mut types = shares(LabelKind::Type)?;
    let rank = |share: &Share| ChunkType::ALL.iter().position(|kind| kind.as_str() == share.name);
    types.sort_by_key(|share| rank(share));
    let mut languages = shares(LabelKind::Language)?;
    languages.sort_by(|a, b| b.chunks.cmp(&a.chunks).then_with(|| a.name.cmp(&b.name)));
    Ok(ContentsReport {
        root: project.root().display().to_string(),
        generation: manifest.generation,
        complete: snapshot.is_complete()?,
        created: stamp(manifest.created),
        updated: stamp(manifest.updated),
        head_commit: manifest.head_commit.clone(),
        files: manifest.file_count,
        chunks: manifest.chunk_count,
        types,
        languages,
        columns: facets(snapshot)?,
        column_states: column_states(snapshot)?,
        model: manifest.model.as_ref().map(|model| ModelShape { id: model.id.clone(), dimensions: model.dimensions }),
        index_bytes: project.index_bytes(),
        tables: snapshot.table_sizes()?,
        segments: manifest.segments.len(),
        terms: manifest.segments.iter().map(|segment| segment.terms).sum(),
        postings: manifest.segments.iter().map(|segment| segment.postings).sum(),
    })
}
