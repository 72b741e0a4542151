//! Proptest strategies that generate chunks.

use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;

use crate::read::chunk::{
    Binding, Chunk, ChunkHistory, ChunkType, Complexity, GitHistory, Governance, HistoryTier, MetaValue, StoredTokens,
};

fn word() -> impl Strategy<Value = String> {
    prop_oneof!["[a-zA-Z_]{0,12}", "\\PC{0,8}"]
}

fn git() -> impl Strategy<Value = ChunkHistory> {
    let tier = prop_oneof![Just(HistoryTier::File), Just(HistoryTier::Line)];
    let counts = (tier, any::<u32>(), any::<u32>());
    let history = (counts, word(), any::<i64>(), any::<i64>(), vec(word(), 0..3), vec(any::<i64>(), 0..4));
    prop_oneof![
        Just(ChunkHistory::None),
        Just(ChunkHistory::Untracked),
        Just(ChunkHistory::Pending),
        word().prop_map(|reason| ChunkHistory::Unavailable { reason }),
        history.prop_map(
            |((tier, commits, touches), newest_commit, newest_time, first_time, authors, commit_times)| {
                ChunkHistory::Tracked(GitHistory {
                    tier,
                    commits,
                    touches,
                    newest_commit,
                    newest_time,
                    first_time,
                    authors,
                    commit_times,
                })
            }
        ),
    ]
}

fn meta_value() -> impl Strategy<Value = MetaValue> {
    prop_oneof![
        any::<bool>().prop_map(MetaValue::Bool),
        any::<i64>().prop_map(MetaValue::Integer),
        (-1e9..1e9).prop_map(MetaValue::Float),
        word().prop_map(MetaValue::String),
        vec(word(), 0..3).prop_map(MetaValue::Strings),
    ]
}

/// Returns a strategy for arbitrary chunks.
pub(crate) fn chunk() -> impl Strategy<Value = Chunk> {
    let texts = (word(), word(), word(), word(), word(), word(), word(), "\\PC{0,200}");
    let bindings = vec((word(), word(), word()).prop_map(|(name, path, member)| Binding { name, path, member }), 0..3);
    let lists = (vec(word(), 0..4), vec(word(), 0..4), vec(word(), 0..4), vec(word(), 0..3), vec(any::<u16>(), 0..5));
    let lists = (lists, vec(word(), 0..3), bindings);
    let numbers = (any::<[u32; 6]>(), 0f32..1.0, any::<[u8; 16]>(), any::<bool>());
    let options =
        (git(), vec((word(), meta_value()), 0..3), of((vec(word(), 0..3), of(word()))), of(word()), of(any::<i64>()));
    (prop::sample::select(ChunkType::ALL), texts, lists, numbers, options).prop_map(
        |(chunk_type, texts, lists, numbers, options)| {
            let (key, path, language, name, qualified_name, signature, doc, text) = texts;
            let ((calls, imports, dependencies, definitions, doc_tokens), bases, bindings) = lists;
            let tokens = StoredTokens { code: vec![1, 200, 60_000], doc: doc_tokens };
            let ([line, other_line, byte, other_byte, branches, loops], score, content_hash, exported) = numbers;
            let (line, other_line) = (line.min(u32::MAX - 1), other_line.min(u32::MAX - 1));
            let (git, metadata, governance, parent, date) = options;
            Chunk {
                key,
                chunk_type,
                path,
                language,
                name,
                qualified_name,
                line_start: line.min(other_line),
                line_end: line.max(other_line),
                byte_start: byte.min(other_byte),
                byte_end: byte.max(other_byte),
                signature,
                doc,
                text,
                calls,
                bases,
                bindings,
                definitions,
                tokens,
                imports,
                dependencies,
                complexity: Complexity { branches, loops, score },
                content_hash,
                git,
                metadata,
                governance: governance.map(|(tags, lifespan)| Governance { tags, lifespan }),
                parent,
                exported,
                date,
            }
        },
    )
}
