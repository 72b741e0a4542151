//! Lookups and traversal in one tree.

use rustc_hash::FxHashSet;

use crate::page::{Damage, Page, Pages, Tree};

/// Maximum depth of a tree; LMDB's limit.
const MAX_DEPTH: usize = 32;

/// A key and its value, as they are in the file.
pub type Entry<'a> = (&'a [u8], &'a [u8]);

/// A position in a tree, from which entries are read in key order.
#[derive(Clone)]
pub struct Cursor<'a> {
    pages: Pages<'a>,
    tree: Tree,
    /// Pages from the root to the leaf with the position in each page; empty at the end of the tree.
    path: Vec<(Page<'a>, usize)>,
}

impl<'a> Cursor<'a> {
    /// Returns the value of a key.
    ///
    /// # Errors
    /// Fails if a page on the path to the key is damaged, or the value has a wrong checksum.
    pub fn get(pages: Pages<'a>, tree: Tree, key: &[u8]) -> Result<Option<&'a [u8]>, Damage> {
        if tree.is_empty() {
            return Ok(None);
        }
        let leaf = leaf_below(pages, tree, (tree.root, 1), |page, _| child_index(page, key))?;
        match leaf.search(key)? {
            (index, true) => pages.entry(tree, &leaf, index).map(|(_, value)| Some(value)),
            (_, false) => Self::check_absence(pages, tree, key).map(|()| None),
        }
    }

    /// Checks that a missing key would have been in the leaf where the search ended. The leaf's keys must be within the
    /// bounds that the pages above it imply. If the key precedes all keys of the leaf, it must follow the last key of
    /// the previous leaf. If it follows all of them, it must precede the first key of the next leaf. In each page, keys
    /// must ascend around the position where the search ended.
    fn check_absence(pages: Pages<'a>, tree: Tree, key: &[u8]) -> Result<(), Damage> {
        let (mut low, mut high): (Option<&[u8]>, Option<&[u8]>) = (None, None);
        // Numbers and depths of the previous and the next page of the deepest level at which there is one.
        let (mut previous, mut next) = (None, None);
        let page = leaf_below(pages, tree, (tree.root, 1), |page, depth| {
            let (index, found) = page.search(key)?;
            page.check_order_around(index)?;
            let index = if found { index } else { index.saturating_sub(1) };
            if index > 0 {
                low = Some(page.key(index)?);
                previous = Some((page.child(index - 1)?, depth + 1));
            }
            if index + 1 < page.len {
                high = Some(page.key(index + 1)?);
                next = Some((page.child(index + 1)?, depth + 1));
            }
            Ok(index)
        })?;
        page.check_order_around(page.search(key)?.0)?;
        let (first, last) = (page.key(0)?, page.key(last_index(&page)?)?);
        let edge = |from: Option<(u64, usize)>, is_first: bool| {
            let at = |page: &Page<'a>| last_index(page).map(|last| if is_first { 0 } else { last });
            from.map(|from| leaf_below(pages, tree, from, |page, _| at(page)).and_then(|leaf| leaf.key(at(&leaf)?)))
                .transpose()
        };
        let previous = if key < first { edge(previous, false)? } else { None };
        let next = if last < key { edge(next, true)? } else { None };
        let holds = low.is_none_or(|low| low <= first)
            && high.is_none_or(|high| last < high)
            && previous.is_none_or(|previous| previous < key)
            && next.is_none_or(|next| key < next);
        if holds { Ok(()) } else { Err(Damage::page(page.number, "has another page's keys")) }
    }

    /// Checks the pages on the path to a missing key, and every entry of the leaf, because the missing entry may be
    /// there under a damaged key. `seen` contains the numbers of the pages that have already been checked.
    ///
    /// # Errors
    /// Fails if one of these pages or entries is damaged.
    pub fn check_path(pages: Pages<'a>, tree: Tree, key: &[u8], seen: &mut FxHashSet<u64>) -> Result<(), Damage> {
        if tree.is_empty() {
            return Ok(());
        }
        let mut is_new = |page: &Page<'a>| -> Result<bool, Damage> {
            let is_new = seen.insert(page.number);
            if is_new { page.check(&tree, &mut Vec::new()).map(|()| true) } else { Ok(false) }
        };
        let leaf = leaf_below(pages, tree, (tree.root, 1), |page, _| {
            is_new(page)?;
            child_index(page, key)
        })?;
        let entries = 0..if is_new(&leaf)? { leaf.len } else { 0 };
        entries.into_iter().try_for_each(|index| pages.entry(tree, &leaf, index).map(drop))
    }

