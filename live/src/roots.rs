//! Several projects, each with a name.

use std::collections::{BTreeSet, HashSet};
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use aurora_project::{FeedbackReport, Interface, Project, ProjectError, Searchers, UsageLog, chain, root_names};
use aurora_query::{SearchResults, ShownChunk};

use crate::live_project::{Labels, LiveProject, Upkeep};
use crate::watch::Watch;

/// A function that is called after every answered search.
type Observer = Box<dyn Fn(Interface, &SearchResults) + Send + Sync>;

/// Maximum number of indexes of a catalogue that stay open after a search. An open index has about five file
/// descriptors, and at most a few MiB of caches.
const MAX_OPEN_INDEXES: usize = 256;

/// Several projects with distinct names, in their given order.
#[derive(Clone)]
pub struct Roots {
    projects: Arc<[Arc<LiveProject>]>,
    searches: Arc<SearchRecorder>,
    /// The open indexes of a catalogue; `None` if indexes stay open.
    open: Option<Arc<OpenIndexes>>,
}

/// The open indexes of a catalogue, least recently used first.
#[derive(Default)]
struct OpenIndexes(Mutex<Vec<Arc<LiveProject>>>);

impl OpenIndexes {
    /// Records a use of some indexes, and closes the least recently used ones if there are too many.
    fn record(&self, used: &[Arc<LiveProject>]) {
        let places: HashSet<*const LiveProject> = used.iter().map(Arc::as_ptr).collect();
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        open.retain(|live| !places.contains(&Arc::as_ptr(live)));
        open.extend(used.iter().cloned());
        let excess = open.len().saturating_sub(MAX_OPEN_INDEXES);
        open.drain(..excess).for_each(|live| live.close());
    }
}

/// Records the searches of a server. Opened by the first search.
#[derive(Default)]
struct SearchRecorder {
    usage: OnceLock<Option<UsageLog>>,
    observer: OnceLock<Observer>,
}

