//! The entry of the server in a configuration.

/// How the server is called in every configuration.
pub(super) const NAME: &str = "aurora";

/// The program that a client starts, and its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) command: String,
    pub(super) arguments: Vec<String>,
}

/// What a configuration says of the server.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
    Nothing,
    /// An entry with the fields that are written here, and no others.
    Entry(Entry),
    /// An entry with other fields.
    Other,
}

/// How a kind of configuration is changed. No text has a byte order mark.
///
/// Putting an entry into a text that has none, then taking it out gives the same bytes: no two texts become the same one.
pub(super) trait Config {
    /// The content of a file that is made for the entry.
    fn new_file(&self, entry: &Entry) -> String;

    /// What the text says of the server.
    ///
    /// # Errors
    /// What is wrong with the text.
    fn found(&self, text: &str) -> Result<Found, String>;

    /// The text with the entry, in the place of the one that it has.
    ///
    /// # Errors
    /// Why it cannot be changed.
    fn put(&self, text: &str, entry: &Entry) -> Result<String, String>;

    /// The text without the entry; nothing if it is that of a new file.
    ///
    /// # Errors
    /// Why it cannot be changed.
    fn take(&self, text: &str) -> Result<Option<String>, String>;
}
