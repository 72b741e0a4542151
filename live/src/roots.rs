//! Several projects, each with a name.

use std::sync::Arc;

use crate::live_project::LiveProject;
use crate::watch::Watch;

/// A project with its name.
#[derive(Clone)]
pub struct Root {
    /// How requests and answers name it: the last part of its path.
    pub name: String,
    /// The project.
    pub live: Arc<LiveProject>,
}

/// Several projects, in the order in which they were given.
#[derive(Clone)]
pub struct Roots(Arc<[Root]>);

/// Two projects have this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("two roots are called `{0}`")]
pub struct SameName(pub String);

impl Roots {
    /// Names each project by the last part of its path.
    ///
    /// # Errors
    /// When two have the same name.
    pub fn new(projects: Vec<Arc<LiveProject>>) -> Result<Self, SameName> {
        let mut roots: Vec<Root> = Vec::new();
        for live in projects {
            let path = live.project().root();
            let name =
                path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into());
            if roots.iter().any(|other| other.name == name) {
                return Err(SameName(name));
            }
            roots.push(Root { name, live });
        }
        Ok(Self(roots.into()))
    }

    /// The root called `name`; without a name, the first one.
    pub fn get(&self, name: Option<&str>) -> Option<&Root> {
        match name {
            None => self.0.first(),
            Some(name) => self.0.iter().find(|root| root.name == name),
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
