//! A plan: stages that are checked and ordered, but not built.

use std::fmt::Write as _;

use toml::{Table, Value as TomlValue};

use crate::access::{Access, StageKind};
use crate::assembly::{Pipeline, StagePart};
use crate::byte_size::format_bytes;
use crate::column::ColumnSpec;
use crate::config::RunConfig;
use crate::graph::{EdgeReason, Graph};
use crate::program_spec::ProgramSpec;
use crate::registry::ParsedConfig;
use crate::stage::{BuildContext, Stage};
use crate::stage_error::StageError;
use aurora_diagnostics::{Diagnostics, Location};

/// A checked pipeline whose stages are not built.
pub struct Plan {
    pub(crate) run: RunConfig,
    /// The stages in the order of the graph.
    pub(crate) stages: Vec<PlannedStage>,
    pub(crate) graph: Graph,
    pub(crate) warnings: Diagnostics,
}

/// A function that may replace a stage. Returns the replacement and the columns that the replacement reads, or `None`
/// if the stage is not replaced.
pub type StandIn<'f> = &'f mut dyn FnMut(&PlannedStage) -> Option<(Box<dyn Stage>, Vec<ColumnSpec>)>;

/// One stage of a plan.
pub struct PlannedStage {
    pub(crate) name: String,
    pub(crate) location: Option<Location>,
    pub(crate) type_name: String,
    pub(crate) access: Access,
    pub(crate) workers: Option<usize>,
    pub(crate) thresholds: Thresholds,
    pub(crate) after: Vec<String>,
    pub(crate) table: Table,
    pub(crate) step: usize,
    pub(crate) config: Box<dyn ParsedConfig>,
}

/// Limits of a stage. A run that violates one of them does not count as a success.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Thresholds {
    /// Maximum number of failed rows; 0 by default.
    pub max_failed_rows: Option<u64>,
    /// Minimum percentage of chunks that must have a value in each custom column.
    pub min_values: Option<f64>,
}

impl PlannedStage {
    /// The stage's name, as in `[stage.<name>]`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Location of the stage's table in the pipeline file.
    pub fn location(&self) -> Option<&Location> {
        self.location.as_ref()
    }

    /// The stage's type. The pipeline file sets the key `use` if the type differs from the stage's name.
    pub fn type_name(&self) -> &str {
        &self.type_name
    }

    /// Source, transform or sink.
    pub fn kind(&self) -> StageKind {
        self.access.kind
    }

    /// The declared access of the stage.
    pub fn access(&self) -> &Access {
        &self.access
    }

    /// Number of workers set in the pipeline file; `None` means the default of the executor.
    pub fn workers(&self) -> Option<usize> {
        self.workers
    }

    /// The values of `max_failed_rows` and `min_values`.
    pub fn thresholds(&self) -> Thresholds {
        self.thresholds
    }

    /// The external program that the stage runs.
    pub fn program(&self) -> Option<ProgramSpec> {
        self.config.program()
    }

    /// The settings of the stage, without the keys that all stages have.
    pub fn config(&self) -> &Table {
        &self.table
    }

    /// Number of the stage's step, from 1. Stages of the same step share a batch.
    pub fn step(&self) -> usize {
        self.step
    }

    /// Builds only this stage, for use in another pipeline.
    ///
    /// # Errors
    /// Returns the reason why the stage cannot be built. The message names the stage.
    pub fn build(self, cx: &BuildContext<'_>) -> Result<StagePart, StageError> {
        let Self { name, access, workers, config, .. } = self;
        let stage = config.build(cx).map_err(|error| StageError::caused(format!("stage `{name}`: {error}"), error))?;
        Ok(StagePart { name, access, workers, after: Vec::new(), stage })
    }
}

impl Plan {
    /// Creates a plan. The indices of `stages` must match the graph.
    pub(crate) fn new(run: RunConfig, stages: Vec<PlannedStage>, graph: Graph, warnings: Diagnostics) -> Self {
        let mut unordered: Vec<Option<PlannedStage>> = stages.into_iter().map(Some).collect();
        let ordered = graph.order.iter().filter_map(|index| {
            let mut stage = unordered[*index].take()?;
            stage.step = graph.level[*index] + 1;
            Some(stage)
        });
        let stages = ordered.collect();
        let graph = graph.in_order();
        Self { run, stages, graph, warnings }
    }

    /// The stages in the order of the plan.
    pub fn stages(&self) -> &[PlannedStage] {
        &self.stages
    }

    /// Consumes the plan and returns one of its stages.
    pub fn into_stage(self, name: &str) -> Option<PlannedStage> {
        self.stages.into_iter().find(|stage| stage.name == name)
    }

    /// The limits of the run, from the table `[run]`.
    pub fn run_config(&self) -> &RunConfig {
        &self.run
    }

    /// The warnings about unusual parts of the pipeline.
    pub fn warnings(&self) -> &Diagnostics {
        &self.warnings
    }

