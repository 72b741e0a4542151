//! A part of a posting list: a roaring set of chunk ids, and their frequencies.
//!
//! Layout of a short one: twice the number of postings · length of the frequencies · frequencies · ids, each as its gap from
//! the one before. Of a long one: one more than twice the number of postings · length of the set · set in roaring's portable
//! format · number of windows that hold postings · an entry for each · length of their corners · corners · frequencies. An entry
//! is: the window's number less that of the first (3 bytes) · number of postings in the windows before (2) · where its corners
//! begin (3) · where the rows beyond the palette begin (4). It is read where it lies. Of a label: the set alone.

use roaring::RoaringBitmap;

use super::corners::{self, Corners};
use super::dead::Dead;
use super::directory::{Directory, ENTRY, Entry};
use super::docs::Docs;
use super::posting::Posting;
use super::probe::Probe;
use super::rows::{Rows, RowsWriter};
use super::window::{Coded, Corner, Row, WINDOW, Window, WindowPostings, code_of, find_rare};
use crate::codec::{Reader, put_varint};
use crate::field::FIELDS;
use crate::lengths::LengthCodes;

/// Lists of up to this many postings are short: they are read as a whole.
pub(crate) const SHORT: usize = 1024;

/// A long part has at most this many postings, so that the number of those before a window fits 16 bits.
pub(crate) const LONGEST: usize = u16::MAX as usize;

/// How the postings of a part are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// A label's, without frequencies.
    Label,
    /// To be read as a whole.
    Short,
    /// To be read by window.
    Long,
}

/// Appends a part; `length` gives the field lengths of a chunk.
///
/// `postings` must ascend by chunk.
pub(crate) fn encode(out: &mut Vec<u8>, postings: &[Posting], shape: Shape, length: &dyn Fn(u32) -> LengthCodes) {
    match shape {
        Shape::Label => put_set(out, postings),
        Shape::Short => encode_short(out, postings),
        Shape::Long => encode_long(out, postings, length),
    }
}

fn put_set(out: &mut Vec<u8>, postings: &[Posting]) {
    let ids = postings.iter().map(|posting| posting.chunk);
    let mut set = RoaringBitmap::from_sorted_iter(ids).expect("postings are in order");
    set.optimize();
    if set.serialize_into(out).is_err() {
        unreachable!("writing to a vector cannot fail");
    }
}

fn encode_short(out: &mut Vec<u8>, postings: &[Posting]) {
    put_varint(out, 2 * postings.len() as u64);
    let mut rows = RowsWriter::new(postings.iter().map(|posting| &posting.frequencies));
    postings.iter().for_each(|posting| rows.push(&posting.frequencies));
    put_sized(out, &rows.finish());
    let mut before = 0;
    for posting in postings {
        put_varint(out, u64::from(posting.chunk - before));
        before = posting.chunk;
    }
}

fn encode_long(out: &mut Vec<u8>, postings: &[Posting], length: &dyn Fn(u32) -> LengthCodes) {
    put_varint(out, 2 * postings.len() as u64 + 1);
    let mut set = Vec::new();
    put_set(&mut set, postings);
    put_sized(out, &set);
    let mut rows = RowsWriter::new(postings.iter().map(|posting| &posting.frequencies));
    let first = postings.first().map_or(0, |posting| posting.chunk / WINDOW);
    let (mut entries, mut corners, mut start) = (Vec::new(), Vec::new(), 0);
    for window in postings.chunk_by(|a, b| a.chunk / WINDOW == b.chunk / WINDOW) {
        let number = window[0].chunk / WINDOW - first;
        entries.extend_from_slice(&number.to_le_bytes()[..3]);
        entries.extend_from_slice(&(start as u16).to_le_bytes());
        entries.extend_from_slice(&(corners.len() as u32).to_le_bytes()[..3]);
        entries.extend_from_slice(&(rows.escaped() as u32).to_le_bytes());
        start += window.len();
        let mut here = Corners::default();
        for posting in window {
            rows.push(&posting.frequencies);
            here.add(&posting.frequencies, &length(posting.chunk));
        }
        here.encode(&mut corners);
    }
    put_varint(out, (entries.len() / ENTRY) as u64);
    out.extend_from_slice(&entries);
    put_sized(out, &corners);
    out.append(&mut rows.finish());
}

