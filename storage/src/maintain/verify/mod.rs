//! Checks all data of an index for consistency.
//!
//! For each table, one thread iterates over the rows, and the others check them. Problems are listed in row order.

mod chunks;
mod entries;
mod files;
mod keywords;
mod report;
mod rows;
mod vectors;

pub use report::VerifyReport;

use std::convert::Infallible;

use crate::column::check_columns;
use crate::maintain::rebuild::KEYWORDS;
use crate::read::Snapshot;
use crate::tables::{Table, meta_key};
use crate::workers::Workers;
use aurora_lmdb_pages::check_structure;

use entries::Entries;

impl Snapshot {
    /// Checks every page, every record, every reference between records, and all totals. Uses one thread for each core.
    pub fn verify(&self) -> VerifyReport {
        self.verify_with(Workers::default())
    }

    /// Like [`Self::verify`], with a number of threads, which does not affect the report.
    pub fn verify_with(&self, workers: Workers) -> VerifyReport {
        let (mut report, mut in_keywords) = (VerifyReport::default(), Vec::new());
        let pages = |found| {
            (report, in_keywords) = found;
            Ok::<_, Infallible>(())
        };
        // One thread reads the pages while the others check the rows.
        let outer = Workers::new(workers.threads().min(2));
        let Ok((content, keywords)) = outer.in_order(
            |()| self.verify_pages(),
            pages,
            |queue| {
                queue.push(0, ())?;
                Ok(self.verify_content_and_keywords(workers))
            },
        );
        report.append(content);
        // All problems that are added from here on are in the keyword index.
        let others = report.problem_count;
        in_keywords.into_iter().for_each(|problem| report.problem(problem));
        report.append(keywords);
        report.keyword_problems = report.problem_count - others;
        report
    }

    /// Checks everything except pages. Returns a report on the content and a report on the keyword index.
    fn verify_content_and_keywords(&self, workers: Workers) -> (VerifyReport, VerifyReport) {
        let (mut report, mut keywords) = (VerifyReport::default(), VerifyReport::default());
        if let Err(problem) = check_columns(&self.manifest().columns) {
            report.problem(problem);
        }
        let entries = Entries::new(self);
        // Labels and frequencies are compared only if all of them were read. After an error, the threads may have read
        // any part of them, and the report must not depend on that.
        let mut are_whole = report.note_errors(|report| self.verify_chunks(workers, report, &entries));
        report.note_errors(|report| self.verify_files(workers, report));
        report.note_errors(|report| self.verify_vectors(workers, report));
        report.note_errors(|report| self.verify_values(report));
        for info in &self.manifest().segments {
            are_whole &= keywords.note_errors(|report| self.verify_segment(workers, report, &entries, info));
        }
        if are_whole {
            keywords.note_errors(|report| self.verify_entries(report, &entries));
        }
        keywords.note_errors(|report| self.verify_lengths(report));
        (report, keywords)
    }

    /// Checks the pages of every tree and the checksum of every value, including rows that nothing refers to. Vectors
    /// have separate checksums. Returns a report, and the problems in the tables of the keyword index.
    fn verify_pages(&self) -> (VerifyReport, Vec<String>) {
        let keywords = KEYWORDS.map(Table::name);
        let (mut report, mut in_keywords) = (VerifyReport::default(), Vec::new());
        let seal_of = |name: &[u8], key: &[u8]| {
            let table = Table::all().find(|table| table.name().as_bytes() == name)?;
            // The format row has no checksum, because its whole value is compared when the index is opened.
            table.seal().filter(|_| table != Table::Meta || key != meta_key::FORMAT)
        };
        check_structure(&self.pages(), self.meta(), &keywords, seal_of, &mut |table, damage| {
            let is_of_keywords = keywords.iter().any(|name| name.as_bytes() == table);
            if is_of_keywords { in_keywords.push(damage.0) } else { report.problem(damage.0) }
        });
        (report, in_keywords)
    }
}
