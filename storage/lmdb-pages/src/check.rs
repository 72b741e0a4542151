//! Checks the structure of a file page by page. The check covers everything that LMDB trusts when it writes.

use std::cell::Cell;

use crate::ledger::Ledger;
use crate::meta::{Meta, for_each_free_page};
use crate::page::{Counts, Damage, PageValue, Pages, Tree, TreeRecord, word};
use crate::seal::{Mark, unseal};

/// Maximum depth of a tree that LMDB can follow.
const MAX_DEPTH: u16 = 32;

/// Checks the tree of names, the lists of free pages, and every named tree, including trees that this program does not
/// use. Also checks that no page belongs to two trees.
///
/// Calls `report` for each fault with the name of the table, or with an empty name for a fault outside of tables. Pages
/// below a faulty page are skipped. Every page is visited at most once, even in a damaged file.
///
/// The tables in `last` are checked last. If one of them shares a page with another table, the fault is reported for
/// the table in `last`.
///
/// `seal_of` receives the name of a table and a key. If it returns the mark of the table, the checksum of the value is
/// checked. If it returns `None` and the value is on overflow pages, only the header of the first page is read.
pub fn check_structure(
    pages: &Pages<'_>,
    meta: &Meta,
    last: &[&str],
    seal_of: impl Fn(&[u8], &[u8]) -> Option<Mark>,
    report: &mut dyn FnMut(&[u8], Damage),
) {
    let mut tables = Vec::new();
    let walk = PageWalk::from_roots(pages, meta, &mut tables, &mut |damage| report(&[], damage));
    let Some(mut walk) = walk else { return };
    // The sort is stable, so within both groups the tables stay in the order of their names.
    tables.sort_by_key(|(name, _)| last.iter().any(|last| last.as_bytes() == *name));
    for (name, table) in tables {
        walk.tree(table, &mut |damage| report(name, damage), &mut |_, key, value| {
            reject_tree(value)?;
            match seal_of(name, key).map(|mark| unseal(mark, key, value.bytes)) {
                Some(None) => Err(Damage(format!("`{}` has a value with a wrong checksum", name.escape_ascii()))),
                _ => Ok(()),
            }
        });
    }
}

/// Checks the structure of a file. Does not check the checksums of values.
///
/// # Errors
/// Returns the first fault.
pub fn first_damage(pages: &Pages<'_>, meta: &Meta) -> Result<(), Damage> {
    let mut first = None;
    check_structure(pages, meta, &[], |_, _| None, &mut |_, damage| {
        first.get_or_insert(damage);
    });
    first.map_or(Ok(()), Err)
}

/// Checks the trees that every write uses: the tree of names and the lists of free pages.
pub(crate) fn check_roots(pages: &Pages<'_>, meta: &Meta) -> Result<(), Damage> {
    let mut first = None;
    PageWalk::from_roots(pages, meta, &mut Vec::new(), &mut |damage| {
        first.get_or_insert(damage);
    });
    first.map_or(Ok(()), Err)
}

/// A page that still has to be visited, with the key bounds that its parent implies.
struct Visit<'a> {
    number: u64,
    depth: u16,
    /// Lower bound of the page's keys, inclusive.
    low: Option<&'a [u8]>,
    /// Upper bound of the page's keys, exclusive.
    high: Option<&'a [u8]>,
}

/// A function that is called with the key and the value of each entry of a leaf.
type OnEntry<'f, 'a> = dyn FnMut(&mut Ledger, &'a [u8], &PageValue<'a>) -> Result<(), Damage> + 'f;

/// A walk over several trees.
struct PageWalk<'w, 'a> {
    pages: &'w Pages<'a>,
    ledger: Ledger,
    extents: Vec<(usize, usize)>,
}

