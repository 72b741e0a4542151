//! Masking for texts that runs compare with each other.

/// Masks the secrets of a text and appends a digest if there are any, so that texts that differ only in a secret stay
/// different.
pub(crate) fn masked_with_digest(text: String) -> String {
    let masked = aurora_redact::masked(text.clone());
    if masked == text { text } else { format!("{masked} {}", blake3::hash(text.as_bytes()).to_hex()) }
}
