//! Posting lists: the live postings of a term over all segments.

use roaring::RoaringBitmap;

use super::part::{ListPart, PartData};
use super::seek_cursor::SeekCursor;
use super::tf_vector::TfVector;
use super::tombstones::Tombstones;
use super::window::{ImpactBound, ListWindow, WindowPostings};
use crate::chunk_id::{ChunkId, WINDOW};

/// The posting list of a term or label, borrowed from the segments.
#[derive(Debug)]
pub struct Postings<'s> {
    parts: Vec<ListPart<'s>>,
    tombstones: &'s Tombstones,
    doc_frequency: u32,
}

impl<'s> Postings<'s> {
    /// Joins the parts of all segments. The parts must be in ascending order of chunks.
    pub fn new(parts: Vec<ListPart<'s>>, tombstones: &'s Tombstones) -> Self {
        let live = parts.iter().map(|part| part.posting_count() - part.count_deleted(tombstones));
        let doc_frequency = live.sum::<usize>() as u32;
        Self { parts, tombstones, doc_frequency }
    }

    /// The document frequency: the exact number of live chunks that contain the term.
    pub fn doc_frequency(&self) -> u32 {
        self.doc_frequency
    }

    /// Returns the live chunks that contain the term.
    pub fn docs(&self) -> RoaringBitmap {
        let mut docs = RoaringBitmap::new();
        for part in &self.parts {
            match &part.0 {
                PartData::Label(set) => docs |= set,
                _ => {
                    let mut ids = Vec::with_capacity(part.posting_count());
                    part.for_each(|posting| ids.push(posting.chunk));
                    docs.extend(ids);
                }
            }
        }
        docs -= self.tombstones.set();
        docs
    }

    /// Calls `each` with every live chunk and the term's frequencies in it, in ascending order of chunks.
    pub fn for_each(&self, mut each: impl FnMut(ChunkId, TfVector)) {
        for part in &self.parts {
            part.for_each(|posting| {
                if !self.tombstones.contains(posting.chunk) {
                    each(ChunkId(posting.chunk), posting.frequencies);
                }
            });
        }
    }

    /// Returns the live chunks in ascending order, with the term's frequencies in each.
    pub fn to_vec(&self) -> Vec<(ChunkId, TfVector)> {
        let mut postings = Vec::with_capacity(self.doc_frequency as usize);
        self.for_each(|chunk, frequencies| postings.push((chunk, frequencies)));
        postings
    }

    /// Returns the term's frequencies in a live or deleted chunk; `None` if the chunk does not contain the term. Does
    /// not decode the rest of the list.
    pub fn find(&self, chunk: ChunkId) -> Option<TfVector> {
        let mut found = None;
        self.find_all(&[chunk], |_, frequencies| found = Some(frequencies));
        found
    }

    /// Calls `each` for every given chunk that contains the term, with the index of the chunk in `chunks` and the
    /// term's frequencies. The lookup is fastest if `chunks` is in ascending order.
    pub fn find_all(&self, chunks: &[ChunkId], mut each: impl FnMut(usize, TfVector)) {
        let lasts: Vec<u32> = self.parts.iter().map(ListPart::last).collect();
        let mut at: Option<(usize, ChunkId, SeekCursor<'_>)> = None;
        for (index, &chunk) in chunks.iter().enumerate() {
            let is_ahead = |last: ChunkId| last < chunk && last.0 / WINDOW == chunk.0 / WINDOW;
            match &mut at {
                Some((part, last, _)) if is_ahead(*last) && chunk.0 <= lasts[*part] => *last = chunk,
                _ => {
                    let number = lasts.partition_point(|last| *last < chunk.0);
                    at = self.parts.get(number).map(|part| (number, chunk, part.cursor_at(chunk.0)));
                }
            }
            if let Some((part, _, cursor)) = &mut at
                && let Some(found) = cursor.seek((chunk.0 % WINDOW) as u16)
            {
                each(index, self.parts[*part].resolve(found));
            }
        }
    }

    /// Returns the windows that have postings, deleted chunks included, in ascending order. Calls `bound` with each
    /// impact bound of a window, and stores the highest result in [`ListWindow::bound`]. A window with postings in two
    /// segments is returned twice.
    pub fn windows(&self, mut bound: impl FnMut(&ImpactBound<'_>) -> f32) -> Vec<ListWindow> {
        let mut windows = Vec::new();
        self.parts.iter().enumerate().for_each(|(at, part)| part.windows(at, &mut bound, &mut windows));
        windows
    }

    /// Number of parts. Each part has its own dictionary of tf vectors.
    pub fn parts(&self) -> usize {
        self.parts.len()
    }

    /// Returns the most frequent tf vectors of a part, by code.
    pub fn tf_dictionary(&self, part: usize) -> &[TfVector] {
        self.parts.get(part).map_or(&[], ListPart::tf_dictionary)
    }

    /// Calls `each` with the impact bounds of a window. Returns `None` if the window has no bounds, so that any score
    /// is possible.
    pub fn impacts(&self, window: &ListWindow, each: impl FnMut(&ImpactBound<'_>)) -> Option<()> {
        self.parts.get(window.part)?.impacts(window, each)
    }

    /// Decodes, within a window, the postings with a code of at least `min_code` and all postings that are exceptions.
    pub fn read(&self, window: &ListWindow, min_code: u8, out: &mut WindowPostings) {
        if let Some(part) = self.parts.get(window.part) {
            part.read(window, min_code, out);
        }
    }

    /// Returns a cursor that looks up chunks of a window without decoding the window. It also finds deleted chunks.
    pub fn cursor(&self, window: &ListWindow) -> SeekCursor<'_> {
        self.parts.get(window.part).map_or(SeekCursor::EMPTY, |part| part.cursor(window.number, window.entry))
    }
}
