//! Checks the pages that a write will touch, before LMDB touches them.

use roaring::RoaringTreemap;

use super::page::{Damage, Page, Pages, Tree};

/// Remembers which pages of one generation are sound.
///
/// A write changes the pages from the root to the leaf of its key, and may merge each with a
/// neighbour below the same page. Pages that LMDB has written since are taken to be sound.
#[derive(Debug, Default)]
pub(crate) struct Guard {
    sound: RoaringTreemap,
}

impl Guard {
    /// Checks what a write to `key` will touch, or to the end of the tree when there is no key.
    pub(crate) fn check(&mut self, pages: &Pages<'_>, tree: Tree, key: Option<&[u8]>) -> Result<(), Damage> {
        if tree.is_empty() {
            return Ok(());
        }
        let mut page = self.page(pages, tree, tree.root, 1)?;
        for depth in 2..=tree.depth {
            let index = match key.map(|key| page.search(key)).transpose()? {
                Some((index, true)) => index,
                Some((index, false)) => index.saturating_sub(1),
                None => page.len.saturating_sub(1),
            };
            for neighbour in [index.wrapping_sub(1), index + 1] {
                if neighbour < page.len {
                    self.page(pages, tree, page.child(neighbour)?, depth)?;
                }
            }
            page = self.page(pages, tree, page.child(index)?, depth)?;
        }
        // What is replaced or deleted gives its overflow pages back.
        if let Some(key) = key
            && let (index, true) = page.search(key)?
        {
            pages.value(&page, index)?;
        }
        Ok(())
    }

    /// The page, checked as a whole the first time.
    fn page<'a>(&mut self, pages: &Pages<'a>, tree: Tree, number: u64, depth: u16) -> Result<Page<'a>, Damage> {
        let page = pages.page(number)?;
        if !self.sound.insert(number) {
            return Ok(page);
        }
        if page.len == 0 || page.leaf != (depth == tree.depth) {
            return Err(Damage::page(number, "lies at the wrong depth"));
        }
        page.check_layout()?;
        let first = usize::from(!page.leaf);
        let keys = (first..page.len).map(|index| page.key(index));
        let keys = keys.collect::<Result<Vec<_>, _>>()?;
        match keys.is_sorted_by(|before, after| before < after) {
            true => Ok(page),
            false => Err(Damage::page(number, "has keys out of order")),
        }
    }
}
