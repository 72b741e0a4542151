//! Corners of the postings of a window, from which a bound of their scores follows.
//!
//! Postings are told apart by what weighs most: those in the body alone, and of the others whether name and signature hold
//! the term. The corners of a kind have the highest frequency and shortest length of its fields, but for the body, whose
//! frequencies differ most: there they are steps, one for each frequency that a shorter body goes with.
//!
//! Layout: number of kinds · for each a mask of its fields beside the body, for each of those frequency and length, number of
//! steps, and for each of those the body's frequency and length. Frequencies are varints, lengths their bytes.

use super::window::{Corner, DECISIVE, Row, is_body_alone};
use crate::codec::{Reader, put_varint};
use crate::field::{FIELDS, Field};
use crate::lengths::LengthCodes;

const BODY: usize = Field::Body.index();
/// In the body alone, and one for each set of decisive fields.
const KINDS: usize = 1 + (1 << DECISIVE.len());
/// Frequencies from here on share a step.
const HIGH: usize = 32;

/// Gathers corners.
#[derive(Debug, Default)]
pub(super) struct Corners {
    kinds: [Kind; KINDS],
}

/// What holds for all postings of a kind.
#[derive(Debug, Clone)]
struct Kind {
    /// Highest frequency and shortest length of the fields beside the body.
    frequencies: Row,
    lengths: LengthCodes,
    /// Shortest body by its frequency; `None` where there are none.
    shortest: [Option<u8>; HIGH + 1],
    /// The highest of the frequencies from [`HIGH`] on.
    highest: u16,
}

impl Default for Kind {
    fn default() -> Self {
        Self { frequencies: [0; FIELDS], lengths: [u8::MAX; FIELDS], shortest: [None; HIGH + 1], highest: 0 }
    }
}

impl Corners {
    /// Makes sure that a corner holds for a posting.
    #[inline]
    pub(super) fn add(&mut self, frequencies: &Row, lengths: &LengthCodes) {
        let kind = match is_body_alone(frequencies) {
            true => 0,
            false => DECISIVE.iter().fold(0, |kind, &field| 2 * kind + usize::from(frequencies[field] > 0)) + 1,
        };
        let kind = &mut self.kinds[kind];
        for field in (0..BODY).filter(|&field| frequencies[field] > 0) {
            kind.frequencies[field] = kind.frequencies[field].max(frequencies[field]);
            kind.lengths[field] = kind.lengths[field].min(lengths[field]);
        }
        let frequency = frequencies[BODY];
        let length = if frequency == 0 { u8::MAX } else { lengths[BODY] };
        kind.highest = kind.highest.max(frequency);
        let shortest = &mut kind.shortest[usize::from(frequency).min(HIGH)];
        *shortest = Some(shortest.map_or(length, |shortest| shortest.min(length)));
    }

    /// Appends the corners.
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        let present = self.kinds.iter().filter(|kind| kind.shortest.iter().any(Option::is_some));
        out.push(present.clone().count() as u8);
        present.for_each(|kind| kind.encode(out));
    }
}

impl Kind {
    fn encode(&self, out: &mut Vec<u8>) {
        let present = (0..BODY).filter(|&field| self.frequencies[field] > 0);
        out.push(present.clone().fold(0, |mask, field| mask | 1 << field));
        for field in present {
            put_varint(out, u64::from(self.frequencies[field]));
            out.push(self.lengths[field]);
        }
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
    }
}

/// Gives the corners at the reader's place, and moves behind them; `None` if they are damaged.
#[inline]
pub(super) fn decode(reader: &mut Reader<'_>, mut each: impl FnMut(&Corner<'_>)) -> Option<()> {
    let mut room = [(0, 0); HIGH + 1];
    for _ in 0..reader.byte()? {
        let mask = reader.byte()?;
        let (mut frequencies, mut lengths) = ([0; FIELDS], [u8::MAX; FIELDS]);
        for field in (0..BODY).filter(|field| mask >> field & 1 != 0) {
            frequencies[field] = reader.varint()?.try_into().ok()?;
            lengths[field] = reader.byte()?;
        }
        let count = usize::from(reader.byte()?);
        let steps = room.get_mut(..count)?;
        match reader.rest().get(..2 * count).map(|bytes| bytes.as_chunks().0) {
            // Nearly always all frequencies are of one byte.
            Some(pairs) if pairs.iter().fold(0, |all, [frequency, _]| all | frequency) < 0x80 => {
                for (step, &[frequency, length]) in steps.iter_mut().zip(pairs) {
                    *step = (frequency.into(), length);
                }
                reader.take(2 * count)?;
            }
            _ => {
                for (frequency, length) in steps.iter_mut() {
                    (*frequency, *length) = (reader.varint()?.try_into().ok()?, reader.byte()?);
                }
            }
        }
        each(&Corner { frequencies, lengths, body: steps });
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
            let mut reader = Reader::new(&bytes);
            let mut found: Vec<Option<(Row, LengthCodes)>> = vec![None; rows.len()];
            decode(&mut reader, |corner| {
                for ((row, _), found) in rows.iter().zip(&mut found) {
                    if let Some(lengths) = corner.shortest(row) {
                        assert!(found.is_none(), "every posting has one corner");
                        let mut highest = corner.frequencies;
                        highest[BODY] = corner.body[0].0;
                        *found = Some((highest, lengths));
                    }
                }
            }).expect("sound");
            prop_assert_eq!(reader.rest(), &[7]);
            for ((row, lengths), found) in rows.iter().zip(&found).filter(|((row, _), _)| *row != [0; FIELDS]) {
                let (highest, shortest) = found.expect("a corner");
                let below = (0..FIELDS).all(|at| row[at] == 0 || row[at] <= highest[at] && lengths[at] >= shortest[at]);
                prop_assert!(below, "{row:?} {lengths:?} {found:?}");
            }
        }
    }
}
