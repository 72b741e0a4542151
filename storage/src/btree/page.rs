//! One page and its nodes.

use std::ops::Range;

use super::seal::{Mark, Unsealed, unseal, without_seal};

/// Bytes of a page number and of every size in a page.
pub(super) const WORD: usize = size_of::<usize>();
/// Bytes of the page header.
pub(super) const HEADER: usize = WORD + 8;
/// Bytes of a node before its key.
const NODE: usize = 8;
/// Root of a tree without pages.
const NO_PAGE: u64 = usize::MAX as u64;

/// Flag of a tree whose keys are native numbers.
pub(super) const INTEGER_KEYS: u16 = 0x08;
/// Longest key that LMDB takes.
const MAX_KEY: usize = 511;

const BRANCH: u16 = 0x01;
const LEAF: u16 = 0x02;
const OVERFLOW: u16 = 0x04;
const BIG_DATA: u16 = 0x01;
const SUB_DATA: u16 = 0x02;

/// What is wrong with a page, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Damage(pub(crate) String);

impl Damage {
    pub(super) fn page(number: u64, what: &str) -> Self {
        Self(format!("page {number}: {what}"))
    }
}

/// The mapped file, as pages.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pages<'a> {
    /// The file from its beginning; may be longer than its pages.
    pub(crate) bytes: &'a [u8],
    /// Bytes in a page.
    pub(crate) page_size: usize,
    /// Number of pages in use.
    pub(crate) count: u64,
    /// Large values that need not be checked again.
    pub(crate) unsealed: &'a Unsealed,
}

/// Root and size of one tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tree {
    pub(super) root: u64,
    pub(super) depth: u16,
    /// How keys are compared and values kept; 0 for bytes and single values.
    pub(super) flags: u16,
    /// Number of entries.
    pub(crate) entries: u64,
    /// Number of its pages, as its record counts them.
    pub(crate) pages: u64,
    /// Set when every value ends in a checksum.
    pub(super) seal: Option<Mark>,
}

/// All that the record of a tree says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TreeRecord {
    pub(super) tree: Tree,
    /// Bytes of a page in the tree of free pages, 0 elsewhere.
    pub(super) pad: u32,
    pub(super) counts: Counts,
}

/// Pages of a tree, by kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(super) branches: u64,
    pub(super) leaves: u64,
    pub(super) overflow: u64,
}

impl TreeRecord {
    /// Reads the record that describes a tree.
    pub(super) fn parse(record: &[u8]) -> Option<Self> {
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
    pub(crate) const EMPTY: Self = Self { root: NO_PAGE, depth: 0, flags: 0, entries: 0, pages: 0, seal: None };
    /// Bytes of the record that describes a tree.
    pub(super) const SIZE: usize = 8 + 5 * WORD;

    /// Reads the record that describes a tree.
    pub(super) fn parse(record: &[u8]) -> Option<Self> {
        if record.len() < Self::SIZE {
            return None;
        }
        Some(Self {
            root: word(record, 8 + 4 * WORD)?,
            depth: half(record, 6)?,
            flags: half(record, 4)?,
            entries: word(record, 8 + 3 * WORD)?,
            pages: (0..3).try_fold(0u64, |sum, at| Some(sum.saturating_add(word(record, 8 + at * WORD)?)))?,
            seal: None,
        })
    }

    /// The same tree, whose values are to be read as sealed, or as they stand there.
    pub(crate) fn with_seal(self, seal: Option<Mark>) -> Self {
        Self { seal, ..self }
    }

    /// Checks that a page `depth` steps from above is a leaf where the leaves are, and only there.
    pub(super) fn check_depth(&self, page: &Page<'_>, depth: usize) -> Result<(), Damage> {
        if page.leaf == (depth == usize::from(self.depth)) {
            Ok(())
        } else {
            Err(Damage::page(page.number, "lies at the wrong depth"))
        }
    }

    /// How LMDB orders two keys of the tree.
    pub(super) fn order(&self, a: &[u8], b: &[u8]) -> std::cmp::Ordering {
        match (word(a, 0), word(b, 0)) {
            (Some(a), Some(b)) if self.flags & INTEGER_KEYS != 0 => a.cmp(&b),
            _ => a.cmp(b),
        }
    }

    /// Whether the tree has no pages.
    pub(crate) fn is_empty(&self) -> bool {
        self.root == NO_PAGE
    }
}

/// A branch or leaf page whose header has been checked.
#[derive(Debug, Clone, Copy)]
pub(super) struct Page<'a> {
    pub(super) number: u64,
    bytes: &'a [u8],
    pub(super) leaf: bool,
    /// Number of nodes.
    pub(super) len: usize,
    /// Offset of the lowest node.
    upper: usize,
}

