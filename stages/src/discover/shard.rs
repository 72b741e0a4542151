//! Divides the files of a tree among shards, and identifies the tree.

use std::ops::Range;

use aurora_codec::put_sized;
use aurora_storage::{file_key, is_artefact};
use rayon::ThreadPoolBuilder;
use rayon::prelude::*;

use super::walk::{Omission, WalkOutput, WalkedFile};
use crate::services::{ShardNumber, ShardRun, SourceTree};

/// Number of bytes of source text that take as long to index as the work that every file needs, regardless of its size.
const BYTES_PER_FILE: u64 = 2048;
/// Version of the digest of a tree.
const TREE_VERSION: &[u8] = b"tree 1";

/// Keeps the files of the shard. Also computes the digest of the whole tree, on `threads` threads.
///
/// Artefacts are left out of the tree, so that the files that other shards have written there do not change it.
pub(super) fn select(run: &ShardRun, found: &mut WalkOutput, tree: &SourceTree, threads: usize) {
    // The index orders files by their keys. For long paths, the order of the keys differs from the order of the paths.
    found.files.sort_by_cached_key(|file| file_key(&file.path));
    let contents = contents(&found.files, tree, threads);
    let files = std::mem::take(&mut found.files).into_iter().zip(contents);
    let (files, contents): (Vec<_>, Vec<_>) = files.filter(|(_, content)| *content != Content::Artefact).unzip();
    run.tree.get_or_init(|| tree_digest(&files, &contents, &found.omissions));
    let range = range(&files, run.shard);
    found.files = files.into_iter().skip(range.start).take(range.len()).collect();
    found.files.sort_by(|a, b| a.path.cmp(&b.path));
}

/// Returns the positions of the files of a shard. The shards have about the same size.
fn range(files: &[WalkedFile], ShardNumber { number, count }: ShardNumber) -> Range<usize> {
    let weight = |file: &WalkedFile| u128::from(file.size) + u128::from(BYTES_PER_FILE);
    let all: u128 = files.iter().map(weight).sum();
    let mut before = 0;
    // A file belongs to the shard in which its middle lies.
    let shard_of = |file: &WalkedFile| {
        let middle = 2 * before + weight(file);
        before += weight(file);
        middle * u128::from(count.get()) / (2 * all) + 1
    };
    let shards: Vec<u128> = files.iter().map(shard_of).collect();
    let end_of = |shard: u128| shards.partition_point(|other| *other <= shard);
    end_of(u128::from(number) - 1)..end_of(u128::from(number))
}

/// The content of a file.
#[derive(Debug, PartialEq, Eq)]
enum Content {
    /// BLAKE3 hash of the content.
    Hash([u8; blake3::OUT_LEN]),
    /// The file cannot be read, or is a conversation log, which is outside the tree.
    Unknown,
    /// The file is an artefact.
    Artefact,
}

/// Reads the files of a tree on `threads` threads.
fn contents(files: &[WalkedFile], tree: &SourceTree, threads: usize) -> Vec<Content> {
    let content = |file: &WalkedFile| match tree.read(&file.path) {
        Ok(bytes) if is_artefact(&file.path, &bytes) => Content::Artefact,
        Ok(bytes) if !file.is_log() => Content::Hash(*blake3::hash(&bytes).as_bytes()),
        _ => Content::Unknown,
    };
    let contents = || files.par_iter().map(content).collect();
    // If the pool cannot be created, the work runs on the global pool.
    match ThreadPoolBuilder::new().num_threads(threads).build() {
        Ok(pool) => pool.install(contents),
        Err(_) => contents(),
    }
}

/// Returns the BLAKE3 hash, in hexadecimal, of the paths and contents of all files, and of the paths that cannot be
/// read.
fn tree_digest(files: &[WalkedFile], contents: &[Content], omissions: &[Omission]) -> String {
    let mut bytes = Vec::new();
    put_sized(&mut bytes, TREE_VERSION);
    for (file, content) in files.iter().zip(contents) {
        put_sized(&mut bytes, file.path.as_bytes());
        put_sized(&mut bytes, if let Content::Hash(hash) = content { hash } else { &[] });
    }
    for omission in omissions.iter().filter(|omission| omission.is_error) {
        put_sized(&mut bytes, omission.path.as_bytes());
    }
    blake3::hash(&bytes).to_hex().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(sizes: &[u64]) -> Vec<WalkedFile> {
        let file = |(number, &size): (usize, &u64)| WalkedFile {
            path: format!("f{number:03}").into(),
            size,
            stamp: Default::default(),
            language: "text".into(),
        };
        sizes.iter().enumerate().map(file).collect()
    }

    #[test]
    fn every_file_belongs_to_exactly_one_shard() {
        for (sizes, count) in [(vec![], 3), (vec![5], 3), (vec![0; 100], 16), ((0..90).map(|n| n * n).collect(), 7)] {
            let (files, count) = (files(&sizes), count.try_into().expect("the count is positive"));
            let ranges: Vec<_> =
                (1..=u32::from(count)).map(|number| range(&files, ShardNumber { number, count })).collect();
            let joined: Vec<usize> = ranges.iter().cloned().flatten().collect();
            assert!(joined.into_iter().eq(0..files.len()), "{ranges:?}");
        }
    }

    #[test]
    fn shards_have_about_the_same_size() {
        let sizes: Vec<u64> = (0..1000).map(|n| n * 7919 % 20_000).collect();
        let (files, count) = (files(&sizes), 8.try_into().expect("the count is positive"));
        let bytes = |number| range(&files, ShardNumber { number, count }).map(|at| sizes[at]).sum::<u64>();
        let (total, shards) = (sizes.iter().sum::<u64>(), (1..=8).map(bytes).collect::<Vec<_>>());
        assert!(shards.iter().all(|bytes| bytes.abs_diff(total / 8) < total / 50), "{shards:?}");
    }
}
