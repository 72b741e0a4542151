//! Keys of Kubernetes manifests.

/// Whether the values of a secret are below a key.
pub(super) fn holds_values(key: &str) -> bool {
    matches!(key, "data" | "stringData")
}
