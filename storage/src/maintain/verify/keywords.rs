//! Checks the keyword index: the segments, the field lengths, and whether both match the chunks.

use aurora_inverted::{FIELDS, FieldLengths, LengthColumns, add_lengths, length_code, length_from_code};

use super::entries::Entries;
use super::report::VerifyReport;
use crate::error::StorageError;
use crate::manifest::SegmentInfo;
use crate::read::{ChunkId, Snapshot};
use crate::tables::Table;
use crate::workers::Workers;

/// Number of dictionary blocks that a thread checks at a time.
const BLOCKS: usize = 16;

/// The findings for some dictionary blocks, with the first and last term of the blocks.
#[derive(Default)]
struct FoundTerms {
    report: VerifyReport,
    first: Option<Vec<u8>>,
    last: Vec<u8>,
}

impl Snapshot {
    pub(super) fn verify_segment(
        &self,
        workers: Workers,
        report: &mut VerifyReport,
        entries: &Entries,
        info: &SegmentInfo,
    ) -> Result<(), StorageError> {
        let lengths = self.all_field_lengths()?;
        let keys = self.check(self.segment(info.id).block_keys(BLOCKS))?;
        let ends = keys.iter().skip(1).map(|key| Some(*key)).chain([None]);
        let (mut terms, mut postings, mut last) = (0, 0, Vec::new());
        workers.for_each(
            keys.iter().copied().zip(ends),
            |(from, end)| {
                let mut found = FoundTerms::default();
                let walked = self.verify_terms(&mut found, entries, info, &lengths, from, end);
                (found, walked)
            },
            |(found, walked)| {
                if let Some(first) = found.first {
                    report.expect(last < first, || out_of_order(info.id, &first));
                    last = found.last;
                }
                terms += found.report.terms;
                postings += found.report.postings;
                report.append(VerifyReport { terms: 0, postings: 0, ..found.report });
                walked
            },
        )?;
        report.terms += terms;
        report.postings += postings;
        report.expect(terms == info.terms && postings == info.postings, || {
            format!(
                "segment {} has {terms} terms and {postings} postings, but the manifest says {} and {}",
                info.id, info.terms, info.postings
            )
        });
        Ok(())
    }

    /// Checks the terms of the blocks from the key `from` to the key `end`, exclusive. If `end` is `None`, checks all
    /// remaining blocks.
    fn verify_terms(
        &self,
        found: &mut FoundTerms,
        entries: &Entries,
        info: &SegmentInfo,
        lengths: &FieldLengths<'_>,
        from: &[u8],
        end: Option<&[u8]>,
    ) -> Result<(), StorageError> {
        let FoundTerms { report, first, last } = found;
        let wrap = |damage| self.wrap(damage);
        let segment = self.segment(info.id);
        let mut cursor = segment.terms_of_blocks(from, end).map_err(wrap)?;
        while let Some(entry) = cursor.entry() {
            let term = cursor.term().to_vec();
            match first {
                Some(_) => report.expect(*last < term, || out_of_order(info.id, &term)),
                None => *first = Some(term.clone()),
            }
            let hash = entries.hash(&term);
            for part in segment.parts(&entry).map_err(wrap)? {
                report.expect(part.is_consistent(&|chunk| lengths.of(ChunkId(chunk))), || {
                    format!("segment {} has damaged frequencies of {}", info.id, show(&term))
                });
                let inside = part.first() >= info.first_chunk && part.last() < info.end_chunk;
                report.expect(inside, || {
                    format!("segment {} has postings of {} outside its range", info.id, show(&term))
                });
                report.postings += part.posting_count() as u64;
                part.for_each(|posting| {
                    if self.live().contains(posting.chunk) {
                        entries.add(posting.chunk, hash, &posting.frequencies);
                    }
                });
            }
            report.terms += 1;
            *last = term;
            cursor.advance().map_err(wrap)?;
        }
        Ok(())
    }

    /// Compares labels with the chunks' records, and frequencies with field lengths.
    pub(super) fn verify_entries(&self, report: &mut VerifyReport, entries: &Entries) -> Result<(), StorageError> {
        let all_lengths = self.all_field_lengths()?;
        for id in self.live() {
            let Some(found) = entries.sums(id) else { continue };
            report.expect(!found.has_other_labels(), || {
                format!("the labels of chunk {id} differ from those in its record")
            });
            let lengths = all_lengths.of(ChunkId(id));
            for (field, (&length, sum)) in lengths.iter().zip(found.frequencies()).enumerate() {
                // A stored frequency is at most `u16::MAX`. If it is `u16::MAX`, the actual frequency may be higher,
                // and so may the sum.
                let same = length == length_code(sum.try_into().unwrap_or(u32::MAX)) || found.is_capped();
                report.expect(same, || {
                    format!(
                        "chunk {id} has {sum} terms in field {field}, but its length says {}",
                        length_from_code(length)
                    )
                });
            }
        }
        Ok(())
    }

    pub(super) fn verify_lengths(&self, report: &mut VerifyReport) -> Result<(), StorageError> {
        for row in self.rows(Table::Lengths, &[]) {
            let (key, value) = row?;
            report.expect(key.len() == 4 && LengthColumns::decode(value).is_some(), || {
                "a block of field lengths is invalid".to_owned()
            });
        }
        let mut totals = [0u64; FIELDS];
        let lengths = self.all_field_lengths()?;
        for id in self.live() {
            add_lengths(&mut totals, lengths.of(ChunkId(id)));
        }
        report.expect(totals == self.field_totals(), || {
            format!("field lengths add up to {totals:?}, but the manifest says {:?}", self.field_totals())
        });
        Ok(())
    }
}

fn out_of_order(segment: u32, term: &[u8]) -> String {
    format!("segment {segment} has terms out of order at {}", show(term))
}

fn show(term: &[u8]) -> String {
    String::from_utf8_lossy(term).escape_debug().to_string()
}
