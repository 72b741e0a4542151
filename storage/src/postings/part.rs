//! A part of a posting list: a roaring set of chunk ids, and their frequencies.
//!
//! Layout of a short one: twice the number of postings · length of the frequencies · frequencies · ids, each as its gap from
//! the one before. Of a long one: one more than twice the number of postings · length of the set · set in roaring's portable
//! format · length of the directory · directory · frequencies. The directory has an entry for each window that holds
//! postings: its number as a gap from the one before, number of postings, bytes of their rows beyond the palette, and
//! corners. Of a label: the set alone.

use roaring::RoaringBitmap;

use super::corners::{self, Corners};
use super::dead::Dead;
use super::docs::{Docs, Place};
use super::posting::Posting;
use super::rows::{Rows, RowsWriter};
use super::window::{Corner, Row, WINDOW, Window, WindowPostings};
use crate::codec::{Reader, put_varint};
use crate::field::FIELDS;
use crate::lengths::LengthCodes;

/// Lists of up to this many postings are short: they are read as a whole.
pub(crate) const SHORT: usize = 1024;

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
pub(crate) fn encode(
    out: &mut Vec<u8>,
    postings: &[Posting],
    shape: Shape,
    length: &dyn Fn(u32) -> LengthCodes,
) {
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
    let (mut directory, mut before) = (Vec::new(), 0);
    for window in postings.chunk_by(|a, b| a.chunk / WINDOW == b.chunk / WINDOW) {
        let (mut corners, escaped) = (Corners::default(), rows.escaped());
        for posting in window {
            rows.push(&posting.frequencies);
            corners.add(&posting.frequencies, &length(posting.chunk));
        }
        let number = window[0].chunk / WINDOW;
        put_varint(&mut directory, u64::from(number - before));
        put_varint(&mut directory, window.len() as u64);
        put_varint(&mut directory, (rows.escaped() - escaped) as u64);
        corners.encode(&mut directory);
        before = number;
    }
    put_sized(out, &directory);
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
    Long { docs: Docs<'a>, directory: &'a [u8], entries: Vec<Entry>, rows: Rows<'a> },
}

/// An entry of the directory.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry {
    window: u32,
    /// Index of the first posting, and the number of postings.
    start: u32,
    count: u32,
    /// Where their rows beyond the palette begin, and where in the directory their corners.
    escaped: u32,
    corners: u32,
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
        let directory = take_sized(&mut reader)?;
        let rows = Rows::decode(reader.rest(), count)?;
        let mut entries = Vec::with_capacity(directory.len() / 5);
        let (mut window, mut start, mut escaped) = (0u32, 0u32, 0u32);
        let mut left = Reader::new(directory);
        while !left.is_empty() {
            let gap = left.varint32()?;
            window = window.checked_add(gap).filter(|_| gap > 0 || entries.is_empty())?;
            let count = left.varint32().filter(|count| (1..=WINDOW).contains(count))?;
            let rare = left.varint32()?;
            let corners = (directory.len() - left.rest().len()) as u32;
            corners::decode(&mut left, |_| {})?;
            entries.push(Entry { window, start, count, escaped, corners });
            start = start.checked_add(count)?;
            escaped = escaped.checked_add(rare)?;
        }
        let sound = count > 0 && start as usize == count && docs.len() == count;
        sound.then_some(Self::Long { docs, directory, entries, rows })
    }

    /// Makes a part of a few postings in order; `None` when there are none.
    pub(crate) fn few(postings: &[Posting]) -> Option<Self> {
        let docs: Vec<u32> = postings.iter().map(|posting| posting.chunk).collect();
        let rows = postings.iter().map(|posting| posting.frequencies).collect();
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
    pub(super) fn windows(&self, part: usize, mut bound: impl FnMut(&Corner) -> f32, out: &mut Vec<Window>) {
        match self {
            Self::Label(_) => {}
            Self::Few { docs, rows } => {
                let mut entry = 0;
                for run in docs.chunk_by(|a, b| a / WINDOW == b / WINDOW) {
                    let (mut corner, count) = (Corner { frequencies: [0; FIELDS], lengths: [0; FIELDS] }, run.len());
                    for row in rows.iter().skip(entry).take(count) {
                        corner.frequencies.iter_mut().zip(row).for_each(|(most, count)| *most = (*most).max(*count));
                    }
                    let (number, bound) = (run[0] / WINDOW, bound(&corner));
                    out.push(Window { number, count: count as u32, bound, part, entry });
                    entry += count;
                }
            }
            Self::Long { directory, entries, .. } => {
                for (entry, found) in entries.iter().enumerate() {
                    let mut highest = 0f32;
                    let mut reader = Reader::new(directory.get(found.corners as usize..).unwrap_or_default());
                    corners::decode(&mut reader, |corner| highest = highest.max(bound(corner)));
                    out.push(Window { number: found.window, count: found.count, bound: highest, part, entry });
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

    /// Reads the postings of a window.
    pub(super) fn read(&self, window: &Window, out: &mut WindowPostings) {
        out.rare.clear();
        out.len = window.count as usize;
        match self {
            Self::Label(_) => out.len = 0,
            Self::Few { docs, rows } => {
                let docs = docs.get(window.entry..).unwrap_or_default().iter().take(out.len);
                out.places.iter_mut().zip(docs).for_each(|(place, doc)| *place = (doc % WINDOW) as u16);
                out.codes[..window.count as usize].fill(u8::MAX);
                out.rare.extend(rows.iter().skip(window.entry).take(window.count as usize));
            }
            Self::Long { docs, entries, rows, .. } => {
                let Some(entry) = entries.get(window.entry) else { return out.len = 0 };
                let start = entry.start as usize;
                out.len = docs.window(window.number, start, &mut out.places[..entry.count as usize]);
                let codes = &mut out.codes[..out.len];
                rows.unpack(start, codes);
                let palette = rows.palette().len();
                let rare = codes.iter().filter(|code| usize::from(**code) >= palette).count();
                if rare > 0 {
                    out.rare.extend(rows.rare(entry.escaped as usize).take(rare));
                    out.rare.resize(rare, Row::default());
                }
            }
        }
    }

    /// The frequencies in a chunk; `None` when it is not among those of the part.
    pub(super) fn find(&self, chunk: u32) -> Option<Row> {
        match self {
            Self::Label(set) => set.contains(chunk).then_some([0; FIELDS]),
            Self::Few { docs, rows } => Some(rows.get(docs.binary_search(&chunk).ok()?).copied().unwrap_or_default()),
            Self::Long { entries, .. } => {
                let entry = entries.binary_search_by_key(&(chunk / WINDOW), |entry| entry.window).ok()?;
                self.find_in(entry, chunk)
            }
        }
    }

    /// The frequencies in a chunk of a window.
    pub(super) fn find_in(&self, entry: usize, chunk: u32) -> Option<Row> {
        let Self::Long { docs, entries, rows, .. } = self else { return self.find(chunk) };
        let entry = entries.get(entry)?;
        let start = entry.start as usize;
        let index = match docs.find(chunk)? {
            Place::Index(index) => index,
            Place::Inside => start + docs.count(chunk / WINDOW * WINDOW, chunk),
        };
        Some(rows.row(index, start, entry.escaped as usize))
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
                    self.read(window, &mut postings);
                    let mut rare = postings.rare().iter();
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
        let Self::Long { docs, directory, entries, rows } = self else { return true };
        if !docs.is_sound() || !rows.is_exact(docs.len()) {
            return false;
        }
        let mut postings: Vec<Posting> = Vec::with_capacity(docs.len());
        self.each(|posting| postings.push(posting));
        let mut windows = postings.chunk_by(|a, b| a.chunk / WINDOW == b.chunk / WINDOW);
        let fits = |entry: &Entry| {
            let Some(window) = windows.next() else { return false };
            let (mut corners, mut bytes) = (Corners::default(), Vec::new());
            window.iter().for_each(|posting| corners.add(&posting.frequencies, &length(posting.chunk)));
            corners.encode(&mut bytes);
            let held = window.len() == entry.count as usize && window[0].chunk / WINDOW == entry.window;
            held && directory.get(entry.corners as usize..).is_some_and(|stored| stored.starts_with(&bytes))
        };
        entries.iter().all(fits) && postings.is_sorted_by(|a, b| a.chunk < b.chunk)
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
