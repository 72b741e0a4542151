//! Masking of texts that a run compares with texts of the last run.

/// Masks the secrets of a text. If there are secrets, appends a digest of the original text, so that texts that differ
/// only in a secret stay different.
pub(crate) fn masked_with_digest(text: String) -> String {
    let masked = aurora_redact::masked(text.clone());
    if masked == text { text } else { format!("{masked} {}", blake3::hash(text.as_bytes()).to_hex()) }
}
