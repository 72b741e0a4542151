//! Derives names for mappings that are not the value of a key, such as documents and list items.

use crate::language::DeclaredName;

/// Keys whose values can name a mapping such as a container, step, task, rule, hook or job. The best key comes first.
const NAME_KEYS: &[&str] =
    &["name", "id", "alert", "record", "job_name", "title", "key", "repo", "uses", "hosts", "include", "path", "url"];

/// The values of a mapping from which its name can be derived.
#[derive(Debug, Default)]
pub(crate) struct Entity<'t> {
    kind: Option<&'t str>,
    /// The `name` in the nested mapping `metadata`, as in Kubernetes.
    metadata_name: Option<&'t str>,
    /// The value of the best key so far, with the index of the key in [`NAME_KEYS`].
    name: Option<(usize, &'t str)>,
}

impl<'t> Entity<'t> {
    /// Maximum number of keys of a mapping that are searched for its name.
    pub(crate) const MAX_KEYS: usize = 24;

    /// Records a key with a scalar value. Both the key and the value may be quoted.
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

    /// Records a key whose value is a mapping.
    pub(crate) fn set_mapping(&mut self, key: &str, mapping: &Self) {
        if plain(key) == "metadata" {
            self.metadata_name = mapping.name.filter(|(order, _)| *order == 0).map(|(_, name)| name);
        }
    }

    /// Returns the name of a resource, which consists of its kind and the name in its metadata, or `None` if the
    /// mapping has no kind.
    pub(crate) fn resource(&self) -> Option<DeclaredName> {
        let kind = self.kind?;
        Some(match self.metadata_name {
            Some(name) => DeclaredName { name: name.to_owned(), owner: Some(kind.to_owned()) },
            None => DeclaredName { name: kind.to_owned(), owner: None },
        })
    }

    /// Returns the name of a list item: the name of a resource if its metadata has a name, otherwise the value of the
    /// best key.
    pub(crate) fn item(&self) -> Option<DeclaredName> {
        let resource = self.resource().filter(|_| self.metadata_name.is_some());
        resource.or_else(|| self.name.map(|(_, name)| DeclaredName { name: name.to_owned(), owner: None }))
    }
}

/// Returns the first line of a key or scalar, without quotes.
pub(crate) fn plain(scalar: &str) -> &str {
    scalar.trim().lines().next().unwrap_or_default().trim_end().trim_matches(['"', '\''])
}
