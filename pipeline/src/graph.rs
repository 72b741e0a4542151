//! The dependency graph of the stages, built from their declared columns and from `after`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use aurora_diagnostics::Diagnostic;

use crate::access::{DynamicColumns, StageKind};
use crate::column::Entity;
use crate::plan_diagnostics::{PlanContext, no_sink};

/// The reason for an edge from one stage to another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum EdgeReason {
    /// The first stage writes a column that the second reads.
    Column(String),
    /// The second stage names the first in `after`.
    After,
    /// The first stage drops or adds rows that the second uses.
    Rows,
    /// The first stage is the source.
    Source,
}

impl fmt::Display for EdgeReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Column(name) => f.write_str(name),
            Self::After => f.write_str("after"),
            Self::Rows => f.write_str("rows"),
            Self::Source => f.write_str("source"),
        }
    }
}

/// The edges between stages and the resulting order of the stages.
pub(crate) struct Graph {
    pub(crate) edges: BTreeMap<(usize, usize), BTreeSet<EdgeReason>>,
    /// Indices of the stages in topological order.
    pub(crate) order: Vec<usize>,
    /// Length of the longest path to each stage. Stages of the same level share a batch.
    pub(crate) level: Vec<usize>,
    pub(crate) warnings: Vec<Diagnostic>,
}

impl Graph {
    /// Orders the stages. `after` contains, for each stage, the indices of stages that must come before it.
    ///
    /// # Errors
    /// Returns all errors, except those that may only be consequences of other errors.
    pub(crate) fn new(context: &PlanContext<'_>, after: &[Vec<usize>]) -> Result<Self, Vec<Diagnostic>> {
        let mut builder = GraphBuilder { context, edges: BTreeMap::new(), errors: Vec::new() };
        builder.check_sources();
        builder.check_names();
        builder.declared_edges(after);
        builder.column_edges();
        builder.check_writers();
        builder.check_cycles();
        if !builder.errors.is_empty() {
            return Err(builder.errors.into_iter().flatten().collect());
        }
        builder.row_edges(true);
        builder.dynamic_edges();
        builder.row_edges(false);
        Ok(builder.finish())
    }
}

struct GraphBuilder<'a> {
    context: &'a PlanContext<'a>,
    edges: BTreeMap<(usize, usize), BTreeSet<EdgeReason>>,
    /// The errors found. `None` is an error that may only be a consequence of another error.
    errors: Vec<Option<Diagnostic>>,
}

/// The stages that use a column.
#[derive(Default)]
struct ColumnUsers {
    /// Stages that write the column without reading it.
    writers: Vec<usize>,
    /// Stages that read and write the column. The flag is `true` if the stage requires the column.
    updaters: Vec<(usize, bool)>,
    /// Stages that read the column without writing it. The flag is `true` if the stage requires the column.
    readers: Vec<(usize, bool)>,
}

impl ColumnUsers {
    fn all_writers(&self) -> impl Iterator<Item = usize> {
        self.writers.iter().copied().chain(self.updaters.iter().map(|(stage, _)| *stage))
    }
}

