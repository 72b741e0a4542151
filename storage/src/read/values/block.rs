//! Format of a block of values in one column.
//!
//! Layout: number of distinct values · the distinct values in byte order, each after its length · runs of ids. A run
//! consists of a code and the number of ids. The code is the index of the value plus 1, or 0 for ids without a value.
//! Ids after the last run have no value.

use std::collections::BTreeMap;
use std::ops::Range;

use aurora_codec::{ByteReader, put, put_list, put_sized};

use crate::read::chunk::MetaValue;
use crate::read::content::{decode_value, encode_value};
use crate::read::vectors::BLOCK_IDS;

const ROWS: usize = BLOCK_IDS as usize;

/// Builds a block.
#[derive(Debug)]
pub(crate) struct ValueBlockBuilder {
    /// For each id, the code of its value; 0 if the id has no value.
    codes: Box<[u16; ROWS]>,
    /// The code of each encoded value. Codes begin at 1.
    numbers: BTreeMap<Vec<u8>, u16>,
    is_changed: bool,
}

impl ValueBlockBuilder {
    /// Creates a builder without values.
    pub(crate) fn new() -> Self {
        Self { codes: Box::new([0; ROWS]), numbers: BTreeMap::new(), is_changed: false }
    }

    /// Creates a builder with the values of a stored block.
    pub(crate) fn from_block(block: &ValueBlock<'_>) -> Self {
        let mut builder = Self::new();
        for (number, value) in (1..).zip(&block.values) {
            builder.numbers.insert(value.to_vec(), number);
        }
        for (range, code) in block.coded_runs() {
            builder.codes[range].fill(code);
        }
        builder
    }

    /// Sets or removes the value of an id, given the id's index in the block. Returns whether the value has changed.
    pub(crate) fn set(&mut self, index: usize, value: Option<&MetaValue>) -> bool {
        let code = value.map_or(0, |value| {
            let next = self.numbers.len() as u16 + 1;
            *self.numbers.entry(encode_value(value)).or_insert(next)
        });
        let is_other = std::mem::replace(&mut self.codes[index], code) != code;
        self.is_changed |= is_other;
        is_other
    }

    /// Whether a value has changed since the builder was created.
    pub(crate) fn is_changed(&self) -> bool {
        self.is_changed
    }

    /// Encodes the block; `None` if no id has a value. The bytes depend only on the values.
    pub(crate) fn encode(&self) -> Option<Vec<u8>> {
        let mut renumbered = vec![0u16; self.numbers.len() + 1];
        self.codes.iter().for_each(|code| renumbered[usize::from(*code)] = 1);
        renumbered[0] = 0;
        let used: Vec<_> = self.numbers.iter().filter(|(_, number)| renumbered[usize::from(**number)] != 0).collect();
        for (code, (_, number)) in (1..).zip(&used) {
            renumbered[usize::from(**number)] = code;
        }
        let rows = ROWS - self.codes.iter().rev().take_while(|code| **code == 0).count();
        let mut out = Vec::new();
        put_list(&mut out, &used, |out, (value, _)| put_sized(out, value));
        for run in self.codes[..rows].chunk_by(|a, b| a == b) {
            put(&mut out, &(renumbered[usize::from(run[0])], run.len()));
        }
        (rows > 0).then_some(out)
    }
}

/// A stored block.
#[derive(Debug)]
pub(crate) struct ValueBlock<'a> {
    /// The distinct values, encoded.
    values: Vec<&'a [u8]>,
    /// For each run, the index after its last id, and the code of its value.
    runs: Vec<(usize, u16)>,
}

impl<'a> ValueBlock<'a> {
    /// Reads a block. Returns `None` if the bytes cannot be a result of [`ValueBlockBuilder::encode`].
    pub(crate) fn decode(bytes: &'a [u8]) -> Option<Self> {
        let mut reader = ByteReader::new(bytes);
        let values = reader.list(ByteReader::sized)?;
        let is_ascending = values.is_sorted_by(|a, b| a < b);
        let mut is_used = vec![false; values.len()];
        let mut runs: Vec<(usize, u16)> = Vec::new();
        while !reader.is_empty() {
            let code = u16::try_from(reader.varint()?).ok()?;
            let (start, before) = runs.last().map_or((0, None), |(end, code)| (*end, Some(*code)));
            let end = start.checked_add(reader.length()?).filter(|end| (start + 1..=ROWS).contains(end))?;
            if before == Some(code) {
                return None;
            }
            if code > 0 {
                *is_used.get_mut(usize::from(code) - 1)? = true;
            }
            runs.push((end, code));
        }
        let is_whole = runs.last().is_some_and(|(_, code)| *code > 0) && is_used.iter().all(|is_used| *is_used);
        let is_valid = is_ascending && is_whole && values.iter().all(|value| decode_value(value).is_some());
        is_valid.then_some(Self { values, runs })
    }

