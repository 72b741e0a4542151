//! Records which pages of a file are in use and which are free.

use std::ops::Range;

use crate::page::{Damage, Pages, WORD};

/// Pages in use and pages listed as free, as two bits for each page.
#[derive(Debug)]
pub(crate) struct Ledger {
    used: Vec<u64>,
    free: Vec<u64>,
}

impl Ledger {
    /// Creates a ledger for a file. No page is in use or free yet.
    pub(crate) fn new(pages: &Pages<'_>) -> Result<Self, Damage> {
        let present = present(pages);
        // A file may end before its last page if the pages after its end are free. Each free page takes up one word in
        // a list, so the size of the file limits the number of free pages.
        if pages.count > present.saturating_mul(1 + (pages.page_size / WORD) as u64) {
            return Err(Damage("its last page is far beyond its end".to_owned()));
        }
        let words = pages.count.div_ceil(64) as usize;
        Ok(Self { used: vec![0; words], free: vec![0; words] })
    }

    /// Records that a page is free. The caller has checked that the page is within the file. Returns `false` if the
    /// page is in use or already listed.
    pub(crate) fn free(&mut self, page: u64) -> bool {
        let (word, bit) = word_and_bit(page);
        let is_new = (self.free[word] | self.used[word]) & bit == 0;
        self.free[word] |= bit;
        is_new
    }

    /// Records that a tree or value uses pages, which must not be in use or free.
    pub(crate) fn take(&mut self, pages: Range<u64>) -> Result<(), Damage> {
        for page in pages {
            let (word, bit) = word_and_bit(page);
            let Some(used) = self.used.get_mut(word) else { return Err(Damage::page(page, "is outside the file")) };
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

    /// Checks that every page after the end of the file is free.
    pub(crate) fn check_end(&self, pages: &Pages<'_>) -> Result<(), Damage> {
        let lost = (present(pages)..pages.count).find(|&page| {
            let (word, bit) = word_and_bit(page);
            self.free[word] & bit == 0
        });
        lost.map_or(Ok(()), |page| Err(Damage::page(page, "is outside the file")))
    }
}

/// Number of complete pages in the file.
fn present(pages: &Pages<'_>) -> u64 {
    (pages.bytes.len() / pages.page_size) as u64
}

/// Returns the index of a page's word, and the page's bit in the word.
fn word_and_bit(page: u64) -> (usize, u64) {
    ((page / 64) as usize, 1 << (page % 64))
}
