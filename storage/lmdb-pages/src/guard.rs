//! Checks the pages that a write will use before LMDB uses them.

use roaring::RoaringTreemap;

use crate::check::{check_roots, first_damage};
use crate::meta::Meta;
use crate::page::{Damage, Page, Pages, Tree};

/// The checked pages of one generation.
///
/// Either all pages have been checked, or each page is checked before the first write that may use it. A write changes
/// the pages from the root to the leaf of its key. LMDB may merge each of these pages with the previous or next page,
/// or move a node between the two. To move a node, it reads the lowest key below the node. Pages that LMDB has written
/// since the check are assumed to be valid.
#[derive(Debug)]
pub struct Guard {
    /// Whether the whole structure has been checked.
    whole: bool,
    /// Pages that have been checked.
    checked: RoaringTreemap,
    /// Branches whose path to the first leaf has been checked.
    descended: RoaringTreemap,
    /// Branches whose leaves have all been checked.
    checked_parents: RoaringTreemap,
    extents: Vec<(usize, usize)>,
}

/// The previous, current and next page at one depth of a tree.
type Level<'a> = [Option<Page<'a>>; 3];

impl Guard {
    /// Creates a guard for a generation. If `is_known` is true, only LMDB has changed the file, and only the tree of
    /// names and the lists of free pages are checked now. Otherwise the whole structure is checked.
    ///
    /// # Errors
    /// Fails if one of the pages is damaged.
    pub fn new(pages: &Pages<'_>, meta: &Meta, is_known: bool) -> Result<Self, Damage> {
        if is_known {
            check_roots(pages, meta)?
        } else {
            first_damage(pages, meta)?
        };
        Ok(Self {
            whole: !is_known,
            checked: RoaringTreemap::new(),
            descended: RoaringTreemap::new(),
            checked_parents: RoaringTreemap::new(),
            extents: Vec::new(),
        })
    }

    /// Checks the pages that a write to `key` will use.
    ///
    /// # Errors
    /// Fails if one of the pages is damaged.
    pub fn check(&mut self, pages: &Pages<'_>, meta: &Meta, tree: Tree, key: &[u8]) -> Result<(), Damage> {
        // LMDB looks at the end of the tree first, so the path to the end is checked too.
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

    /// Checks the pages around the path to a key, or to the end of the tree if `key` is `None`. Returns `false` if the
    /// whole structure must be checked: the key's value has more overflow pages than it needs, and only a check of all
    /// pages can tell whether the additional pages belong to the value.
    fn check_path(&mut self, pages: &Pages<'_>, tree: Tree, key: Option<&[u8]>) -> Result<bool, Damage> {
        let mut level: Level<'_> = [None, Some(self.page(pages, tree, tree.root, 1)?), None];
        for depth in 1..=tree.depth {
            let [previous, Some(page), next] = level else { break };
            let found = key.map(|key| page.search(key)).transpose()?;
            if page.leaf {
                // A replaced or deleted value frees its overflow pages.
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
            let level_below = [
                below(at.checked_sub(1).map(|at| (page, at)).or(previous.map(|page| (page, page.len - 1))))?,
                below(Some((page, at)))?,
                below(Some((page, at + 1)).filter(|(_, at)| *at < page.len).or(next.map(|page| (page, 0))))?,
            ];
            for branch in level.into_iter().flatten() {
                self.descend(pages, tree, branch, depth)?;
            }
            // A page that is merged with a sparse neighbour may be merged again, with the page after that neighbour.
            if [level_below[0], level_below[2]].into_iter().flatten().any(|page| page.leaf && page.is_sparse()) {
                for branch in level.into_iter().flatten() {
                    self.check_leaves(pages, tree, branch, depth)?;
                }
            }
            level = level_below;
        }
        Err(Damage::page(tree.root, "is the root of a tree without leaves"))
    }

    /// Checks the path from a branch to its first leaf.
    fn descend(&mut self, pages: &Pages<'_>, tree: Tree, branch: Page<'_>, depth: u16) -> Result<(), Damage> {
        let (mut page, mut depth) = (branch, depth);
        while !page.leaf && self.descended.insert(page.number) {
            depth += 1;
            page = self.page(pages, tree, page.child(0)?, depth)?;
        }
        Ok(())
    }

    /// Checks all children of a branch whose children are leaves.
    fn check_leaves(&mut self, pages: &Pages<'_>, tree: Tree, branch: Page<'_>, depth: u16) -> Result<(), Damage> {
        if self.checked_parents.insert(branch.number) {
            for index in 0..branch.len {
                self.page(pages, tree, branch.child(index)?, depth + 1)?;
            }
        }
        Ok(())
    }

    /// Returns a page. Checks it completely the first time.
    fn page<'a>(&mut self, pages: &Pages<'a>, tree: Tree, number: u64, depth: u16) -> Result<Page<'a>, Damage> {
        let page = pages.page(number)?;
        tree.check_depth(&page, usize::from(depth))?;
        if self.checked.insert(number) {
            page.check(&tree, &mut self.extents)?;
        }
        Ok(page)
    }
}
