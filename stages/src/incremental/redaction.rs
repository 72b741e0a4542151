//! Masks the secrets of a text before any other stage reads it.

use aurora_pipeline::StageContext;
use aurora_redact::{Secret, find, has_secret, mask};

/// Prefix of the counters of masked secrets. The name of the rule follows.
pub(crate) const COUNTER: &str = "secrets.";
/// Warning about a file with secrets, in the run report.
pub(crate) const WARNING: &str = "secrets are masked in the index";

/// Reason for omitting a file whose path contains a secret. The path identifies the file in the index, so it cannot be
/// masked there.
const IN_PATH: &str = "a secret in its path";

/// Skips a file if its path contains a secret. Returns whether the file was skipped. The path is masked wherever the
/// run reports it.
pub(super) fn skip_secret_path(path: &str, cx: &StageContext<'_>) -> bool {
    let has_secret = has_secret(path);
    if has_secret {
        cx.skip(path, IN_PATH);
    }
    has_secret
}

/// Masks the secrets of a text. If there are secrets, stores the unmasked bytes in `original`, counts the secrets by
/// rule and adds a warning about the file to the run report.
pub(super) fn mask_secrets(text: String, original: &mut Option<Vec<u8>>, path: &str, cx: &StageContext<'_>) -> String {
    let secrets = find(&text);
    if secrets.is_empty() {
        return text;
    }
    original.get_or_insert_with(|| text.as_bytes().to_vec());
    count(&secrets, cx);
    cx.warn(path, WARNING);
    mask(text, &secrets)
}

/// Counts the secrets by rule. Returns their number.
pub(super) fn count(secrets: &[Secret], cx: &StageContext<'_>) -> usize {
    let begun = secrets.iter().filter(|secret| !secret.continues);
    begun.inspect(|secret| cx.count(&format!("{COUNTER}{}", secret.rule), 1)).count()
}
