//! Reports of the definitions, files and tests that a change may affect.

use std::collections::{BTreeMap, BTreeSet};

use aurora_query::{Impact, ImpactOptions, Named, RelationIndex};
use aurora_storage::{ChunkId, Snapshot, StorageError};
use rustc_hash::FxHashMap;
use serde::Serialize;

use crate::changed_definitions::{ChangedFile, SourceChanges, indexed};
use crate::error::ProjectError;
use crate::relations::{RelatedChunk, described, named_name, rounded};

/// The definitions that a change may affect, for programs.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ImpactReport {
    /// The compared revisions, as given. Omitted if a definition was requested, or the working tree.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range: Option<String>,
    /// The differing files. Omitted if a definition was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<Vec<ChangedFile>>,
    /// The requested definition, or the definitions that the differing lines touch.
    pub changed: Vec<ChangedChunk>,
    /// Maximum number of steps from a changed definition.
    pub depth: u32,
    /// Minimum confidence of the affected definitions.
    pub min_confidence: f64,
    /// Affected definitions outside of tests, by ascending distance and descending confidence.
    pub affected: Vec<AffectedChunk>,
    /// Affected definitions in tests.
    pub tests: Vec<AffectedChunk>,
    /// Files with affected definitions outside of tests, sorted.
    pub affected_files: Vec<String>,
    /// Files with affected or changed tests, sorted.
    pub test_files: Vec<String>,
    /// Number of relations that were left out because of low confidence.
    pub left_out: usize,
    /// Number of changed definitions that the index does not contain.
    pub not_indexed: usize,
    /// Whether the report is complete: nothing was left out because of limits.
    pub complete: bool,
}

/// A changed definition in an [`ImpactReport`].
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ChangedChunk {
    /// Key of the first chunk of the definition. Omitted if the index does not contain the definition.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Qualified name.
    pub name: String,
    /// Path below the root.
    pub file: String,
    /// First line, from 1.
    pub line_start: u32,
    /// The change: `added`, `changed` or `removed`.
    pub change: &'static str,
}

/// An affected definition in an [`ImpactReport`].
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct AffectedChunk {
    /// The definition. Its reason belongs to the first step of the chain, and its confidence to the whole chain.
    #[serde(flatten)]
    pub chunk: RelatedChunk,
    /// Number of steps from the changed definition.
    pub distance: u32,
    /// The steps from the definition to the changed definition.
    pub chain: Vec<ChainStep>,
}

/// A step from an affected definition towards the changed definition.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ChainStep {
    /// The way in which the definition depends on the next one: `calls`, `uses`, `extends` or `overrides`.
    pub relation: &'static str,
    /// Qualified name of the next definition.
    pub name: String,
    /// The way in which the relation was found.
    pub reason: &'static str,
}

/// Returns the report of a change of one definition.
///
/// # Errors
/// Fails if the index cannot be read.
pub fn impact_of(
    snapshot: &Snapshot,
    relations: &RelationIndex<'_>,
    named: &Named,
    options: &ImpactOptions,
) -> Result<ImpactReport, ProjectError> {
    let impact = relations.impact(std::slice::from_ref(named), options)?;
    let mut report = ImpactReport { complete: !impact.is_cut, ..empty(options) };
    if let Some(root) = described(snapshot, named.id)? {
        report.changed.push(ChangedChunk {
            id: Some(root.id),
            name: named_name(snapshot, named.id, named.member.as_deref())?,
            file: root.file,
            line_start: root.line_start,
            change: "changed",
        });
    }
    let names = FxHashMap::from_iter(report.changed.iter().map(|changed| (named.id, changed.name.clone())));
    report.add(snapshot, &impact, &names)?;
    Ok(report)
}

