//! Reports of the relations of a definition.

use aurora_query::{BranchEnd, Named, Relation, RelationIndex, RelationTree, TreeNode, TreeOptions};
use aurora_storage::{ChunkId, ChunkType, LabelKind, Snapshot, StorageError};
use serde::Serialize;

use crate::chunk_name::{MAX_COMPARED_BYTES, Names};
use crate::error::ProjectError;

/// Maximum number of definitions that an error lists.
const MAX_LISTED: usize = 10;
/// Maximum number of names that an error suggests.
const MAX_SUGGESTIONS: usize = 3;

/// Resolves a name, a location (`path:line`) or an id to a definition, or to a member without a chunk.
///
/// # Errors
/// Returns [`ProjectError::UnknownName`], [`ProjectError::AmbiguousName`] or [`ProjectError::OutsideRoot`] if `name`
/// cannot be resolved. Also fails if the index cannot be read or the request was cancelled.
pub fn definition(names: &Names<'_>, relations: &RelationIndex<'_>, name: &str) -> Result<Named, ProjectError> {
    if let Some((id, _)) = names.find_chunk(name)? {
        return Ok(id.into());
    }
    match relations.find(name)?.as_slice() {
        [] => {
            names.check_location(name)?;
            Err(ProjectError::UnknownName { name: name.to_owned(), near: similar_names(names, relations, name)? })
        }
        [one] => Ok(one.clone()),
        several => {
            let listed = several.iter().take(MAX_LISTED);
            let ids = listed.filter_map(|named| names.snapshot.chunk(named.id).transpose());
            let ids = ids.map(|chunk| Ok(chunk?.key().into_owned())).collect::<Result<_, StorageError>>()?;
            Err(ProjectError::AmbiguousName { name: name.to_owned(), count: several.len(), ids })
        }
    }
}

/// Returns the qualified names of definitions with names similar to the last part of `name`, nearest first. Empty if
/// this part is longer than [`MAX_COMPARED_BYTES`].
fn similar_names(names: &Names<'_>, relations: &RelationIndex<'_>, name: &str) -> Result<Vec<String>, ProjectError> {
    let last = name.rsplit(['.', ':', '#', '/', '\\']).next().unwrap_or(name);
    if last.len() > MAX_COMPARED_BYTES {
        return Ok(Vec::new());
    }
    let last = last.to_lowercase();
    let most = (last.chars().count() / 4).max(1);
    let mut near = Vec::new();
    for label in names.snapshot.labels(LabelKind::Defines) {
        names.check()?;
        let (other, _) = label?;
        if let Some(distance) = aurora_suggest::distance_within(&other, &last, most) {
            near.push((distance, other));
        }
    }
    near.sort();
    let mut shown = Vec::new();
    for (_, other) in near.into_iter().take(MAX_LISTED) {
        let found = relations.find(&other)?.into_iter().filter(|named| named.member.is_none());
        for named in found.take(MAX_SUGGESTIONS) {
            shown.extend(names.snapshot.chunk(named.id)?.map(|chunk| chunk.qualified_name().to_owned()));
        }
    }
    shown.dedup();
    shown.truncate(MAX_SUGGESTIONS);
    Ok(shown)
}

/// The relations of a definition, and the relations of the related definitions, for programs.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RelationReport {
    /// The relation: `callees`, `callers` or `implementers`.
    pub relation: &'static str,
    /// Maximum number of steps from the definition.
    pub depth: u32,
    /// Minimum confidence of the relations in the report.
    pub min_confidence: f64,
    /// The requested definition.
    pub root: RelatedChunk,
    /// Other declarations of the definition, such as prototypes in headers. Omitted if empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub declarations: Vec<RelatedChunk>,
    /// Number of relations that were left out because of low confidence.
    pub left_out: usize,
    /// Names that the definition calls and that are not defined in the repository, sorted.
    pub external: Vec<String>,
    /// Whether the report is complete: nothing was left out because of limits on its size.
    pub complete: bool,
}

