//! Keys of manifests.

/// Whether a key stands above the values of a secret.
pub(super) fn holds_values(key: &str) -> bool {
    matches!(key, "data" | "stringData")
}