    /// Formats the plan as TOML that loads to the same plan. The result has an explicit order of stages, no `extends`,
    /// and no disabled stages.
    pub fn show(&self) -> String {
        let mut run = Table::new();
        run.insert("memory".to_owned(), TomlValue::String(format_bytes(self.run.memory)));
        if let Some(jobs) = self.run.jobs {
            run.insert("jobs".to_owned(), number(jobs));
        }
        run.insert("batch_files".to_owned(), number(self.run.batch_files));
        run.insert("queue_batches".to_owned(), number(self.run.queue_batches));
        let mut text = format!("[run]\n{run}");
        for stage in &self.stages {
            let mut table = Table::new();
            if stage.type_name != stage.name {
                table.insert("use".to_owned(), TomlValue::String(stage.type_name.clone()));
            }
            if let Some(workers) = stage.workers {
                table.insert("workers".to_owned(), number(workers));
            }
            if let Some(rows) = stage.thresholds.max_failed_rows {
                table.insert("max_failed_rows".to_owned(), TomlValue::Integer(i64::try_from(rows).unwrap_or(i64::MAX)));
            }
            if let Some(percent) = stage.thresholds.min_values {
                table.insert("min_values".to_owned(), TomlValue::Float(percent));
            }
            let present = |name: &&String| self.stages.iter().any(|stage| stage.name == **name);
            let after: Vec<TomlValue> = stage.after.iter().filter(present).cloned().map(TomlValue::String).collect();
            if !after.is_empty() {
                table.insert("after".to_owned(), TomlValue::Array(after));
            }
            table.extend(stage.table.clone());
            let stages = Table::from_iter([(stage.name.clone(), TomlValue::Table(table))]);
            let root = Table::from_iter([("stage".to_owned(), TomlValue::Table(stages))]);
            let _ = write!(text, "\n{root}");
        }
        text
    }

    /// Formats the plan as a table with one line per stage: the step, the name and kind of the stage, and the columns
    /// that it reads and writes.
    pub fn graph_text(&self) -> String {
        let width = self.stages.iter().map(|stage| stage.name.chars().count()).max().unwrap_or(0);
        let mut text = String::new();
        let mut step = 0;
        for stage in &self.stages {
            let number = if stage.step == step { String::new() } else { stage.step.to_string() };
            step = stage.step;
            let mut columns = names(stage.access.all_reads());
            for (present, what) in
                [(stage.access.reads_dynamic.is_some(), "custom columns"), (stage.access.restructures, "rows")]
            {
                if present {
                    columns.push(what.to_owned());
                }
            }
            let written = names(stage.access.written());
            let arrow = if written.is_empty() { String::new() } else { format!("-> {}", written.join(", ")) };
            let columns = [columns.join(", "), arrow].join(" ");
            let kind = stage.kind().as_str();
            let line = format!("{number:>2}  {:width$}  {kind:9}  {}", stage.name, columns.trim_start());
            let _ = writeln!(text, "{}", line.trim_end());
        }
        text
    }

    /// Formats the plan as a graph in Graphviz' DOT language. Edges are labelled with the columns that cause them.
    pub fn graph_dot(&self) -> String {
        let mut text = String::from("digraph pipeline {\n  rankdir = LR;\n  node [shape = box];\n");
        for stage in &self.stages {
            let shape = if stage.kind() == StageKind::Transform { "" } else { ", style = bold" };
            let _ = writeln!(text, "  {} [label = {}{shape}];", dot(&stage.name), dot(&stage.name));
        }
        for ((from, to), reasons) in &self.graph.edges {
            let fed = self.graph.edges.iter().any(|((_, other), why)| other == to && !only_source(why));
            let reasons: Vec<String> =
                reasons.iter().filter(|why| **why != EdgeReason::Source).map(EdgeReason::to_string).collect();
            if reasons.is_empty() && fed {
                continue;
            }
            let (from, to) = (dot(&self.stages[*from].name), dot(&self.stages[*to].name));
            let _ = writeln!(text, "  {from} -> {to} [label = {}];", dot(&reasons.join("\n")));
        }
        text.push_str("}\n");
        text
    }

    /// Builds every stage.
    ///
    /// # Errors
    /// Returns the error of the first stage that cannot be built. The message names the stage.
    pub fn build(self, cx: &BuildContext<'_>) -> Result<Pipeline, StageError> {
        self.build_with(cx, &mut |_| None)
    }

    /// Builds every stage, except stages for which `stand_in` returns a replacement. The replacement reads the returned
    /// columns if they exist, and writes the columns that the replaced stage declares.
    ///
    /// # Errors
    /// See [`Plan::build`].
    pub fn build_with(self, cx: &BuildContext<'_>, stand_in: StandIn<'_>) -> Result<Pipeline, StageError> {
        let mut parts = Vec::with_capacity(self.stages.len());
        for planned in self.stages {
            parts.push(match stand_in(&planned) {
                Some((stage, reads)) => {
                    let PlannedStage { name, access, .. } = planned;
                    let access = access.reads_optional(reads);
                    StagePart { name, access, workers: None, after: Vec::new(), stage }
                }
                None => planned.build(cx)?,
            });
        }
        Ok(Pipeline::new(self.run, parts, &self.graph))
    }
}

fn number(value: usize) -> TomlValue {
    TomlValue::Integer(i64::try_from(value).unwrap_or(i64::MAX))
}

fn names<'a>(columns: impl Iterator<Item = &'a ColumnSpec>) -> Vec<String> {
    columns.map(|column| column.name().to_owned()).collect()
}

fn only_source(reasons: &std::collections::BTreeSet<EdgeReason>) -> bool {
    reasons.iter().all(|why| *why == EdgeReason::Source)
}

fn dot(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}
