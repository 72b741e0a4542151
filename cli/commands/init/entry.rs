//! The server's entry in a configuration.

/// Name of the server in every configuration.
pub(super) const NAME: &str = "aurora";

/// Name of the program.
pub(super) const PROGRAM: &str = "aur";

/// The program that a client starts, and its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) command: String,
    pub(super) arguments: Vec<String>,
}

/// The server's entry in an existing configuration.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
    Nothing,
    /// An entry with exactly the fields that `aur init` writes.
    Entry(Entry),
    /// An entry with other fields.
    Other,
}

/// A configuration format that can be edited. Texts have no byte order mark.
///
/// If an entry is inserted into a text without an entry and then removed, the result has the original bytes. Therefore,
/// different texts must stay different after the insertion.
pub(super) trait Config {
    /// Returns the content of a new file that contains only the entry.
    fn new_file(&self, entry: &Entry) -> String;

    /// Finds the server's entry in the text.
    ///
    /// # Errors
    ///
    /// Returns a description of the mistake if the text is invalid.
    fn find_entry(&self, text: &str) -> Result<Found, String>;

    /// Returns the text with the entry, which replaces an existing one.
    ///
    /// # Errors
    ///
    /// Returns the reason if the text cannot be changed.
    fn put(&self, text: &str, entry: &Entry) -> Result<String, String>;

    /// Returns the text without the entry, or `None` if `text` equals the content of a new file.
    ///
    /// # Errors
    ///
    /// Returns the reason if the text cannot be changed.
    fn take(&self, text: &str) -> Result<Option<String>, String>;
}
