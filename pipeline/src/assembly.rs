//! A pipeline that is ready to run, with built stages and their permissions.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use crate::access::{Access, StageKind};
use crate::column::{ColumnSpec, Entity};
use crate::column_table::ColumnName;
use crate::config::RunConfig;
use crate::fingerprint::Fingerprint;
use crate::graph::{EdgeReason, Graph};
use crate::permissions::Permissions;
use crate::plan_diagnostics::{PlanContext, StageSite};
use crate::stage::Stage;
use aurora_diagnostics::Diagnostics;

/// One stage for [`Pipeline::assemble`].
pub struct StagePart {
    /// Name of the stage.
    pub name: String,
    /// The declared access of the stage.
    pub access: Access,
    /// Number of workers of a transform; `None` means one per thread of the run. Ignored for sources and sinks.
    pub workers: Option<usize>,
    /// Names of stages that come before this one.
    pub after: Vec<String>,
    /// The stage.
    pub stage: Box<dyn Stage>,
}

impl StagePart {
    /// Creates a part without `after`. A transform gets one worker per thread of the run.
    pub fn new(name: impl Into<String>, access: Access, stage: Box<dyn Stage>) -> Self {
        Self { name: name.into(), access, workers: None, after: Vec::new(), stage }
    }

    /// The fingerprint of the stage, with the stage's name in the pipeline.
    pub fn fingerprint(&self) -> Fingerprint {
        self.stage.fingerprint().renamed(&self.name)
    }
}

/// A pipeline that is ready to run.
pub struct Pipeline {
    pub(crate) run: RunConfig,
    /// The stages in the order of the plan.
    pub(crate) stages: Vec<BoundStage>,
    pub(crate) steps: Vec<Step>,
    /// Pairs of stage indices: the second stage reads a column that the first one writes.
    data_edges: Vec<(usize, usize)>,
}

/// A built stage with its permissions.
pub(crate) struct BoundStage {
    pub(crate) part: StagePart,
    /// Whether the stage is a transform that adds chunks.
    pub(crate) adds_chunks: bool,
    pub(crate) permissions: Permissions,
    /// Columns that every batch emitted by the stage must have.
    pub(crate) required: Vec<ColumnName>,
}

/// A group of stages that work on the same batch at the same time.
pub(crate) struct Step {
    /// Indices of the stages.
    pub(crate) stages: Vec<usize>,
    /// Columns that no later step uses; they are removed after this step.
    pub(crate) dropped_columns: Vec<ColumnName>,
}

impl Pipeline {
    /// Builds a pipeline from stages, without a file.
    ///
    /// # Errors
    /// Returns all errors in the order of the stages.
    pub fn assemble(run: RunConfig, parts: Vec<StagePart>) -> Result<Self, Diagnostics> {
        let position = |name: &String| parts.iter().position(|part| part.name == *name);
        let predecessors =
            |part: &StagePart| part.after.iter().chain(&part.access.after).filter_map(position).collect();
        let after: Vec<Vec<usize>> = parts.iter().map(predecessors).collect();
        let site =
            |part: &StagePart| StageSite { name: part.name.clone(), location: None, reads: None, writes: Vec::new() };
        let sites: Vec<StageSite> = parts.iter().map(site).collect();
        let context = PlanContext {
            sites: sites.iter().collect(),
            accesses: parts.iter().map(|part| &part.access).collect(),
            disabled: &[],
            broken: &[],
            registry: None,
            known: true,
        };
        let graph = Graph::new(&context, &after).map_err(|errors| {
            let mut found = Diagnostics::default();
            found.extend(errors);
            found
        })?;
        let mut unordered: Vec<Option<StagePart>> = parts.into_iter().map(Some).collect();
        let ordered = graph.order.iter().filter_map(|index| unordered[*index].take()).collect();
        Ok(Self::new(run, ordered, &graph.in_order()))
    }

    /// Creates a pipeline. `parts` must be in the order of the graph.
    pub(crate) fn new(run: RunConfig, parts: Vec<StagePart>, graph: &Graph) -> Self {
        let accesses: Vec<Access> = parts.iter().map(|part| part.access.clone()).collect();
        let uses = StageColumns { accesses: &accesses, level: &graph.level };
        let last_use = uses.last();
        let mut steps: Vec<Step> = Vec::new();
        for (index, level) in graph.level.iter().enumerate() {
            while steps.len() <= *level {
                steps.push(Step { stages: Vec::new(), dropped_columns: Vec::new() });
            }
            steps[*level].stages.push(index);
        }
        for (name, level) in &last_use {
            steps[*level].dropped_columns.push(name.clone());
        }
        let stages = parts
            .into_iter()
            .enumerate()
            .map(|(index, part)| {
                let step = graph.level[index];
                let kind = part.access.kind;
                let writes_chunks =
                    part.access.written().any(|column| Entity::from_column(column.name()) == Some(Entity::Chunk));
                BoundStage {
                    permissions: Permissions::new(&part.name, &part.access, |name| last_use.get(name) == Some(&step)),
                    required: uses.required_later(step, kind, &part.access),
                    adds_chunks: kind == StageKind::Transform && part.access.restructures && writes_chunks,
                    part,
                }
            })
            .collect();
        let is_data = |why: &BTreeSet<EdgeReason>| why.iter().any(|why| matches!(why, EdgeReason::Column(_)));
        let data_edges = graph.edges.iter().filter(|(_, why)| is_data(why)).map(|(edge, _)| *edge).collect();
        Self { run, stages, steps, data_edges }
    }

