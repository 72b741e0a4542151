//! What is remembered beside the tree: conversation logs of the user, reasoning patterns of the project.

use std::path::Path;

use ignore::WalkBuilder;

use super::listing::Directory;
use super::walk::Candidate;
use crate::chunk::document::{CONVERSATION, REASONING};
use crate::chunk::knowledge;
use crate::job::{CONVERSATIONS, Job, PATTERNS};

/// The documents that are there, sorted by path. Their paths are those under which they are filed:
/// logs lie outside the root, see [`Job::locate`].
pub(super) fn documents(job: &Job) -> Vec<Candidate> {
    let mut found = below(job, CONVERSATIONS, CONVERSATION, knowledge::is_log);
    found.extend(below(job, PATTERNS, REASONING, |path| path.ends_with(".json")));
    found.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    found
}

fn below(job: &Job, prefix: &str, format: &'static str, is_one: impl Fn(&str) -> bool) -> Vec<Candidate> {
    let directory = job.locate(prefix);
    let walk = WalkBuilder::new(&directory).standard_filters(false).build();
    // A directory that is not there holds nothing.
    let files = walk.flatten().filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()));
    files
        .filter_map(|entry| candidate(entry.path(), &directory, prefix, format))
        .filter(|file| is_one(&file.path))
        .collect()
}

fn candidate(path: &Path, directory: &Path, prefix: &str, format: &'static str) -> Option<Candidate> {
    let parts: Option<Vec<&str>> = path.strip_prefix(directory).ok()?.iter().map(|part| part.to_str()).collect();
    let metadata = Directory::open(path.parent()?).ok()?.metadata(path.file_name()?).ok()?;
    let path = format!("{prefix}{}", parts?.join("/"));
    Some(Candidate { path: path.into(), size: metadata.size, mtime: metadata.mtime, language: format })
}
