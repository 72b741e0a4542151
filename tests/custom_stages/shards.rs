//! Custom stages that run on the parts of a tree. The merged index equals the index of a single run.

use std::fs::{self, File};
use std::num::NonZeroU32;
use std::path::Path;

use aurora_pipeline::Silent;
use aurora_stages::index::{self, IndexError, ShardNumber};
use aurora_storage::{Environment, ImportContext, KnownIndexes, ProjectDirectory, Workers};

use crate::examples::with_example;
use crate::fixture::Fixture;
use crate::unfinished::with_program;
use crate::{digest, fresh_digest, options, run, snapshot};

/// Returns the bytes of the exported index.
fn exported(fixture: &Fixture) -> Vec<u8> {
    let path = fixture.path("index.aur");
    snapshot(fixture.root()).export(&path, "test", Workers::new(2)).expect("the index can be exported");
    fs::read(path).expect("the file can be read")
}

/// Indexes all shards of a tree, and merges them into the index of the tree.
fn merge_shards(fixture: &Fixture, count: u32) {
    let count = NonZeroU32::new(count).expect("the count is positive");
    let parts = (1..=count.get()).rev().map(|number| {
        let (path, shard) = (fixture.path(&format!("{number}.part")), ShardNumber { number, count });
        let (_, manifest) =
            index::run_shard(&options(fixture.root()), shard, &path, None, "test", &Silent).expect("the run succeeds");
        assert!(manifest.is_some());
        let file = File::open(&path).expect("the file can be opened");
        (path, file)
    });
    let (known, workers) = (&KnownIndexes::none(), Workers::new(2));
    let context = ImportContext { name: Path::new(""), root: "", now: 0, known, workers };
    Environment::merge(&fixture.path(ProjectDirectory::NAME), parts.collect(), 64 << 20, context)
        .expect("the parts can be merged");
}

#[test]
fn merged_shards_have_the_values_of_a_single_run() {
    for mode in ["", "raise"] {
        let fixture = with_program();
        fixture.write("mode", mode);
        run(&fixture);
        let expected = (digest(&fixture), exported(&fixture));
        for count in [1, 3, 16] {
            merge_shards(&fixture, count);
            assert!((digest(&fixture), exported(&fixture)) == expected, "{count} shards, mode {mode:?}");
        }
        fixture.write("mode", "");
        run(&fixture);
        assert_eq!(digest(&fixture), fresh_digest(&fixture));
    }
}

#[test]
fn a_shard_is_not_indexed_with_a_stage_that_supplies_documents() {
    let fixture = with_example("tickets");
    let (shard, path) =
        (ShardNumber { number: 1, count: NonZeroU32::new(2).expect("the count is positive") }, fixture.path("1.part"));
    let refused = index::run_shard(&options(fixture.root()), shard, &path, None, "test", &Silent);
    assert!(matches!(&refused, Err(IndexError::Supplier(stage)) if stage == "tickets"), "{refused:?}");
    assert!(!path.exists());
}
