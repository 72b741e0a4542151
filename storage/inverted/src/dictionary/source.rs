//! Where the bytes of a segment come from, and where they go.

/// Key and bytes of a dictionary block.
pub type KeyedBlock<'a> = (&'a [u8], &'a [u8]);

/// The stored bytes of one segment: dictionary blocks by key, and values of posting lists by number.
///
/// Methods that return `None` for what a sound segment must have lead to [`Self::damaged`].
pub trait SegmentSource<'a>: Copy {
    /// Why bytes cannot be read.
    type Error;
    /// A position among the blocks.
    type Blocks: BlockCursor<'a, Error = Self::Error>;

    /// The dictionary block with the greatest key that is not above `term`.
    ///
    /// # Errors
    /// When a page on the way to the block is damaged. A dictionary without such a block is no error.
    fn block(self, term: &[u8]) -> Result<Option<KeyedBlock<'a>>, Self::Error>;

    /// The blocks from the first one on whose key is not below `key`.
    ///
    /// # Errors
    /// When a page on the way to the first block is damaged.
    fn blocks(self, key: &[u8]) -> Result<Self::Blocks, Self::Error>;

    /// A value of posting lists.
    ///
    /// # Errors
    /// When a page on the way to the value, or the value itself, is damaged. A number without a value is no error.
    fn value(self, number: u32) -> Result<Option<&'a [u8]>, Self::Error>;

    /// The error for a damaged structure of the segment.
    fn damaged(self, structure: &str) -> Self::Error;
}

/// A position among the dictionary blocks of one segment, in the order of their keys.
pub trait BlockCursor<'a>: Clone {
    /// Why bytes cannot be read.
    type Error;

    /// The key of the block; `None` behind the last.
    ///
    /// # Errors
    /// When the page of the block is damaged.
    fn key(&self) -> Result<Option<&'a [u8]>, Self::Error>;

    /// The bytes of the block; `None` behind the last.
    ///
    /// # Errors
    /// When the page of the block is damaged, or the bytes do not match their checksum.
    fn bytes(&self) -> Result<Option<&'a [u8]>, Self::Error>;

    /// Moves to the next block, or behind the last.
    ///
    /// # Errors
    /// When the next page is damaged.
    fn advance(&mut self) -> Result<(), Self::Error>;
}

/// Takes the bytes of one new segment. Keys and numbers each come in ascending order.
pub trait SegmentSink {
    /// Why bytes cannot be written.
    type Error;

    /// Takes a dictionary block.
    ///
    /// # Errors
    /// When the block cannot be written, such as on a full disk; the segment is then incomplete.
    fn put_block(&mut self, key: &[u8], bytes: Vec<u8>) -> Result<(), Self::Error>;

    /// Takes a value of posting lists.
    ///
    /// # Errors
    /// When the value cannot be written, such as on a full disk; the segment is then incomplete.
    fn put_value(&mut self, number: u32, bytes: Vec<u8>) -> Result<(), Self::Error>;
}
