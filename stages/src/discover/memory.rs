//! Documents outside the source tree: the user's conversation logs and the project's reasoning patterns.

use std::io;
use std::path::Path;

use aurora_codec::put_sized;
use aurora_confined::{Directory, EntryKind, Refusal, refusal_of};
use aurora_storage::{FileStamp, ProjectDirectory, UserDirectory};

use super::walk::{Omission, WalkedFile};
use crate::chunk::log_sections;
use crate::formats::documents::{CONVERSATION, REASONING};
use crate::services::{SourceTree, is_gone};

/// Maximum depth of directories of documents. Deeper directories are skipped.
const MAX_DEPTH: usize = 64;

/// Returns the documents, sorted by path, and the omissions. Documents have the paths under which the index stores
/// them, because logs are outside the root.
pub(super) fn documents(tree: &SourceTree) -> (Vec<WalkedFile>, Vec<Omission>) {
    let mut logs = Search::new(UserDirectory::CONVERSATIONS_PREFIX, CONVERSATION, log_sections::is_log);
    if let Some(path) = tree.conversations() {
        logs.search_root(Directory::open_root(&path));
    }
    let mut patterns = Search::new(ProjectDirectory::REASONING_PREFIX, REASONING, |path| path.ends_with(".json"));
    patterns.search_root(tree.root.open_directory(Path::new(ProjectDirectory::REASONING_PREFIX)));
    let (mut found, mut omissions) = (logs.found, logs.omissions);
    found.append(&mut patterns.found);
    omissions.append(&mut patterns.omissions);
    found.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    (found, omissions)
}

/// Returns a BLAKE3 hash of documents and omissions.
pub(super) fn digest(documents: &[WalkedFile], omissions: &[Omission]) -> [u8; 32] {
    let mut bytes = Vec::new();
    for WalkedFile { path, size, stamp, .. } in documents {
        put_sized(&mut bytes, path.as_bytes());
        let FileStamp { modified, changed, inode } = *stamp;
        for number in [*size, modified as u64, changed as u64, inode] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
    }
    for Omission { path, reason, .. } in omissions {
        put_sized(&mut bytes, path.as_bytes());
        put_sized(&mut bytes, reason.as_bytes());
    }
    *blake3::hash(&bytes).as_bytes()
}

/// The search for documents of one format.
struct Search {
    /// Prefix of the documents' paths in the index, ending in `/`.
    prefix: &'static str,
    format: &'static str,
    is_document: fn(&str) -> bool,
    found: Vec<WalkedFile>,
    omissions: Vec<Omission>,
}

impl Search {
    fn new(prefix: &'static str, format: &'static str, is_document: fn(&str) -> bool) -> Self {
        Self { prefix, format, is_document, found: Vec::new(), omissions: Vec::new() }
    }

    fn search_root(&mut self, directory: io::Result<Directory>) {
        let prefix = self.prefix;
        match directory {
            Ok(directory) => self.search_directory(&directory, prefix, 0),
            // A missing directory is not reported as an omission.
            Err(error) => self.omit(prefix, &error),
        }
    }

    /// Searches a directory recursively without following symbolic links. `path` ends in `/`.
    fn search_directory(&mut self, directory: &Directory, path: &str, depth: usize) {
        let entries = match directory.entries() {
            Ok(entries) => entries,
            Err(error) => return self.omit(path, &error),
        };
        for (name, kind) in entries {
            let Some(text) = name.to_str() else { continue };
            let below = format!("{path}{text}");
            match kind {
                EntryKind::Directory if depth < MAX_DEPTH => match directory.open_directory(&name) {
                    Ok(inner) => self.search_directory(&inner, &format!("{below}/"), depth + 1),
                    Err(error) => self.omit(&below, &error),
                },
                EntryKind::File if (self.is_document)(&below) => match directory.metadata(&name) {
                    Ok(metadata) => self.found.push(WalkedFile {
                        path: below.into(),
                        size: metadata.len,
                        // The file system of the logs may have no stable inodes, so the inode is not compared.
                        stamp: FileStamp { modified: metadata.modified.max(0), changed: metadata.changed, inode: 0 },
                        language: self.format.into(),
                    }),
                    Err(error) => self.omit(&below, &error),
                },
                _ => {}
            }
        }
    }

    fn omit(&mut self, path: &str, error: &io::Error) {
        let path = path.trim_end_matches('/').to_owned();
        if refusal_of(error) == Some(Refusal::SymbolicLink) {
            self.omissions.push(Omission { path, reason: "symbolic link".into(), is_error: false });
        } else if !is_gone(error) {
            self.omissions.push(Omission { path, reason: error.to_string().into(), is_error: true });
        }
    }
}