fn put_sized(out: &mut Vec<u8>, bytes: &[u8]) {
    put_varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// The next bytes behind their length.
fn take_sized<'a>(reader: &mut Reader<'a>) -> Option<&'a [u8]> {
    let length = reader.length()?;
    reader.take(length)
}

/// A part that has been read; never empty.
#[derive(Debug)]
pub(crate) enum Part<'a> {
    /// The list of a label, which has no frequencies.
    Label(RoaringBitmap),
    /// A list that stands in the dictionary, or a short one; without rows if it is a label's.
    Few { docs: Vec<u32>, rows: Vec<Row> },
    /// A long list, mostly still as bytes.
    Long { docs: Docs<'a>, directory: Directory<'a>, rows: Rows<'a> },
}

impl<'a> Part<'a> {
    /// Reads a part; `None` when it is damaged.
    pub(crate) fn decode(bytes: &'a [u8], with_frequencies: bool) -> Option<Self> {
        if !with_frequencies {
            let mut left = bytes;
            let set = RoaringBitmap::deserialize_from(&mut left).ok()?;
            return (left.is_empty() && !set.is_empty()).then_some(Self::Label(set));
        }
        let mut reader = Reader::new(bytes);
        let head = reader.length()?;
        let count = head / 2;
        match head % 2 {
            0 => Self::decode_short(reader, count),
            _ => Self::decode_long(reader, count),
        }
    }

    fn decode_short(mut reader: Reader<'a>, count: usize) -> Option<Self> {
        if count == 0 || count > SHORT {
            return None;
        }
        let packed = Rows::decode(take_sized(&mut reader)?, count)?;
        let mut codes = [0; SHORT];
        let codes = &mut codes[..count];
        packed.unpack(0, codes);
        let mut rare = packed.rare(0);
        let row = |code: &u8| packed.palette().get(usize::from(*code)).copied().or_else(|| rare.next());
        let rows = codes.iter().map(row).collect::<Option<Vec<_>>>()?;
        let (mut docs, mut doc) = (Vec::with_capacity(count), 0u32);
        for index in 0..count {
            let gap = reader.varint32()?;
            doc = doc.checked_add(gap).filter(|_| gap > 0 || index == 0)?;
            docs.push(doc);
        }
        (reader.is_empty() && rare.next().is_none()).then_some(Self::Few { docs, rows })
    }

    fn decode_long(mut reader: Reader<'a>, count: usize) -> Option<Self> {
        let docs = Docs::decode(take_sized(&mut reader)?)?;
        let windows = reader.length().filter(|windows| (1..=LONGEST).contains(windows))?;
        let entries = reader.take(windows * ENTRY)?.as_chunks().0;
        let corners = take_sized(&mut reader)?;
        let rows = Rows::decode(reader.rest(), count)?;
        let first = docs.first()? / WINDOW;
        let directory = Directory { first, entries, corners, count: count as u32 };
        (docs.len() == count && count <= LONGEST).then_some(Self::Long { docs, directory, rows })
    }

    /// Makes a part of a few postings in order; `None` when there are none.
    pub(crate) fn few(docs: Vec<u32>, rows: Vec<Row>) -> Option<Self> {
        (!docs.is_empty()).then_some(Self::Few { docs, rows })
    }

