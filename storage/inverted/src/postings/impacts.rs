//! Block-max impacts: a few upper bounds on the impact of the postings in each window of a list.
//!
//! The impact of a posting is its contribution to a score. It grows with the term's frequency in a field and falls with
//! the length of that field. A bound therefore needs no weights and no average lengths: it stores highest frequencies
//! and shortest lengths, and each search turns them into a score with its own parameters. (Ding and Suel, "Faster top-k
//! document retrieval using block-max indexes", 2011, store scores instead, which fixes the parameters at indexing
//! time; Grand et al., "From MaxScore to Block-Max WAND", 2020, store pairs of frequency and length.)
//!
//! Postings whose term occurs only in the body share one bound. All other postings are divided into groups of similar
//! postings, each with one bound (`impact_groups`). For every field except the body, a bound is the highest frequency
//! and the shortest length. For the body, where frequencies differ most, a bound is the Pareto frontier of (frequency,
//! length): a pair is omitted if another pair has at least the same frequency in a body that is at most as long.
//!
//! Layout, all in bytes: number of bounds · for each bound: whether it has fields other than the body · if so,
//! frequency and length of each of these fields · number of pairs on the frontier · frequency and length of each pair,
//! by descending frequency.

use super::impact_groups::{WeightedPosting, divide};
use super::tf_vector::TfVector;
use super::window::{ImpactBound, frequency_code, is_body_only};
use crate::field::{FIELDS, Field};
use crate::lengths::LengthCodes;
use aurora_codec::ByteReader;

const BODY: usize = Field::Body.index();
/// All frequencies from this value on share one pair of the frontier.
const HIGH_FREQUENCY: usize = 32;

/// Computes the bounds of one window.
#[derive(Debug, Default)]
pub(super) struct ImpactBuilder {
    body_only: GroupImpact,
    others: Vec<WeightedPosting>,
}

impl ImpactBuilder {
    /// Adds a posting that the bounds must cover.
    #[inline]
    pub(super) fn add(&mut self, frequencies: &TfVector, lengths: &LengthCodes) {
        if is_body_only(frequencies) {
            self.body_only.add(frequencies, lengths);
        } else {
            self.others.push(WeightedPosting::new(frequencies, lengths));
        }
    }

    /// Appends the bounds.
    pub(super) fn encode(mut self, out: &mut Vec<u8>) {
        let is_empty = self.body_only.shortest.iter().all(Option::is_none);
        let groups = if self.others.is_empty() { Vec::new() } else { divide(&mut self.others) };
        out.push(groups.len() as u8 + u8::from(!is_empty));
        if !is_empty {
            self.body_only.encode(out);
        }
        for group in groups {
            let mut impact = GroupImpact::default();
            self.others[group].iter().for_each(|posting| impact.add(&posting.frequencies, &posting.lengths));
            impact.encode(out);
        }
    }
}

/// The bound of one group of postings under construction.
#[derive(Debug, Clone)]
struct GroupImpact {
    /// Highest frequency and shortest length of each field except the body.
    frequencies: TfVector,
    lengths: LengthCodes,
    /// Length of the shortest body for each frequency in the body; `None` if no posting has that frequency.
    shortest: [Option<u8>; HIGH_FREQUENCY + 1],
    /// The highest frequency in the body.
    highest: u16,
}

impl Default for GroupImpact {
    fn default() -> Self {
        Self { frequencies: [0; FIELDS], lengths: [u8::MAX; FIELDS], shortest: [None; HIGH_FREQUENCY + 1], highest: 0 }
    }
}

impl GroupImpact {
    fn add(&mut self, frequencies: &TfVector, lengths: &LengthCodes) {
        for field in (0..BODY).filter(|&field| frequencies[field] > 0) {
            self.frequencies[field] = self.frequencies[field].max(frequencies[field]);
            self.lengths[field] = self.lengths[field].min(lengths[field]);
        }
        let frequency = frequencies[BODY];
        let length = if frequency == 0 { u8::MAX } else { lengths[BODY] };
        self.highest = self.highest.max(frequency);
        let shortest = &mut self.shortest[usize::from(frequency).min(HIGH_FREQUENCY)];
        *shortest = Some(shortest.map_or(length, |shortest| shortest.min(length)));
    }

