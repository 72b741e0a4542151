//! Checks the pages that a write will touch, before LMDB touches them.

use roaring::RoaringTreemap;

use super::check::{check_roots, first_damage};
use super::meta::Meta;
use super::page::{Damage, Page, Pages, Tree};

/// What a writer knows of the pages of one generation.
///
/// Either all of them have been found sound, or each is checked before the first write that may touch it. A write changes
/// the pages from the root to the leaf of its key. It may merge each of them with the page before or behind it, or move a
/// node between them, for which LMDB reads the lowest key below. Pages that LMDB has written since are taken to be sound.
#[derive(Debug)]
pub(crate) struct Guard {
    /// Whether every page is sound.
    whole: bool,
    sound: RoaringTreemap,
    /// Branches whose first leaf has been looked at.
    descended: RoaringTreemap,
    /// Branches all of whose leaves have been looked at.
    families: RoaringTreemap,
    extents: Vec<(usize, usize)>,
}

/// The pages before, at and behind a place, at one depth of a tree.
type Level<'a> = [Option<Page<'a>>; 3];

impl Guard {
    /// For a generation; `is_known` if its structure is known to be as LMDB left it. Otherwise all of it is checked now.
    pub(crate) fn new(pages: &Pages<'_>, meta: &Meta, is_known: bool) -> Result<Self, Damage> {
        if is_known {
            check_roots(pages, meta)?
        } else {
            first_damage(pages, meta)?
        };
        Ok(Self {
            whole: !is_known,
            sound: RoaringTreemap::new(),
            descended: RoaringTreemap::new(),
            families: RoaringTreemap::new(),
            extents: Vec::new(),
        })
    }

    /// Checks what a write to `key` will touch.
    pub(crate) fn check(&mut self, pages: &Pages<'_>, meta: &Meta, tree: Tree, key: &[u8]) -> Result<(), Damage> {
        // The end of the tree is where LMDB looks first.
        for key in [Some(key), None] {
            if self.whole || tree.is_empty() {
                return Ok(());
            }
            if !self.check_path(pages, tree, key)? {
                first_damage(pages, meta)?;
                self.whole = true;
            }
        }
        Ok(())
    }

    /// Checks the pages around the path to a key, or to the end of the tree. `false` when that is not enough: a value has
    /// more overflow pages than it needs, and only a look at all others can tell whether they are its own.
    fn check_path(&mut self, pages: &Pages<'_>, tree: Tree, key: Option<&[u8]>) -> Result<bool, Damage> {
        let mut level: Level<'_> = [None, Some(self.page(pages, tree, tree.root, 1)?), None];
        for depth in 1..=tree.depth {
            let [before, Some(page), behind] = level else { break };
            let found = key.map(|key| page.search(key)).transpose()?;
            if page.leaf {
                // What is replaced or deleted gives its overflow pages back.
                let Some((index, true)) = found else { return Ok(true) };
                let value = pages.value(&page, index)?;
                return if value.sub_tree {
                    Err(Damage::page(page.number, "has a node of an unknown kind"))
                } else {
                    Ok(value.is_exact(pages.page_size))
                };
            }
            let at = match found {
                Some((index, true)) => index,
                Some((index, false)) => index.saturating_sub(1),
                None => page.len - 1,
            };
            let mut below = |child: Option<(Page<'_>, usize)>| {
                child.map(|(above, index)| self.page(pages, tree, above.child(index)?, depth + 1)).transpose()
            };
            let next = [
                below(at.checked_sub(1).map(|at| (page, at)).or(before.map(|page| (page, page.len - 1))))?,
                below(Some((page, at)))?,
                below(Some((page, at + 1)).filter(|(_, at)| *at < page.len).or(behind.map(|page| (page, 0))))?,
            ];
            for branch in level.into_iter().flatten() {
                self.descend(pages, tree, branch, depth)?;
            }
            // A page that is merged with such a neighbour may be merged again, with the one behind it.
            if [next[0], next[2]].into_iter().flatten().any(|page| page.leaf && page.is_sparse()) {
                for branch in level.into_iter().flatten() {
                    self.check_leaves(pages, tree, branch, depth)?;
                }
            }
            level = next;
        }
        Err(Damage::page(tree.root, "is the root of a tree without leaves"))
    }

    /// Checks the way from a branch to its first leaf.
    fn descend(&mut self, pages: &Pages<'_>, tree: Tree, branch: Page<'_>, depth: u16) -> Result<(), Damage> {
        let (mut page, mut depth) = (branch, depth);
        while !page.leaf && self.descended.insert(page.number) {
            depth += 1;
            page = self.page(pages, tree, page.child(0)?, depth)?;
        }
        Ok(())
    }

    /// Checks all leaves of a branch above them.
    fn check_leaves(&mut self, pages: &Pages<'_>, tree: Tree, branch: Page<'_>, depth: u16) -> Result<(), Damage> {
        if self.families.insert(branch.number) {
            for index in 0..branch.len {
                self.page(pages, tree, branch.child(index)?, depth + 1)?;
            }
        }
        Ok(())
    }

    /// The page, checked as a whole the first time.
    fn page<'a>(&mut self, pages: &Pages<'a>, tree: Tree, number: u64, depth: u16) -> Result<Page<'a>, Damage> {
        let page = pages.page(number)?;
        tree.check_depth(&page, usize::from(depth))?;
        if self.sound.insert(number) {
            page.check(&tree, &mut self.extents)?;
        }
        Ok(page)
    }
}
