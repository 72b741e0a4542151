//! Resolution of links to notes.

use std::collections::HashMap;

use percent_encoding::percent_decode_str;

use super::links::NoteLink;
use super::walk::{EXTENSIONS, split_extension};

/// An index of the notes that can be the targets of links.
pub(super) struct Targets {
    /// The ids of notes, by relative path.
    by_path: HashMap<String, String>,
    /// The relative paths of notes, by file name in lower case and without the extension. Shorter paths come first.
    by_name: HashMap<String, Vec<String>>,
}

impl Targets {
    /// Creates an index of notes. `notes` contains their paths and ids.
    pub(super) fn new(notes: &[(String, String)]) -> Self {
        let mut by_name: HashMap<String, Vec<String>> = HashMap::new();
        for (path, _) in notes {
            by_name.entry(normalised_name(path)).or_default().push(path.clone());
        }
        for paths in by_name.values_mut() {
            paths.sort_by_key(|path| (path.len(), path.clone()));
        }
        Self { by_path: notes.iter().cloned().collect(), by_name }
    }

    /// Returns the id of the note that is the target of a link; `None` if the target is not a note. `from` is the path
    /// of the note that contains the link.
    pub(super) fn resolve(&self, from: &str, link: &NoteLink) -> Option<&str> {
        let directory = from.rsplit_once('/').map_or("", |(directory, _)| directory);
        match link {
            NoteLink::Destination(to) => self.resolve_destination(directory, to),
            NoteLink::Name(name) => self.resolve_name(directory, name),
        }
    }

    /// Resolves a destination. It is relative to the directory of the note, or to the root directory if it begins with
    /// a slash.
    fn resolve_destination(&self, directory: &str, to: &str) -> Option<&str> {
        let path = to.split(['#', '?']).next().filter(|path| !path.is_empty())?;
        let path = percent_decode_str(path).decode_utf8().ok()?;
        match path.strip_prefix('/') {
            Some(path) => self.at("", path),
            None => self.at(directory, &path),
        }
    }

    /// Resolves a name. It can be a path relative to the directory of the note or to the root directory, or the file
    /// name of a note in any directory.
    fn resolve_name(&self, directory: &str, name: &str) -> Option<&str> {
        let name = name.split(['#', '^']).next()?.trim();
        if name.is_empty() {
            return None;
        }
        let path = self.at(directory, name).or_else(|| self.at("", name));
        path.or_else(|| {
            let paths = self.by_name.get(&normalised_name(name))?;
            self.by_path.get(paths.first()?).map(String::as_str)
        })
    }

    /// Returns the id of the note at a path. The path can omit the extension.
    fn at(&self, directory: &str, path: &str) -> Option<&str> {
        let path = join(directory, path)?;
        let exact = self.by_path.get(&path);
        let with_extension =
            || EXTENSIONS.iter().find_map(|extension| self.by_path.get(&format!("{path}.{extension}")));
        exact.or_else(with_extension).map(String::as_str)
    }
}

/// Returns the file name of a path in lower case, without the extension of a note.
fn normalised_name(path: &str) -> String {
    let (stem, _) = split_extension(path).unwrap_or((path, ""));
    stem.rsplit('/').next().unwrap_or(stem).to_lowercase()
}

/// Joins a path to a directory, and resolves `.` and `..`. Returns `None` if the result is outside the root directory.
fn join(directory: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = Vec::new();
    for part in directory.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_resolved_to_notes() {
        let paths = ["a.md", "guides/a.md", "guides/deep/b.md", "guides/c d.md", "notes/x.txt"];
        let notes: Vec<_> = paths.iter().map(|path| ((*path).to_owned(), format!("id {path}"))).collect();
        let targets = Targets::new(&notes);
        let check = |from: &str, link: NoteLink, expected: Option<&str>| {
            let found = targets.resolve(from, &link).map(|id| id.trim_start_matches("id ").to_owned());
            assert_eq!(found.as_deref(), expected, "{from} {link:?}");
        };
        let to = |text: &str| NoteLink::Destination(text.to_owned());
        let named = |text: &str| NoteLink::Name(text.to_owned());
        check("guides/c d.md", to("a.md"), Some("guides/a.md"));
        check("guides/c d.md", to("../a.md#top"), Some("a.md"));
        check("guides/c d.md", to("/a.md"), Some("a.md"));
        check("guides/c d.md", to("deep/b"), Some("guides/deep/b.md"));
        check("guides/deep/b.md", to("../c%20d.md?raw=1"), Some("guides/c d.md"));
        check("guides/deep/b.md", to("../../notes/./x.txt"), Some("notes/x.txt"));
        check("a.md", named("B"), Some("guides/deep/b.md"));
        check("guides/deep/b.md", named("a"), Some("a.md"));
        check("guides/c d.md", named("a"), Some("guides/a.md"));
        check("a.md", named("guides/a#Part"), Some("guides/a.md"));
        check("a.md", named("c d"), Some("guides/c d.md"));
        for none in
            [to("../a.md"), to("https://x.org/a.md"), to("#top"), to("b.md"), to("%ff"), named("z"), named("#a")]
        {
            check("a.md", none, None);
        }
    }
}
