//! What names a mapping of data that has no key of its own: a document, or an item of a list.

use crate::language::DeclaredName;

/// Keys whose values name an item, the best first: of containers, steps, tasks, rules, hooks, jobs.
const NAME_KEYS: &[&str] =
    &["name", "id", "alert", "record", "job_name", "title", "key", "repo", "uses", "hosts", "include", "path", "url"];

/// The keys of a mapping that can name it.
#[derive(Debug, Default)]
pub(crate) struct Entity<'t> {
    kind: Option<&'t str>,
    /// The name in the mapping `metadata`, as in Kubernetes.
    metadata_name: Option<&'t str>,
    /// Index in [`NAME_KEYS`] and value.
    name: Option<(usize, &'t str)>,
}

impl<'t> Entity<'t> {
    /// What names a mapping is among its first keys.
    pub(crate) const MAX_KEYS: usize = 24;

    /// Notes a key with a scalar value, both with or without quotes.
    pub(crate) fn set(&mut self, key: &str, value: &'t str) {
        let (key, value) = (plain(key), plain(value));
        if value.is_empty() {
            return;
        }
        if key == "kind" {
            self.kind = Some(value);
        } else if let Some(order) = NAME_KEYS.iter().position(|name| *name == key) {
            let is_better = self.name.is_none_or(|(best, _)| order < best);
            self.name = self.name.filter(|_| !is_better).or(Some((order, value)));
        }
    }

    /// Notes the mapping below a key.
    pub(crate) fn set_mapping(&mut self, key: &str, mapping: &Self) {
        if plain(key) == "metadata" {
            self.metadata_name = mapping.name.filter(|(order, _)| *order == 0).map(|(_, name)| name);
        }
    }

    /// The name of a resource: its kind, and the name in its metadata.
    pub(crate) fn resource(&self) -> Option<DeclaredName> {
        let kind = self.kind?;
        Some(match self.metadata_name {
            Some(name) => DeclaredName { name: name.to_owned(), owner: Some(kind.to_owned()) },
            None => DeclaredName { name: kind.to_owned(), owner: None },
        })
    }

    /// The name of an item of a list: of a resource, or the value of its best key.
    pub(crate) fn item(&self) -> Option<DeclaredName> {
        let resource = self.resource().filter(|_| self.metadata_name.is_some());
        resource.or_else(|| self.name.map(|(_, name)| DeclaredName { name: name.to_owned(), owner: None }))
    }
}

/// The first line of a key or scalar without quotes.
pub(crate) fn plain(scalar: &str) -> &str {
    scalar.trim().lines().next().unwrap_or_default().trim_end().trim_matches(['"', '\''])
}