    /// Returns the value of an id, given the id's index in the block.
    pub(crate) fn get(&self, index: usize) -> Option<MetaValue> {
        let run = self.runs.partition_point(|(end, _)| *end <= index);
        let code = self.runs.get(run).map_or(0, |(_, code)| *code);
        decode_value(self.values.get(usize::from(code).checked_sub(1)?)?)
    }

    /// Returns the distinct values.
    pub(crate) fn values(&self) -> impl Iterator<Item = MetaValue> + '_ {
        self.values.iter().filter_map(|value| decode_value(value))
    }

    /// Returns the index ranges of consecutive ids that have the same value, with the index of the value in
    /// [`Self::values`].
    pub(crate) fn runs(&self) -> impl Iterator<Item = (Range<usize>, usize)> + '_ {
        self.coded_runs().filter_map(|(range, code)| Some((range, usize::from(code).checked_sub(1)?)))
    }

    fn coded_runs(&self) -> impl Iterator<Item = (Range<usize>, u16)> + '_ {
        let starts = std::iter::once(0).chain(self.runs.iter().map(|(end, _)| *end));
        starts.zip(&self.runs).map(|(start, (end, code))| (start..*end, *code))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn value() -> impl Strategy<Value = MetaValue> {
        prop_oneof![
            (-2i64..2).prop_map(MetaValue::Integer),
            any::<f64>().prop_map(MetaValue::Float),
            any::<bool>().prop_map(MetaValue::Bool),
            "[a-c]{0,2}".prop_map(MetaValue::String),
            prop::collection::vec("[a-b]{0,1}", 0..3).prop_map(MetaValue::Strings),
        ]
    }

    fn same(a: Option<MetaValue>, b: Option<&MetaValue>) -> bool {
        a.as_ref().map(encode_value) == b.map(encode_value)
    }

    proptest! {
        #[test]
        fn values_round_trip(
            changes in prop::collection::vec((0..ROWS, 1..20usize, prop::option::of(value())), 0..30),
            reopened in 0..30usize,
        ) {
            let mut expected: Vec<Option<MetaValue>> = vec![None; ROWS];
            let mut builder = ValueBlockBuilder::new();
            for (number, (start, length, value)) in changes.iter().enumerate() {
                if number == reopened && let Some(bytes) = builder.encode() {
                    builder = ValueBlockBuilder::from_block(&ValueBlock::decode(&bytes).expect("the block is valid"));
                }
                for (index, expected) in expected.iter_mut().enumerate().skip(*start).take(*length) {
                    builder.set(index, value.as_ref());
                    expected.clone_from(value);
                }
            }
            let Some(bytes) = builder.encode() else {
                prop_assert!(expected.iter().all(Option::is_none));
                return Ok(());
            };
            let block = ValueBlock::decode(&bytes).expect("the block is valid");
            for (index, value) in expected.iter().enumerate() {
                prop_assert!(same(block.get(index), value.as_ref()), "index {}", index);
            }
            let values: Vec<_> = block.values().collect();
            let of_runs: usize = block.runs().map(|(range, number)| {
                assert!(range.clone().all(|index| same(Some(values[number].clone()), expected[index].as_ref())));
                range.len()
            }).sum();
            prop_assert_eq!(of_runs, expected.iter().flatten().count());
            // The same values result in the same bytes, regardless of the order in which they are set.
            let mut again = ValueBlockBuilder::new();
            expected.iter().enumerate().rev().for_each(|(index, value)| _ = again.set(index, value.as_ref()));
            prop_assert_eq!(again.encode(), Some(bytes));
        }

        #[test]
        fn damaged_blocks_are_read_or_refused(
            entries in prop::collection::vec((0..ROWS, value()), 1..30),
            at in any::<prop::sample::Index>(),
            bit in 0..8u8,
        ) {
            let mut builder = ValueBlockBuilder::new();
            entries.iter().for_each(|(index, value)| _ = builder.set(*index, Some(value)));
            let mut bytes = builder.encode().expect("an index has a value");
            let at = at.index(bytes.len());
            bytes[at] ^= 1 << bit;
            if let Some(block) = ValueBlock::decode(&bytes) {
                prop_assert!(block.runs().all(|(range, _)| range.end <= ROWS));
                let _ = block.get(ROWS - 1);
            }
            prop_assert!(at == 0 || ValueBlock::decode(&bytes[..0]).is_none());
        }
    }
}
