//! Merges segments and sorted runs, term by term, into one segment.

use std::cmp::Ordering;
use std::io::{self, BufRead};

use super::block::{has_frequencies, try_each_inline};
use super::inverter::{Inverter, SortedRun};
use super::reader::{SegmentReader, TermCursor};
use super::run::RunReader;
use super::source::{SegmentSink, SegmentSource};
use super::writer::{SegmentTotals, SegmentWriter};
use crate::postings::{Posting, Tombstones};

/// A sorted sequence of terms, each with its postings in order.
pub enum MergeSource<'a, S: SegmentSource<'a>, R> {
    /// A published segment.
    Segment(TermCursor<'a, S>),
    /// A run on disk.
    Run(RunReader<R>),
    /// A run in memory.
    Memory(SortedRun),
}

/// Why a merge failed: `S` is an error of a segment, `W` one of the sink.
#[derive(Debug)]
pub enum MergeError<S, W> {
    /// A segment cannot be read.
    Segment(S),
    /// A run cannot be read.
    Run(io::Error),
    /// The sources contradict each other or themselves; the reason says how.
    Damaged(&'static str),
    /// The new segment cannot be written.
    Sink(W),
}

/// Merges sources whose lists follow one another: for each term every chunk of a source is above those of the sources before
/// it. Postings of chunks with tombstones are dropped; `new_is_live` promises that no chunk of the runs has one.
///
/// # Errors
/// When a source cannot be read, the new segment cannot be written, or chunks do not ascend.
pub fn merge<'a, S: SegmentSource<'a>, R: BufRead, W: SegmentSink>(
    mut sources: Vec<MergeSource<'a, S, R>>,
    tombstones: &Tombstones,
    new_is_live: bool,
    mut writer: SegmentWriter<'_, W>,
) -> Result<SegmentTotals, MergeError<S::Error, W::Error>> {
    let mut term = Vec::new();
    while let Some((lowest, shared)) = lowest(&sources, &mut term) {
        writer.begin(&term);
        if !shared
            && new_is_live
            && let MergeSource::Memory(lists) = &mut sources[lowest]
        {
            if !writer.end_with_list(lists).map_err(MergeError::Sink)? {
                sources[lowest].postings(|posting| writer.push(posting).map_err(MergeError::Sink))?;
                writer.end().map_err(MergeError::Sink)?;
            }
            sources[lowest].advance()?;
            continue;
        }
        let mut above = None;
        for (index, source) in sources.iter_mut().enumerate().skip(lowest) {
            if index != lowest && (!shared || source.term() != Some(&*term)) {
                continue;
            }
            source.postings(|posting| {
                if above.is_some_and(|above| posting.chunk <= above) {
                    return Err(MergeError::Damaged("segments overlap"));
                }
                above = Some(posting.chunk);
                if tombstones.contains(posting.chunk) {
                    return Ok(());
                }
                writer.push(posting).map_err(MergeError::Sink)
            })?;
            source.advance()?;
        }
        writer.end().map_err(MergeError::Sink)?;
    }
    writer.finish().map_err(MergeError::Sink)
}

/// Copies the lowest current term; returns the first source that has it, and whether another one has it too.
fn lowest<'a, S: SegmentSource<'a>, R: BufRead>(
    sources: &[MergeSource<'a, S, R>],
    copy: &mut Vec<u8>,
) -> Option<(usize, bool)> {
    let mut found: Option<(usize, &[u8], bool)> = None;
    for (index, source) in sources.iter().enumerate() {
        let Some(term) = source.term() else { continue };
        match found.as_mut().map_or(Ordering::Less, |(_, lowest, _)| term.cmp(lowest)) {
            Ordering::Less => found = Some((index, term, false)),
            Ordering::Equal => found = found.map(|(index, term, _)| (index, term, true)),
            Ordering::Greater => {}
        }
    }
    let (index, term, shared) = found?;
    copy.clear();
    copy.extend_from_slice(term);
    Some((index, shared))
}

impl<'a, S: SegmentSource<'a>, R: BufRead> MergeSource<'a, S, R> {
    /// All terms of a segment.
    ///
    /// # Errors
    /// When the dictionary cannot be read.
    pub fn segment(segment: &SegmentReader<'a, S>) -> Result<Self, S::Error> {
        segment.terms_from(&[]).map(Self::Segment)
    }

    /// The terms of an inversion, which is sorted for it.
    pub fn memory(inverter: Inverter) -> Self {
        Self::Memory(inverter.invert())
    }

    fn term(&self) -> Option<&[u8]> {
        match self {
            Self::Segment(cursor) => cursor.entry().map(|_| cursor.term()),
            Self::Run(run) => (!run.ended).then_some(&run.term),
            Self::Memory(lists) => lists.term(),
        }
    }

    fn postings<W>(
        &self,
        each: impl FnMut(Posting) -> Result<(), MergeError<S::Error, W>>,
    ) -> Result<(), MergeError<S::Error, W>> {
        match self {
            Self::Segment(cursor) => {
                let Some(entry) = cursor.entry() else { return Ok(()) };
                cursor.segment().for_each(&entry, MergeError::Segment, each)
            }
            Self::Run(run) => decode_list(&run.term, run.count, &run.postings, each),
            Self::Memory(lists) => match lists.current() {
                Some((term, count, postings)) => decode_list(term, count, postings, each),
                None => Ok(()),
            },
        }
    }

    fn advance<W>(&mut self) -> Result<(), MergeError<S::Error, W>> {
        match self {
            Self::Segment(cursor) => cursor.advance().map_err(MergeError::Segment),
            Self::Run(run) => run.advance().map_err(MergeError::Run),
            Self::Memory(lists) => {
                lists.advance();
                Ok(())
            }
        }
    }
}

fn decode_list<S, W>(
    term: &[u8],
    count: u32,
    bytes: &[u8],
    each: impl FnMut(Posting) -> Result<(), MergeError<S, W>>,
) -> Result<(), MergeError<S, W>> {
    let damaged = || MergeError::Damaged("a spilled run is damaged");
    try_each_inline(bytes, count, has_frequencies(term), damaged, each)
}
