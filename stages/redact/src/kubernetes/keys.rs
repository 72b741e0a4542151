//! Keys of Kubernetes manifests that are the same in JSON and YAML.

/// Whether a key of a secret's manifest contains the values of the secret.
pub(super) fn holds_values(key: &str) -> bool {
    matches!(key, "data" | "stringData")
}
