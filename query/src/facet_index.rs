//! Counts the chunks that match a search by type, language and directory.

use std::collections::BTreeMap;

use aurora_storage::{ChunkType, Label, LabelKind, Snapshot, StorageError};
use roaring::RoaringBitmap;
use serde::Serialize;

/// Maximum number of directories.
const MAX_DIRECTORIES: usize = 20;

/// Counts of all chunks that pass the filters and contain at least one word of the query.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SearchFacets {
    /// Number of chunks.
    pub chunks: u64,
    /// Counts by type, highest first.
    pub types: Vec<FacetCount>,
    /// Counts by language, highest first.
    pub languages: Vec<FacetCount>,
    /// Counts by directory, highest first. The directories are the direct children of the deepest directory that
    /// contains all of the chunks, at most twenty. If several roots are searched, directories with the same path are
    /// counted together.
    pub directories: Vec<FacetCount>,
    /// Counts by root, in the order of the search, if several roots are searched.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub roots: Vec<FacetCount>,
}

impl SearchFacets {
    /// Merges the counts of several indexes. `names` are the names of the indexes.
    pub(crate) fn merged(parts: Vec<Self>, names: &[&str]) -> Self {
        let named = parts.iter().zip(names).map(|(part, name)| count(name, part.chunks));
        let roots = if parts.len() > 1 { named.collect() } else { Vec::new() };
        let chunks = parts.iter().map(|part| part.chunks).sum();
        let merged = |of: fn(&Self) -> &Vec<FacetCount>| {
            let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
            for FacetCount { value, chunks } in parts.iter().flat_map(of) {
                *counts.entry(value).or_default() += chunks;
            }
            sorted_by_count(counts.into_iter().map(|(value, chunks)| count(value, chunks)).collect())
        };
        let (types, languages) = (merged(|part| &part.types), merged(|part| &part.languages));
        let mut directories = merged(|part| &part.directories);
        directories.truncate(MAX_DIRECTORIES);
        Self { chunks, types, languages, directories, roots }
    }
}

fn count(value: &str, chunks: u64) -> FacetCount {
    FacetCount { value: value.to_owned(), chunks }
}

/// Removes values without chunks, and sorts the remaining values by descending count.
fn sorted_by_count(mut counts: Vec<FacetCount>) -> Vec<FacetCount> {
    counts.retain(|count| count.chunks > 0);
    counts.sort_by(|a, b| b.chunks.cmp(&a.chunks).then_with(|| a.value.cmp(&b.value)));
    counts
}

/// The number of chunks with a value.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FacetCount {
    /// The value. A directory is given as its path below the root.
    pub value: String,
    /// Number of chunks with the value.
    pub chunks: u64,
}

/// Maps the chunks of a generation to directories, so that chunks can be counted without reading their records.
pub(crate) struct FacetIndex {
    /// First chunk of each file and the index of the file's directory in `directories`, ordered by chunk.
    files: Vec<(u32, usize)>,
    /// Paths of directories that contain files; the root has an empty path.
    directories: Vec<String>,
}

impl FacetIndex {
    /// Creates the index from the records of all files.
    ///
    /// # Errors
    /// Fails if the index cannot be read.
    pub(crate) fn new(snapshot: &Snapshot) -> Result<Self, StorageError> {
        let mut numbers: BTreeMap<String, usize> = BTreeMap::new();
        let mut files = Vec::new();
        for file in snapshot.files() {
            let file = file?;
            let Some(first) = file.chunks.first() else { continue };
            let directory = file.path.rsplit_once('/').map_or("", |(directory, _)| directory);
            let next = numbers.len();
            let number = *numbers.entry(directory.to_owned()).or_insert(next);
            files.push((first.0, number));
        }
        files.sort_unstable();
        let mut directories = vec![String::new(); numbers.len()];
        for (directory, number) in numbers {
            directories[number] = directory;
        }
        Ok(Self { files, directories })
    }

    /// Counts the live chunks `chunks` of one index by type, language and directory. The counts are not sorted.
    ///
    /// # Errors
    /// Fails if a label of the index is damaged.
    pub(crate) fn count(&self, snapshot: &Snapshot, chunks: &RoaringBitmap) -> Result<SearchFacets, StorageError> {
        let mut types = Vec::new();
        for &kind in ChunkType::ALL {
            types.push(count(kind.as_str(), snapshot.label(Label::Type(kind))?.intersection_len(chunks)));
        }
        let mut languages = Vec::new();
        for language in snapshot.labels(LabelKind::Language) {
            let (value, _) = language?;
            languages.push(count(&value, snapshot.label(Label::Language(&value))?.intersection_len(chunks)));
        }
        let directories = below_common(&self.by_directory(chunks));
        Ok(SearchFacets { chunks: chunks.len(), types, languages, directories, roots: Vec::new() })
    }

    /// Returns the directories that contain some of the chunks, with the number of chunks.
    fn by_directory(&self, chunks: &RoaringBitmap) -> Vec<(&str, u64)> {
        let mut counts = vec![0; self.directories.len()];
        let mut file = 0;
        for chunk in chunks {
            // The ids of a file's chunks range from its first chunk to the first chunk of the next file.
            while self.files.get(file + 1).is_some_and(|(first, _)| *first <= chunk) {
                file += 1;
            }
            if let Some((_, number)) = self.files.get(file).filter(|(first, _)| *first <= chunk) {
                counts[*number] += 1;
            }
        }
        let all = self.directories.iter().map(String::as_str).zip(counts);
        all.filter(|(_, count)| *count > 0).collect()
    }
}

/// Counts chunks by the direct children of the deepest directory that contains all of `directories`. Chunks of files
/// directly in the deepest directory are not counted.
fn below_common(directories: &[(&str, u64)]) -> Vec<FacetCount> {
    let parts = |path: &'_ str| path.split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect::<Vec<_>>();
    let mut common = directories.first().map_or_else(Vec::new, |(path, _)| parts(path));
    for (path, _) in directories {
        let shared = common.iter().zip(parts(path)).take_while(|(a, b)| *a == b).count();
        common.truncate(shared);
    }
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for (path, chunks) in directories {
        let parts = parts(path);
        if parts.len() > common.len() {
            *counts.entry(parts[..=common.len()].join("/")).or_default() += chunks;
        }
    }
    counts.into_iter().map(|(value, chunks)| FacetCount { value, chunks }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(directories: &[(&str, u64)]) -> Vec<(String, u64)> {
        below_common(directories).into_iter().map(|count| (count.value, count.chunks)).collect()
    }

    #[test]
    fn chunks_are_counted_below_the_deepest_common_directory() {
        let both = |a: &str, n, b: &str, m| vec![(a.to_owned(), n), (b.to_owned(), m)];
        assert_eq!(counted(&[("lib", 2), ("src/a/x", 1), ("src/b", 4)]), both("lib", 2, "src", 5));
        assert_eq!(counted(&[("src/a/x", 1), ("src/a/y", 2), ("src/b", 4)]), both("src/a", 3, "src/b", 4));
        assert_eq!(counted(&[("src", 9), ("src/a/x", 1), ("src/ab", 2)]), both("src/a", 1, "src/ab", 2));
        assert_eq!(counted(&[("", 3), ("src", 1)]), [("src".to_owned(), 1)]);
        assert_eq!(counted(&[("src/a", 3)]), []);
        assert_eq!(counted(&[]), []);
    }
}
