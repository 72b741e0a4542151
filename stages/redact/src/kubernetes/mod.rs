//! Finds the values of Kubernetes secrets, which are below `data` and `stringData` in manifests with the kind `Secret`.

mod json;
mod keys;
mod yaml;

use std::ops::Range;

use crate::entropy::is_placeholder;
use crate::secret::Secret;

/// A key that every manifest has.
const KIND: &[u8] = b"kind";
/// Minimum length of a value in bytes. Shorter values are not masked, because they may be names: `YWRtaW4=` is the user
/// `admin`.
const MIN_VALUE_BYTES: usize = 10;

/// Adds the values of secrets in manifests.
pub(crate) fn find(text: &str, found: &mut Vec<Secret>) {
    let mut add = |span: Range<usize>| {
        let value = &text.as_bytes()[span.clone()];
        if value.len() >= MIN_VALUE_BYTES && !is_placeholder(value) {
            found.push(Secret { rule: "kubernetes-secret", span, continues: false });
        }
    };
    if memchr::memmem::find(text.as_bytes(), KIND).is_some() {
        yaml::find(text, &mut add);
        json::find(text, &mut add);
    }
}
