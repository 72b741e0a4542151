//! A pipeline put together: stages made, their rights on batches worked out, ready to run.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::access::{Access, Kind};
use crate::column::Entity;
use crate::config::RunConfig;
use crate::diagnostics::Diagnostics;
use crate::faults::{Setting, StageSite};
use crate::grant::Grant;
use crate::graph::{Graph, Node};
use crate::stage::{Fingerprint, Stage};
use crate::table::Name;

/// One stage for [`Pipeline::assemble`].
pub struct Part {
    /// Name of the stage.
    pub name: String,
    /// Its declared columns.
    pub access: Access,
    /// Number of workers; `None` leaves it to the executor. Sources and sinks have one in any case.
    pub workers: Option<usize>,
    /// Stages, by name, which come before.
    pub after: Vec<String>,
    /// The stage.
    pub stage: Box<dyn Stage>,
}

impl Part {
    /// A stage with as many workers as there are jobs.
    pub fn new(name: impl Into<String>, access: Access, stage: Box<dyn Stage>) -> Self {
        Self { name: name.into(), access, workers: None, after: Vec::new(), stage }
    }
}

/// A pipeline which is ready to run.
pub struct Pipeline {
    pub(crate) run: RunConfig,
    /// In the order in which a batch meets them.
    pub(crate) stages: Vec<Assembled>,
    pub(crate) steps: Vec<Step>,
}

/// A stage with its rights.
pub(crate) struct Assembled {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) workers: Option<usize>,
    /// A transform that adds chunks.
    pub(crate) grows: bool,
    pub(crate) stage: Box<dyn Stage>,
    pub(crate) grant: Grant,
    /// Columns which a batch that the stage emits must have.
    pub(crate) required: Vec<Name>,
}

/// Stages which see a batch side by side.
pub(crate) struct Step {
    /// By index.
    pub(crate) stages: Vec<usize>,
    /// Columns at which nobody looks afterwards.
    pub(crate) drops: Vec<Name>,
}

impl Pipeline {
    /// Puts a pipeline together without a file.
    ///
    /// # Errors
    /// Everything that is wrong with the order of the stages, at once.
    pub fn assemble(run: RunConfig, parts: Vec<Part>) -> Result<Self, Diagnostics> {
        let position = |name: &String| parts.iter().position(|part| part.name == *name);
        let nodes: Vec<Node<'_>> = parts
            .iter()
            .map(|part| Node {
                access: &part.access,
                after: part.after.iter().chain(&part.access.after).filter_map(position).collect(),
            })
            .collect();
        match Graph::new(&nodes) {
            Ok(graph) => {
                drop(nodes);
                let mut slots: Vec<Option<Part>> = parts.into_iter().map(Some).collect();
                let ordered = graph.order.iter().filter_map(|index| slots[*index].take()).collect();
                Ok(Self::new(run, ordered, &graph.in_order()))
            }
            Err(faults) => {
                let sites: Vec<StageSite> = parts
                    .iter()
                    .map(|part| StageSite { name: part.name.clone(), location: None, writes: Vec::new() })
                    .collect();
                let setting = Setting {
                    sites: sites.iter().collect(),
                    accesses: parts.iter().map(|part| &part.access).collect(),
                    disabled: &[],
                    registry: None,
                    known: true,
                };
                let mut found = Diagnostics::default();
                faults.iter().filter_map(|fault| setting.fault(fault)).for_each(|item| found.push(item));
                Err(found)
            }
        }
    }

    /// `parts` are in the order of the graph.
    pub(crate) fn new(run: RunConfig, parts: Vec<Part>, graph: &Graph) -> Self {
        let accesses: Vec<Access> = parts.iter().map(|part| part.access.clone()).collect();
        let uses = Uses { accesses: &accesses, level: &graph.level };
        let last_use = uses.last();
        let mut steps: Vec<Step> = Vec::new();
        for (index, level) in graph.level.iter().enumerate() {
            while steps.len() <= *level {
                steps.push(Step { stages: Vec::new(), drops: Vec::new() });
            }
            steps[*level].stages.push(index);
        }
        for (name, level) in &last_use {
            steps[*level].drops.push(name.clone());
        }
        let stages = parts
            .into_iter()
            .enumerate()
            .map(|(index, part)| {
                let step = graph.level[index];
                let kind = part.access.kind;
                let writes_chunks =
                    part.access.written().any(|column| Entity::of_column(column.name()) == Some(Entity::Chunk));
                Assembled {
                    grant: Grant::new(&part.name, &part.access, |name| last_use.get(name) == Some(&step)),
                    required: uses.required_behind(step, kind, &part.access),
                    name: part.name,
                    kind,
                    workers: part.workers,
                    grows: kind == Kind::Transform && part.access.restructures && writes_chunks,
                    stage: part.stage,
                }
            })
            .collect();
        Self { run, stages, steps }
    }

    /// The fingerprint of every stage in the order of the plan, under the stage's name in the pipeline.
    pub fn fingerprints(&self) -> Vec<Fingerprint> {
        self.stages.iter().map(|stage| stage.stage.fingerprint().renamed(&stage.name)).collect()
    }

    /// The names of the stages in the order of the plan.
    pub fn stage_names(&self) -> impl Iterator<Item = &str> {
        self.stages.iter().map(|stage| stage.name.as_str())
    }
}

/// Who looks at which column, and when.
struct Uses<'a> {
    accesses: &'a [Access],
    level: &'a [usize],
}

impl Uses<'_> {
    /// For every column, the last step that has to do with it.
    fn last(&self) -> BTreeMap<Name, usize> {
        let mut last: BTreeMap<Name, usize> = BTreeMap::new();
        for (access, level) in self.accesses.iter().zip(self.level) {
            for column in access.all_reads().chain(&access.writes) {
                let entry = last.entry(column.name.clone()).or_default();
                *entry = (*entry).max(*level);
            }
        }
        let reads_all = self.accesses.iter().zip(self.level).filter(|(access, _)| access.reads_dynamic);
        if let Some(end) = reads_all.map(|(_, level)| *level).max() {
            for column in self.accesses.iter().flat_map(|access| &access.writes) {
                if column.is_dynamic() {
                    last.entry(column.name.clone()).and_modify(|level| *level = (*level).max(end));
                }
            }
        }
        last
    }

    /// Columns which some step behind needs and none behind writes before it. A source owes all that it declares.
    fn required_behind(&self, step: usize, kind: Kind, own: &Access) -> Vec<Name> {
        if kind == Kind::Source {
            return own.writes.iter().map(|column| column.name.clone()).collect();
        }
        let behind = || self.accesses.iter().zip(self.level).filter(|(_, level)| **level > step);
        let mut required: Vec<Name> = Vec::new();
        for (reader, level) in behind() {
            for column in &reader.reads {
                let written = behind().any(|(writer, at)| at < level && writer.writes_column(column.name()));
                if !written && !required.contains(&column.name) {
                    required.push(Cow::clone(&column.name));
                }
            }
        }
        required
    }
}
