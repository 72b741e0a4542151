//! The layout of a data file: the parts of LMDB's format (64 bits, little-endian) that the tests need to find their
//! targets.

use std::collections::BTreeMap;
use std::ops::Range;

/// Size of a page in bytes.
pub(crate) const PAGE: usize = 4096;
/// Size of the header of a page in bytes.
const HEAD: usize = 16;
/// Size of the header of a node in bytes.
const NODE: usize = 8;
/// Flag of leaf pages.
const LEAF: u16 = 0x02;
/// Flag of nodes whose value is in overflow pages.
const BIG: u16 = 0x01;
/// Offset of the record of the tree of free pages, in a meta page.
const FREE_TREE: usize = HEAD + 24;
/// Offset of the record of the tree of tables, in a meta page.
const MAIN_TREE: usize = FREE_TREE + 48;
/// Offset of the number of the last page in use, in a meta page.
pub(crate) const LAST_PAGE: usize = MAIN_TREE + 48;
/// Offset of the number of the transaction that wrote a meta page.
pub(crate) const TRANSACTION: usize = LAST_PAGE + 8;
/// Offset of the depth of the tree, in the record of a tree.
pub(crate) const DEPTH: usize = 6;
/// Offset of the number of entries, in the record of a tree.
pub(crate) const ENTRIES: usize = 32;
/// Offset of the number of the root page, in the record of a tree.
pub(crate) const ROOT: usize = 40;
/// Number of the root page in the record of an empty tree.
const NONE: usize = usize::MAX;

/// A tree: the location of its record, and its pages.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    /// Offset of the record in the file.
    pub(crate) record: usize,
    /// Numbers of the pages with keys, from the root down.
    pub(crate) pages: Vec<usize>,
    /// Numbers of the leaf pages.
    pub(crate) leaves: Vec<usize>,
    /// Ranges in the file of all non-empty values.
    pub(crate) values: Vec<Range<usize>>,
}

/// The newest generation of a data file.
#[derive(Debug)]
pub(crate) struct Layout {
    /// Offset of the newest meta page.
    pub(crate) meta: usize,
    /// The tree of free pages.
    pub(crate) free: Tree,
    /// The tree of tables.
    pub(crate) main: Tree,
    /// The tables by name.
    pub(crate) tables: BTreeMap<String, Tree>,
}

/// Reads the 8-byte number at an offset in the file.
pub(crate) fn word(data: &[u8], at: usize) -> usize {
    u64::from_le_bytes(data[at..at + 8].try_into().expect("the slice has eight bytes")) as usize
}

fn half(data: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([data[at], data[at + 1]])
}

impl Layout {
    /// Reads the layout of an undamaged file.
    pub(crate) fn from_data(data: &[u8]) -> Self {
        let meta = if word(data, TRANSACTION) > word(data, PAGE + TRANSACTION) { 0 } else { PAGE };
        let mut tables = BTreeMap::new();
        let main = tree(data, meta + MAIN_TREE, &mut |key, value| {
            let name = String::from_utf8(key.to_vec()).expect("the text is UTF-8");
            tables.insert(name, tree(data, value.start, &mut |_, _| {}));
        });
        Self { meta, free: tree(data, meta + FREE_TREE, &mut |_, _| {}), main, tables }
    }

    /// Returns the tree of the table with this name.
    pub(crate) fn table(&self, name: &str) -> &Tree {
        &self.tables[name]
    }
}

impl Tree {
    /// Returns the range of a value in the middle of the table.
    pub(crate) fn value(&self) -> Range<usize> {
        self.values[self.values.len() / 2].clone()
    }

    /// Returns the offset of the root page in the file.
    pub(crate) fn root(&self) -> usize {
        self.pages[0] * PAGE
    }
}

fn tree(data: &[u8], record: usize, each: &mut dyn FnMut(&[u8], Range<usize>)) -> Tree {
    let mut tree = Tree { record, ..Tree::default() };
    let root = word(data, record + ROOT);
    let mut open = Vec::from_iter((root != NONE).then_some(root));
    while let Some(number) = open.pop() {
        let page = number * PAGE;
        tree.pages.push(number);
        let is_leaf = half(data, page + 10) & LEAF != 0;
        if is_leaf {
            tree.leaves.push(number);
        }
        for index in 0..(usize::from(half(data, page + 12)) - HEAD) / 2 {
            let node = page + usize::from(half(data, page + HEAD + 2 * index));
            let (low, flags, key) = (word(data, node), half(data, node + 4), usize::from(half(data, node + 6)));
            if !is_leaf {
                open.push(low & 0xffff_ffff_ffff);
                continue;
            }
            let (start, length) = (node + NODE + key, low & 0xffff_ffff);
            let start = if flags & BIG == 0 { start } else { word(data, start) * PAGE + HEAD };
            each(&data[node + NODE..node + NODE + key], start..start + length);
            if length > 0 {
                tree.values.push(start..start + length);
            }
        }
    }
    tree
}
