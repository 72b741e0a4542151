//! One page and its nodes.

use std::ops::Range;

use crate::seal::{Mark, Unsealed, unseal, without_seal};

/// Number of bytes of an LMDB word, such as a page number.
pub(crate) const WORD: usize = size_of::<usize>();
/// Number of bytes of the page header.
pub(crate) const HEADER: usize = WORD + 8;
/// Number of bytes of a node before its key.
const NODE: usize = 8;
/// Root page number of a tree without pages.
const NO_PAGE: u64 = usize::MAX as u64;

/// Flag of a tree whose keys are native integers.
pub(crate) const INTEGER_KEYS: u16 = 0x08;
/// Maximum length of a key in LMDB, in bytes.
const MAX_KEY_BYTES: usize = 511;

const BRANCH: u16 = 0x01;
const LEAF: u16 = 0x02;
const OVERFLOW: u16 = 0x04;
const BIG_DATA: u16 = 0x01;
const SUB_DATA: u16 = 0x02;

/// A description of damage to a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage(
    /// The description.
    pub String,
);

impl Damage {
    pub(crate) fn page(number: u64, what: &str) -> Self {
        Self(format!("page {number}: {what}"))
    }
}

/// The mapped file, as pages.
#[derive(Debug, Clone, Copy)]
pub struct Pages<'a> {
    /// The file from its beginning. May be longer than the pages in use.
    pub bytes: &'a [u8],
    /// Size of a page in bytes.
    pub page_size: usize,
    /// Number of pages in use.
    pub count: u64,
    /// Large values whose checksums have already been checked.
    pub unsealed: &'a Unsealed,
}

/// Root and size of one tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tree {
    pub(crate) root: u64,
    pub(crate) depth: u16,
    /// LMDB's flags for the order of keys and the kind of values; 0 for keys in byte order and single values.
    pub(crate) flags: u16,
    /// Number of entries.
    pub entries: u64,
    /// Number of pages according to the tree's record.
    pub pages: u64,
    /// The mark of the tree's checksums, if every value ends in a checksum.
    pub(crate) seal: Option<Mark>,
}

/// All fields of the record of a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TreeRecord {
    pub(crate) tree: Tree,
    /// Size of a page in the tree of free pages, 0 in other trees.
    pub(crate) pad: u32,
    pub(crate) counts: Counts,
}

/// The number of pages of each kind in a tree.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) branches: u64,
    pub(crate) leaves: u64,
    pub(crate) overflow: u64,
}

impl TreeRecord {
    /// Reads the record that describes a tree.
    pub(crate) fn parse(record: &[u8]) -> Option<Self> {
        Some(Self {
            tree: Tree::parse(record)?,
            pad: u32_at(record, 0)?,
            counts: Counts {
                branches: word(record, 8)?,
                leaves: word(record, 8 + WORD)?,
                overflow: word(record, 8 + 2 * WORD)?,
            },
        })
    }
}

impl Tree {
    /// A tree without entries.
    pub const EMPTY: Self = Self { root: NO_PAGE, depth: 0, flags: 0, entries: 0, pages: 0, seal: None };
    /// Bytes of the record that describes a tree.
    pub(crate) const SIZE: usize = 8 + 5 * WORD;

    /// Reads the record that describes a tree.
    pub(crate) fn parse(record: &[u8]) -> Option<Self> {
        if record.len() < Self::SIZE {
            return None;
        }
        Some(Self {
            root: word(record, 8 + 4 * WORD)?,
            depth: u16_at(record, 6)?,
            flags: u16_at(record, 4)?,
            entries: word(record, 8 + 3 * WORD)?,
            pages: (0..3).try_fold(0u64, |sum, at| Some(sum.saturating_add(word(record, 8 + at * WORD)?)))?,
            seal: None,
        })
    }

    /// Returns the tree with the seal `seal`. If `seal` is a mark, every value that is read must end in a checksum for
    /// that mark.
    pub fn with_seal(self, seal: Option<Mark>) -> Self {
        Self { seal, ..self }
    }

