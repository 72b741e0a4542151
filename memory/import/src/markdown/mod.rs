//! Reads notes from a directory of Markdown and plain text files.

mod links;
mod names;
mod targets;
mod walk;

use std::collections::VecDeque;
use std::io::{self, Read as _};
use std::path::Path;

use aurora_confined::{Directory, Refusal, refusal_of};
use aurora_memory::{LineDefaults, Transfer, TransferProblem, TransferredEntry};
use aurora_memory_schema::{Draft, Entry, limit, read_note};

use links::parse_links;
use names::Names;
use targets::Targets;
use walk::{Walk, is_markdown};

/// The relation of links between notes.
const RELATION: &str = "related";
/// Number of bytes at the beginning of a file that are searched for an id in the front matter.
const MAX_FRONT_MATTER_BYTES: u64 = 64 << 10;

/// An iterator over the notes in a directory, in the order of their paths.
///
/// Notes are the files `*.md`, `*.markdown` and `*.txt` at any depth. Files and directories whose names begin with a
/// dot are skipped, and symbolic links are not followed.
///
/// The id of a note is the `id` in its front matter. Without this key, the id is `note:` followed by the path without
/// the extension. The path is converted to lower case, and hyphens replace characters other than letters, digits and
/// slashes. Links to other notes in the directory, `[text](other.md)` and `[[other]]`, become links of the entry.
pub struct MarkdownNotes {
    root: Directory,
    /// The paths and ids of the remaining notes, in the order of the paths.
    notes: std::vec::IntoIter<(String, String)>,
    targets: Targets,
    /// Problems that the iterator has not returned yet.
    problems: VecDeque<TransferProblem>,
    defaults: LineDefaults,
}

impl MarkdownNotes {
    /// Finds the notes in a directory.
    ///
    /// The modification time of a file is the time at which its note was edited. A modification time after
    /// `defaults.time` is replaced with `defaults.time`, because clocks can differ, and an entry with a time in the
    /// future could never be replaced.
    ///
    /// # Errors
    /// Fails if the directory cannot be opened.
    pub fn open(path: &Path, defaults: LineDefaults) -> io::Result<Self> {
        let root = Directory::open_root(path)?;
        let Walk { paths, problems } = walk::walk(&root);
        let mut problems = VecDeque::from(problems);
        let mut names = Names::default();
        let explicit: Vec<Option<String>> = paths.iter().map(|path| front_matter_id(&root, path)).collect();
        for (path, id) in paths.iter().zip(&explicit) {
            let Some(id) = id else { continue };
            if let Err(other) = names.claim(id, path) {
                let why = format!("its front matter has the same id as {other}");
                problems.push_back(TransferProblem::unmapped(path, "id", why).about(id));
            }
        }
        let mut notes = Vec::with_capacity(paths.len());
        for (path, id) in paths.into_iter().zip(explicit) {
            match id {
                None => {
                    let (id, is_used) = names.assign(&path);
                    if is_used {
                        let why = "another note has the id derived from its path";
                        problems.push_back(TransferProblem::altered(&path, "id", why).about(&id));
                    }
                    notes.push((path, id));
                }
                Some(id) if names.path(&id) == Some(&path) => notes.push((path, id)),
                Some(_) => {}
            }
        }
        let targets = Targets::new(&notes);
        Ok(Self { root, notes: notes.into_iter(), targets, problems, defaults })
    }

    fn note(&mut self, path: &str, id: &str) -> Transfer {
        let text =
            read(&self.root, path).map_err(|(reason, why)| TransferProblem::unmapped(path, reason, why).about(id))?;
        let draft = read_note(path, &text)
            .map_err(|mistakes| TransferProblem::invalid_document(path, "document", mistakes).about(id))?;
        let mut entry = draft_with_id(draft, id).map_err(|why| TransferProblem::unmapped(path, "id", why).about(id))?;
        if is_markdown(path) {
            self.link(path, &mut entry);
        }
        let modified = self.root.metadata(path).ok().map(|metadata| metadata.modified.div_euclid(1_000_000_000));
        let edited = modified.map_or(self.defaults.time, |time| time.min(self.defaults.time));
        Ok(TransferredEntry {
            has_derived_id: false,
            placement: self.defaults.placement.clone(),
            created: entry.created().or(modified).unwrap_or(edited),
            edited,
            is_current: true,
            access: None,
            source: path.to_owned(),
            entry,
        })
    }

    /// Adds the links in the text of a note to its entry.
    fn link(&mut self, path: &str, entry: &mut Entry) {
        let text = entry.content("text").and_then(|text| text.as_str()).unwrap_or_default().to_owned();
        for link in parse_links(&text) {
            let Some(to) = self.targets.resolve(path, &link).filter(|to| *to != entry.id()) else { continue };
            if let Err(error) = entry.add_link(to, RELATION, 1.0) {
                let problem = TransferProblem::altered(path, "link", format!("the link to {to} is left out: {error}"));
                self.problems.push_back(problem.about(entry.id()));
            }
        }
    }
}

impl Iterator for MarkdownNotes {
    type Item = Transfer;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(problem) = self.problems.pop_front() {
            return Some(Err(problem));
        }
        let (path, id) = self.notes.next()?;
        Some(self.note(&path, &id))
    }
}

fn draft_with_id(draft: Draft, id: &str) -> Result<Entry, String> {
    let mut entry = draft.into_entry().map_err(|outcome| outcome.reason)?;
    entry.set_id(id).map_err(|error| error.to_string())?;
    Ok(entry)
}

/// Reads the text of a file. An error is a pair of the kind of problem and a description.
fn read(root: &Directory, path: &str) -> Result<String, (&'static str, String)> {
    root.read_to_string(path, limit::TEXT_BYTES as u64).map_err(|error| {
        let reason = match (refusal_of(&error), error.kind()) {
            (Some(Refusal::TooLarge { .. }), _) => "too-long",
            (_, io::ErrorKind::InvalidData) => "utf-8",
            _ => "unreadable",
        };
        (reason, format!("it cannot be read: {error}"))
    })
}

/// Returns the id in the front matter of a file; `None` if there is no id or if the note has mistakes. Mistakes are
/// reported later, when the iterator reads the note.
fn front_matter_id(root: &Directory, path: &str) -> Option<String> {
    let mut head = Vec::new();
    root.open_file(path).ok()?.take(MAX_FRONT_MATTER_BYTES).read_to_end(&mut head).ok()?;
    let head = String::from_utf8_lossy(&head);
    let has_id = head.trim_start_matches('\u{feff}').starts_with("---")
        && head.lines().any(|line| line.get(..3).is_some_and(|key| key.eq_ignore_ascii_case("id:")));
    if !has_id {
        return None;
    }
    let draft = read_note(path, &read(root, path).ok()?).ok()?;
    (!draft.has_derived_id()).then(|| draft.entry().id().to_owned())
}