impl GraphBuilder<'_> {
    fn check_sources(&mut self) {
        let sources: Vec<usize> = self.stages_of_kind(StageKind::Source).collect();
        match sources.as_slice() {
            [] => self.errors.push(self.context.no_source()),
            [first, others @ ..] => {
                self.errors.extend(others.iter().map(|second| Some(self.context.two_sources(*first, *second))));
            }
        }
    }

    fn check_names(&mut self) {
        for (stage, access) in self.context.accesses.iter().enumerate() {
            for column in access.all_reads().chain(&access.writes) {
                if Entity::from_column(column.name()).is_none() {
                    self.errors.push(Some(self.context.column_name(stage, column.name())));
                }
            }
        }
    }

    fn declared_edges(&mut self, after: &[Vec<usize>]) {
        for (to, after) in after.iter().enumerate() {
            for from in after {
                self.edge(*from, to, EdgeReason::After);
            }
        }
        let source = self.stages_of_kind(StageKind::Source).next();
        if let Some(source) = source {
            for to in (0..self.stages()).filter(|to| self.context.accesses[*to].kind != StageKind::Source) {
                self.edge(source, to, EdgeReason::Source);
            }
        }
    }

    /// Adds edges from the writers of a column to its readers. If a column has several writers, a reader may already
    /// precede one of them because of other edges. No edge is added for this pair: the reader sees the column without
    /// the change by that writer.
    fn column_edges(&mut self) {
        let mut columns = self.users();
        columns.retain(|name, _| Entity::from_column(name).is_some());
        let (single, several): (Vec<_>, Vec<_>) =
            columns.iter().partition(|(_, users)| users.all_writers().count() < 2);
        for (name, users) in single.into_iter().chain(several) {
            let fixed = self.edges.clone();
            let alone = users.all_writers().count() < 2;
            for writer in &users.writers {
                for (updater, _) in &users.updaters {
                    self.edge(*writer, *updater, EdgeReason::Column(name.clone()));
                }
            }
            for (updater, _) in users.updaters.iter().filter(|(_, required)| *required && users.writers.is_empty()) {
                self.errors.push(self.context.missing(*updater, name, None));
            }
            for (reader, required) in &users.readers {
                let mut produced = false;
                for writer in users.all_writers() {
                    if alone || !reaches(&fixed, *reader, writer) {
                        self.edge(writer, *reader, EdgeReason::Column(name.clone()));
                        produced = true;
                    }
                }
                if *required && !produced {
                    self.errors.push(self.context.missing(*reader, name, users.all_writers().next()));
                }
            }
            self.check_types(name);
        }
    }

    fn check_types(&mut self, name: &str) {
        for (writer, access) in self.context.accesses.iter().enumerate() {
            let Some(written) = access.writes.iter().find(|column| column.name() == name) else { continue };
            for (reader, access) in self.context.accesses.iter().enumerate() {
                let Some(read) = access.all_reads().find(|column| column.name() == name) else { continue };
                if !read.cell.accepts(&written.cell) {
                    self.errors.push(Some(self.context.types(reader, read, writer, written)));
                }
            }
        }
    }

    fn check_writers(&mut self) {
        for (column, users) in self.users() {
            let writers: Vec<usize> = users.all_writers().collect();
            for (at, first) in writers.iter().enumerate() {
                for second in &writers[at + 1..] {
                    if !reaches(&self.edges, *first, *second) && !reaches(&self.edges, *second, *first) {
                        let (first, second) = (*first.min(second), *first.max(second));
                        self.errors.push(Some(self.context.unordered(&column, first, second)));
                    }
                }
            }
        }
    }

    /// Reports one shortest cycle for every strongly connected component.
    fn check_cycles(&mut self) {
        let mut known: BTreeSet<usize> = BTreeSet::new();
        for start in 0..self.stages() {
            if known.contains(&start) {
                continue;
            }
            if let Some(path) = shortest_cycle(&self.edges, start) {
                let component = (0..self.stages())
                    .filter(|other| reaches(&self.edges, start, *other) && reaches(&self.edges, *other, start));
                known.extend(component);
                self.errors.push(Some(self.context.cycle(&path)));
            }
        }
    }

    /// Adds edges from each stage that drops or adds rows to all other stages. If `chunks_only` is set, adds only edges
    /// to stages that use chunk columns. Skips pairs of stages that are already ordered by other edges.
    fn row_edges(&mut self, chunks_only: bool) {
        for from in 0..self.stages() {
            let access = self.context.accesses[from];
            if !access.restructures || access.kind == StageKind::Source {
                continue;
            }
            for to in 0..self.stages() {
                let access = self.context.accesses[to];
                let on_chunks = access
                    .all_reads()
                    .chain(&access.writes)
                    .any(|column| Entity::from_column(column.name()) == Some(Entity::Chunk));
                if from != to && (on_chunks || !chunks_only) && !self.ordered(from, to) {
                    self.edge(from, to, EdgeReason::Rows);
                }
            }
        }
    }

    /// Adds edges from the writers of custom columns to the stages that read all custom columns or all custom columns
    /// with certain uses, unless an edge would create a cycle.
    fn dynamic_edges(&mut self) {
        for to in 0..self.stages() {
            let Some(read) = self.context.accesses[to].reads_dynamic else { continue };
            for from in 0..self.stages() {
                let columns = &self.context.accesses[from].writes;
                for column in columns.iter().filter(|column| read.include(column)) {
                    if from != to && !reaches(&self.edges, to, from) {
                        self.edge(from, to, EdgeReason::Column(column.name().to_owned()));
                    }
                }
            }
        }
    }

    fn finish(self) -> Graph {
        let count = self.stages();
        let mut level = vec![0; count];
        let mut order: Vec<usize> = Vec::with_capacity(count);
        while order.len() < count {
            let next = (0..count).find(|node| {
                !order.contains(node) && self.edges.keys().all(|(from, to)| to != node || order.contains(from))
            });
            let Some(next) = next else { break };
            let before = self.edges.keys().filter(|(_, to)| *to == next);
            level[next] = before.map(|(from, _)| level[*from] + 1).max().unwrap_or(0);
            order.push(next);
        }
        order.sort_by_key(|node| (level[*node], *node));
        let warnings = self.warnings();
        Graph { edges: self.edges, order, level, warnings }
    }

    fn warnings(&self) -> Vec<Diagnostic> {
        let accesses = &self.context.accesses;
        let all_dynamic = accesses.iter().any(|access| matches!(access.reads_dynamic, Some(DynamicColumns::All)));
        let mut warnings = Vec::new();
        for (column, users) in self.users() {
            for writer in users.writers.iter().filter(|_| users.updaters.is_empty() && users.readers.is_empty()) {
                let dynamic = accesses[*writer].writes.iter().any(|spec| spec.name() == column && spec.is_dynamic());
                let offered = accesses[*writer].offered.contains(&column);
                if !(dynamic && all_dynamic || offered) {
                    warnings.push(self.context.unread(*writer, &column));
                }
            }
        }
        if self.stages_of_kind(StageKind::Sink).next().is_none() {
            warnings.push(no_sink());
        }
        warnings
    }

    fn users(&self) -> BTreeMap<String, ColumnUsers> {
        let mut columns: BTreeMap<String, ColumnUsers> = BTreeMap::new();
        for (stage, access) in self.context.accesses.iter().enumerate() {
            let names: BTreeSet<&str> = access.all_reads().chain(&access.writes).map(|column| column.name()).collect();
            for name in names {
                let users = columns.entry(name.to_owned()).or_default();
                let required = access.reads.iter().any(|column| column.name() == name);
                match (access.writes_column(name), access.reads_column(name)) {
                    (true, true) => users.updaters.push((stage, required)),
                    (true, false) => users.writers.push(stage),
                    (false, _) => users.readers.push((stage, required)),
                }
            }
        }
        columns
    }

    fn stages_of_kind(&self, kind: StageKind) -> impl Iterator<Item = usize> {
        (0..self.stages()).filter(move |stage| self.context.accesses[*stage].kind == kind)
    }

    /// The number of stages.
    fn stages(&self) -> usize {
        self.context.accesses.len()
    }

    fn ordered(&self, a: usize, b: usize) -> bool {
        reaches(&self.edges, a, b) || reaches(&self.edges, b, a)
    }

    fn edge(&mut self, from: usize, to: usize, why: EdgeReason) {
        self.edges.entry((from, to)).or_default().insert(why);
    }
}