impl<'w, 'a> PageWalk<'w, 'a> {
    /// Visits the tree of free pages and the tree of names. Adds the named trees to `tables`.
    fn from_roots(
        pages: &'w Pages<'a>,
        meta: &Meta,
        tables: &mut Vec<(&'a [u8], TreeRecord)>,
        report: &mut dyn FnMut(Damage),
    ) -> Option<Self> {
        let ledger = Ledger::new(pages).map_err(&mut *report).ok()?;
        let mut walk = Self { pages, ledger, extents: Vec::new() };
        let [free, main] = meta.counts;
        walk.tree(TreeRecord { tree: meta.free, pad: 0, counts: free }, report, &mut |ledger, key, value| {
            reject_tree(value)?;
            // The key of a list is the number of the transaction that freed its pages.
            if !word(key, 0).is_some_and(|id| (1..=meta.transaction).contains(&id)) {
                return Err(Damage("a list of free pages has an impossible transaction".to_owned()));
            }
            for_each_free_page(value.bytes, meta, &mut |page| ledger.free(page))
        });
        walk.ledger.check_end(pages).unwrap_or_else(&mut *report);
        walk.tree(TreeRecord { tree: meta.main, pad: 0, counts: main }, report, &mut |_, name, value| {
            if name.is_empty() || name.contains(&0) {
                return Err(Damage("it has a table without a name".to_owned()));
            }
            let record = Some(value.bytes).filter(|record| value.sub_tree && record.len() == Tree::SIZE);
            let record = record.and_then(TreeRecord::parse).filter(|record| record.tree.flags == 0 && record.pad == 0);
            let record = record.ok_or_else(|| Damage(format!("`{}` is not a table", name.escape_ascii())))?;
            tables.push((name, record));
            Ok(())
        });
        Some(walk)
    }

    /// Visits every page of a tree.
    fn tree(
        &mut self,
        TreeRecord { tree, counts, .. }: TreeRecord,
        report: &mut dyn FnMut(Damage),
        entry: &mut OnEntry<'_, 'a>,
    ) {
        let (mut found, mut entries) = (Counts::default(), 0);
        let faults = Cell::new(0u64);
        let mut report = |damage| {
            faults.set(faults.get() + 1);
            report(damage);
        };
        if tree.depth > MAX_DEPTH || tree.is_empty() != (tree.depth == 0) {
            return report(Damage(format!("a tree has the depth {}", tree.depth)));
        }
        let root = Visit { number: tree.root, depth: 1, low: None, high: None };
        let mut open = Vec::from_iter((!tree.is_empty()).then_some(root));
        while let Some(visit) = open.pop() {
            match self.page(&tree, &visit, &mut found, &mut open, &mut report, entry) {
                Ok(of_page) => entries += of_page,
                Err(damage) => report(damage),
            }
        }
        if faults.get() > 0 {
            return;
        }
        if entries != tree.entries {
            report(Damage(format!("a tree has {entries} entries, but its root says {}", tree.entries)));
        } else if found != counts {
            report(Damage("the numbers of pages of a tree differ from those in its root".to_owned()));
        }
    }

    /// Visits a page. Counts the page and its overflow pages, and adds its children to `open`. Returns the number of
    /// entries of a leaf, and 0 for a branch.
    fn page(
        &mut self,
        tree: &Tree,
        &Visit { number, depth, low, high }: &Visit<'a>,
        counts: &mut Counts,
        open: &mut Vec<Visit<'a>>,
        report: &mut dyn FnMut(Damage),
        entry: &mut OnEntry<'_, 'a>,
    ) -> Result<u64, Damage> {
        self.ledger.take(number..number.saturating_add(1))?;
        let page = self.pages.page(number)?;
        tree.check_depth(&page, usize::from(depth))?;
        page.check(tree, &mut self.extents)?;
        // The first key of a branch has no meaning. Keys within a page ascend.
        let first = page.key(usize::from(!page.leaf))?;
        let is_below = |low| if page.leaf { tree.order(low, first).is_gt() } else { tree.order(low, first).is_ge() };
        let last = page.key(page.len - 1)?;
        if low.is_some_and(is_below) || high.is_some_and(|high| tree.order(last, high).is_ge()) {
            return Err(Damage::page(number, "has keys out of order"));
        }
        if !page.leaf {
            counts.branches += 1;
            for index in 0..page.len {
                let low = if index == 0 { low } else { Some(page.key(index)?) };
                let high = if index + 1 < page.len { Some(page.key(index + 1)?) } else { high };
                open.push(Visit { number: page.child(index)?, depth: depth + 1, low, high });
            }
            return Ok(0);
        }
        counts.leaves += 1;
        for index in 0..page.len {
            let checked = self.pages.value(&page, index).and_then(|value| {
                if let Some(pages) = value.overflow.clone() {
                    counts.overflow += pages.end - pages.start;
                    self.ledger.take(pages)?;
                }
                entry(&mut self.ledger, page.key(index)?, &value)
            });
            checked.unwrap_or_else(&mut *report);
        }
        Ok(page.len as u64)
    }
}

/// Returns an error if a value is a tree.
fn reject_tree(value: &PageValue<'_>) -> Result<(), Damage> {
    if value.sub_tree { Err(Damage("a value is a tree".to_owned())) } else { Ok(()) }
}
