//! Values of Kubernetes secrets: what stands below `data` and `stringData` in a manifest whose kind is `Secret`.

mod json;
mod keys;
mod yaml;

use std::ops::Range;

use crate::entropy::is_placeholder;
use crate::secret::Secret;

/// A key of every manifest.
const KIND: &[u8] = b"kind";
/// Shorter values are left: `YWRtaW4=` is the user `admin`.
const SHORTEST: usize = 10;

/// Adds the values of secrets in manifests.
pub(crate) fn find(text: &str, found: &mut Vec<Secret>) {
    let mut add = |span: Range<usize>| {
        let value = &text.as_bytes()[span.clone()];
        if value.len() >= SHORTEST && !is_placeholder(value) {
            found.push(Secret { rule: "kubernetes-secret", span, continues: false });
        }
    };
    if memchr::memmem::find(text.as_bytes(), KIND).is_some() {
        yaml::find(text, &mut add);
        json::find(text, &mut add);
    }
}
