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
    fn block(self, term: &[u8]) -> Result<Option<KeyedBlock<'a>>, Self::Error>;

    /// The blocks from the first one on whose key is not below `key`.
    fn blocks(self, key: &[u8]) -> Result<Self::Blocks, Self::Error>;

    /// A value of posting lists.
    fn value(self, number: u32) -> Result<Option<&'a [u8]>, Self::Error>;

    /// The error for a damaged structure of the segment.
    fn damaged(self, structure: &str) -> Self::Error;
}

/// A position among the dictionary blocks of one segment, in the order of their keys.
pub trait BlockCursor<'a>: Clone {
    /// Why bytes cannot be read.
    type Error;

    /// The key of the block; `None` behind the last.
    fn key(&self) -> Result<Option<&'a [u8]>, Self::Error>;

    /// The bytes of the block; `None` behind the last.
    fn bytes(&self) -> Result<Option<&'a [u8]>, Self::Error>;

    /// Moves to the next block, or behind the last.
    fn advance(&mut self) -> Result<(), Self::Error>;
}

/// Takes the bytes of one new segment. Keys and numbers each come in ascending order.
pub trait SegmentSink {
    /// Why bytes cannot be written.
    type Error;

    /// Takes a dictionary block.
    fn put_block(&mut self, key: &[u8], bytes: Vec<u8>) -> Result<(), Self::Error>;

    /// Takes a value of posting lists.
    fn put_value(&mut self, number: u32, bytes: Vec<u8>) -> Result<(), Self::Error>;
}
