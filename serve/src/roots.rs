//! The projects that are served, by their names.

use std::sync::Arc;

use aurora_live::{LiveProject, Watch};

use crate::error::ServeError;

/// A project that is served.
pub(crate) struct ServedRoot {
    /// How requests and results name it: the last part of its path.
    pub(crate) name: String,
    pub(crate) live: Arc<LiveProject>,
}

/// Every project that is served, in the order in which they were given.
pub(crate) struct Roots(Vec<ServedRoot>);

impl Roots {
    pub(crate) fn new(projects: Vec<Arc<LiveProject>>) -> Result<Self, ServeError> {
        let mut roots: Vec<ServedRoot> = Vec::new();
        for live in projects {
            let path = live.project().root();
            let name =
                path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into());
            if roots.iter().any(|other| other.name == name) {
                return Err(ServeError::SameName(name));
            }
            roots.push(ServedRoot { name, live });
        }
        Ok(Self(roots))
    }

    /// The root called `name`; without a name, the first one.
    pub(crate) fn get(&self, name: Option<&str>) -> Option<&ServedRoot> {
        match name {
            None => self.0.first(),
            Some(name) => self.0.iter().find(|root| root.name == name),
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &ServedRoot> {
        self.0.iter()
    }

    /// Keeps every index fresh until the result is dropped.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub(crate) fn watch(&self) -> Result<Vec<Watch>, ServeError> {
        self.0.iter().map(|root| root.live.watch()).collect::<Result<_, _>>().map_err(ServeError::Runtime)
    }
}
