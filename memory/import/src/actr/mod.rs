//! Entries from a database of aurora-actr.
//!
//! | table | what becomes of it |
//! |---|---|
//! | `chunks` | an entry of each: `code`; `reasoning` and `soar`; `knowledge`, `kb` and `doc` |
//! | `activations` | how often and when the entry of a chunk was used |
//! | `relationships` | links between entries |
//!
//! What the program computes anew is left out: embeddings, base levels, and which files were indexed.

mod accesses;
mod chunks;
mod connection;
mod content;
mod copy;
mod error;
mod fields;
mod ids;
mod options;
mod relations;
mod table;
mod times;

use std::collections::VecDeque;
use std::path::Path;

use rusqlite::Connection;

use crate::problem::ImportProblem;
use crate::record::ImportedEntry;
use accesses::{Accesses, access};
use chunks::Chunks;
use copy::CopyDirectory;
pub use error::ActrError;
use ids::Ids;
pub use options::{ActrOptions, RuleCheck};
use relations::{Relations, relation};
use table::{Row, Rows, Scan};

/// Reads the chunks of a database of aurora-actr as entries, in their order; then what is to be reported of relationships and
/// accesses.
///
/// An id stays where it begins with the prefix of its kind, and gets that prefix where it does not.
pub struct ActrDatabase<'o> {
    connection: Connection,
    options: ActrOptions<'o>,
    /// The database is read from a copy in it.
    _directory: CopyDirectory,
    ids: Ids,
    relations: Relations,
    accesses: Accesses,
    chunks: Chunks,
    step: Step,
    waiting: VecDeque<Result<ImportedEntry, ImportProblem>>,
}

/// What is read next.
enum Step {
    Chunks(Scan),
    Relations(Scan),
    Accesses(Scan),
    Nothing,
}

impl<'o> ActrDatabase<'o> {
    /// Opens a copy of a database; the database and its log are not changed. `created` gets the path of the
    /// directory of the copy before the copy is made: a caller that ends the process early removes it.
    ///
    /// # Errors
    /// When it is none, cannot be read, or is written at the moment.
    pub fn open(path: &Path, options: ActrOptions<'o>, created: impl FnOnce(&Path)) -> Result<Self, ActrError> {
        let directory = CopyDirectory::create()?;
        created(directory.path());
        let copy = copy::copy(path, &directory)?;
        let wrap = |source| ActrError::Database { path: path.to_owned(), source };
        let connection = connection::open(&copy).map_err(wrap)?;
        let chunks = Chunks::of(&connection, path)?;
        let ids = Ids::of(&connection, path)?;
        let relations = Relations::of(&connection, path, &ids)?;
        let accesses = Accesses::of(&connection, path, &ids)?;
        let step = Step::Chunks(chunks.scan());
        let waiting = VecDeque::new();
        Ok(Self { connection, options, _directory: directory, ids, relations, accesses, chunks, step, waiting })
    }

    /// Reads some rows of the current table.
    fn read(&mut self) {
        match &mut self.step {
            Step::Chunks(scan) => {
                let rows = scan.next(&self.connection);
                let ended = self.each(rows, Self::chunk);
                if ended {
                    self.step = Step::Relations(self.relations.scan());
                }
            }
            Step::Relations(scan) => {
                let rows = scan.next(&self.connection);
                let ended = self.each(rows, |this, row| {
                    this.waiting.extend(relation(&row, &this.ids).problem.map(Err));
                });
                if ended {
                    self.step = Step::Accesses(self.accesses.scan());
                }
            }
            Step::Accesses(scan) => {
                let rows = scan.next(&self.connection);
                let ended = self.each(rows, |this, row| {
                    this.waiting.extend(access(&row, &this.ids).problem.map(Err));
                });
                if ended {
                    self.step = Step::Nothing;
                }
            }
            Step::Nothing => {}
        }
    }

    /// Passes rows on; whether the table has ended, or nothing more of it can be read.
    fn each(&mut self, rows: Rows, mut see: impl FnMut(&mut Self, Row)) -> bool {
        match rows {
            Rows::Some(rows) => {
                rows.into_iter().for_each(|row| see(self, row));
                false
            }
            Rows::End => true,
            Rows::Damaged(problem) => {
                self.waiting.push_back(Err(problem));
                true
            }
        }
    }

    fn chunk(&mut self, row: Row) {
        let (entry, problems) = self.chunks.entry(&row, &self.ids, self.options);
        let entry = entry.map(|(original, mut entry)| {
            for problem in self.relations.link(&original, &mut entry.entry) {
                self.waiting.push_back(Err(problem));
            }
            ImportedEntry { access: self.accesses.take(&original), ..entry }
        });
        self.waiting.extend(problems.into_iter().map(Err));
        self.waiting.push_back(entry);
    }
}

impl Iterator for ActrDatabase<'_> {
    type Item = Result<ImportedEntry, ImportProblem>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.waiting.is_empty() && !matches!(self.step, Step::Nothing) {
            self.read();
        }
        self.waiting.pop_front()
    }
}
