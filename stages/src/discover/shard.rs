//! Divides the files of a tree among shards, and identifies the tree.

use std::ops::Range;

use aurora_codec::put_sized;
use aurora_storage::file_key;
use rayon::ThreadPoolBuilder;
use rayon::prelude::*;

use super::is_log;
use super::walk::{WalkOutput, WalkedFile};
use crate::services::{ShardNumber, ShardRun, SourceTree};

/// Number of bytes of source text that take as long to index as the work that every file needs, regardless of its size.
const BYTES_PER_FILE: u64 = 2048;
/// Version of the digest of a tree.
const TREE_VERSION: &[u8] = b"tree 1";

/// Keeps the files of the shard. Also computes the digest of the whole tree, on `threads` threads.
pub(super) fn select(run: &ShardRun, found: &mut WalkOutput, tree: &SourceTree, threads: usize) {
    // The index orders files by their keys. For long paths, this order differs from that of the paths.
    found.files.sort_by_cached_key(|file| file_key(&file.path));
    run.tree.get_or_init(|| tree_digest(found, tree, threads));
    found.files = found.files.drain(range(&found.files, run.shard)).collect();
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

/// Returns the BLAKE3 hash, in hexadecimal, of the paths and contents of all files, and of the paths that cannot be
/// read. The contents of conversation logs, which are outside the tree, are left out.
fn tree_digest(found: &WalkOutput, tree: &SourceTree, threads: usize) -> String {
    let content = |file: &WalkedFile| match is_log(file) {
        false => tree.read(&file.path).ok().map(|bytes| *blake3::hash(&bytes).as_bytes()),
        true => None,
    };
    let contents = || found.files.par_iter().map(content).collect::<Vec<_>>();
    // Without a pool of its own, the work runs on the global pool.
    let contents = match ThreadPoolBuilder::new().num_threads(threads).build() {
        Ok(pool) => pool.install(contents),
        Err(_) => contents(),
    };
    let mut bytes = Vec::new();
    put_sized(&mut bytes, TREE_VERSION);
    for (file, content) in found.files.iter().zip(contents) {
        put_sized(&mut bytes, file.path.as_bytes());
        put_sized(&mut bytes, content.as_ref().map_or(&[][..], |hash| hash));
    }
    for omission in found.omissions.iter().filter(|omission| omission.is_error) {
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
