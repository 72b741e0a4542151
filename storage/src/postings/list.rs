//! The live postings of a term over all segments.

use roaring::RoaringBitmap;

use super::dead::Dead;
use super::part::Part;
use super::probe::Probe;
use super::window::{Corner, Row, WINDOW, Window, WindowPostings};
use crate::chunk::ChunkId;

/// The postings of one term in one generation, borrowed from its snapshot.
#[derive(Debug)]
pub struct Postings<'s> {
    parts: Vec<Part<'s>>,
    dead: &'s Dead,
    doc_frequency: u32,
}

impl<'s> Postings<'s> {
    /// Puts together parts that ascend by chunk.
    pub(crate) fn new(parts: Vec<Part<'s>>, dead: &'s Dead) -> Self {
        let live = parts.iter().map(|part| part.len() - part.count_dead(dead));
        let doc_frequency = live.sum::<usize>() as u32;
        Self { parts, dead, doc_frequency }
    }

    /// Exact number of live chunks that hold the term.
    pub fn doc_frequency(&self) -> u32 {
        self.doc_frequency
    }

    /// The live chunks that hold the term.
    pub fn docs(&self) -> RoaringBitmap {
        let mut docs = RoaringBitmap::new();
        for part in &self.parts {
            match part {
                Part::Label(set) => docs |= set,
                part => {
                    let mut ids = Vec::with_capacity(part.len());
                    part.docs(&mut ids);
                    docs.extend(ids);
                }
            }
        }
        docs -= self.dead.set();
        docs
    }

    /// Gives the live chunks with the term's frequency in every field, ascending.
    pub fn for_each(&self, mut each: impl FnMut(ChunkId, Row)) {
        for part in &self.parts {
            part.each(|posting| {
                if !self.dead.contains(posting.chunk) {
                    each(ChunkId(posting.chunk), posting.frequencies);
                }
            });
        }
    }

    /// The same as a list.
    pub fn to_vec(&self) -> Vec<(ChunkId, Row)> {
        let mut postings = Vec::with_capacity(self.doc_frequency as usize);
        self.for_each(|chunk, row| postings.push((chunk, row)));
        postings
    }

    /// The term's frequencies in a chunk, dead or alive; `None` when it does not hold the term. Nothing is unpacked for it:
    /// the way to ask for few chunks of a long list.
    pub fn find(&self, chunk: ChunkId) -> Option<Row> {
        let mut found = None;
        self.find_all(&[chunk], |_, row| found = Some(row));
        found
    }

    /// Gives the frequencies in those of some chunks that hold the term, with the chunk's place among them: quickest for
    /// chunks that ascend.
    pub fn find_all(&self, chunks: &[ChunkId], mut each: impl FnMut(usize, Row)) {
        let lasts: Vec<u32> = self.parts.iter().map(Part::last).collect();
        let mut at: Option<(usize, ChunkId, Probe<'_>)> = None;
        for (place, &chunk) in chunks.iter().enumerate() {
            let goes_on = |last: ChunkId| last < chunk && last.0 / WINDOW == chunk.0 / WINDOW;
            match &mut at {
                Some((part, last, _)) if goes_on(*last) && chunk.0 <= lasts[*part] => *last = chunk,
                _ => {
                    let number = lasts.partition_point(|last| *last < chunk.0);
                    at = self.parts.get(number).map(|part| (number, chunk, part.probe_at(chunk.0)));
                }
            }
            if let Some((part, _, probe)) = &mut at
                && let Some(found) = probe.find((chunk.0 % WINDOW) as u16)
            {
                each(place, self.parts[*part].resolve(found));
            }
        }
    }

    /// The windows that hold postings, dead ones included, ascending; with the highest that `bound` gives one of their
    /// corners. Two segments may both have postings in a window.
    pub fn windows(&self, mut bound: impl FnMut(&Corner<'_>) -> f32) -> Vec<Window> {
        let mut windows = Vec::new();
        self.parts.iter().enumerate().for_each(|(at, part)| part.windows(at, &mut bound, &mut windows));
        windows
    }

    /// Number of parts, each of which has a palette.
    pub fn parts(&self) -> usize {
        self.parts.len()
    }

    /// The most frequent rows of a part, by code.
    pub fn palette(&self, part: usize) -> &[Row] {
        self.parts.get(part).map_or(&[], Part::palette)
    }

    /// Gives the corners of a window; `None` if its postings may have any score.
    pub fn corners(&self, window: &Window, each: impl FnMut(&Corner<'_>)) -> Option<()> {
        self.parts.get(window.part)?.corners(window, each)
    }

    /// Reads the postings of a window: of those with rows in the palette only such with codes of at least `least`.
    pub fn read(&self, window: &Window, least: u8, out: &mut WindowPostings) {
        if let Some(part) = self.parts.get(window.part) {
            part.read(window, least, out);
        }
    }

    /// Begins to look for chunks of a window, dead or alive, without unpacking its postings.
    pub fn probe(&self, window: &Window) -> Probe<'_> {
        self.parts.get(window.part).map_or(Probe::NOTHING, |part| part.probe(window.number, window.entry))
    }
}
