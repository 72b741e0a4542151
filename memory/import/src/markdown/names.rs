//! The ids of notes.

use std::collections::HashMap;

use aurora_memory_schema::{Kind, limit};

use super::walk::split_extension;

/// Hexadecimal digits of a hash in an id.
const HASH_DIGITS: usize = 8;

/// The ids that notes have, with their paths.
#[derive(Default)]
pub(super) struct Names(HashMap<String, String>);

impl Names {
    /// Gives a note the id that it asks for.
    ///
    /// # Errors
    /// The path of the note that has it.
    pub(super) fn give(&mut self, id: &str, path: &str) -> Result<(), String> {
        match self.0.get(id) {
            Some(other) => Err(other.clone()),
            None => {
                self.0.insert(id.to_owned(), path.to_owned());
                Ok(())
            }
        }
    }

    /// Makes an id of a path, and says whether another note has the plain one.
    pub(super) fn make(&mut self, path: &str) -> (String, bool) {
        let plain = plain(path);
        let is_taken = self.0.contains_key(&plain);
        let id = if is_taken { format!("{plain}-{}", hash(path)) } else { plain };
        self.0.insert(id.clone(), path.to_owned());
        (id, is_taken)
    }

    /// The path of the note with an id.
    pub(super) fn path_of(&self, id: &str) -> Option<&str> {
        self.0.get(id).map(String::as_str)
    }
}

/// `note:guides/deploy-keys`.
fn plain(path: &str) -> String {
    let (stem, _) = split_extension(path).unwrap_or((path, ""));
    let parts: Vec<String> = stem.split('/').map(slug).filter(|part| !part.is_empty()).collect();
    let name = if parts.is_empty() { hash(path) } else { parts.join("/") };
    let id = format!("{}{name}", Kind::Note.prefix());
    // Room for the hash, and for that of a second note.
    let most = limit::ID_BYTES - 2 * (HASH_DIGITS + 1);
    if id.len() <= most {
        return id;
    }
    format!("{}-{}", &id[..id.floor_char_boundary(most)], hash(path))
}

/// Letters and digits in lower case, with one hyphen for all that stands between.
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
    fn ids_are_made_of_paths() {
        let check = |path: &str, expected: &str| assert_eq!(plain(path), expected, "{path}");
        check("a.md", "note:a");
        check("Guides/How  to: deploy_keys!.markdown", "note:guides/how-to-deploy-keys");
        check("v1.2.txt", "note:v1-2");
        check("日本/Größe.md", "note:日本/größe");
        check("!!/a.md", "note:a");
        assert_eq!(plain("!!.md").len(), "note:".len() + HASH_DIGITS);
        let long = format!("{}.md", "ü".repeat(400));
        assert!(plain(&long).len() < limit::ID_BYTES - HASH_DIGITS);
    }

    #[test]
    fn two_notes_never_have_one_id() {
        let mut names = Names::default();
        assert_eq!(names.give("note:a-b", "x.md"), Ok(()));
        assert_eq!(names.give("note:a-b", "y.md"), Err("x.md".to_owned()));
        let (first, _) = names.make("a b.md");
        let (second, _) = names.make("a_b.md");
        assert!(first != second && first.starts_with("note:a-b-") && second.starts_with("note:a-b-"));
        assert_eq!(names.path_of(&second), Some("a_b.md"));
    }
}
