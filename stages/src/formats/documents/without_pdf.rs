//! PDF files, in a program without the cargo feature `pdf`.

use super::error::ExtractError;

/// Files that were indexed by such a program are indexed again by one that reads them.
pub(crate) const VERSION: Option<u32> = None;

/// # Errors
/// Always.
pub(super) fn text(_: &[u8]) -> Result<String, ExtractError> {
    Err(ExtractError::Unsupported)
}
