//! The two meta pages, which contain the format, the roots and the extents of the two newest generations.

use roaring::RoaringTreemap;

use crate::cursor::Cursor;
use crate::page::{Counts, Damage, HEADER, INTEGER_KEYS, Pages, Tree, TreeRecord, WORD, u16_at, u32_at, word};
use crate::seal::Unsealed;

const MAGIC: u32 = 0xBEEF_C0DE;
const VERSION: u32 = 1;
const META: u16 = 0x08;
/// Supported page sizes in bytes. LMDB uses the size of a memory page, up to its own maximum.
const PAGE_SIZES: std::ops::RangeInclusive<usize> = 4096..=32_768;
/// Maximum transaction number, which no real file reaches. The limit exists because LMDB increments the number, and the
/// largest integer has a special meaning.
const MAX_TRANSACTION: u64 = u64::MAX >> 16;
/// Maximum number of bytes in a file that has meta pages and nothing else.
pub const MAX_UNBORN_BYTES: u64 = 2 * *PAGE_SIZES.end() as u64;
/// Maximum number of attempts to read the meta pages while a writer changes them.
const MAX_ATTEMPTS: usize = 16;

/// A meta page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Meta {
    /// Size of a page in bytes.
    pub page_size: usize,
    /// The transaction that wrote this meta page.
    pub transaction: u64,
    /// Number of the last page in use.
    pub last_page: u64,
    /// Tree of free pages. The keys are the numbers of the transactions that freed the pages.
    pub free: Tree,
    /// Tree of the named trees.
    pub main: Tree,
    /// For each of the two trees, the number of its pages of each kind.
    pub(crate) counts: [Counts; 2],
}

/// The reason why a file has no usable meta page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MetaError {
    /// The file is not an LMDB file, has another LMDB version, or has damaged meta pages. Contains the reason.
    Foreign(&'static str),
    /// The file ends within the meta pages, which need this many bytes.
    Short(u64),
}

impl Meta {
    /// Reads both meta pages of a file, in page order.
    ///
    /// Transactions write the two meta pages alternately, so the transaction numbers must be consecutive. Without this
    /// check, a damaged number could bring back an older generation.
    fn read_both(bytes: &[u8]) -> Result<[Self; 2], MetaError> {
        let mut both = Self::read_once(bytes)?;
        for _ in 0..MAX_ATTEMPTS {
            let numbers = both.map(|meta| meta.transaction);
            let in_turn = (0..).zip(numbers).all(|(page, number)| number == 0 || number % 2 == page);
            if in_turn && numbers[0].abs_diff(numbers[1]) <= 1 {
                return Ok(both);
            }
            // A writer may have changed a page between the two reads.
            both = Self::read_once(bytes)?;
        }
        Err(MetaError::Foreign("its meta pages are damaged"))
    }

    fn read_once(bytes: &[u8]) -> Result<[Self; 2], MetaError> {
        let first = Self::read_at(bytes, 0, 0)?;
        let second = Self::read_at(bytes, first.page_size, 1)?;
        if second.page_size != first.page_size {
            return Err(MetaError::Foreign("its meta pages disagree"));
        }
        Ok([first, second])
    }

    /// Reads the meta page that was written last.
    ///
    /// # Errors
    /// Fails if the file has no usable meta pages.
    pub fn newest(bytes: &[u8]) -> Result<Self, MetaError> {
        let [first, second] = Self::read_both(bytes)?;
        Ok(if second.transaction > first.transaction { second } else { first })
    }

    /// Reads the meta page of a transaction. Returns `None` if it has been overwritten since.
    ///
    /// # Errors
    /// Fails if the file has no usable meta pages.
    pub fn for_transaction(bytes: &[u8], transaction: u64) -> Result<Option<Self>, MetaError> {
        let both = Self::read_both(bytes)?;
        Ok(Some(both[(transaction & 1) as usize]).filter(|meta| meta.transaction == transaction))
    }

