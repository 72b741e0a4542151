//! Chunks as a user names them: by their ids, or by a place in a file.

use std::path::Path;

use aurora_storage::{ChunkId, Label, Snapshot, StorageError};

use crate::output::sanitize;
use crate::place;

/// Most ids that an error suggests.
const SUGGESTIONS: usize = 3;
/// Most chunks of one name that are looked at for suggestions.
const MOST_NAMESAKES: usize = 1_000;

/// The key of the chunk that `id` names: a key, or a place `path:line` or `path:first-last`, from the root or from the
/// current directory.
pub(crate) fn resolve(snapshot: &Snapshot, root: &Path, id: &str) -> Result<Option<String>, StorageError> {
    if snapshot.chunk_by_key(id)?.is_some() {
        return Ok(Some(id.to_owned()));
    }
    let Some((path, line)) = place_of(id) else { return Ok(None) };
    for path in place::spellings(root, path) {
        if let Some(key) = innermost(snapshot, &path, line)? {
            return Ok(Some(key));
        }
    }
    Ok(None)
}

/// `src/a.py` and 12 of `src/a.py:12` and `src/a.py:12-20`.
pub(crate) fn place_of(id: &str) -> Option<(&str, u32)> {
    let (path, lines) = id.rsplit_once(':')?;
    let first = lines.split_once('-').map_or(lines, |(first, _)| first);
    Some((path, first.parse().ok()?))
}

/// The smallest chunk of a file around a line.
fn innermost(snapshot: &Snapshot, path: &str, line: u32) -> Result<Option<String>, StorageError> {
    let mut best: Option<(u32, String)> = None;
    for id in chunks_of(snapshot, path)? {
        let Some(chunk) = snapshot.chunk(id)? else { continue };
        let (first, last) = (chunk.line_start(), chunk.line_end());
        let this = (last.saturating_sub(first), chunk.key().into_owned());
        if (first..=last).contains(&line) && best.as_ref().is_none_or(|best| this < *best) {
            best = Some(this);
        }
    }
    Ok(best.map(|(_, key)| key))
}

fn chunks_of(snapshot: &Snapshot, path: &str) -> Result<Vec<ChunkId>, StorageError> {
    Ok(snapshot.file(path)?.map(|file| file.chunks).unwrap_or_default())
}

/// Keys that look like `id`, the nearest first: of chunks in files whose path is like the one that it has, and of those
/// that bear its name.
pub(crate) fn similar(snapshot: &Snapshot, id: &str) -> Result<Vec<String>, StorageError> {
    let path = |id: &str| id.split(':').find(|part| part.contains(['/', '.'])).unwrap_or(id).to_owned();
    let wanted = path(id);
    let mut files = Vec::new();
    for file in snapshot.files() {
        let file = file?;
        let near = aurora_suggest::distance(&file.path, &wanted) <= wanted.chars().count() / 4;
        if near || file.path.ends_with(&format!("/{wanted}")) {
            files.push(file);
        }
    }
    let name = id.rsplit(':').next().unwrap_or(id).to_lowercase();
    let of_name = snapshot.label(Label::Defines(&name))?.into_iter().take(MOST_NAMESAKES).map(ChunkId);
    let mut keys = Vec::new();
    for id_of_chunk in files.into_iter().flat_map(|file| file.chunks).chain(of_name) {
        if let Some(chunk) = snapshot.chunk(id_of_chunk)? {
            let key = chunk.key();
            keys.push((aurora_suggest::distance(&key, id), sanitize::line(&key)));
        }
    }
    keys.sort();
    keys.dedup();
    // If one candidate differs by a typing error only, merely similar ones are not suggested.
    let farthest = keys.first().map_or(0, |(nearest, _)| 2 * nearest + 2);
    keys.retain(|(distance, _)| *distance <= farthest);
    keys.truncate(SUGGESTIONS);
    Ok(keys.into_iter().map(|(_, key)| key).collect())
}
