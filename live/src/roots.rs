//! Several projects, each with a name.

use std::sync::Arc;

use aurora_project::{Project, ProjectError, Searchers, chain, root_names};
use aurora_query::ShownChunk;

use crate::live_project::{LiveProject, Upkeep};
use crate::watch::Watch;

/// Several projects with distinct names, in their given order.
#[derive(Clone)]
pub struct Roots(Arc<[Arc<LiveProject>]>);

/// Error when no root has the requested name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no root is called {name}")]
pub struct UnknownRoot {
    /// The requested name.
    pub name: String,
    /// The names of all roots.
    pub names: Vec<String>,
}

/// Opened projects, and the reasons why other projects could not be opened.
pub struct OpenedRoots {
    /// The projects that can be searched.
    pub searchers: Searchers,
    /// Sentences that explain why projects were not opened, and why opened projects cannot be brought up to date.
    pub notes: Vec<String>,
}

impl Roots {
    /// Names each project after the last components of its path, with as few components as make the name unique.
    pub fn new(projects: Vec<(Project, Upkeep)>) -> Self {
        let names = root_names(&projects.iter().map(|(project, _)| project.root()).collect::<Vec<_>>());
        let live = |(name, (project, upkeep))| Arc::new(LiveProject::new(name, project, upkeep));
        Self(names.into_iter().zip(projects).map(live).collect())
    }

    /// Returns the root called `name`; without a name, the first root.
    ///
    /// # Errors
    /// Fails if no root has this name.
    pub fn get(&self, name: Option<&str>) -> Result<&Arc<LiveProject>, UnknownRoot> {
        let found = self.0.iter().find(|root| name.is_none_or(|name| root.name() == name));
        found.ok_or_else(|| UnknownRoot {
            name: name.unwrap_or_default().to_owned(),
            names: self.0.iter().map(|root| root.name().to_owned()).collect(),
        })
    }

    /// Returns the roots with these names, in the order of the roots; without names, all roots.
    ///
    /// # Errors
    /// Fails if no root has one of the names.
    pub fn select(&self, names: &[String]) -> Result<Self, UnknownRoot> {
        if names.is_empty() {
            return Ok(self.clone());
        }
        names.iter().try_for_each(|name| self.get(Some(name)).map(drop))?;
        Ok(Self(self.0.iter().filter(|root| names.iter().any(|name| name == root.name())).cloned().collect()))
    }

    /// Splits a path from the results of several roots into a root and the path below it. Such a path begins with the
    /// name of a root. Returns `None` if there is only one root, or no root matches.
    pub fn locate<'p>(&self, path: &'p str) -> Option<(&Arc<LiveProject>, &'p str)> {
        let below = |root: &Arc<LiveProject>| path.strip_prefix(root.name()).and_then(|rest| rest.strip_prefix('/'));
        let found = self.0.iter().filter(|_| self.0.len() > 1).filter_map(|root| Some((root, below(root)?)));
        found.min_by_key(|(_, rest)| rest.len())
    }

    /// Opens the current generations. A project that cannot be opened is omitted, unless no project can be opened.
    ///
    /// # Errors
    /// Returns the error of the first project if no project can be opened.
    pub fn open(&self) -> Result<OpenedRoots, ProjectError> {
        let (mut opened, mut notes, mut failed) = (Vec::new(), Vec::new(), None);
        for live in self.0.iter() {
            let name = live.name();
            match live.searcher() {
                Ok(searcher) => {
                    let note =
                        |reason: String| format!("The index{} is not up to date: {reason}", self.root_suffix(name));
                    notes.extend(live.obstacle().map(note));
                    opened.push(searcher);
                }
                Err(error) => {
                    notes.push(format!("{name} was not searched: {}", chain(&error)));
                    failed = failed.or(Some(error));
                }
            }
        }
        match failed {
            Some(error) if opened.is_empty() => Err(error),
            _ => Ok(OpenedRoots { searchers: Searchers::new(opened), notes }),
        }
    }

    /// Returns ` of NAME` for a note if there are several roots; otherwise an empty string.
    fn root_suffix(&self, name: &str) -> String {
        if self.0.len() > 1 { format!(" of {name}") } else { String::new() }
    }

    /// Records in the background that chunks were shown at `now`, in Unix seconds.
    pub fn record<'k>(&self, shown: impl Iterator<Item = ShownChunk<'k>>, now: i64) {
        let shown: Vec<_> = shown.collect();
        for live in self.0.iter() {
            let mut in_root = shown.iter().filter(|chunk| chunk.root.is_none_or(|root| root == live.name())).peekable();
            if in_root.peek().is_some() {
                live.record(in_root.map(|chunk| chunk.key), now);
            }
        }
    }

    /// Returns all roots.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Arc<LiveProject>> {
        self.0.iter()
    }

    /// Starts a thread for each project that keeps the index fresh until the returned watch is dropped.
    ///
    /// # Errors
    /// Fails if a thread cannot be started.
    pub fn watch(&self) -> std::io::Result<Vec<Watch>> {
        self.0.iter().map(|root| root.watch()).collect()
    }
}
