//! Random operations on a memory.

use proptest::prelude::*;

use crate::content::{CONTENTS, KINDS, NAMES, PLACEMENTS, SESSIONS, TAGS, TEXTS};

/// An operation on a memory. `entry` is an index into the list of all entries that ever existed, in the order of their
/// creation.
#[derive(Debug, Clone)]
pub(crate) enum Operation {
    Add { kind: usize, name: Option<usize>, content: usize, placement: usize },
    Edit { entry: usize, content: usize },
    Remove { entry: usize },
    Tag { entry: usize, add: Vec<usize>, remove: Vec<usize> },
    Link { entry: usize, to: usize, weight: Option<u8> },
    Undo { entry: usize },
    Turn { session: usize, text: usize, placement: usize, reply_to: Option<usize> },
    Judge { entry: usize, verdict: usize },
    Show { entry: usize, times: usize },
    Prune,
    Compact,
    Search { text: usize },
    Reopen,
    LoseIndex,
    DamageIndex { how: usize, at: usize },
    Wait { days: i64 },
}

pub(crate) fn operation() -> impl Strategy<Value = Operation> {
    let entry = || any::<u16>().prop_map(usize::from);
    let tags = || prop::collection::vec(0..TAGS.len(), 0..3);
    let (text, placement) = (0..TEXTS.len(), 0..PLACEMENTS);
    prop_oneof![
        8 => (0..KINDS.len(), prop::option::of(0..NAMES), 0..CONTENTS, placement.clone())
            .prop_map(|(kind, name, content, placement)| Operation::Add { kind, name, content, placement }),
        4 => (entry(), 0..CONTENTS).prop_map(|(entry, content)| Operation::Edit { entry, content }),
        3 => entry().prop_map(|entry| Operation::Remove { entry }),
        3 => (entry(), tags(), tags()).prop_map(|(entry, add, remove)| Operation::Tag { entry, add, remove }),
        3 => (entry(), entry(), prop::option::weighted(0.7, 0..=4_u8))
            .prop_map(|(entry, to, weight)| Operation::Link { entry, to, weight }),
        4 => entry().prop_map(|entry| Operation::Undo { entry }),
        6 => (0..SESSIONS.len(), text.clone(), placement, prop::option::of(entry()))
            .prop_map(|(session, text, placement, reply_to)| Operation::Turn { session, text, placement, reply_to }),
        2 => (entry(), 0..4_usize).prop_map(|(entry, verdict)| Operation::Judge { entry, verdict }),
        2 => (entry(), prop_oneof![Just(1), Just(12)]).prop_map(|(entry, times)| Operation::Show { entry, times }),
        1 => Just(Operation::Prune),
        1 => Just(Operation::Compact),
        6 => text.prop_map(|text| Operation::Search { text }),
        1 => Just(Operation::Reopen),
        1 => Just(Operation::LoseIndex),
        1 => (0..3_usize, any::<u16>()).prop_map(|(how, at)| Operation::DamageIndex { how, at: usize::from(at) }),
        1 => prop_oneof![0..3_i64, 80..200_i64].prop_map(|days| Operation::Wait { days }),
    ]
}