    /// Checks that a page at `depth` is a leaf if and only if the leaves of the tree are at that depth.
    pub(crate) fn check_depth(&self, page: &Page<'_>, depth: usize) -> Result<(), Damage> {
        if page.leaf == (depth == usize::from(self.depth)) {
            Ok(())
        } else {
            Err(Damage::page(page.number, "is at the wrong depth"))
        }
    }

    /// Compares two keys of the tree in LMDB's order.
    pub(crate) fn order(&self, a: &[u8], b: &[u8]) -> std::cmp::Ordering {
        match (word(a, 0), word(b, 0)) {
            (Some(a), Some(b)) if self.flags & INTEGER_KEYS != 0 => a.cmp(&b),
            _ => a.cmp(b),
        }
    }

    /// Whether the tree has no pages.
    pub fn is_empty(&self) -> bool {
        self.root == NO_PAGE
    }
}

/// A branch or leaf page whose header has been checked.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Page<'a> {
    pub(crate) number: u64,
    bytes: &'a [u8],
    pub(crate) leaf: bool,
    /// Number of nodes.
    pub(crate) len: usize,
    /// Offset of the lowest node.
    upper: usize,
}

/// The value of a leaf node, and its overflow pages.
pub(crate) struct PageValue<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) sub_tree: bool,
    /// Overflow pages of the value, which LMDB frees when it deletes or replaces the value. The value may have more
    /// pages than it needs: LMDB keeps all of them when it replaces a value with a shorter one in the same transaction.
    pub(crate) overflow: Option<Range<u64>>,
}

impl PageValue<'_> {
    /// Whether the value has exactly the overflow pages that it needs.
    pub(crate) fn is_exact(&self, page_size: usize) -> bool {
        let needed = (HEADER + self.bytes.len()).div_ceil(page_size) as u64;
        self.overflow.as_ref().is_none_or(|pages| pages.end - pages.start == needed)
    }
}

impl<'a> Pages<'a> {
    /// Returns the branch or leaf page with a number.
    pub(crate) fn page(&self, number: u64) -> Result<Page<'a>, Damage> {
        let bytes = self.raw(number, 1)?;
        let kind = u16_at(bytes, WORD + 2).unwrap_or(0);
        if kind != BRANCH && kind != LEAF {
            return Err(Damage::page(number, "is neither a branch nor a leaf"));
        }
        let lower = u16_at(bytes, WORD + 4).unwrap_or(0) as usize;
        let upper = u16_at(bytes, WORD + 6).unwrap_or(0) as usize;
        if lower < HEADER || lower > upper || upper > bytes.len() || lower % 2 != HEADER % 2 {
            return Err(Damage::page(number, "has impossible bounds"));
        }
        Ok(Page { number, bytes, leaf: kind == LEAF, len: (lower - HEADER) / 2, upper })
    }

    /// Returns `count` pages starting at `number`. The header of the first page must contain `number`.
    fn raw(&self, number: u64, count: u64) -> Result<&'a [u8], Damage> {
        let outside = || Damage::page(number, "is outside the file");
        let end = number.checked_add(count).filter(|&end| end <= self.count && number >= 2);
        let end = end.ok_or_else(outside)?;
        let start = number as usize * self.page_size;
        let bytes = self.bytes.get(start..end as usize * self.page_size).ok_or_else(outside)?;
        if word(bytes, 0) != Some(number) {
            return Err(Damage::page(number, "has another page's number"));
        }
        Ok(bytes)
    }

    /// Returns the key and the value of a leaf's node. Checks the checksum of a sealed value.
    pub(crate) fn entry(&self, tree: Tree, leaf: &Page<'a>, index: usize) -> Result<(&'a [u8], &'a [u8]), Damage> {
        let key = leaf.key(index)?;
        let PageValue { bytes, overflow, .. } = self.value(leaf, index)?;
        let Some(mark) = tree.seal else { return Ok((key, bytes)) };
        let node = (leaf.number, index);
        let first = overflow.map(|pages| pages.start);
        if first.is_some_and(|first| self.unsealed.contains(first, node)) {
            return Ok((key, without_seal(bytes)));
        }
        let value = unseal(mark, key, bytes);
        let value = value.ok_or_else(|| Damage::page(leaf.number, "has a value with a wrong checksum"))?;
        first.into_iter().for_each(|first| self.unsealed.insert(first, node));
        Ok((key, value))
    }

    /// Returns the value of a leaf's node.
    pub(crate) fn value(&self, leaf: &Page<'a>, index: usize) -> Result<PageValue<'a>, Damage> {
        let node = leaf.node(index)?;
        let flags = u16_at(node, 4).unwrap_or(0);
        let size = u32_at(node, 0).unwrap_or(0) as usize;
        let data = NODE + u16_at(node, 6).unwrap_or(0) as usize;
        let cut = || Damage::page(leaf.number, "has a node that extends beyond the page");
        if flags & !(BIG_DATA | SUB_DATA) != 0 {
            return Err(Damage::page(leaf.number, "has a node of an unknown kind"));
        }
        if flags & BIG_DATA == 0 {
            let bytes = node.get(data..data + size).ok_or_else(cut)?;
            return Ok(PageValue { bytes, sub_tree: flags & SUB_DATA != 0, overflow: None });
        }
        let first = word(node, data).ok_or_else(cut)?;
        let needed = (HEADER + size).div_ceil(self.page_size) as u64;
        let bytes = self.raw(first, needed)?;
        let kind = u16_at(bytes, WORD + 2).unwrap_or(0);
        let held = u64::from(u32_at(bytes, WORD + 4).unwrap_or(0));
        if kind != OVERFLOW || held < needed {
            return Err(Damage::page(first, "is not the overflow page that a node needs"));
        }
        if held > self.count - first {
            return Err(Damage::page(first, "has more overflow pages than the file"));
        }
        let bytes = &bytes[HEADER..HEADER + size];
        Ok(PageValue { bytes, sub_tree: false, overflow: Some(first..first + held) })
    }
}