    /// Returns the previous generation, from the other meta page.
    ///
    /// LMDB does not reuse the pages of the previous generation until the other meta page has been overwritten and the
    /// generation of `self` has no reader. Returns `None` if the other meta page has been overwritten or cannot be
    /// read.
    pub fn before<'a>(&self, pages: Pages<'a>) -> Option<(Pages<'a>, Self)> {
        let both = Self::read_both(pages.bytes).ok()?;
        let other = both.into_iter().find(|meta| meta.transaction < self.transaction)?;
        Some((Pages { count: other.last_page + 1, ..pages }, other))
    }

    /// Returns the pages of this generation; `bytes` is the file.
    pub fn pages<'a>(&self, bytes: &'a [u8], unsealed: &'a Unsealed) -> Pages<'a> {
        Pages { bytes, page_size: self.page_size, count: self.last_page + 1, unsealed }
    }

    /// Size in bytes of the pages up to the last one of this generation.
    pub fn extent(&self) -> u64 {
        self.last_page.saturating_add(1).saturating_mul(self.page_size as u64)
    }

    fn read_at(bytes: &[u8], start: usize, number: u64) -> Result<Self, MetaError> {
        let trees = HEADER + 8 + 2 * WORD;
        let size = trees + 2 * Tree::SIZE + 2 * WORD;
        let Some(page) = bytes.get(start..start + size) else {
            let begins_well = bytes.len() < HEADER + 4 || u32_at(bytes, HEADER) == Some(MAGIC);
            return Err(if begins_well {
                MetaError::Short((start + size) as u64)
            } else {
                MetaError::Foreign("it is not an LMDB file")
            });
        };
        if u32_at(page, HEADER) != Some(MAGIC) || u16_at(page, WORD + 2).unwrap_or(0) & META == 0 {
            return Err(MetaError::Foreign("it is not an LMDB file"));
        }
        if u32_at(page, HEADER + 4) != Some(VERSION) {
            return Err(MetaError::Foreign("it has another LMDB version"));
        }
        let parse = || {
            let free = TreeRecord::parse(&page[trees..])?;
            let main = TreeRecord::parse(&page[trees + Tree::SIZE..])?;
            let meta = Self {
                page_size: u32_at(page, trees)? as usize,
                transaction: word(page, trees + 2 * Tree::SIZE + WORD)?,
                last_page: word(page, trees + 2 * Tree::SIZE)?,
                free: free.tree,
                main: main.tree,
                counts: [free.counts, main.counts],
            };
            Some((meta, main.pad))
        };
        let (meta, pad) = parse().ok_or(MetaError::Foreign("it is not an LMDB file"))?;
        let is_valid = meta.page_size.is_power_of_two()
            && PAGE_SIZES.contains(&meta.page_size)
            && word(page, 0) == Some(number)
            && meta.transaction <= MAX_TRANSACTION.min(usize::MAX as u64 - 2)
            && meta.free.flags == INTEGER_KEYS
            && meta.main.flags == 0
            && pad == 0
            && meta.last_page < u64::MAX / 65_536;
        if is_valid { Ok(meta) } else { Err(MetaError::Foreign("its meta pages are damaged")) }
    }
}

/// Whether a file has no commit, because the process that created it ended before LMDB had written both meta pages.
///
/// Such a file is empty or all zeros, or its first meta page has transaction 0 and its second meta page is missing,
/// incomplete or all zeros.
///
/// A truncated store with records is not mistaken for an empty one: the first commit of a store creates its tables, and
/// the second commit, which adds the first records, overwrites the first meta page.
pub fn is_unborn(bytes: &[u8]) -> bool {
    let is_zero = |bytes: &[u8]| bytes.iter().all(|&byte| byte == 0);
    if bytes.len() as u64 > MAX_UNBORN_BYTES {
        return false;
    }
    let ends_early = |page_size: usize| {
        let rest = bytes.get(page_size..).unwrap_or_default();
        rest.len() < page_size || is_zero(rest)
    };
    let first = Meta::read_at(bytes, 0, 0).ok().filter(|meta| meta.transaction == 0);
    is_zero(bytes) || first.is_some_and(|meta| ends_early(meta.page_size))
}

/// Returns the free pages, which the next writer may use.
///
/// # Errors
/// Fails if the tree of free pages is damaged.
pub fn free_pages(pages: &Pages<'_>, meta: &Meta) -> Result<RoaringTreemap, Damage> {
    let mut free = RoaringTreemap::new();
    for entry in Cursor::first(*pages, meta.free)?.entries() {
        for_each_free_page(entry?.1, meta, &mut |page| free.insert(page))?;
    }
    Ok(free)
}

/// Calls `add` for every page in a list of free pages. Fails if `add` returns `false`, which means that the page cannot
/// be free.
pub(crate) fn for_each_free_page(list: &[u8], meta: &Meta, add: &mut dyn FnMut(u64) -> bool) -> Result<(), Damage> {
    // A list consists of its length and then page numbers in descending order. LMDB may leave unused space at the end.
    let mut words = list.chunks_exact(WORD).filter_map(|bytes| word(bytes, 0));
    let count = words.next().filter(|&count| count < (list.len() / WORD) as u64 && list.len().is_multiple_of(WORD));
    let count = count.ok_or_else(|| Damage("a list of free pages has the wrong length".to_owned()))?;
    let mut before = u64::MAX;
    for page in words.take(count as usize) {
        if page >= before || page < 2 || page > meta.last_page || !add(page) {
            return Err(Damage(format!("the list of free pages cannot hold page {page}")));
        }
        before = page;
    }
    Ok(())
}

/// Whether all pages that are missing at the end of a file are free.
///
/// LMDB does not write a page that was allocated and freed within one transaction, so the file may end before the last
/// page that the meta page names.
///
/// # Errors
/// Fails if the tree of free pages is damaged.
pub fn missing_pages_are_free(pages: &Pages<'_>, meta: &Meta) -> Result<bool, Damage> {
    let present = (pages.bytes.len() / pages.page_size) as u64;
    let free = free_pages(pages, meta)?;
    let missing = (meta.last_page + 1).saturating_sub(present);
    Ok(free.range_cardinality(present..=meta.last_page) == missing)
}
