//! A baseline: the blame of gix, file by file on one thread, with the same commit-graph as git.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use gix::bstr::ByteSlice as _;

use crate::git::Lines;
use crate::measure::{Cost, thread_cost};

/// Maximum size of gix's object cache in bytes.
const OBJECT_CACHE: usize = 64 << 20;

/// Returns the commit of each line of each of `paths`, or `None` for a file on which gix failed.
pub fn blame(root: &Path, graph: &Path, paths: &[Vec<u8>]) -> Result<(Vec<Lines>, Cost), String> {
    let mut repository = gix::discover(root).map_err(|error| error.to_string())?;
    repository.object_cache_size(OBJECT_CACHE);
    let head = repository.head_id().map_err(|error| error.to_string())?.detach();
    let (lines, cost) = thread_cost(|| {
        let blame = |path: &Vec<u8>| catch_unwind(AssertUnwindSafe(|| blame_file(&repository, head, graph, path)));
        paths.iter().map(|path| blame(path).unwrap_or(None)).collect()
    });
    Ok((lines, cost))
}

fn blame_file(repository: &gix::Repository, head: gix::ObjectId, graph: &Path, path: &[u8]) -> Lines {
    let graph = gix::commitgraph::at(graph, repository.object_hash(), None).ok();
    let mut resources = repository.diff_resource_cache_for_tree_diff().ok()?;
    let options = gix::blame::Options {
        diff_algorithm: repository.diff_algorithm().ok()?,
        rewrites: Some(gix::diff::Rewrites::default()),
        ..Default::default()
    };
    let start = gix::blame::Start::Commit(head);
    let outcome = gix::blame::file(&repository.objects, start, graph, &mut resources, path.as_bstr(), options).ok()?;
    let mut lines = Vec::new();
    for entry in &outcome.entries {
        let commit: Box<[u8]> = entry.commit_id.to_string().into_bytes().into();
        lines.extend(std::iter::repeat_n(commit, entry.len.get() as usize));
    }
    Some(lines)
}
