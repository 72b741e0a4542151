//! Several projects, each with a name.

use std::sync::Arc;

use aurora_project::{NamedSearcher, ProjectError, Searchers, chain, root_names};
use aurora_query::ShownChunk;

use crate::live_project::LiveProject;
use crate::watch::Watch;

/// A project with its name.
#[derive(Clone)]
pub struct Root {
    /// How requests and answers name it: as many of the last parts of its path as tell it from the others.
    pub name: String,
    /// The project.
    pub live: Arc<LiveProject>,
}

/// Several projects, in the order in which they were given.
#[derive(Clone)]
pub struct Roots(Arc<[Root]>);

/// No root has this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no root is called {name}")]
pub struct UnknownRoot {
    /// As asked for.
    pub name: String,
    /// The names that there are.
    pub names: Vec<String>,
}

/// Opened projects, and why others could not be opened, each in a sentence.
pub struct OpenedRoots {
    /// Those that can be searched.
    pub searchers: Searchers,
    /// The reasons for which other projects were not opened, and which of the opened ones cannot be brought up to date.
    pub notes: Vec<String>,
}

impl Roots {
    /// Names each project by the last parts of its path.
    pub fn new(projects: Vec<Arc<LiveProject>>) -> Self {
        let names = root_names(&projects.iter().map(|live| live.project().root()).collect::<Vec<_>>());
        Self(names.into_iter().zip(projects).map(|(name, live)| Root { name, live }).collect())
    }

    /// The root called `name`; without a name, the first one.
    ///
    /// # Errors
    /// When there is none.
    pub fn get(&self, name: Option<&str>) -> Result<&Root, UnknownRoot> {
        let found = self.0.iter().find(|root| name.is_none_or(|name| root.name == name));
        found.ok_or_else(|| UnknownRoot {
            name: name.unwrap_or_default().to_owned(),
            names: self.0.iter().map(|root| root.name.clone()).collect(),
        })
    }

    /// The roots with these names, in the order of the roots; without names, all of them.
    ///
    /// # Errors
    /// When one of the names is not that of a root.
    pub fn select(&self, names: &[String]) -> Result<Self, UnknownRoot> {
        if names.is_empty() {
            return Ok(self.clone());
        }
        names.iter().try_for_each(|name| self.get(Some(name)).map(drop))?;
        Ok(Self(self.0.iter().filter(|root| names.contains(&root.name)).cloned().collect()))
    }

    /// The root that a path begins with the name of, as results of several roots show paths, and the rest of the path.
    pub fn locate<'p>(&self, path: &'p str) -> Option<(&Root, &'p str)> {
        let below = |root: &Root| path.strip_prefix(root.name.as_str()).and_then(|rest| rest.strip_prefix('/'));
        let found = self.0.iter().filter(|_| self.0.len() > 1).filter_map(|root| Some((root, below(root)?)));
        found.min_by_key(|(_, rest)| rest.len())
    }

    /// The generations that answer. A project that cannot be opened is left out, unless none can be.
    ///
    /// # Errors
    /// Why the first one cannot be opened, if none can.
    pub fn open(&self) -> Result<OpenedRoots, ProjectError> {
        let (mut opened, mut notes, mut failed) = (Vec::new(), Vec::new(), None);
        for Root { name, live } in self.0.iter() {
            match live.searcher() {
                Ok(searcher) => {
                    let note = |reason: String| {
                        format!("The index{} is not up to date: {reason}", self.of_root_if_several(name))
                    };
                    notes.extend(live.obstacle().map(note));
                    opened.push(NamedSearcher::of_project(name.clone(), searcher));
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

    /// The name of a root for a note, if there are several roots.
    fn of_root_if_several(&self, name: &str) -> String {
        if self.0.len() > 1 { format!(" of {name}") } else { String::new() }
    }

    /// Remembers soon what was shown at `now`.
    pub fn record<'k>(&self, shown: impl Iterator<Item = ShownChunk<'k>>, now: i64) {
        let shown: Vec<_> = shown.collect();
        for Root { name, live } in self.0.iter() {
            let mut of_root = shown.iter().filter(|chunk| chunk.root.is_none_or(|root| root == name)).peekable();
            if of_root.peek().is_some() {
                live.record(of_root.map(|chunk| chunk.key), now);
            }
        }
    }

    /// All of them.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Root> {
        self.0.iter()
    }

    /// Keeps every index fresh until the result is dropped.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn watch(&self) -> std::io::Result<Vec<Watch>> {
        self.0.iter().map(|root| root.live.watch()).collect()
    }
}
