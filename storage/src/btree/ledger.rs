//! Which page of a file belongs to what.

use std::ops::Range;

use super::page::{Damage, Pages, WORD};

/// Pages that are in use and pages that are listed as free: two bits for each.
#[derive(Debug)]
pub(super) struct Ledger {
    used: Vec<u64>,
    free: Vec<u64>,
}

impl Ledger {
    /// For the pages of a file, none of which is taken.
    pub(super) fn new(pages: &Pages<'_>) -> Result<Self, Damage> {
        let present = present(pages);
        // A file may end before its last page where those behind its end are free, and each takes a word in a list.
        if pages.count > present.saturating_mul(1 + (pages.page_size / WORD) as u64) {
            return Err(Damage("its last page lies far beyond its end".to_owned()));
        }
        let words = pages.count.div_ceil(64) as usize;
        Ok(Self { used: vec![0; words], free: vec![0; words] })
    }

    /// Lists a page as free, once the caller has found that it is one of the file's; `false` if it is listed already, or
    /// in use.
    pub(super) fn free(&mut self, page: u64) -> bool {
        let (word, bit) = place(page);
        let is_new = (self.free[word] | self.used[word]) & bit == 0;
        self.free[word] |= bit;
        is_new
    }

    /// Takes pages for one tree or value.
    pub(super) fn take(&mut self, pages: Range<u64>) -> Result<(), Damage> {
        for page in pages {
            let (word, bit) = place(page);
            let Some(used) = self.used.get_mut(word) else { return Err(Damage::page(page, "lies outside the file")) };
            if *used & bit != 0 {
                return Err(Damage::page(page, "is used twice"));
            }
            *used |= bit;
            if self.free[word] & bit != 0 {
                return Err(Damage(format!("page {page} is in use and listed as free")));
            }
        }
        Ok(())
    }

    /// Checks that every page behind the end of the file is free.
    pub(super) fn check_end(&self, pages: &Pages<'_>) -> Result<(), Damage> {
        let lost = (present(pages)..pages.count).find(|&page| {
            let (word, bit) = place(page);
            self.free[word] & bit == 0
        });
        lost.map_or(Ok(()), |page| Err(Damage::page(page, "lies outside the file")))
    }
}

/// Whole pages that the file has.
fn present(pages: &Pages<'_>) -> u64 {
    (pages.bytes.len() / pages.page_size) as u64
}

fn place(page: u64) -> (usize, u64) {
    ((page / 64) as usize, 1 << (page % 64))
}
