//! Finds notes in a directory tree.

use std::ffi::OsStr;

use aurora_confined::{Directory, EntryKind};
use aurora_memory::TransferProblem;

/// Extensions of notes, from the most to the least common.
pub(super) const EXTENSIONS: [&str; 3] = ["md", "markdown", "txt"];
/// Maximum nesting depth of directories.
const MAX_DEPTH: usize = 64;

/// The notes and problems in a directory tree.
#[derive(Default)]
pub(super) struct Walk {
    /// Relative paths of notes, with slashes as separators, sorted.
    pub(super) paths: Vec<String>,
    pub(super) problems: Vec<TransferProblem>,
}

/// Returns `true` if the extension of a note shows that it is Markdown and not plain text.
pub(super) fn is_markdown(path: &str) -> bool {
    split_extension(path).is_some_and(|(_, extension)| !extension.eq_ignore_ascii_case("txt"))
}

/// Splits the path of a note before its extension. Returns `None` if the path does not have an extension of a note.
pub(super) fn split_extension(path: &str) -> Option<(&str, &str)> {
    let (stem, extension) = path.rsplit_once('.')?;
    let is_note = EXTENSIONS.iter().any(|other| extension.eq_ignore_ascii_case(other));
    (is_note && !stem.is_empty() && !stem.ends_with('/')).then_some((stem, extension))
}

pub(super) fn walk(root: &Directory) -> Walk {
    let mut found = Walk::default();
    let mut open = vec![String::new()];
    while let Some(directory) = open.pop() {
        if directory.matches('/').count() >= MAX_DEPTH {
            let why = format!("it is nested more than {MAX_DEPTH} directories deep");
            found.problems.push(TransferProblem::unmapped(directory, "too-deep", why));
            continue;
        }
        let opened = if directory.is_empty() { Ok(root.clone()) } else { root.open_directory(&directory) };
        let entries = match opened.and_then(|opened| opened.entries()) {
            Ok(entries) => entries,
            Err(error) => {
                let why = format!("the directory cannot be read: {error}");
                found.problems.push(TransferProblem::unmapped(directory, "unreadable", why));
                continue;
            }
        };
        for (name, kind) in entries {
            add_entry(&directory, &name, kind, (&mut found, &mut open));
        }
    }
    found.paths.sort_unstable();
    found.problems.sort_by(|a, b| a.what.cmp(&b.what));
    found
}

fn add_entry(directory: &str, name: &OsStr, kind: EntryKind, (found, open): (&mut Walk, &mut Vec<String>)) {
    let shown = name.to_string_lossy();
    if shown.starts_with('.') {
        return;
    }
    let path = if directory.is_empty() { shown.into_owned() } else { format!("{directory}/{shown}") };
    let mut report = |reason, why: &str| found.problems.push(TransferProblem::unmapped(&path, reason, why));
    match kind {
        EntryKind::Directory if name.to_str().is_some() => open.push(path),
        _ if split_extension(&path).is_none() => {}
        EntryKind::Link => report("symbolic-link", "it is a symbolic link, which is not followed"),
        _ if name.to_str().is_none() => report("name", "its name is not UTF-8"),
        EntryKind::File => found.paths.push(path),
        EntryKind::Directory | EntryKind::Other => report("unreadable", "it is not a file"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_recognised_by_their_extension() {
        assert_eq!(split_extension("a/b.c.md"), Some(("a/b.c", "md")));
        assert_eq!(split_extension("A.MARKDOWN"), Some(("A", "MARKDOWN")));
        for other in ["a", ".md", "a/.txt", "a.rst", "md"] {
            assert_eq!(split_extension(other), None, "{other}");
        }
        assert!(is_markdown("a.md") && !is_markdown("a.txt"));
    }
}
