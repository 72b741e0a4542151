//! Traits that supply the bytes of a segment and take the bytes of a new segment.

/// Key and bytes of a dictionary block.
pub type KeyedBlock<'a> = (&'a [u8], &'a [u8]);

/// The stored bytes of one segment: dictionary blocks by key, and values with posting lists by number.
///
/// If a method returns `None` where a valid segment must have data, the reader fails with [`Self::damaged`].
pub trait SegmentSource<'a>: Copy {
    /// Error when bytes cannot be read.
    type Error;
    /// A position among the blocks.
    type Blocks: BlockCursor<'a, Error = Self::Error>;

    /// Returns the dictionary block with the greatest key that is not above `term`.
    ///
    /// # Errors
    /// Fails if a page on the path to the block is damaged. A missing block is not an error.
    fn block(self, term: &[u8]) -> Result<Option<KeyedBlock<'a>>, Self::Error>;

    /// Returns a cursor at the first block whose key is not below `key`.
    ///
    /// # Errors
    /// Fails if a page on the path to the first block is damaged.
    fn blocks(self, key: &[u8]) -> Result<Self::Blocks, Self::Error>;

    /// Returns the value with the given number. A value contains posting lists.
    ///
    /// # Errors
    /// Fails if the value, or a page on the path to it, is damaged. A missing value is not an error.
    fn value(self, number: u32) -> Result<Option<&'a [u8]>, Self::Error>;

    /// Creates the error for a damaged structure of the segment.
    fn damaged(self, structure: &str) -> Self::Error;
}

/// A position among the dictionary blocks of one segment, in the order of their keys.
pub trait BlockCursor<'a>: Clone {
    /// Error when bytes cannot be read.
    type Error;

    /// Returns the key of the block; `None` after the last block.
    ///
    /// # Errors
    /// Fails if the page of the block is damaged.
    fn key(&self) -> Result<Option<&'a [u8]>, Self::Error>;

    /// Returns the bytes of the block; `None` after the last block.
    ///
    /// # Errors
    /// Fails if the page of the block is damaged, or the bytes do not match their checksum.
    fn bytes(&self) -> Result<Option<&'a [u8]>, Self::Error>;

    /// Moves to the next block, or past the last block.
    ///
    /// # Errors
    /// Fails if the next page is damaged.
    fn advance(&mut self) -> Result<(), Self::Error>;
}

/// Takes the bytes of one new segment. Keys arrive in ascending order, and so do numbers.
pub trait SegmentSink {
    /// Error when bytes cannot be written.
    type Error;

    /// Writes a dictionary block.
    ///
    /// # Errors
    /// Fails if the block cannot be written, such as on a full disk; the segment is then incomplete.
    fn put_block(&mut self, key: &[u8], bytes: Vec<u8>) -> Result<(), Self::Error>;

    /// Writes a value, which contains posting lists.
    ///
    /// # Errors
    /// Fails if the value cannot be written, such as on a full disk; the segment is then incomplete.
    fn put_value(&mut self, number: u32, bytes: Vec<u8>) -> Result<(), Self::Error>;
}