    /// The fingerprint of every stage in the order of the plan, with the stage's name in the pipeline.
    pub fn fingerprints(&self) -> Vec<Fingerprint> {
        self.stages.iter().map(|stage| stage.part.fingerprint()).collect()
    }

    /// Returns the given stages and all stages that directly or indirectly read columns of the given stages.
    pub fn with_dependants<'a>(&self, stages: impl IntoIterator<Item = &'a str>) -> BTreeSet<String> {
        let given: BTreeSet<&str> = stages.into_iter().collect();
        let mut reached: Vec<bool> = self.stage_names().map(|name| given.contains(name)).collect();
        // Edges are sorted by their first stage and always lead to a later stage, so one pass reaches all dependants.
        for (from, to) in &self.data_edges {
            reached[*to] |= reached[*from];
        }
        let names = self.stage_names().zip(reached);
        names.filter(|(_, reached)| *reached).map(|(name, _)| name.to_owned()).collect()
    }

    /// Returns the stages that determine the values of a column: the stages that write it, the stages whose columns
    /// those writers read (directly or indirectly), and all stages that drop or add rows.
    pub fn makers_of(&self, column: &str) -> BTreeSet<String> {
        let mut makers: Vec<bool> = self.stages.iter().map(|stage| stage.part.access.writes_column(column)).collect();
        for (from, to) in self.data_edges.iter().rev() {
            makers[*from] |= makers[*to];
        }
        let names = self.stages.iter().zip(makers);
        let restructures = |stage: &BoundStage| stage.permissions.restructures;
        names
            .filter(|(stage, is_maker)| *is_maker || restructures(stage))
            .map(|(stage, _)| stage.part.name.clone())
            .collect()
    }

    /// The names of the stages that write a column.
    pub fn writers_of<'a>(&'a self, column: &'a str) -> impl Iterator<Item = &'a str> {
        let parts = self.stages.iter().map(|stage| &stage.part);
        parts.filter(move |part| part.access.writes_column(column)).map(|part| part.name.as_str())
    }

    /// The full names of the columns that a stage writes.
    pub fn written_by<'a>(&'a self, stage: &'a str) -> impl Iterator<Item = &'a str> {
        let stages = self.stages.iter().filter(move |known| known.part.name == stage);
        stages.flat_map(|stage| stage.part.access.written().map(ColumnSpec::name))
    }

    /// The names of the stages whose columns a stage reads, in the order of the plan.
    pub fn read_from<'a>(&'a self, stage: &'a str) -> impl Iterator<Item = &'a str> {
        let edges = self.data_edges.iter().filter(move |(_, to)| self.stages[*to].part.name == stage);
        edges.map(|(from, _)| self.stages[*from].part.name.as_str())
    }

    /// The names of the stages in the order of the plan.
    pub fn stage_names(&self) -> impl Iterator<Item = &str> {
        self.stages.iter().map(|stage| stage.part.name.as_str())
    }
}

/// The columns that each stage uses, with the step of the stage.
struct StageColumns<'a> {
    accesses: &'a [Access],
    level: &'a [usize],
}

impl StageColumns<'_> {
    /// Returns the last step that uses each column.
    fn last(&self) -> BTreeMap<ColumnName, usize> {
        let mut last: BTreeMap<ColumnName, usize> = BTreeMap::new();
        for (access, level) in self.accesses.iter().zip(self.level) {
            for column in access.all_reads().chain(&access.writes) {
                let entry = last.entry(column.name.clone()).or_default();
                *entry = (*entry).max(*level);
            }
        }
        let reads_all = self.accesses.iter().zip(self.level).filter(|(access, _)| access.reads_dynamic.is_some());
        if let Some(end) = reads_all.map(|(_, level)| *level).max() {
            for column in self.accesses.iter().flat_map(|access| &access.writes) {
                if column.is_dynamic() {
                    last.entry(column.name.clone()).and_modify(|level| *level = (*level).max(end));
                }
            }
        }
        last
    }

    /// Returns the columns that a later step requires and that no step in between writes. For a source, returns all
    /// columns that it declares as written.
    fn required_later(&self, step: usize, kind: StageKind, own: &Access) -> Vec<ColumnName> {
        if kind == StageKind::Source {
            return own.writes.iter().map(|column| column.name.clone()).collect();
        }
        let later_stages = || self.accesses.iter().zip(self.level).filter(|(_, level)| **level > step);
        let mut required: Vec<ColumnName> = Vec::new();
        for (reader, level) in later_stages() {
            for column in &reader.reads {
                let written = later_stages().any(|(writer, at)| at < level && writer.writes_column(column.name()));
                if !written && !required.contains(&column.name) {
                    required.push(Cow::clone(&column.name));
                }
            }
        }
        required
    }
}