impl<'a> Page<'a> {
    /// Returns the bytes from a node's header to the end of the page.
    fn node(&self, index: usize) -> Result<&'a [u8], Damage> {
        u16_at(self.bytes, HEADER + 2 * index)
            .filter(|&offset| index < self.len && offset as usize >= self.upper)
            .and_then(|offset| self.bytes.get(offset as usize..))
            .filter(|node| node.len() >= NODE)
            .ok_or_else(|| Damage::page(self.number, "has a node outside its bounds"))
    }

    /// Returns the key of a node. The key of a branch's first node has no meaning.
    pub(crate) fn key(&self, index: usize) -> Result<&'a [u8], Damage> {
        let node = self.node(index)?;
        let size = u16_at(node, 6).unwrap_or(0) as usize;
        node.get(NODE..NODE + size).ok_or_else(|| Damage::page(self.number, "has a key that extends beyond the page"))
    }

    /// Like [`Self::key`], but returns `None` for any damage.
    #[inline]
    fn valid_key(&self, index: usize) -> Option<&'a [u8]> {
        let offset = usize::from(u16_at(self.bytes, HEADER + 2 * index)?);
        let node = self.bytes.get(offset..).filter(|_| index < self.len && offset >= self.upper)?;
        let (head, rest) = node.split_first_chunk::<NODE>()?;
        rest.get(..usize::from(u16_at(head, 6)?))
    }

    /// Returns the number of the page below a branch's node.
    pub(crate) fn child(&self, index: usize) -> Result<u64, Damage> {
        let node = self.node(index)?;
        let low = u64::from(u32_at(node, 0).unwrap_or(0));
        let high = if WORD > 4 { u64::from(u16_at(node, 4).unwrap_or(0)) << 32 } else { 0 };
        Ok(low | high)
    }

    /// Checks everything that LMDB assumes about a page of `tree`. The page must have enough nodes, and no node or key
    /// may have a length that LMDB would not write. The nodes must fill the page from its upper bound without gaps or
    /// overlaps, and their keys must ascend. `extents` is a scratch buffer.
    pub(crate) fn check(&self, tree: &Tree, extents: &mut Vec<(usize, usize)>) -> Result<(), Damage> {
        let fault = |what| Err(Damage::page(self.number, what));
        // LMDB asserts that a branch has two nodes. It reads the last node of a leaf without checking that the leaf has
        // nodes.
        if self.len < if self.leaf { 1 } else { 2 } {
            return fault("has too few nodes");
        }
        // A longer node would have its value on overflow pages.
        let longest = (((self.bytes.len() - HEADER) / 2) & !1) - 2;
        extents.clear();
        let mut before: Option<&[u8]> = None;
        for index in 0..self.len {
            let node = self.node(index)?;
            let key = self.key(index)?;
            let flags = if self.leaf { u16_at(node, 4).unwrap_or(0) } else { 0 };
            let data = match (self.leaf, flags) {
                (true, BIG_DATA) => WORD,
                (true, 0 | SUB_DATA) => u32_at(node, 0).unwrap_or(0) as usize,
                (false, _) => 0,
                _ => return fault("has a node of an unknown kind"),
            };
            let size = NODE + key.len() + data;
            if size > longest {
                return fault("has a node that is too long");
            }
            extents.push((self.bytes.len() - node.len(), size + size % 2));
            // The first key of a branch has no meaning: its child has all keys below the second key.
            if !self.leaf && index == 0 {
                continue;
            }
            let integer = tree.flags & INTEGER_KEYS != 0;
            if !(1..=MAX_KEY_BYTES).contains(&key.len()) || integer && key.len() != WORD {
                return fault("has a key of an impossible length");
            }
            if before.is_some_and(|before| tree.order(before, key).is_ge()) {
                return fault("has keys out of order");
            }
            before = Some(key);
        }
        extents.sort_unstable();
        let mut extents = extents.iter();
        let end = extents.try_fold(self.upper, |end, &(start, size)| (start == end).then_some(end + size));
        if end == Some(self.bytes.len()) { Ok(()) } else { fault("has nodes that overlap or leave gaps") }
    }

    /// Whether so little of the page is in use that LMDB would merge it with a neighbour.
    pub(crate) fn is_sparse(&self) -> bool {
        let room = self.bytes.len() - HEADER;
        let unused = self.upper - (HEADER + 2 * self.len);
        4 * (room - unused) < room
    }

    /// Returns the index of the first node whose key is not less than `key`, and whether that key equals `key`.
    pub(crate) fn search(&self, key: &[u8]) -> Result<(usize, bool), Damage> {
        // The first key of a branch has no meaning: its child has all keys below the second key.
        let (mut low, mut high) = (usize::from(!self.leaf), self.len);
        while low < high {
            let middle = low.midpoint(high);
            let found = match self.valid_key(middle) {
                Some(found) => found,
                None => self.key(middle)?,
            };
            match order(found, key) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Equal => return Ok((middle, true)),
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        Ok((low, false))
    }

    /// Checks that the keys are in ascending order around the position where [`Self::search`] ended. If a damaged key
    /// has misled the search, they are not.
    pub(crate) fn check_order_around(&self, position: usize) -> Result<(), Damage> {
        let first = position.saturating_sub(2).max(usize::from(!self.leaf));
        let mut before: Option<&[u8]> = None;
        for index in first..self.len.min(position + 2) {
            let key = self.key(index)?;
            if before.is_some_and(|before| order(before, key).is_ge()) {
                return Err(Damage::page(self.number, "has keys out of order"));
            }
            before = Some(key);
        }
        Ok(())
    }
}

/// Compares two keys in byte order. The first four bytes are compared as a number, because comparing byte slices would
/// cost more than the rest of a search.
#[inline]
fn order(a: &[u8], b: &[u8]) -> std::cmp::Ordering {
    match (a.split_first_chunk::<4>(), b.split_first_chunk::<4>()) {
        (Some((a, a_rest)), Some((b, b_rest))) => {
            u32::from_be_bytes(*a).cmp(&u32::from_be_bytes(*b)).then_with(|| a_rest.cmp(b_rest))
        }
        _ => a.cmp(b),
    }
}

/// Reads a native 16-bit number.
pub(crate) fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// Reads a native 32-bit number.
pub(crate) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// Reads a native number as wide as a pointer.
pub(crate) fn word(bytes: &[u8], at: usize) -> Option<u64> {
    Some(usize::from_ne_bytes(*bytes.get(at..)?.first_chunk()?) as u64)
}