/// Error when no root has the requested name, group or owner.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no {kind} is called {name}")]
pub struct UnknownRoot {
    /// `root`, `group` or `owner`.
    pub kind: &'static str,
    /// The requested name.
    pub name: String,
    /// The known names of this kind. The names of roots are followed by those of groups and owners.
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
        Self { projects: names.into_iter().zip(projects).map(live).collect(), searches: Arc::default(), open: None }
    }

    /// Creates roots with distinct names and with labels, for which nothing is written. An index is opened when a
    /// request needs it, and at most [`Self::max_open`] indexes stay open.
    pub fn labelled(projects: Vec<(String, Project, Labels)>) -> Self {
        let live =
            |(name, project, labels)| Arc::new(LiveProject::new(name, project, Upkeep::ReadOnly).with_labels(labels));
        let projects = projects.into_iter().map(live).collect();
        Self { projects, searches: Arc::default(), open: Some(Arc::default()) }
    }

    /// Returns the maximum number of indexes that stay open after a search.
    pub fn max_open(&self) -> usize {
        let most = if self.open.is_some() { MAX_OPEN_INDEXES } else { usize::MAX };
        self.projects.len().min(most)
    }

    /// Returns the root called `name`; without a name, the first root.
    ///
    /// # Errors
    /// Fails if no root has this name.
    pub fn get(&self, name: Option<&str>) -> Result<&Arc<LiveProject>, UnknownRoot> {
        let found = self.projects.iter().find(|root| name.is_none_or(|name| root.name() == name));
        let found = found.ok_or_else(|| self.unknown(name.unwrap_or_default()))?;
        self.record_use(std::slice::from_ref(found));
        Ok(found)
    }

    /// Returns the roots with these names, in the order of the roots; without names, all roots. A name that no root has
    /// selects the roots with this group or owner.
    ///
    /// # Errors
    /// Fails if there is no root, group or owner with one of the names.
    pub fn select(&self, names: &[String]) -> Result<Self, UnknownRoot> {
        if names.is_empty() {
            return Ok(self.clone());
        }
        let mut selected = vec![false; self.projects.len()];
        for name in names {
            let is_root = self.projects.iter().any(|root| root.name() == name);
            let mut is_known = false;
            for (root, selected) in self.projects.iter().zip(&mut selected) {
                let matches = match is_root {
                    true => root.name() == name,
                    false => root.labels().groups.contains(name) || root.labels().owners.contains(name),
                };
                *selected |= matches;
                is_known |= matches;
            }
            if !is_known {
                return Err(self.unknown(name));
            }
        }
        let projects = self.projects.iter().zip(selected).filter(|(_, selected)| *selected);
        let projects: Arc<[_]> = projects.map(|(root, _)| Arc::clone(root)).collect();
        self.record_use(&projects);
        Ok(Self { projects, ..self.clone() })
    }

    fn unknown(&self, name: &str) -> UnknownRoot {
        let labels = self.projects.iter().flat_map(|root| root.labels().groups.iter().chain(&root.labels().owners));
        let labels: BTreeSet<&str> = labels.map(String::as_str).collect();
        let names = self.projects.iter().map(|root| root.name()).chain(labels);
        UnknownRoot { kind: "root", name: name.to_owned(), names: names.map(str::to_owned).collect() }
    }

    /// Records that the indexes of some roots are used now. In a catalogue, those that were not used for the longest
    /// time may be closed.
    pub fn record_use(&self, used: &[Arc<LiveProject>]) {
        if let Some(open) = &self.open {
            open.record(used);
        }
    }

    /// Returns the roots that belong to one of the groups and to one of the owners. An empty list selects all roots.
    ///
    /// # Errors
    /// Fails if no root has one of the labels.
    pub fn with_labels(&self, groups: &[String], owners: &[String]) -> Result<Self, UnknownRoot> {
        let labels = |of: fn(&Labels) -> &BTreeSet<String>| {
            self.projects.iter().flat_map(move |root| of(root.labels())).cloned().collect::<BTreeSet<String>>()
        };
        for (kind, wanted, names) in
            [("group", groups, labels(|labels| &labels.groups)), ("owner", owners, labels(|labels| &labels.owners))]
        {
            if let Some(name) = wanted.iter().find(|name| !names.contains(*name)) {
                return Err(UnknownRoot { kind, name: name.clone(), names: names.into_iter().collect() });
            }
        }
        let has_one =
            |wanted: &[String], of: &BTreeSet<String>| wanted.is_empty() || wanted.iter().any(|name| of.contains(name));
        let is_selected =
            |root: &&Arc<LiveProject>| has_one(groups, &root.labels().groups) && has_one(owners, &root.labels().owners);
        let projects = self.projects.iter().filter(is_selected).cloned().collect();
        Ok(Self { projects, ..self.clone() })
    }

    /// Splits a path from the results of several roots into a root and the path below it. Such a path begins with the
    /// name of a root. Returns `None` if there is only one root, or no root matches.
    pub fn locate<'p>(&self, path: &'p str) -> Option<(&Arc<LiveProject>, &'p str)> {
        let below = |root: &Arc<LiveProject>| path.strip_prefix(root.name()).and_then(|rest| rest.strip_prefix('/'));
        let found =
            self.projects.iter().filter(|_| self.projects.len() > 1).filter_map(|root| Some((root, below(root)?)));
        found.min_by_key(|(_, rest)| rest.len())
    }

    /// Opens the current generations. A project that cannot be opened is omitted, unless no project can be opened.
    ///
    /// # Errors
    /// Returns the error of the first project if no project can be opened.
    pub fn open(&self) -> Result<OpenedRoots, ProjectError> {
        let (mut opened, mut notes, mut failed) = (Vec::new(), Vec::new(), None);
        for live in self.projects.iter() {
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
        self.record_use(&self.projects);
        match failed {
            Some(error) if opened.is_empty() => Err(error),
            _ => Ok(OpenedRoots { searchers: Searchers::new(opened), notes }),
        }
    }

    /// Returns ` of NAME` for a note if there are several roots; otherwise an empty string.
    fn root_suffix(&self, name: &str) -> String {
        if self.projects.len() > 1 { format!(" of {name}") } else { String::new() }
    }

    /// Records in the background that chunks were shown at `now`, in Unix seconds.
    pub fn record<'k>(&self, shown: impl Iterator<Item = ShownChunk<'k>>, now: i64) {
        let shown: Vec<_> = shown.collect();
        for live in self.projects.iter() {
            let mut in_root = shown.iter().filter(|chunk| chunk.root.is_none_or(|root| root == live.name())).peekable();
            if in_root.peek().is_some() {
                live.record(in_root.map(|chunk| chunk.key), now);
            }
        }
    }

    /// Sets a function that is called after every answered search. Only the first call has an effect.
    pub fn on_search(&self, observer: impl Fn(Interface, &SearchResults) + Send + Sync + 'static) {
        let _ = self.searches.observer.set(Box::new(observer));
    }

    /// Observes an answered search. If `records` is true and the projects are not read-only, also adds the search to
    /// the record of searches. Time `now` is in Unix seconds.
    pub fn searched(&self, via: Interface, found: &SearchResults, records: bool, now: i64) {
        if let Some(observer) = self.searches.observer.get() {
            observer(via, found);
        }
        if let Some(usage) = self.usage().filter(|_| records) {
            let roots: Vec<&Path> = self.iter().map(|root| root.project().root()).collect();
            usage.searches(via, std::iter::once(found), &roots, now);
        }
    }

    /// Adds a verdict on results of a project to the record of searches.
    pub fn judged(&self, via: Interface, project: &LiveProject, report: &FeedbackReport, now: i64) {
        if let Some(usage) = self.usage() {
            usage.feedback(via, report.verdict, report.chunks.len(), project.project().root(), now);
        }
    }

    /// Returns the record of searches; `None` if it is turned off or a project is read-only.
    fn usage(&self) -> Option<&UsageLog> {
        let is_writable = !self.iter().any(|root| root.is_read_only());
        self.searches.usage.get_or_init(|| is_writable.then(UsageLog::open).flatten()).as_ref()
    }

    /// Returns all roots.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Arc<LiveProject>> {
        self.projects.iter()
    }

    /// Starts threads that keep the indexes fresh until the returned watches are dropped: one thread for each project,
    /// or one for all repositories of a catalogue.
    ///
    /// # Errors
    /// Fails if a thread cannot be started.
    pub fn watch(&self) -> std::io::Result<Vec<Watch>> {
        match self.open {
            Some(_) => Ok(vec![Watch::follow_all(self.projects.to_vec())?]),
            None => self.projects.iter().map(|root| root.watch()).collect(),
        }
    }
}
