//! Masking the secrets of a text before any other stage sees it.

use aurora_pipeline::StageContext;
use aurora_redact::{find, has_secret, mask};

/// Begins the name of the counter of masked secrets; the name of the rule follows.
pub(crate) const COUNTER: &str = "secrets.";
/// What the run's report says of a file.
pub(crate) const WARNING: &str = "secrets are masked in the index";

/// Why a file is left out whose path has a secret: a path is an id, so it cannot be masked.
const IN_PATH: &str = "a secret in its path";

/// Leaves a file out if its path has a secret. Every report masks paths.
pub(super) fn is_left_out(path: &str, cx: &StageContext<'_>) -> bool {
    let has_secret = has_secret(path);
    if has_secret {
        cx.skip(path, IN_PATH);
    }
    has_secret
}

/// Masks the secrets of a text and stores the unmasked bytes in `original`. The run report counts secrets by rule and
/// names the file.
pub(super) fn masked(text: String, original: &mut Option<Vec<u8>>, path: &str, cx: &StageContext<'_>) -> String {
    let secrets = find(&text);
    if secrets.is_empty() {
        return text;
    }
    original.get_or_insert_with(|| text.as_bytes().to_vec());
    for secret in secrets.iter().filter(|secret| !secret.continues) {
        cx.count(&format!("{COUNTER}{}", secret.rule), 1);
    }
    cx.warn(path, WARNING);
    mask(text, &secrets)
}