    /// Number of chunks, dead ones included.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Label(set) => set.len() as usize,
            Self::Few { docs, .. } => docs.len(),
            Self::Long { docs, .. } => docs.len(),
        }
    }

    /// The first chunk, dead or alive.
    pub(crate) fn first(&self) -> u32 {
        let first = match self {
            Self::Label(set) => set.min(),
            Self::Few { docs, .. } => docs.first().copied(),
            Self::Long { docs, .. } => docs.first(),
        };
        first.unwrap_or(0)
    }

    /// The last chunk, dead or alive.
    pub(crate) fn last(&self) -> u32 {
        let last = match self {
            Self::Label(set) => set.max(),
            Self::Few { docs, .. } => docs.last().copied(),
            Self::Long { docs, .. } => docs.last(),
        };
        last.unwrap_or(0)
    }

    /// Number of dead chunks.
    pub(crate) fn count_dead(&self, dead: &Dead) -> usize {
        if dead.is_empty() {
            return 0;
        }
        match self {
            Self::Label(set) => set.intersection_len(dead.set()) as usize,
            Self::Few { docs, .. } => docs.iter().filter(|chunk| dead.contains(**chunk)).count(),
            Self::Long { docs, .. } => docs.count_dead(dead),
        }
    }

    /// Appends the chunks in order, dead ones included.
    pub(crate) fn docs(&self, out: &mut Vec<u32>) {
        match self {
            Self::Label(set) => out.extend(set),
            Self::Few { docs, .. } => out.extend(docs),
            Self::Long { .. } => self.each(|posting| out.push(posting.chunk)),
        }
    }

    /// Appends the windows with what `bound` makes of the weightiest of their corners.
    pub(super) fn windows(&self, part: usize, mut bound: impl FnMut(&Corner<'_>) -> f32, out: &mut Vec<Window>) {
        match self {
            Self::Label(_) => {}
            Self::Few { docs, rows } => {
                let mut entry = 0;
                for run in docs.chunk_by(|a, b| a / WINDOW == b / WINDOW) {
                    let (mut frequencies, count) = ([0; FIELDS], run.len());
                    for row in rows.iter().skip(entry).take(count) {
                        frequencies.iter_mut().zip(row).for_each(|(most, count)| *most = (*most).max(*count));
                    }
                    let codes = frequencies.map(|most| [code_of(most), 0]);
                    let (beside, body) = (codes.first_chunk(), &codes[FIELDS - 1..]);
                    let bound = bound(&Corner { beside, body });
                    let number = run[0] / WINDOW;
                    out.push(Window { number, count: count as u32, bound, part, entry });
                    entry += count;
                }
            }
            Self::Long { directory, .. } => {
                for (entry, found) in directory.iter() {
                    let mut highest = 0f32;
                    let corners = directory.corners.get(found.corners as usize..).unwrap_or_default();
                    // What is cut short bounds nothing.
                    let read =
                        corners::decode(&mut Reader::new(corners), |corner| highest = highest.max(bound(corner)));
                    let bound = if read.is_some() { highest } else { f32::MAX };
                    out.push(Window { number: found.window, count: found.count, bound, part, entry });
                }
            }
        }
    }

    /// The most frequent rows, by code.
    pub(super) fn palette(&self) -> &[Row] {
        match self {
            Self::Long { rows, .. } => rows.palette(),
            Self::Label(_) | Self::Few { .. } => &[],
        }
    }

    /// Gives the corners of a window; `None` where they are not known.
    pub(super) fn corners(&self, window: &Window, each: impl FnMut(&Corner<'_>)) -> Option<()> {
        let Self::Long { directory, .. } = self else { return None };
        let entry = directory.get(window.entry)?;
        corners::decode(&mut Reader::new(directory.corners.get(entry.corners as usize..)?), each)
    }

    /// Reads the postings of a window whose codes are at least `least`.
    pub(super) fn read(&self, window: &Window, least: u8, out: &mut WindowPostings) {
        out.begin(window.count as usize);
        match self {
            Self::Label(_) => out.len = 0,
            Self::Few { docs, rows } => {
                let docs = docs.get(window.entry..).unwrap_or_default().iter().take(out.len);
                out.places.iter_mut().zip(docs).for_each(|(place, doc)| *place = (doc % WINDOW) as u16);
                out.codes[..window.count as usize].fill(u8::MAX);
                out.rare.extend((0..).zip(rows.iter().skip(window.entry).take(window.count as usize).copied()));
            }
            Self::Long { docs, directory, rows } => {
                let Some(entry) = directory.get(window.entry) else { return out.len = 0 };
                let start = entry.start as usize;
                let count = out.len.min(entry.count as usize);
                out.len = docs.window(window.number, start, &mut out.places[..count]);
                if least == 0 {
                    rows.unpack(start, &mut out.codes[..out.len]);
                } else {
                    let held = out.len;
                    out.len = rows.select(start, held, least, &mut out.selected[..held], &mut out.codes[..held]);
                    out.keep_selected();
                }
                if entry.has_rare {
                    let rare = rows.rare(entry.escaped as usize);
                    find_rare(&out.codes[..out.len], rows.rare_code(), rare, &mut out.rare);
                }
            }
        }
    }

    /// Begins to look for chunks of the window of one.
    pub(super) fn probe_at(&self, chunk: u32) -> Probe<'_> {
        let number = chunk / WINDOW;
        match self {
            Self::Long { directory, .. } => {
                directory.find(number).map_or(Probe::NOTHING, |entry| self.probe(number, entry))
            }
            Self::Few { .. } | Self::Label(_) => self.probe(number, 0),
        }
    }

    /// The row that a probe means.
    pub(super) fn resolve(&self, coded: Coded) -> Row {
        match coded {
            Coded::Code(code) => self.palette().get(usize::from(code)).copied().unwrap_or_default(),
            Coded::Rare(row) => row,
        }
    }

    /// Begins to look for chunks of a window.
    pub(super) fn probe(&self, number: u32, entry: usize) -> Probe<'_> {
        match self {
            Self::Few { docs, rows } => {
                Probe::of_few(&docs[entry.min(docs.len())..], &rows[entry.min(rows.len())..], number)
            }
            Self::Long { docs, directory, rows } => {
                let found = directory.get(entry).and_then(|entry| {
                    let start = entry.start as usize;
                    Some((docs.probe(number, start)?, rows.probe(start, entry.escaped as usize)))
                });
                found.map_or(Probe::NOTHING, |(docs, rows)| Probe::of_many(docs, rows))
            }
            Self::Label(_) => Probe::NOTHING,
        }
    }

    /// Gives every posting, dead ones included, until there is an error.
    pub(crate) fn for_each<E>(&self, mut each: impl FnMut(Posting) -> Result<(), E>) -> Result<(), E> {
        let mut result = Ok(());
        self.each(|posting| {
            if result.is_ok() {
                result = each(posting);
            }
        });
        result
    }

    /// Gives every posting, dead ones included.
    pub(super) fn each(&self, mut each: impl FnMut(Posting)) {
        match self {
            Self::Label(set) => set.iter().for_each(|chunk| each(Posting { chunk, frequencies: [0; FIELDS] })),
            Self::Few { docs, rows } => {
                let rows = rows.iter().copied().chain(std::iter::repeat([0; FIELDS]));
                docs.iter().zip(rows).for_each(|(&chunk, frequencies)| each(Posting { chunk, frequencies }));
            }
            Self::Long { rows, .. } => {
                let (mut windows, mut postings) = (Vec::new(), WindowPostings::default());
                self.windows(0, |_| 0.0, &mut windows);
                for window in &windows {
                    self.read(window, 0, &mut postings);
                    let mut rare = postings.rare().iter().map(|(_, row)| row);
                    for (place, code) in postings.places().iter().zip(postings.codes()) {
                        let row = rows.palette().get(usize::from(*code)).or_else(|| rare.next());
                        let chunk = window.number * WINDOW + u32::from(*place);
                        each(Posting { chunk, frequencies: row.copied().unwrap_or_default() });
                    }
                }
            }
        }
    }

    /// Whether the parts of it fit each other, down to the last posting: the set is one, every window has as many ids as
    /// its entry says, every posting a row, and every row a corner.
    pub(crate) fn is_exact(&self, length: &dyn Fn(u32) -> LengthCodes) -> bool {
        let Self::Long { docs, directory, rows } = self else { return true };
        if !docs.is_sound() || !rows.is_exact(docs.len()) {
            return false;
        }
        let mut postings: Vec<Posting> = Vec::with_capacity(docs.len());
        self.each(|posting| postings.push(posting));
        let mut windows = postings.chunk_by(|a, b| a.chunk / WINDOW == b.chunk / WINDOW);
        let fits = |(_, entry): (usize, Entry)| {
            let Some(window) = windows.next() else { return false };
            let (mut corners, mut bytes) = (Corners::default(), Vec::new());
            window.iter().for_each(|posting| corners.add(&posting.frequencies, &length(posting.chunk)));
            corners.encode(&mut bytes);
            let held = window.len() == entry.count as usize && window[0].chunk / WINDOW == entry.window;
            let stored = directory.corners.get(entry.corners as usize..);
            held && stored.is_some_and(|stored| stored.starts_with(&bytes))
        };
        let fit = directory.iter().all(fits) && windows.next().is_none();
        fit && postings.len() == docs.len() && postings.is_sorted_by(|a, b| a.chunk < b.chunk)
    }
}

