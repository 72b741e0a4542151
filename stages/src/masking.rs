//! Masks the secrets in texts that a run stores, so that the next run can compare its own texts with them.

/// Masks the secrets of a text. If there are secrets, appends a digest of the original text, so that texts that differ
/// only in a secret stay different.
pub(crate) fn masked_with_digest(text: String) -> String {
    let masked = aurora_redact::masked(text.clone());
    if masked == text { text } else { format!("{masked} {}", blake3::hash(text.as_bytes()).to_hex()) }
}
