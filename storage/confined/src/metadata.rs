//! What a name in a directory stands for.

/// What a name stands for; links are not followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Link,
    /// A pipe, a socket or a device.
    Other,
}

/// Metadata of what a name stands for; links are not followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Metadata {
    /// What it is.
    pub kind: EntryKind,
    /// Bytes of its content.
    pub len: u64,
    /// Modification time, nanoseconds since the epoch; 0 where there is none.
    pub modified: i64,
    /// Time of change (`ctime`), nanoseconds since the epoch; 0 where there is none.
    pub changed: i64,
    /// The device; 0 where there is none.
    pub device: u64,
    /// The number of the file on the device; 0 where there is none.
    pub inode: u64,
}