/// A definition in a [`RelationReport`].
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct RelatedChunk {
    /// Key of the first chunk of the definition.
    pub id: String,
    /// Type of the chunk.
    #[serde(rename = "type")]
    pub chunk_type: &'static str,
    /// Qualified name.
    pub name: String,
    /// Path below the root.
    pub file: String,
    /// First line, from 1.
    pub line_start: u32,
    /// Last line, inclusive.
    pub line_end: u32,
    /// The way in which the relation to the parent definition was found; `None` for the root.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'static str>,
    /// Confidence of the relation, from 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// The reason why nothing is shown below the definition: `cycle` or `repeated`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<&'static str>,
    /// The related definitions, best first; `None` if the branch ends here.
    #[cfg_attr(feature = "schema", schema(no_recursion))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub children: Option<Vec<RelatedChunk>>,
}

/// Creates the report of a tree of relations.
///
/// # Errors
/// Fails if the index cannot be read.
pub fn relations(
    snapshot: &Snapshot,
    tree: &RelationTree,
    options: &TreeOptions,
) -> Result<RelationReport, StorageError> {
    let mut root = related(snapshot, &tree.root)?.unwrap_or_default();
    root.name = root_name(snapshot, tree)?;
    let declarations = tree.declarations.iter().filter_map(|id| described(snapshot, *id).transpose());
    Ok(RelationReport {
        relation: name_of(options.relation),
        depth: options.depth,
        min_confidence: rounded(options.min_confidence),
        root,
        declarations: declarations.collect::<Result<_, StorageError>>()?,
        left_out: tree.left_out,
        external: tree.external.clone(),
        complete: !tree.is_cut,
    })
}

/// Returns the qualified name of the definition or member that the tree was requested for.
///
/// # Errors
/// Fails if the index cannot be read.
pub fn root_name(snapshot: &Snapshot, tree: &RelationTree) -> Result<String, StorageError> {
    named_name(snapshot, tree.root.id, tree.member.as_deref())
}

/// Returns the qualified name of a definition, or of a member that has no chunk.
pub(crate) fn named_name(snapshot: &Snapshot, id: ChunkId, member: Option<&str>) -> Result<String, StorageError> {
    let Some(chunk) = snapshot.chunk(id)? else { return Ok(String::new()) };
    Ok(match member {
        None => chunk.qualified_name().to_owned(),
        Some(member) if chunk.chunk_type() == ChunkType::Code => member.to_owned(),
        Some(member) => format!("{}.{member}", chunk.qualified_name()),
    })
}

/// Creates the report of a node and its children. Recursion is as deep as the tree.
fn related(snapshot: &Snapshot, node: &TreeNode) -> Result<Option<RelatedChunk>, StorageError> {
    let Some(described) = described(snapshot, node.id)? else { return Ok(None) };
    let children = match node.end {
        Some(_) => None,
        None => {
            let children = node.children.iter().filter_map(|child| related(snapshot, child).transpose());
            Some(children.collect::<Result<_, StorageError>>()?)
        }
    };
    Ok(Some(RelatedChunk {
        reason: node.relation.map(|(reason, _)| reason.as_str()),
        confidence: node.relation.map(|(_, confidence)| rounded(confidence)),
        end: node.end.map(|end| match end {
            BranchEnd::Cycle => "cycle",
            BranchEnd::Repeated => "repeated",
        }),
        children,
        ..described
    }))
}

/// Describes a definition without its relations.
pub(crate) fn described(snapshot: &Snapshot, id: ChunkId) -> Result<Option<RelatedChunk>, StorageError> {
    let Some(chunk) = snapshot.chunk(id)? else { return Ok(None) };
    let key = chunk.key().into_owned();
    let mut line_end = chunk.line_end();
    // The definition may be split into several chunks.
    for piece in 2.. {
        let Some((_, piece)) = snapshot.chunk_by_key(&format!("{key}~{piece}"))? else { break };
        line_end = line_end.max(piece.line_end());
    }
    Ok(Some(RelatedChunk {
        id: key,
        chunk_type: chunk.chunk_type().as_str(),
        name: chunk.qualified_name().to_owned(),
        file: chunk.path().to_owned(),
        line_start: chunk.line_start(),
        line_end,
        ..RelatedChunk::default()
    }))
}

fn name_of(relation: Relation) -> &'static str {
    match relation {
        Relation::Callees => "callees",
        Relation::Callers => "callers",
        Relation::Implementers => "implementers",
    }
}

/// Rounds to three decimals, because a confidence is no more precise than that.
pub(crate) fn rounded(confidence: f32) -> f64 {
    (f64::from(confidence) * 1000.0).round() / 1000.0
}