    fn encode(&self, out: &mut Vec<u8>) {
        let has_other_fields = self.frequencies != [0; FIELDS];
        out.push(has_other_fields.into());
        if has_other_fields {
            let other_fields = self.frequencies.iter().zip(self.lengths).take(BODY);
            other_fields.for_each(|(frequency, length)| out.extend([frequency_code(*frequency), length]));
        }
        let count = out.len();
        out.push(0);
        // In descending order of frequency, a pair is on the frontier if its body is shorter than all previous bodies.
        let mut shortest = None;
        for (frequency, length) in self.shortest.iter().enumerate().rev() {
            let Some(length) = length.filter(|length| shortest.is_none_or(|shortest| *length < shortest)) else {
                continue;
            };
            shortest = Some(length);
            out[count] += 1;
            out.push(frequency_code(if frequency == HIGH_FREQUENCY { self.highest } else { frequency as u16 }));
            out.push(length);
        }
    }
}

/// Reads the bounds of one window and moves the reader past them; `None` if they are damaged.
#[inline]
pub(super) fn decode(reader: &mut ByteReader<'_>, mut each: impl FnMut(&ImpactBound<'_>)) -> Option<()> {
    for _ in 0..reader.byte()? {
        let other_fields = match reader.byte()? {
            0 => None,
            _ => reader.take(2 * BODY)?.as_chunks().0.first_chunk(),
        };
        let pairs = usize::from(reader.byte()?);
        let body = reader.take(2 * pairs)?.as_chunks().0;
        each(&ImpactBound { other_fields, body });
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::window::frequency_bound;
    use super::*;

    proptest! {
        #[test]
        fn a_bound_covers_every_posting(
            rows in prop::collection::vec((prop::array::uniform7(prop_oneof![3 => Just(0u16), 1 => 1u16..5, 1 => any::<u16>()]), any::<LengthCodes>(), 0u16..80), 0..60),
        ) {
            let rows: Vec<(TfVector, LengthCodes)> = rows
                .into_iter()
                .map(|(row, lengths, body)| if body > 0 { ([0, 0, 0, 0, 0, 0, body], lengths) } else { (row, lengths) })
                .collect();
            let mut impacts = ImpactBuilder::default();
            rows.iter().for_each(|(row, lengths)| impacts.add(row, lengths));
            let mut bytes = Vec::new();
            impacts.encode(&mut bytes);
            bytes.push(7);
            let mut reader = ByteReader::new(&bytes);
            let mut is_below = vec![false; rows.len()];
            decode(&mut reader, |impact| {
                let (mut highest, mut shortest) = ([0; FIELDS], [u8::MAX; FIELDS]);
                for (field, [code, length]) in impact.other_fields.into_iter().flatten().enumerate() {
                    (highest[field], shortest[field]) = (frequency_bound(*code), *length);
                }
                for ((row, lengths), is_below) in rows.iter().zip(&mut is_below) {
                    let pair = impact.body.iter().rfind(|[code, _]| row[BODY] <= frequency_bound(*code));
                    let Some([code, length]) = pair.filter(|_| is_body_only(row) == impact.other_fields.is_none()) else { continue };
                    (highest[BODY], shortest[BODY]) = (frequency_bound(*code), *length);
                    let fits = |at: usize| row[at] == 0 || row[at] <= highest[at] && lengths[at] >= shortest[at];
                    *is_below |= (0..FIELDS).all(fits);
                }
            }).expect("the bytes are valid");
            prop_assert_eq!(reader.rest(), &[7]);
            for ((row, lengths), is_below) in rows.iter().zip(&is_below) {
                prop_assert!(is_below | (*row == [0; FIELDS]), "{row:?} {lengths:?}");
            }
        }
    }
}