/// Where the value of a leaf node is.
pub(super) struct PageValue<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) sub_tree: bool,
    /// Overflow pages that belong to it, which LMDB frees when it deletes or replaces it. They may be more than it needs:
    /// LMDB leaves them all when it puts a shorter value into a place that the same transaction has made.
    pub(super) overflow: Option<Range<u64>>,
}

impl PageValue<'_> {
    /// Whether the value has just the overflow pages that it needs.
    pub(super) fn is_exact(&self, page_size: usize) -> bool {
        let needed = (HEADER + self.bytes.len()).div_ceil(page_size) as u64;
        self.overflow.as_ref().is_none_or(|pages| pages.end - pages.start == needed)
    }
}

impl<'a> Pages<'a> {
    /// The branch or leaf page with a number.
    pub(super) fn page(&self, number: u64) -> Result<Page<'a>, Damage> {
        let bytes = self.raw(number, 1)?;
        let kind = half(bytes, WORD + 2).unwrap_or(0);
        if kind != BRANCH && kind != LEAF {
            return Err(Damage::page(number, "is neither a branch nor a leaf"));
        }
        let lower = half(bytes, WORD + 4).unwrap_or(0) as usize;
        let upper = half(bytes, WORD + 6).unwrap_or(0) as usize;
        if lower < HEADER || lower > upper || upper > bytes.len() || lower % 2 != HEADER % 2 {
            return Err(Damage::page(number, "has impossible bounds"));
        }
        Ok(Page { number, bytes, leaf: kind == LEAF, len: (lower - HEADER) / 2, upper })
    }

    /// `count` pages from `number` on, whose header names `number`.
    fn raw(&self, number: u64, count: u64) -> Result<&'a [u8], Damage> {
        let outside = || Damage::page(number, "lies outside the file");
        let end = number.checked_add(count).filter(|&end| end <= self.count && number >= 2);
        let end = end.ok_or_else(outside)?;
        let start = number as usize * self.page_size;
        let bytes = self.bytes.get(start..end as usize * self.page_size).ok_or_else(outside)?;
        if word(bytes, 0) != Some(number) {
            return Err(Damage::page(number, "carries another page's number"));
        }
        Ok(bytes)
    }

    /// The key of a leaf's node, and its value once its checksum was found right.
    pub(super) fn entry(&self, tree: Tree, leaf: &Page<'a>, index: usize) -> Result<(&'a [u8], &'a [u8]), Damage> {
        let key = leaf.key(index)?;
        let PageValue { bytes, overflow, .. } = self.value(leaf, index)?;
        let Some(mark) = tree.seal else { return Ok((key, bytes)) };
        let node = (leaf.number, index);
        let first = overflow.map(|pages| pages.start);
        if first.is_some_and(|first| self.unsealed.knows(first, node)) {
            return Ok((key, without_seal(bytes)));
        }
        let value = unseal(mark, key, bytes);
        let value = value.ok_or_else(|| Damage::page(leaf.number, "has a value with a wrong checksum"))?;
        first.into_iter().for_each(|first| self.unsealed.note(first, node));
        Ok((key, value))
    }

    /// The value of a leaf's node.
    pub(super) fn value(&self, leaf: &Page<'a>, index: usize) -> Result<PageValue<'a>, Damage> {
        let node = leaf.node(index)?;
        let flags = half(node, 4).unwrap_or(0);
        let size = u32_at(node, 0).unwrap_or(0) as usize;
        let data = NODE + half(node, 6).unwrap_or(0) as usize;
        let cut = || Damage::page(leaf.number, "has a node that passes its end");
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
        let kind = half(bytes, WORD + 2).unwrap_or(0);
        let held = u64::from(u32_at(bytes, WORD + 4).unwrap_or(0));
        if kind != OVERFLOW || held < needed {
            return Err(Damage::page(first, "is not the overflow page that a node needs"));
        }
        if held > self.count - first {
            return Err(Damage::page(first, "counts more overflow pages than there are"));
        }
        let bytes = &bytes[HEADER..HEADER + size];
        Ok(PageValue { bytes, sub_tree: false, overflow: Some(first..first + held) })
    }
}

