//! Masking the secrets of a text before any other stage sees it.

use aurora_pipeline::StageContext;
use aurora_redact::{find, mask};

/// Begins the name of the counter of masked secrets; the name of the rule follows.
pub(crate) const COUNTER: &str = "secrets.";
/// What the run's report says of a file.
pub(crate) const WARNING: &str = "secrets are masked in the index";

/// The text with its secrets masked. The run counts them by rule and names the file.
pub(super) fn masked(text: String, path: &str, cx: &StageContext<'_>) -> String {
    let secrets = find(&text);
    if secrets.is_empty() {
        return text;
    }
    for secret in secrets.iter().filter(|secret| !secret.continues) {
        cx.count(&format!("{COUNTER}{}", secret.rule), 1);
    }
    cx.warn(path, WARNING);
    mask(text, &secrets)
}
