//! Masking of texts that runs compare with each other.

/// The text with its secrets masked, followed by a digest if it has any: texts that differ in a secret stay different.
pub(crate) fn masked_with_digest(text: String) -> String {
    let masked = aurora_redact::masked(text.clone());
    if masked == text { text } else { format!("{masked} {}", blake3::hash(text.as_bytes()).to_hex()) }
}
