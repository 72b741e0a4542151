//! Lists of digests of reviewed programs, in files outside of the checkout.

use std::collections::BTreeSet;
use std::io;
use std::path::{Component, Path, PathBuf};

use aurora_confined::read_regular_to_string;

/// Maximum size of a list file, in bytes.
const MAX_BYTES: u64 = 1 << 20;
/// Length of a digest in hexadecimal digits.
const DIGEST_LENGTH: usize = 64;

/// Maximum number of symbolic links that are followed in the path of a list.
const MAX_LINKS: usize = 40;

/// The digests listed in a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DigestList(BTreeSet<String>);

/// The reason why a list of digests cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum DigestListError {
    /// The file, or a symbolic link in its path, is in the checkout.
    #[error(
        "{file} is in the checkout {checkout}, so whoever changes the program can change it, too; keep the file elsewhere"
    )]
    InCheckout {
        /// Path of the list, as given.
        file: PathBuf,
        /// Root directory of the checkout.
        checkout: PathBuf,
    },
    /// The file cannot be read.
    #[error("cannot read {file}: {source}")]
    Io {
        /// Path, as given.
        file: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// A line does not start with a digest.
    #[error("{file}:{line} does not begin with a digest of {DIGEST_LENGTH} hexadecimal digits")]
    Line {
        /// Path of the list, as given.
        file: PathBuf,
        /// Line number, from 1.
        line: usize,
    },
}

impl DigestList {
    /// Reads a list for the project at `root`. Each line starts with a digest, and the rest of the line is a comment.
    /// Empty lines and lines that start with `#` are ignored.
    ///
    /// # Errors
    /// Returns an error if the file, or a symbolic link in its path, is in the checkout of the project. Also returns an
    /// error if the file cannot be read or is not a list of digests.
    pub fn read(file: &Path, root: &Path) -> Result<Self, DigestListError> {
        let io = |source| DigestListError::Io { file: file.to_owned(), source };
        let checkout = checkout_of(&root.canonicalize().map_err(io)?);
        let real = real_path(file, &checkout).map_err(io)?;
        let Some(real) = real.filter(|real| !real.starts_with(&checkout)) else {
            return Err(DigestListError::InCheckout { file: file.to_owned(), checkout });
        };
        let text = read_regular_to_string(&real, MAX_BYTES).map_err(io)?;
        let mut digests = BTreeSet::new();
        for (at, line) in text.lines().enumerate() {
            let Some(word) = line.split_whitespace().next().filter(|word| !word.starts_with('#')) else { continue };
            if word.len() != DIGEST_LENGTH || !word.bytes().all(|byte| byte.is_ascii_hexdigit()) {
                return Err(DigestListError::Line { file: file.to_owned(), line: at + 1 });
            }
            digests.insert(word.to_ascii_lowercase());
        }
        Ok(Self(digests))
    }

    /// Whether a digest is listed. The digest must be in lower-case hexadecimal.
    pub fn contains(&self, digest: &str) -> bool {
        self.0.contains(digest)
    }
}

/// Returns the Git work tree that contains the project, or the directory of the project if there is no work tree.
fn checkout_of(root: &Path) -> PathBuf {
    let is_checkout = |directory: &&Path| directory.join(".git").symlink_metadata().is_ok();
    root.ancestors().find(is_checkout).unwrap_or(root).to_owned()
}

/// Resolves the symbolic links in the path of a file. Returns `None` if one of the links is in the checkout.
fn real_path(file: &Path, checkout: &Path) -> io::Result<Option<PathBuf>> {
    let owned = |path: &Path| path.components().map(|part| part.as_os_str().to_owned()).rev().collect::<Vec<_>>();
    let (mut left, mut real, mut links) = (owned(&std::path::absolute(file)?), PathBuf::new(), 0);
    while let Some(part) = left.pop() {
        match Path::new(&part).components().next() {
            Some(Component::ParentDir) => _ = real.pop(),
            Some(Component::CurDir) | None => {}
            Some(_) => {
                let next = real.join(&part);
                if !next.symlink_metadata()?.file_type().is_symlink() {
                    real = next;
                    continue;
                }
                links += 1;
                if real.starts_with(checkout) {
                    return Ok(None);
                }
                if links > MAX_LINKS {
                    return Err(io::Error::other("too many symbolic links"));
                }
                left.extend(owned(&std::fs::read_link(&next)?));
            }
        }
    }
    Ok(Some(real))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_list_has_digests_and_comments() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let root = directory.path().join("checkout");
        fs::create_dir(&root).expect("the directory is created");
        let (a, b) = ("ab".repeat(32), "CD".repeat(32));
        let file = directory.path().join("allowed");
        fs::write(&file, format!("# reviewed\n\n{a}  owner\n  {b}\n")).expect("written");
        let list = DigestList::read(&file, &root).expect("a list");
        assert!(list.contains(&a) && list.contains(&b.to_lowercase()) && !list.contains(&"0".repeat(64)));
        for text in ["owner", "abc\n", &format!("{a}0\n"), &format!("x{a}\n")] {
            fs::write(&file, format!("# a\n{text}")).expect("written");
            assert!(matches!(DigestList::read(&file, &root), Err(DigestListError::Line { line: 2, .. })), "{text}");
        }
        assert!(matches!(DigestList::read(&directory.path().join("none"), &root), Err(DigestListError::Io { .. })));
    }

    #[test]
    fn a_list_in_the_checkout_is_refused() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let checkout = directory.path().join("checkout");
        let root = checkout.join("project");
        fs::create_dir_all(&root).expect("the directory is created");
        fs::create_dir(checkout.join(".git")).expect("the directory is created");
        let text = "ab".repeat(32);
        for path in ["checkout/allowed", "checkout/.git/allowed", "checkout/project/allowed", "allowed"] {
            fs::write(directory.path().join(path), &text).expect("written");
        }
        let read = |path: &str| DigestList::read(&directory.path().join(path), &root);
        let refused = |path: &str| matches!(read(path), Err(DigestListError::InCheckout { .. }));
        for path in
            ["checkout/allowed", "checkout/.git/allowed", "checkout/project/allowed", "checkout/../checkout/allowed"]
        {
            assert!(refused(path), "{path}");
        }
        assert!(read("allowed").is_ok() && read("checkout/project/../../allowed").is_ok());
        #[cfg(unix)]
        {
            let link = |to: &str, from: &str| {
                std::os::unix::fs::symlink(directory.path().join(to), directory.path().join(from)).expect("linked");
            };
            link("allowed", "checkout/link");
            link("checkout/allowed", "outside");
            link(".", "checkout/up");
            assert!(refused("checkout/link"), "the repository controls the target of its links");
            assert!(refused("outside") && refused("checkout/up/allowed"));
            link("checkout/link", "chain");
            link("allowed", "plain");
            assert!(refused("chain") && read("plain").is_ok());
        }
    }
}
