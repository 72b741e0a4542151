//! Corners of the postings of a window, from which a bound of their scores follows.
//!
//! Postings in the body alone have a corner for every frequency that a shorter body goes with. The others are told apart
//! by what weighs most, whether name and signature hold the term, and each of the four kinds has one corner.
//!
//! Layout: number of the former · for each of them frequency and length · number of the latter · for each a mask of its
//! fields, and for each of these frequency and length. Frequencies are varints, lengths their bytes.

use super::window::{Corner, Row};
use crate::codec::{Reader, put_varint};
use crate::field::{FIELDS, Field};
use crate::lengths::LengthCodes;

const BODY: usize = Field::Body.index();
/// Kinds of postings that are not in the body alone.
const KINDS: usize = 4;
/// Frequencies from here on share a corner.
const HIGH: usize = 32;

/// Gathers corners.
#[derive(Debug)]
pub(super) struct Corners {
    /// Shortest body by its frequency, of postings that have no other field; `None` where there are none.
    shortest: [Option<u8>; HIGH + 1],
    /// The highest of the frequencies from [`HIGH`] on.
    highest: u16,
    /// Highest frequency and shortest length of every field, by kind of the other postings.
    mixed: [(Row, LengthCodes); KINDS],
}

impl Default for Corners {
    fn default() -> Self {
        Self { shortest: [None; HIGH + 1], highest: 0, mixed: [([0; FIELDS], [u8::MAX; FIELDS]); KINDS] }
    }
}

impl Corners {
    /// Makes sure that a corner holds for a posting.
    #[inline]
    pub(super) fn add(&mut self, frequencies: &Row, lengths: &LengthCodes) {
        if frequencies[..BODY] == [0; BODY] {
            let (frequency, length) = (frequencies[BODY], lengths[BODY]);
            self.highest = self.highest.max(frequency);
            let shortest = &mut self.shortest[usize::from(frequency).min(HIGH)];
            *shortest = Some(shortest.map_or(length, |shortest| shortest.min(length)));
        } else {
            let holds = |field: Field| usize::from(frequencies[field.index()] > 0);
            let (highest, shortest) = &mut self.mixed[2 * holds(Field::Name) + holds(Field::Signature)];
            for field in (0..FIELDS).filter(|&field| frequencies[field] > 0) {
                highest[field] = highest[field].max(frequencies[field]);
                shortest[field] = shortest[field].min(lengths[field]);
            }
        }
    }

    /// Appends the corners.
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        let count = out.len();
        out.push(0);
        // Whoever is rarer must be in a shorter body to count.
        let mut shortest = None;
        for (frequency, length) in self.shortest.iter().enumerate().rev() {
            let Some(length) = length.filter(|length| shortest.is_none_or(|shortest| *length < shortest)) else {
                continue;
            };
            shortest = Some(length);
            out[count] += 1;
            put_varint(out, if frequency == HIGH { u64::from(self.highest) } else { frequency as u64 });
            out.push(length);
        }
        let mixed = self.mixed.iter().filter(|(frequencies, _)| *frequencies != [0; FIELDS]);
        out.push(mixed.clone().count() as u8);
        for (frequencies, lengths) in mixed {
            let present = (0..FIELDS).filter(|&field| frequencies[field] > 0);
            out.push(present.clone().fold(0, |mask, field| mask | 1 << field));
            for field in present {
                put_varint(out, u64::from(frequencies[field]));
                out.push(lengths[field]);
            }
        }
    }
}

/// Gives the corners at the reader's place, and moves behind them.
#[inline]
pub(super) fn decode(reader: &mut Reader<'_>, mut each: impl FnMut(&Corner)) -> Option<()> {
    for _ in 0..reader.byte()? {
        let frequency = reader.varint()?.try_into().ok()?;
        each(&Corner::Body { frequency, length: reader.byte()? });
    }
    for _ in 0..reader.byte()? {
        let mask = reader.byte()?;
        let (mut frequencies, mut lengths) = ([0; FIELDS], [u8::MAX; FIELDS]);
        for field in (0..FIELDS).filter(|field| mask >> field & 1 != 0) {
            frequencies[field] = reader.varint()?.try_into().ok()?;
            lengths[field] = reader.byte()?;
        }
        each(&Corner::Mixed { frequencies, lengths });
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_posting_is_below_a_corner(
            rows in prop::collection::vec((prop::array::uniform6(prop_oneof![3 => Just(0u16), 1 => 1u16..5, 1 => any::<u16>()]), any::<LengthCodes>(), 0u16..80), 0..60),
        ) {
            let rows: Vec<(Row, LengthCodes)> = rows
                .into_iter()
                .map(|(row, lengths, body)| if body > 0 { ([0, 0, 0, 0, 0, body], lengths) } else { (row, lengths) })
                .collect();
            let mut corners = Corners::default();
            rows.iter().for_each(|(row, lengths)| corners.add(row, lengths));
            let mut bytes = Vec::new();
            corners.encode(&mut bytes);
            bytes.push(7);
            let (mut reader, mut read) = (Reader::new(&bytes), Vec::new());
            decode(&mut reader, |corner| read.push(corner.row())).expect("sound");
            prop_assert_eq!(reader.rest(), &[7]);
            for (row, lengths) in rows {
                let below = |(highest, shortest): &(Row, LengthCodes)| (0..FIELDS).all(|field| {
                    row[field] == 0 || row[field] <= highest[field] && lengths[field] >= shortest[field]
                });
                prop_assert!(row == [0; FIELDS] || read.iter().any(below));
            }
        }
    }
}
