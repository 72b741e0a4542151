//! Files of a program, and errors that occur while they are read.

use std::collections::BTreeMap;
use std::io;

use aurora_confined::{Directory, EntryKind, Refusal, refusal_of};

/// Maximum size of a file of a program, in bytes.
pub(super) const MAX_FILE_BYTES: u64 = 256 << 20;
/// Maximum number of files of a program.
const MAX_FILES: usize = 10_000;

/// The reason why the identity of a program cannot be determined.
#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    /// A file or directory cannot be read.
    #[error("cannot read {path}, which belongs to the program: {source}")]
    Unreadable {
        /// Path relative to the root of the project.
        path: String,
        /// The error of the operating system.
        source: io::Error,
    },
    /// A part of the program is a symbolic link, or is neither a file nor a directory.
    #[error(
        "{path} belongs to the program and is a symbolic link, or neither a file nor a directory; name the file itself"
    )]
    Special {
        /// Path relative to the root of the project.
        path: String,
    },
    /// A path leads out of the project.
    #[error("`{path}` is not below the root of the project")]
    Outside {
        /// Path, as given.
        path: String,
    },
    /// The program has too many files.
    #[error("the program has more than {MAX_FILES} files")]
    TooMany,
}

/// Resolves the symbolic links in a path of the project. Returns `None` if a link leads out of the project.
pub(super) fn real_path(root: &Directory, path: &str) -> io::Result<Option<String>> {
    match root.metadata(path) {
        Ok(metadata) if metadata.kind != EntryKind::Link => return Ok(Some(path.to_owned())),
        Err(error) if refusal_of(&error) != Some(Refusal::SymbolicLink) => return Err(error),
        _ => {}
    }
    let real = root.path().join(path).canonicalize()?;
    let Ok(below) = real.strip_prefix(root.path().canonicalize()?).map(std::path::Path::to_owned) else {
        return Ok(None);
    };
    let parts: Option<Vec<&str>> = below.iter().map(|part| part.to_str()).collect();
    Ok(parts.map(|parts| parts.join("/")).filter(|real| !real.is_empty()))
}

/// Adds a file with the hash of its content to `found`.
pub(super) fn add_content(
    found: &mut BTreeMap<String, [u8; 32]>,
    path: &str,
    content: &[u8],
) -> Result<(), ProgramError> {
    found.insert(path.to_owned(), *blake3::hash(content).as_bytes());
    if found.len() > MAX_FILES { Err(ProgramError::TooMany) } else { Ok(()) }
}

/// Returns the parts of an argument that may be file paths. These are the argument itself, and its parts when it is
/// split like a shell command or an option. For each of them, the text after a one-letter option or `@` is also
/// returned.
pub(super) fn candidates(argument: &str) -> impl Iterator<Item = &str> {
    let is_separator = |char: char| char.is_whitespace() || "\"'`=,;:|&<>()$".contains(char);
    let parts = argument.split(is_separator).filter(move |part| *part != argument);
    std::iter::once(argument).chain(parts).flat_map(|part| {
        let option = part.strip_prefix('-').and_then(|option| option.get(1..));
        [Some(part), option, part.strip_prefix('@')].into_iter().flatten().filter(|part| !part.is_empty())
    })
}
