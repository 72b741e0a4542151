//! Merges old segments and new inversions, all in the order of their terms, into one segment.

use std::path::Path;

use roaring::RoaringBitmap;

use super::block::{decode_inline, has_frequencies};
use super::inverter::{Inverted, Inverter};
use super::reader::{SegmentReader, TermCursor};
use super::run::{RunFile, RunReader};
use super::writer::SegmentWriter;
use crate::btree::Damage;
use crate::error::StorageError;
use crate::manifest::SegmentInfo;
use crate::postings::Posting;

/// Something that has terms in order, each with postings in order.
pub(crate) enum Source<'a> {
    /// A published segment.
    Segment(TermCursor<'a>),
    /// A spilled inversion.
    Run(RunReader),
    /// An inversion in memory.
    Memory(Inverted),
}

/// Merges sources, whose lists must follow one another: every chunk of a source is above those of the
/// sources before it, term by term. Postings of chunks that are not in `keep` are dropped.
pub(crate) fn merge(
    mut sources: Vec<Source<'_>>,
    keep: &RoaringBitmap,
    mut writer: SegmentWriter<'_>,
    data: &Path,
) -> Result<SegmentInfo, StorageError> {
    let damaged = |damage: Damage| StorageError::Damaged { path: data.to_owned(), what: damage.0 };
    let mut term = Vec::new();
    loop {
        let Some(lowest) = sources.iter().filter_map(Source::term).min() else {
            return writer.finish();
        };
        term.clear();
        term.extend_from_slice(lowest);
        writer.begin(&term);
        let mut above = None;
        for source in sources.iter_mut().filter(|source| source.term() == Some(&*term)) {
            source.postings(&damaged, &mut |posting| {
                if above.is_some_and(|above| posting.chunk <= above) {
                    return Err(damaged(Damage("segments overlap".to_owned())));
                }
                above = Some(posting.chunk);
                match keep.contains(posting.chunk) {
                    true => writer.push(posting),
                    false => Ok(()),
                }
            })?;
            source.advance(&damaged)?;
        }
        writer.end()?;
    }
}

impl<'a> Source<'a> {
    /// A published segment.
    pub(crate) fn segment(segment: &SegmentReader<'a>) -> Result<Self, Damage> {
        segment.terms_from(&[]).map(Self::Segment)
    }

    /// A spilled inversion.
    pub(crate) fn run(run: &RunFile) -> Result<Self, StorageError> {
        run.read().map(Self::Run).map_err(|error| StorageError::io(run.path(), error))
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
        damaged: &dyn Fn(Damage) -> StorageError,
        each: &mut dyn FnMut(Posting) -> Result<(), StorageError>,
    ) -> Result<(), StorageError> {
        match self {
            Self::Segment(cursor) => {
                let Some(entry) = cursor.entry() else { return Ok(()) };
                for part in cursor.segment().parts(&entry).map_err(damaged)? {
                    part.for_each(&mut *each)?;
                }
                Ok(())
            }
            Self::Run(run) => decode_list(&run.term, run.count, &run.postings, damaged, each),
            Self::Memory(lists) => match lists.current() {
                Some((term, count, postings)) => decode_list(term, count, postings, damaged, each),
                None => Ok(()),
            },
        }
    }

    fn advance(&mut self, damaged: &dyn Fn(Damage) -> StorageError) -> Result<(), StorageError> {
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
    damaged: &dyn Fn(Damage) -> StorageError,
    each: &mut dyn FnMut(Posting) -> Result<(), StorageError>,
) -> Result<(), StorageError> {
    let mut result = Ok(());
    let read = decode_inline(bytes, count, has_frequencies(term), |posting| {
        if result.is_ok() {
            result = each(posting);
        }
    });
    result?;
    read.ok_or_else(|| damaged(Damage("a spilled run is damaged".to_owned())))
}
