//! The part of a plan that processes rows and stores nothing.

use std::collections::BTreeSet;

use crate::access::StageKind;
use crate::graph::{EdgeReason, Graph};
use crate::plan::Plan;

impl Plan {
    /// Removes the sinks and all stages that depend on a sink. If `only` is not empty, keeps only the sources, the
    /// stages named in `only`, the stages on which these depend, and the stages that drop or add rows before one of
    /// these stages. The order of the remaining stages stays the same.
    #[must_use]
    pub fn without_sinks(self, only: &[String]) -> Self {
        let stored = self.stored();
        let wanted = self.stages.iter().zip(&stored).map(|(stage, is_stored)| {
            !is_stored && (only.is_empty() || stage.kind() == StageKind::Source || only.contains(&stage.name))
        });
        let mut kept: Vec<bool> = wanted.collect();
        let mut leads_to_kept = vec![false; kept.len()];
        // Edges always lead from an earlier stage to a later one, so one pass in reverse order is enough.
        for (from, stage) in self.stages.iter().enumerate().rev() {
            for (to, why) in self.edges_from(from) {
                leads_to_kept[from] |= kept[to] || leads_to_kept[to];
                kept[from] |= kept[to] && !stored[from] && why.iter().any(is_dependence);
            }
            // Later stages process only the rows that this stage has left, even if the edge to a later stage has
            // another reason.
            kept[from] |= stage.access.restructures && leads_to_kept[from] && !stored[from];
        }
        self.part(&kept)
    }

    fn edges_from(&self, stage: usize) -> impl Iterator<Item = (usize, &BTreeSet<EdgeReason>)> {
        self.graph.edges.range((stage, 0)..(stage + 1, 0)).map(|((_, to), why)| (*to, why))
    }

    /// Returns for each stage whether it is a sink or depends on a sink.
    fn stored(&self) -> Vec<bool> {
        let mut stored: Vec<bool> = self.stages.iter().map(|stage| stage.kind() == StageKind::Sink).collect();
        for ((from, to), why) in &self.graph.edges {
            stored[*to] |= stored[*from] && why.iter().any(is_dependence);
        }
        stored
    }

    fn part(self, kept: &[bool]) -> Self {
        let Self { run, stages, graph, warnings } = self;
        let number = |stage: usize| kept[..stage].iter().filter(|kept| **kept).count();
        let edges = graph.edges.into_iter().filter(|((from, to), _)| kept[*from] && kept[*to]);
        let edges = edges.map(|((from, to), why)| ((number(from), number(to)), why)).collect();
        // Levels are renumbered without gaps.
        let levels: Vec<usize> =
            graph.level.into_iter().zip(kept).filter_map(|(at, kept)| kept.then_some(at)).collect();
        let used: BTreeSet<usize> = levels.iter().copied().collect();
        let level: Vec<usize> = levels.iter().map(|level| used.range(..level).count()).collect();
        let mut stages: Vec<_> =
            stages.into_iter().zip(kept).filter_map(|(stage, kept)| kept.then_some(stage)).collect();
        stages.iter_mut().zip(&level).for_each(|(stage, level)| stage.step = level + 1);
        let graph = Graph { edges, order: (0..stages.len()).collect(), level, warnings: graph.warnings };
        Self { run, stages, graph, warnings }
    }
}

/// Whether an edge means that the second stage depends on rows or values of the first. Other edges only define an
/// order.
fn is_dependence(why: &EdgeReason) -> bool {
    matches!(why, EdgeReason::Column(_) | EdgeReason::Rows)
}