    /// Returns the tree called `name` from the main tree, or `None` if there is no such tree.
    ///
    /// # Errors
    /// Fails if a page on the path to the name, or the record of the tree, is damaged.
    pub fn named(pages: Pages<'a>, main: Tree, name: &str) -> Result<Option<Tree>, Damage> {
        let cursor = Self::seek(pages, main, name.as_bytes())?;
        let found = cursor.path.last().map(|(page, index)| Ok((page, index, page.key(*index)?))).transpose()?;
        let Some((page, index, _)) = found.filter(|(_, _, key)| *key == name.as_bytes()) else {
            return Self::check_names(pages, main).map(|()| None);
        };
        let value = pages.value(page, *index)?;
        let tree = Some(value.bytes).filter(|_| value.sub_tree).and_then(Tree::parse);
        let tree = tree.filter(|tree| tree.flags == 0 && tree.is_empty() == (tree.entries == 0));
        tree.map(Some).ok_or_else(|| Damage::page(page.number, "has an invalid table"))
    }

    /// Checks that the keys of the main tree are valid names. A search among invalid keys may miss an existing name.
    fn check_names(pages: Pages<'a>, main: Tree) -> Result<(), Damage> {
        for entry in Self::first(pages, main)?.entries() {
            let (name, _) = entry?;
            if name.is_empty() || name.contains(&0) {
                return Err(Damage("it has a table without a name".to_owned()));
            }
        }
        Ok(())
    }

    /// Creates a cursor at the first entry.
    ///
    /// # Errors
    /// Fails if a page on the path to the entry is damaged.
    pub fn first(pages: Pages<'a>, tree: Tree) -> Result<Self, Damage> {
        Self::descend(pages, tree, |page| Ok(if page.leaf { (0, true) } else { (1, false) }))
    }

    /// Creates a cursor at the last entry.
    ///
    /// # Errors
    /// Fails if a page on the path to the entry is damaged.
    pub fn last(pages: Pages<'a>, tree: Tree) -> Result<Self, Damage> {
        Self::descend(pages, tree, |page| {
            Ok(if page.leaf { (page.len.saturating_sub(1), true) } else { (page.len, false) })
        })
    }

    /// Creates a cursor at the first entry whose key is not less than `key`.
    ///
    /// # Errors
    /// Fails if a page on the path to the key is damaged.
    pub fn seek(pages: Pages<'a>, tree: Tree, key: &[u8]) -> Result<Self, Damage> {
        Self::descend(pages, tree, |page| page.search(key))
    }

    /// Returns the last entry whose key is not greater than `key`.
    ///
    /// # Errors
    /// Fails if a page on the path to the key is damaged, or the value has a wrong checksum.
    pub fn floor(pages: Pages<'a>, tree: Tree, key: &[u8]) -> Result<Option<Entry<'a>>, Damage> {
        if tree.is_empty() {
            return Ok(None);
        }
        let leaf = leaf_below(pages, tree, (tree.root, 1), |page, _| child_index(page, key))?;
        let (index, found) = leaf.search(key)?;
        if !found {
            Self::check_absence(pages, tree, key)?;
        }
        match if found { Some(index) } else { index.checked_sub(1) } {
            Some(index) => pages.entry(tree, &leaf, index).map(Some),
            None => Self::floor_before(pages, tree, key),
        }
    }

    /// Like [`Self::floor`], for a key that is less than all keys of the leaf where the search ends.
    fn floor_before(pages: Pages<'a>, tree: Tree, key: &[u8]) -> Result<Option<Entry<'a>>, Damage> {
        let mut cursor = Self::seek(pages, tree, key)?;
        match cursor.entry()? {
            Some(entry) if entry.0 == key => Ok(Some(entry)),
            Some(_) => cursor.previous(),
            None => Self::last(pages, tree)?.entry(),
        }
    }

    /// Returns the entry at the cursor; `None` at the end.
    ///
    /// # Errors
    /// Fails if the page is damaged, or the value has a wrong checksum.
    pub fn entry(&self) -> Result<Option<Entry<'a>>, Damage> {
        self.path.last().map(|(page, index)| self.pages.entry(self.tree, page, *index)).transpose()
    }

    /// Returns the key at the cursor without checking the value; `None` at the end.
    ///
    /// # Errors
    /// Fails if the page is damaged.
    pub fn key(&self) -> Result<Option<&'a [u8]>, Damage> {
        self.path.last().map(|(page, index)| page.key(*index)).transpose()
    }

