//! Assignment of ids to notes.

use std::collections::HashMap;

use aurora_memory_schema::{Kind, limit};

use super::walk::split_extension;

/// Number of hexadecimal digits of the hash in an id.
const HASH_DIGITS: usize = 8;

/// A map from assigned ids to the paths of the notes.
#[derive(Default)]
pub(super) struct Names(HashMap<String, String>);

impl Names {
    /// Assigns an explicit id to a note.
    ///
    /// # Errors
    /// Returns the path of the note that already has the id.
    pub(super) fn claim(&mut self, id: &str, path: &str) -> Result<(), String> {
        match self.0.get(id) {
            Some(other) => Err(other.clone()),
            None => {
                self.0.insert(id.to_owned(), path.to_owned());
                Ok(())
            }
        }
    }

    /// Derives and assigns the id of a note. If another note has the id derived from the path, appends a hash of the
    /// path. Also returns whether a hash was appended.
    pub(super) fn assign(&mut self, path: &str) -> (String, bool) {
        let plain = plain_id(path);
        let is_used = self.0.contains_key(&plain);
        let id = if is_used { format!("{plain}-{}", hash(path)) } else { plain };
        self.0.insert(id.clone(), path.to_owned());
        (id, is_used)
    }

    /// Returns the path of the note to which an id is assigned.
    pub(super) fn path(&self, id: &str) -> Option<&str> {
        self.0.get(id).map(String::as_str)
    }
}

/// Derives an id such as `note:guides/deploy-keys` from a path.
fn plain_id(path: &str) -> String {
    let (stem, _) = split_extension(path).unwrap_or((path, ""));
    let parts: Vec<String> = stem.split('/').map(slug).filter(|part| !part.is_empty()).collect();
    let name = if parts.is_empty() { hash(path) } else { parts.join("/") };
    let id = format!("{}{name}", Kind::Note.prefix());
    // The id needs room for a hash here, and for another hash that `assign` can append.
    let max = limit::ID_BYTES - 2 * (HASH_DIGITS + 1);
    if id.len() <= max {
        return id;
    }
    format!("{}-{}", &id[..id.floor_char_boundary(max)], hash(path))
}

/// Converts a name to letters and digits in lower case, and replaces each sequence of other characters with a hyphen.
fn slug(name: &str) -> String {
    let mut slug = String::new();
    for c in name.chars().flat_map(char::to_lowercase) {
        if c.is_alphanumeric() {
            slug.push(c);
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    slug.truncate(slug.trim_end_matches('-').len());
    slug
}

fn hash(path: &str) -> String {
    blake3::hash(path.as_bytes()).to_hex()[..HASH_DIGITS].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_derived_from_paths() {
        let check = |path: &str, expected: &str| assert_eq!(plain_id(path), expected, "{path}");
        check("a.md", "note:a");
        check("Guides/How  to: deploy_keys!.markdown", "note:guides/how-to-deploy-keys");
        check("v1.2.txt", "note:v1-2");
        check("日本/Größe.md", "note:日本/größe");
        check("!!/a.md", "note:a");
        assert_eq!(plain_id("!!.md").len(), "note:".len() + HASH_DIGITS);
        let long = format!("{}.md", "ü".repeat(400));
        assert!(plain_id(&long).len() < limit::ID_BYTES - HASH_DIGITS);
    }

    #[test]
    fn two_notes_never_have_the_same_id() {
        let mut names = Names::default();
        assert_eq!(names.claim("note:a-b", "x.md"), Ok(()));
        assert_eq!(names.claim("note:a-b", "y.md"), Err("x.md".to_owned()));
        let (first, _) = names.assign("a b.md");
        let (second, _) = names.assign("a_b.md");
        assert!(first != second && first.starts_with("note:a-b-") && second.starts_with("note:a-b-"));
        assert_eq!(names.path(&second), Some("a_b.md"));
    }
}