type Edges = BTreeMap<(usize, usize), BTreeSet<EdgeReason>>;

fn successors(edges: &Edges, node: usize) -> impl Iterator<Item = usize> {
    edges.range((node, 0)..=(node, usize::MAX)).map(|((_, to), _)| *to)
}

/// Whether a path of at least one edge leads from `from` to `to`.
pub(crate) fn reaches(edges: &Edges, from: usize, to: usize) -> bool {
    let mut seen = BTreeSet::new();
    let mut open = vec![from];
    while let Some(node) = open.pop() {
        for next in successors(edges, node) {
            if next == to {
                return true;
            }
            if seen.insert(next) {
                open.push(next);
            }
        }
    }
    false
}

/// Returns the shortest cycle through a node: each node with the reason of the edge to the next node.
fn shortest_cycle(edges: &Edges, start: usize) -> Option<Vec<(usize, EdgeReason)>> {
    let mut came_from: BTreeMap<usize, usize> = BTreeMap::new();
    let mut frontier = vec![start];
    while !frontier.is_empty() && !came_from.contains_key(&start) {
        let mut next_frontier = Vec::new();
        for node in frontier {
            for next in successors(edges, node) {
                if let std::collections::btree_map::Entry::Vacant(entry) = came_from.entry(next) {
                    entry.insert(node);
                    next_frontier.push(next);
                }
            }
        }
        frontier = next_frontier;
    }
    let mut path = Vec::new();
    let mut to = start;
    loop {
        let from = *came_from.get(&to)?;
        let why = edges.get(&(from, to))?.first()?.clone();
        path.push((from, why));
        if from == start {
            break;
        }
        to = from;
    }
    path.reverse();
    Some(path)
}

impl Graph {
    /// Returns the same graph with the stages numbered in topological order.
    pub(crate) fn in_order(self) -> Self {
        let number = |stage: usize| self.order.iter().position(|other| *other == stage).unwrap_or(stage);
        let edges = self.edges.iter().map(|((from, to), why)| ((number(*from), number(*to)), why.clone())).collect();
        Self {
            edges,
            level: self.order.iter().map(|stage| self.level[*stage]).collect(),
            order: (0..self.order.len()).collect(),
            warnings: self.warnings,
        }
    }
}
