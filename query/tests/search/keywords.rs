//! The best chunks by keywords equal the result of exhaustively scoring all postings, bit by bit.

use crate::corpus::{self, NOW, Row};
use aurora_query::{Bm25Config, FieldScorer, SearchConfig, WeightedTerm, best_chunks, idf};
use aurora_storage::{
    ChunkId, ChunkType, Environment, FIELDS, Field, ManifestUpdate, OpenMode, Snapshot, TermVector, Unfinished,
    WriterOptions,
};
use proptest::prelude::*;
use roaring::RoaringBitmap;

const TERMS: usize = 12;

/// A deterministic pseudo-random number generator.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        (self.0 >> 33) % end
    }
}

/// Returns terms from very common to very rare; `t0` is in every second chunk, `t11` in one of several thousand.
fn vector(numbers: &mut Numbers) -> TermVector {
    let mut builder = TermVector::builder();
    for term in 0..TERMS {
        if numbers.below(2 << term) == 0 {
            for _ in 0..=numbers.below(3) {
                let field = Field::ALL[numbers.below(FIELDS as u64) as usize];
                for _ in 0..=numbers.below(4) {
                    builder.add(field, &format!("t{term}"));
                }
            }
        }
    }
    for _ in 0..numbers.below(40) {
        builder.add(Field::Body, "filler");
    }
    builder.finish()
}

/// Writes an index in `generations` runs of several thousand chunks each, and replaces and removes files.
fn write(directory: &std::path::Path, seed: u64, generations: u64) -> Snapshot {
    let environment = Environment::open(directory, OpenMode::Create).expect("a fresh directory");
    let mut numbers = Numbers(seed);
    for generation in 0..generations {
        let writer = environment.writer(WriterOptions::default()).expect("no other writer");
        for file in 0..4 {
            let path = format!("{}.py", numbers.below(3) + 3 * (file + generation));
            let rows: Vec<Row> = (0..100 + numbers.below(1600))
                .map(|at| Row::new(&path, &format!("f{at}"), ChunkType::Function, "text"))
                .collect();
            let chunks = corpus::chunks(&rows);
            let chunks: Vec<_> = chunks.iter().map(aurora_storage::NewChunk::from).collect();
            for id in writer.replace_file(corpus::record(&path), &chunks).expect("a valid file") {
                writer.add_terms([(id, &vector(&mut numbers))]).expect("the chunk was just written");
            }
        }
        if generation > 1 {
            writer.remove_file(&format!("{}.py", numbers.below(9))).expect("a readable index");
        }
        writer
            .publish(ManifestUpdate {
                model: None,
                head_commit: None,
                root: "/project".to_owned(),
                fingerprints: Vec::new(),
                unfinished: Unfinished::default(),
                complete: true,
                now: NOW,
                summary: serde_json::Value::Null,
            })
            .expect("no other writer publishes");
    }
    environment.snapshot().expect("a generation was just published")
}

fn exhaustive(
    snapshot: &Snapshot,
    config: &Bm25Config,
    terms: &[WeightedTerm<'_>],
    k: usize,
    filter: Option<&RoaringBitmap>,
) -> Vec<(ChunkId, u32)> {
    let total = snapshot.live().len();
    let scorer = FieldScorer::new(config, total, snapshot.field_totals());
    let lengths = snapshot.all_field_lengths().expect("a readable index");
    let mut scores = vec![0f32; snapshot.manifest().next_chunk_id as usize];
    for term in terms {
        let postings = snapshot.postings(term.text).expect("a readable index");
        let factor = term.weight * idf(total, u64::from(postings.doc_frequency()));
        postings.for_each(|id, frequencies| {
            scores[id.0 as usize] += factor * scorer.saturated(frequencies, lengths.of(id));
        });
    }
    let key = |id: ChunkId| snapshot.chunk(id).expect("a readable index").expect("a live chunk").key().into_owned();
    let mut best: Vec<_> = (0..)
        .zip(scores)
        .filter(|(id, score)| *score > 0.0 && filter.is_none_or(|filter| filter.contains(*id)))
        .map(|(id, score)| (score, key(ChunkId(id)), ChunkId(id)))
        .collect();
    best.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    best.into_iter().take(k).map(|(score, _, id)| (id, score.to_bits())).collect()
}

fn config() -> impl Strategy<Value = Bm25Config> {
    let weight = prop_oneof![Just(0.0f32), 0.1f32..8.0, Just(1000.0)];
    (prop_oneof![Just(0.0f32), Just(0.0005), 0.1f32..3.0], 0.0f32..=1.0, prop::array::uniform7(weight))
        .prop_map(|(k1, b, fields)| Bm25Config { k1, b, fields })
}

/// Returns a strategy for term numbers with weights. One of the terms does not exist, and a term may occur twice.
fn query() -> impl Strategy<Value = Vec<(usize, f32)>> {
    let weight = prop_oneof![Just(1.0f32), Just(2.0), Just(0.0), 0.01f32..3.0];
    prop::collection::vec((0..=TERMS, weight), 1..9)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn pruned_search_equals_exhaustive_search(
        seed in any::<u64>(),
        generations in 1u64..6,
        configs in prop::collection::vec(config(), 2),
        queries in prop::collection::vec((query(), 0usize..300, 0u32..4), 12),
    ) {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let snapshot = write(directory.path(), seed, generations);
        let mut numbers = Numbers(seed ^ 1);
        for (query, k, share) in queries {
            let names: Vec<_> = query.iter().map(|(term, _)| format!("t{term}")).collect();
            let terms: Vec<_> =
                names.iter().zip(&query).map(|(text, &(_, weight))| WeightedTerm { text, weight }).collect();
            // On average, the filter contains every chunk, every second, every 40th or every 400th chunk.
            let every = [1, 2, 40, 400][share as usize];
            let filter: RoaringBitmap =
                (0..snapshot.manifest().next_chunk_id).filter(|_| numbers.below(every) == 0).collect();
            let live = &filter & snapshot.live();
            let (filter, live) = if every == 1 { (None, None) } else { (Some(&filter), Some(&live)) };
            for config in configs.iter().chain([&SearchConfig::default().bm25]) {
                let found = best_chunks(&snapshot, config, &terms, k, filter).expect("a readable index");
                let found: Vec<_> = found.into_iter().map(|(id, score)| (id, score.to_bits())).collect();
                prop_assert_eq!(found, exhaustive(&snapshot, config, &terms, k, live));
            }
        }
    }
}
