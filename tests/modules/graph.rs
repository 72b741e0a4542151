//! A graph of the uses between the modules of one directory, and the cycles in this graph.

use std::collections::{BTreeMap, BTreeSet};

use crate::crate_modules::Use;

/// Name of a directory's own module (`mod.rs`) in the graph of its children.
const OWN: &str = ".";

/// The uses between the modules of one directory, each with its location in the source.
#[derive(Debug, Default)]
pub(crate) struct Graph(BTreeMap<(String, String), String>);

/// Returns the graphs of all directories of a crate. The name of the top directory is empty.
pub(crate) fn by_directory(uses: &[Use]) -> BTreeMap<String, Graph> {
    let mut graphs: BTreeMap<String, Graph> = BTreeMap::new();
    for Use { from, to, is_reexport, file, line } in uses {
        let shared = from.iter().zip(to).take_while(|(a, b)| a == b).count();
        let directory = from[..shared].join("::");
        let name = |path: &[String]| path.get(shared).map_or(OWN, String::as_str).to_owned();
        let edge = (name(from), name(to));
        if edge.0 != edge.1 && !(edge.0 == OWN && *is_reexport) {
            let place = format!("{}:{line}", file.display());
            graphs.entry(directory).or_default().0.entry(edge).or_insert(place);
        }
    }
    graphs
}

impl Graph {
    /// Returns a shortest cycle with the locations of its uses. Removes the last use of the cycle from the graph, so
    /// that the next call finds another cycle.
    pub(crate) fn take_cycle(&mut self) -> Option<String> {
        let closed = |(from, to): &(String, String)| Some([self.path(to, from)?, vec![to.clone()]].concat());
        let cycle = self.0.keys().filter_map(closed).min_by_key(Vec::len)?;
        let mut shown = format!("`{}`", cycle[0]);
        let mut last = None;
        for pair in cycle.windows(2) {
            let edge = (pair[0].clone(), pair[1].clone());
            shown.push_str(&format!(" -> `{}` ({})", pair[1], self.0.get(&edge).map_or("", String::as_str)));
            last = Some(edge);
        }
        self.0.remove(&last?);
        Some(shown)
    }

    /// Returns the modules on a shortest path, including both ends.
    fn path(&self, from: &str, to: &str) -> Option<Vec<String>> {
        let mut known = BTreeSet::from([from.to_owned()]);
        let mut level = vec![vec![from.to_owned()]];
        while !level.is_empty() {
            let mut next = Vec::new();
            for path in level {
                let last = path.last().cloned()?;
                if last == to {
                    return Some(path);
                }
                for (_, target) in self.0.keys().filter(|(source, _)| *source == last) {
                    if known.insert(target.clone()) {
                        next.push([path.clone(), vec![target.clone()]].concat());
                    }
                }
            }
            level = next;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(edges: &[(&str, &str)]) -> Graph {
        let edge = |&(from, to): &(&str, &str)| ((from.to_owned(), to.to_owned()), "f:1".to_owned());
        Graph(edges.iter().map(edge).collect())
    }

    #[test]
    fn a_cycle_is_shown_as_a_path() {
        let mut graph = graph(&[("a", "b"), ("b", "c"), ("c", "a"), ("c", "d")]);
        let cycle = graph.take_cycle();
        assert!(cycle.is_some_and(|cycle| cycle.matches(" -> ").count() == 3));
        assert_eq!(graph.take_cycle(), None);
    }

    #[test]
    fn a_chain_is_no_cycle() {
        assert_eq!(graph(&[("a", "b"), ("b", "c"), ("a", "c")]).take_cycle(), None);
    }

    #[test]
    fn the_shortest_cycle_comes_first() {
        let mut graph = graph(&[("a", "b"), ("b", "c"), ("c", "a"), ("b", "a")]);
        assert_eq!(graph.take_cycle().map(|cycle| cycle.matches(" -> ").count()), Some(2));
    }
}