impl<'a> Page<'a> {
    /// The bytes from a node's header to the end of the page.
    fn node(&self, index: usize) -> Result<&'a [u8], Damage> {
        half(self.bytes, HEADER + 2 * index)
            .filter(|&offset| index < self.len && offset as usize >= self.upper)
            .and_then(|offset| self.bytes.get(offset as usize..))
            .filter(|node| node.len() >= NODE)
            .ok_or_else(|| Damage::page(self.number, "has a node outside its bounds"))
    }

    /// The key of a node; that of a branch's first node means nothing.
    pub(super) fn key(&self, index: usize) -> Result<&'a [u8], Damage> {
        let node = self.node(index)?;
        let size = half(node, 6).unwrap_or(0) as usize;
        node.get(NODE..NODE + size).ok_or_else(|| Damage::page(self.number, "has a key that passes its end"))
    }

    /// The same; `None` for any damage.
    #[inline]
    fn sound_key(&self, index: usize) -> Option<&'a [u8]> {
        let offset = usize::from(half(self.bytes, HEADER + 2 * index)?);
        let node = self.bytes.get(offset..).filter(|_| index < self.len && offset >= self.upper)?;
        let (head, rest) = node.split_first_chunk::<NODE>()?;
        rest.get(..usize::from(half(head, 6)?))
    }

    /// The page below a branch's node.
    pub(super) fn child(&self, index: usize) -> Result<u64, Damage> {
        let node = self.node(index)?;
        let low = u64::from(u32_at(node, 0).unwrap_or(0));
        let high = if WORD > 4 { u64::from(half(node, 4).unwrap_or(0)) << 32 } else { 0 };
        Ok(low | high)
    }

    /// Checks all that LMDB takes for granted in a page of `tree`: enough nodes, of lengths that it would have made, which
    /// fill the page from its upper bound on without gaps or overlaps, and whose keys ascend. `extents` is working space.
    pub(super) fn check(&self, tree: &Tree, extents: &mut Vec<(usize, usize)>) -> Result<(), Damage> {
        let fault = |what| Err(Damage::page(self.number, what));
        // LMDB asserts it of branches, and looks at the last node of a leaf without asking whether there is one.
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
            let flags = if self.leaf { half(node, 4).unwrap_or(0) } else { 0 };
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
            // The first key of a branch stands for everything below the second.
            if !self.leaf && index == 0 {
                continue;
            }
            let integer = tree.flags & INTEGER_KEYS != 0;
            if !(1..=MAX_KEY).contains(&key.len()) || integer && key.len() != WORD {
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
    pub(super) fn is_sparse(&self) -> bool {
        let room = self.bytes.len() - HEADER;
        let unused = self.upper - (HEADER + 2 * self.len);
        4 * (room - unused) < room
    }

    /// The first node whose key is not below `key`, and whether its key equals it.
    pub(super) fn search(&self, key: &[u8]) -> Result<(usize, bool), Damage> {
        // The first key of a branch stands for everything below the second.
        let (mut low, mut high) = (usize::from(!self.leaf), self.len);
        while low < high {
            let middle = low.midpoint(high);
            let found = match self.sound_key(middle) {
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

    /// Checks that the keys around the place where [`Self::search`] has ended ascend. A node with another key than LMDB has written
    /// leads the search astray only to places where they do not.
    pub(super) fn check_order_around(&self, place: usize) -> Result<(), Damage> {
        let first = place.saturating_sub(2).max(usize::from(!self.leaf));
        let mut before: Option<&[u8]> = None;
        for index in first..self.len.min(place + 2) {
            let key = self.key(index)?;
            if before.is_some_and(|before| order(before, key).is_ge()) {
                return Err(Damage::page(self.number, "has keys out of order"));
            }
            before = Some(key);
        }
        Ok(())
    }
}

/// How two keys compare. Those of chunks are four bytes, for which comparing as bytes costs more than all the rest.
#[inline]
fn order(a: &[u8], b: &[u8]) -> std::cmp::Ordering {
    match (a.split_first_chunk::<4>(), b.split_first_chunk::<4>()) {
        (Some((a, a_rest)), Some((b, b_rest))) => {
            u32::from_be_bytes(*a).cmp(&u32::from_be_bytes(*b)).then_with(|| a_rest.cmp(b_rest))
        }
        _ => a.cmp(b),
    }
}

/// A native 16-bit number.
pub(super) fn half(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// A native 32-bit number.
pub(super) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// A native number as wide as a pointer.
pub(super) fn word(bytes: &[u8], at: usize) -> Option<u64> {
    Some(usize::from_ne_bytes(*bytes.get(at..)?.first_chunk()?) as u64)
}
