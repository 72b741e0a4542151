//! Merges old segments and new inversions, all in the order of their terms, into one segment.

use std::cmp::Ordering;
use std::path::Path;

use super::block::{has_frequencies, try_each_inline};
use super::inverter::{Inverter, SortedRun};
use super::reader::{SegmentReader, TermCursor};
use super::run::{RunFile, RunReader};
use super::writer::SegmentWriter;
use crate::btree::Damage;
use crate::error::StorageError;
use crate::manifest::SegmentInfo;
use crate::postings::{Posting, Tombstones};

/// Something that has terms in order, each with postings in order.
pub(crate) enum MergeSource<'a> {
    /// A published segment.
    Segment(TermCursor<'a>),
    /// A spilled inversion.
    Run(RunReader),
    /// An inversion in memory.
    Memory(SortedRun),
}

/// Merges sources, whose lists must follow one another: every chunk of a source is above those of the
/// sources before it, term by term. Postings of dead chunks are dropped; with `new_is_kept` no chunk of the inversions,
/// spilled or not, is tombstones.
pub(crate) fn merge(
    mut sources: Vec<MergeSource<'_>>,
    tombstones: &Tombstones,
    new_is_kept: bool,
    mut writer: SegmentWriter<'_>,
    data: &Path,
) -> Result<SegmentInfo, StorageError> {
    let damaged = |damage: Damage| StorageError::Damaged { path: data.to_owned(), what: damage.0 };
    let mut term = Vec::new();
    while let Some((lowest, shared)) = lowest(&sources, &mut term) {
        writer.begin(&term);
        if !shared
            && new_is_kept
            && let MergeSource::Memory(lists) = &mut sources[lowest]
        {
            if !writer.end_with_list(lists)? {
                sources[lowest].postings(&damaged, |posting| writer.push(posting))?;
                writer.end()?;
            }
            sources[lowest].advance(&damaged)?;
            continue;
        }
        let mut above = None;
        for (index, source) in sources.iter_mut().enumerate().skip(lowest) {
            if index != lowest && (!shared || source.term() != Some(&*term)) {
                continue;
            }
            source.postings(&damaged, |posting| {
                if above.is_some_and(|above| posting.chunk <= above) {
                    return Err(damaged(Damage("segments overlap".to_owned())));
                }
                above = Some(posting.chunk);
                match tombstones.contains(posting.chunk) {
                    true => Ok(()),
                    false => writer.push(posting),
                }
            })?;
            source.advance(&damaged)?;
        }
        writer.end()?;
    }
    writer.finish()
}

/// Copies the lowest term at hand; says which source is the first that has it, and whether another has it too.
fn lowest(sources: &[MergeSource<'_>], copy: &mut Vec<u8>) -> Option<(usize, bool)> {
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

impl<'a> MergeSource<'a> {
    /// A published segment.
    pub(crate) fn segment(segment: &SegmentReader<'a>) -> Result<Self, Damage> {
        segment.terms_from(&[]).map(Self::Segment)
    }

    /// A spilled inversion.
    pub(crate) fn run(run: &RunFile) -> Result<Self, StorageError> {
        run.read().map(Self::Run).map_err(|error| StorageError::io(&run.path(), error))
    }

    /// An inversion in memory.
    pub(crate) fn memory(inverter: Inverter) -> Self {
        Self::Memory(inverter.invert())
    }

    fn term(&self) -> Option<&[u8]> {
        match self {
            Self::Segment(cursor) => cursor.entry().map(|_| cursor.term()),
            Self::Run(run) => (!run.ended).then_some(&run.term),
            Self::Memory(lists) => lists.term(),
        }
    }

    fn postings(
        &self,
        damaged: &impl Fn(Damage) -> StorageError,
        each: impl FnMut(Posting) -> Result<(), StorageError>,
    ) -> Result<(), StorageError> {
        match self {
            Self::Segment(cursor) => {
                let Some(entry) = cursor.entry() else { return Ok(()) };
                cursor.segment().for_each(&entry, damaged, each)
            }
            Self::Run(run) => decode_list(&run.term, run.count, &run.postings, damaged, each),
            Self::Memory(lists) => match lists.current() {
                Some((term, count, postings)) => decode_list(term, count, postings, damaged, each),
                None => Ok(()),
            },
        }
    }

    fn advance(&mut self, damaged: &impl Fn(Damage) -> StorageError) -> Result<(), StorageError> {
        match self {
            Self::Segment(cursor) => cursor.advance().map_err(damaged),
            Self::Run(run) => run.advance().map_err(|error| StorageError::io(&run.path, error)),
            Self::Memory(lists) => {
                lists.advance();
                Ok(())
            }
        }
    }
}

fn decode_list(
    term: &[u8],
    count: u32,
    bytes: &[u8],
    damaged: &impl Fn(Damage) -> StorageError,
    each: impl FnMut(Posting) -> Result<(), StorageError>,
) -> Result<(), StorageError> {
    let damaged = || damaged(Damage("a spilled run is damaged".to_owned()));
    try_each_inline(bytes, count, has_frequencies(term), damaged, each)
}
