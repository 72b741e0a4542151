//! Corpora and queries for property tests. They use few words, so that chunks and queries have many words in common.

use std::collections::BTreeSet;
use std::ops::Range;

use aurora_storage::ChunkType;
use proptest::prelude::*;

use crate::corpus::Row;

const WORDS: [&str; 8] = ["parse", "config", "user", "session", "token", "load", "save", "index"];

/// Returns a strategy for texts of one to eleven words.
pub(crate) fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(&WORDS[..]), 1..12).prop_map(|words| words.join(" "))
}

/// Returns a strategy for rows in files with the given paths. Rows with the key of an earlier row are removed, so there
/// may be fewer rows than `count`.
pub(crate) fn rows(paths: &'static [&'static str], count: Range<usize>) -> impl Strategy<Value = Vec<Row>> {
    let row = (prop::sample::select(paths), prop::sample::subsequence(&WORDS[..], 1..3), text(), 0usize..3, 1i64..500);
    prop::collection::vec(row, count).prop_map(|rows| {
        let mut known = BTreeSet::new();
        let rows = rows.into_iter().map(|(path, name, text, kind, days)| {
            let chunk_type = [ChunkType::Function, ChunkType::Class, ChunkType::Kb][kind];
            Row::new(path, &name.join("_"), chunk_type, &text).committed(2, days)
        });
        rows.filter(|row| known.insert(row.key())).collect()
    })
}
