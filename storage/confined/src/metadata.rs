//! Kind and metadata of directory entries.

/// Kind of a directory entry. Symbolic links are not followed.
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

/// Metadata of a directory entry. Symbolic links are not followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Metadata {
    /// Kind of the entry.
    pub kind: EntryKind,
    /// Size of the content in bytes.
    pub len: u64,
    /// Modification time in nanoseconds since the epoch; 0 if unknown.
    pub modified: i64,
    /// Time of the last status change (`ctime`) in nanoseconds since the epoch; 0 if unknown. On systems other than
    /// Unix, the creation time.
    pub changed: i64,
    /// Id of the device; 0 if unknown.
    pub device: u64,
    /// Inode number on the device; 0 if unknown.
    pub inode: u64,
}
