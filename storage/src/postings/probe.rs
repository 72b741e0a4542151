//! Looking for few chunks among many postings.

use super::docs::DocsProbe;
use super::rows::RowsProbe;
use super::window::{Coded, Row, WINDOW};

/// Looks for chunks of one window, whose places must ascend.
#[derive(Debug)]
pub struct Probe<'p>(Postings<'p>);

#[derive(Debug)]
enum Postings<'p> {
    Nothing,
    Few { docs: &'p [u32], rows: &'p [Row], number: u32 },
    Many { docs: DocsProbe<'p>, rows: RowsProbe<'p> },
}

impl<'p> Probe<'p> {
    /// Among no postings.
    pub(super) const NOTHING: Self = Self(Postings::Nothing);

    /// Among postings that are unpacked, from those of the window on.
    pub(super) fn of_few(docs: &'p [u32], rows: &'p [Row], number: u32) -> Self {
        Self(Postings::Few { docs, rows, number })
    }

    /// Among those of a set and its rows.
    pub(super) fn of_many(docs: DocsProbe<'p>, rows: RowsProbe<'p>) -> Self {
        Self(Postings::Many { docs, rows })
    }

    /// The frequencies in the chunk at a place; `None` when it does not hold the term.
    #[inline]
    pub fn find(&mut self, place: u16) -> Option<Coded> {
        match &mut self.0 {
            Postings::Nothing => None,
            Postings::Few { docs, rows, number } => {
                let at = docs.binary_search(&(*number * WINDOW + u32::from(place))).ok()?;
                rows.get(at).copied().map(Coded::Rare)
            }
            Postings::Many { docs, rows } => Some(rows.row(docs.find(place)?)),
        }
    }
}