/// The number of chunks of a part with frequencies, dead ones included, and how many are dead; `None` when it is damaged.
pub(crate) fn count(bytes: &[u8], dead: &Dead) -> Option<(usize, usize)> {
    let mut reader = Reader::new(bytes);
    match reader.length()? {
        head if head % 2 == 0 => Part::decode(bytes, true).map(|part| (part.len(), part.count_dead(dead))),
        _ => {
            let docs = Docs::decode(take_sized(&mut reader)?)?;
            Some((docs.len(), docs.count_dead(dead)))
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn postings_come_back_however_far_apart(
            gaps in prop::collection::vec((prop_oneof![4 => 1u32..50, 1 => 1u32..100_000, 1 => 1u32..20_000_000], 0usize..FIELDS, 1u16..40), 1..150),
            is_long in any::<bool>(),
        ) {
            let (mut postings, mut chunk) = (Vec::new(), 0);
            for (gap, field, count) in gaps {
                chunk += gap;
                let mut frequencies = [0; FIELDS];
                (frequencies[field], frequencies[0]) = (count, count % 3);
                if frequencies != [0; FIELDS] {
                    postings.push(Posting { chunk, frequencies });
                }
            }
            prop_assume!(!postings.is_empty());
            let (mut bytes, length) = (Vec::new(), |chunk: u32| [chunk as u8; FIELDS]);
            encode(&mut bytes, &postings, if is_long { Shape::Long } else { Shape::Short }, &length);
            let part = Part::decode(&bytes, true).expect("sound");
            let mut read = Vec::new();
            part.each(|posting| read.push(posting));
            prop_assert_eq!(&read, &postings);
            prop_assert!(part.is_exact(&length));
            prop_assert_eq!((part.first(), part.last()), (postings[0].chunk, postings[postings.len() - 1].chunk));
            for posting in &postings {
                let found = part.probe_at(posting.chunk).find((posting.chunk % WINDOW) as u16);
                prop_assert_eq!(found.map(|found| part.resolve(found)), Some(posting.frequencies));
            }
            for cut in 0..bytes.len() {
                prop_assert!(Part::decode(&bytes[..cut], true).is_none_or(|part| !part.is_exact(&length)));
            }
        }
    }
}