    /// Returns the entries from the cursor to the end of the tree, in key order. Ends after the first error.
    pub fn entries(self) -> impl Iterator<Item = Result<Entry<'a>, Damage>> {
        let (mut cursor, mut is_read) = (Some(self), false);
        std::iter::from_fn(move || {
            let at = cursor.as_mut()?;
            let moved = if std::mem::replace(&mut is_read, true) { at.advance() } else { Ok(()) };
            let entry = moved.and_then(|()| at.entry());
            if !matches!(entry, Ok(Some(_))) {
                cursor = None;
            }
            entry.transpose()
        })
    }

    /// Moves to the next entry, or to the end.
    ///
    /// # Errors
    /// Fails if the next page is damaged.
    pub fn advance(&mut self) -> Result<(), Damage> {
        let Some((page, index)) = self.path.last_mut() else { return Ok(()) };
        *index += 1;
        if *index < page.len {
            return Ok(());
        }
        let last = page.key(*index - 1)?;
        self.move_to_entry()?;
        match self.path.last().map(|(page, index)| Ok((page.number, page.key(*index)?))).transpose()? {
            Some((page, key)) if self.tree.order(key, last).is_le() => {
                Err(Damage::page(page, "has another page's keys"))
            }
            _ => Ok(()),
        }
    }

    /// Moves to the previous entry and returns it; `None` before the first entry.
    fn previous(&mut self) -> Result<Option<Entry<'a>>, Damage> {
        while let Some((_, index)) = self.path.last_mut() {
            if *index > 0 {
                *index -= 1;
                break;
            }
            self.path.pop();
        }
        while let Some((page, index)) = self.path.last().filter(|(page, _)| !page.leaf) {
            let below = self.pages.page(page.child(*index)?)?;
            self.push(below, below.len.saturating_sub(1))?;
        }
        self.entry()
    }

    /// Descends from the root to a leaf. `search` returns the position in a page, in the form that [`Page::search`]
    /// returns.
    fn descend(
        pages: Pages<'a>,
        tree: Tree,
        search: impl Fn(&Page<'a>) -> Result<(usize, bool), Damage>,
    ) -> Result<Self, Damage> {
        let mut cursor = Self { pages, tree, path: Vec::with_capacity(tree.depth.min(8) as usize) };
        if tree.is_empty() {
            return Ok(cursor);
        }
        let mut page = pages.page(tree.root)?;
        loop {
            let (index, found) = search(&page)?;
            if page.leaf {
                cursor.push(page, index)?;
                cursor.move_to_entry()?;
                return Ok(cursor);
            }
            let index = if found { index } else { index.saturating_sub(1) };
            cursor.push(page, index)?;
            page = pages.page(page.child(index)?)?;
        }
    }

    /// Makes the cursor point to an entry. If it is after a page's last node, it moves to the first entry of the next
    /// leaf.
    fn move_to_entry(&mut self) -> Result<(), Damage> {
        while let Some((page, index)) = self.path.last().copied() {
            if index >= page.len {
                self.path.pop();
                if let Some((_, above)) = self.path.last_mut() {
                    *above += 1;
                }
            } else if page.leaf {
                break;
            } else {
                let below = self.pages.page(page.child(index)?)?;
                self.push(below, 0)?;
            }
        }
        Ok(())
    }

    fn push(&mut self, page: Page<'a>, index: usize) -> Result<(), Damage> {
        if self.path.len() == MAX_DEPTH {
            return Err(Damage::page(page.number, "is too deep in its tree"));
        }
        if page.len == 0 {
            return Err(Damage::page(page.number, "is empty"));
        }
        self.tree.check_depth(&page, self.path.len() + 1)?;
        // Together with the check in `advance`, this ensures that no leaf is visited twice. Otherwise branches that
        // share a child could make a traversal endless.
        if page.leaf && page.len > 1 && self.tree.order(page.key(0)?, page.key(page.len - 1)?).is_ge() {
            return Err(Damage::page(page.number, "has keys out of order"));
        }
        self.path.push((page, index));
        Ok(())
    }
}

/// Descends from a page, given by its number and depth, to a leaf. `choose` receives a branch and its depth, and
/// returns the index of the child to visit.
#[inline]
fn leaf_below<'a>(
    pages: Pages<'a>,
    tree: Tree,
    (number, depth): (u64, usize),
    mut choose: impl FnMut(&Page<'a>, usize) -> Result<usize, Damage>,
) -> Result<Page<'a>, Damage> {
    let mut page = pages.page(number)?;
    for depth in depth..=MAX_DEPTH {
        tree.check_depth(&page, depth)?;
        if page.leaf {
            return Ok(page);
        }
        page = pages.page(page.child(choose(&page, depth)?)?)?;
    }
    Err(Damage::page(tree.root, "is the root of a tree that is too deep"))
}

/// Returns the index of the child whose keys include `key`.
#[inline]
fn child_index(branch: &Page<'_>, key: &[u8]) -> Result<usize, Damage> {
    let (index, found) = branch.search(key)?;
    Ok(if found { index } else { index.saturating_sub(1) })
}

fn last_index(page: &Page<'_>) -> Result<usize, Damage> {
    page.len.checked_sub(1).ok_or_else(|| Damage::page(page.number, "is empty"))
}