/// Returns the report of the changes between two versions of the sources.
///
/// # Errors
/// Fails if the index cannot be read.
pub fn impact_of_changes(
    snapshot: &Snapshot,
    relations: &RelationIndex<'_>,
    changes: SourceChanges,
    options: &ImpactOptions,
) -> Result<ImpactReport, ProjectError> {
    let mut report = ImpactReport { complete: changes.is_complete, ..empty(options) };
    let (mut roots, mut removed) = (Vec::new(), Vec::new());
    let mut names: FxHashMap<ChunkId, String> = FxHashMap::default();
    for changed in &changes.definitions {
        let named = indexed(relations, changed)?;
        let id = match &named {
            Some(named) => snapshot.chunk(named.id)?.map(|chunk| chunk.key().into_owned()),
            None => None,
        };
        report.not_indexed += usize::from(id.is_none() && changed.change != "removed");
        if changed.change == "removed" {
            removed.push((changed, relations.callers_of_removed(&changed.file, &changed.name, changed.is_member)?));
        }
        if let Some(named) = named {
            names.entry(named.id).or_insert_with(|| changed.qualified_name.clone());
            roots.push(named);
        }
        report.changed.push(ChangedChunk {
            id,
            name: changed.qualified_name.clone(),
            file: changed.file.clone(),
            line_start: changed.line,
            change: changed.change,
        });
    }
    // The callers of removed definitions must change, so their own callers are affected as well.
    let mut broken = BTreeMap::new();
    for (changed, impact) in &removed {
        report.complete &= !impact.is_cut;
        for affected in &impact.affected {
            names.insert(affected.id, changed.qualified_name.clone());
            broken.entry(affected.id.0).or_insert_with(|| affected.clone());
        }
    }
    let changed: BTreeSet<ChunkId> = roots.iter().filter(|root| root.member.is_none()).map(|root| root.id).collect();
    roots.extend(broken.keys().map(|id| Named::from(ChunkId(*id))));
    let mut impact = relations.impact(&roots, options)?;
    impact.affected.splice(0..0, broken.into_values().filter(|one| !changed.contains(&one.id)));
    report.complete &= !impact.is_cut;
    report.add(snapshot, &impact, &names)?;
    let is_test = |file: &str| aurora_query::is_test(file);
    report.test_files.extend(
        changes
            .files
            .iter()
            .filter(|file| file.change != "removed" && is_test(&file.file))
            .map(|file| file.file.clone()),
    );
    report.test_files.sort();
    report.test_files.dedup();
    report.range = Some(changes.range).filter(|range| !range.is_empty());
    report.files = Some(changes.files);
    Ok(report)
}

fn empty(options: &ImpactOptions) -> ImpactReport {
    ImpactReport { depth: options.depth, min_confidence: rounded(options.min_confidence), ..ImpactReport::default() }
}

impl ImpactReport {
    /// Adds the affected definitions. `changed` contains the names of changed definitions.
    fn add(
        &mut self,
        snapshot: &Snapshot,
        impact: &Impact,
        changed: &FxHashMap<ChunkId, String>,
    ) -> Result<(), StorageError> {
        self.left_out = impact.left_out;
        let (mut files, mut test_files) = (BTreeSet::new(), BTreeSet::new());
        for affected in &impact.affected {
            let Some(chunk) = described(snapshot, affected.id)? else { continue };
            let mut chain = Vec::new();
            for step in &affected.chain {
                let name = match changed.get(&step.of) {
                    Some(name) => name.clone(),
                    None => named_name(snapshot, step.of, step.member.as_deref())?,
                };
                chain.push(ChainStep { relation: step.effect.as_str(), name, reason: step.reason.as_str() });
            }
            let distance = affected.chain.len() as u32;
            let reason = affected.chain.first().map(|step| step.reason.as_str());
            let chunk = RelatedChunk { reason, confidence: Some(rounded(affected.confidence)), ..chunk };
            let (list, files) = match affected.is_test {
                true => (&mut self.tests, &mut test_files),
                false => (&mut self.affected, &mut files),
            };
            files.insert(chunk.file.clone());
            list.push(AffectedChunk { chunk, distance, chain });
        }
        self.affected_files = files.into_iter().collect();
        self.test_files = test_files.into_iter().collect();
        Ok(())
    }
}
