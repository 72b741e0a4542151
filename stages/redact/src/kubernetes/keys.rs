//! Keys of Kubernetes manifests, in JSON and YAML.

/// Whether a key of a manifest contains the values of a secret.
pub(super) fn holds_values(key: &str) -> bool {
    matches!(key, "data" | "stringData")
}
