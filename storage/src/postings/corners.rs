//! Corners of the postings of a window, from which a bound of their scores follows.
//!
//! Postings in the body alone have one, each group of the others one: the highest frequency and shortest length of its
//! fields, but for the body, whose frequencies differ most: there they are steps, one for each frequency that a shorter body
//! goes with.
//!
//! Layout: number of corners · for each whether it is of fields beside the body, too · if so, frequency and length of each of
//! those · number of steps · frequency and length of each; all are bytes.

use super::groups::{Point, divide};
use super::window::{Corner, Row, code_of, is_body_alone};
use crate::codec::Reader;
use crate::field::{FIELDS, Field};
use crate::lengths::LengthCodes;

const BODY: usize = Field::Body.index();
/// Frequencies from here on share a step.
const HIGH: usize = 32;

/// Gathers corners.
#[derive(Debug, Default)]
pub(super) struct Corners {
    body_alone: Kind,
    others: Vec<Point>,
}

/// What holds for all postings of a group.
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
        match is_body_alone(frequencies) {
            true => self.body_alone.add(frequencies, lengths),
            false => self.others.push(Point::new(frequencies, lengths)),
        }
    }

    /// Appends the corners.
    pub(super) fn encode(mut self, out: &mut Vec<u8>) {
        let is_empty = self.body_alone.shortest.iter().all(Option::is_none);
        let groups = if self.others.is_empty() { Vec::new() } else { divide(&mut self.others) };
        out.push(groups.len() as u8 + u8::from(!is_empty));
        if !is_empty {
            self.body_alone.encode(out);
        }
        for group in groups {
            let mut kind = Kind::default();
            self.others[group].iter().for_each(|point| kind.add(&point.frequencies, &point.lengths));
            kind.encode(out);
        }
    }
}

impl Kind {
    fn add(&mut self, frequencies: &Row, lengths: &LengthCodes) {
        for field in (0..BODY).filter(|&field| frequencies[field] > 0) {
            self.frequencies[field] = self.frequencies[field].max(frequencies[field]);
            self.lengths[field] = self.lengths[field].min(lengths[field]);
        }
        let frequency = frequencies[BODY];
        let length = if frequency == 0 { u8::MAX } else { lengths[BODY] };
        self.highest = self.highest.max(frequency);
        let shortest = &mut self.shortest[usize::from(frequency).min(HIGH)];
        *shortest = Some(shortest.map_or(length, |shortest| shortest.min(length)));
    }

    fn encode(&self, out: &mut Vec<u8>) {
        let is_beside = self.frequencies != [0; FIELDS];
        out.push(is_beside.into());
        if is_beside {
            let beside = self.frequencies.iter().zip(self.lengths).take(BODY);
            beside.for_each(|(frequency, length)| out.extend([code_of(*frequency), length]));
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
            out.push(code_of(if frequency == HIGH { self.highest } else { frequency as u16 }));
            out.push(length);
        }
    }
}

/// Gives the corners at the reader's place, and moves behind them; `None` if they are damaged.
#[inline]
pub(super) fn decode(reader: &mut Reader<'_>, mut each: impl FnMut(&Corner<'_>)) -> Option<()> {
    for _ in 0..reader.byte()? {
        let beside = match reader.byte()? {
            0 => None,
            _ => reader.take(2 * BODY)?.as_chunks().0.first_chunk(),
        };
        let steps = usize::from(reader.byte()?);
        let body = reader.take(2 * steps)?.as_chunks().0;
        each(&Corner { beside, body });
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::window::most_of;
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
            let mut is_below = vec![false; rows.len()];
            decode(&mut reader, |corner| {
                let (mut highest, mut shortest) = ([0; FIELDS], [u8::MAX; FIELDS]);
                for (field, [code, length]) in corner.beside.into_iter().flatten().enumerate() {
                    (highest[field], shortest[field]) = (most_of(*code), *length);
                }
                for ((row, lengths), is_below) in rows.iter().zip(&mut is_below) {
                    let step = corner.body.iter().rfind(|[step, _]| row[BODY] <= most_of(*step));
                    let Some([step, length]) = step.filter(|_| is_body_alone(row) == corner.beside.is_none()) else { continue };
                    (highest[BODY], shortest[BODY]) = (most_of(*step), *length);
                    let fits = |at: usize| row[at] == 0 || row[at] <= highest[at] && lengths[at] >= shortest[at];
                    *is_below |= (0..FIELDS).all(fits);
                }
            }).expect("sound");
            prop_assert_eq!(reader.rest(), &[7]);
            for ((row, lengths), is_below) in rows.iter().zip(&is_below) {
                prop_assert!(is_below | (*row == [0; FIELDS]), "{row:?} {lengths:?}");
            }
        }
    }
}
