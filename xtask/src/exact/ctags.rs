//! Counts the definitions of each name, as Universal Ctags finds them.

use std::collections::HashMap;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// Returns the number of definitions of each name below a directory. The keys are names in lower case. Declarations do
/// not count.
pub(super) fn counts(root: &Path) -> Result<HashMap<String, usize>, String> {
    let mut ctags = Command::new("ctags");
    ctags.current_dir(root).args(["-R", "--output-format=json", "--fields=+K", "--exclude=.aurora", "-f", "-", "."]);
    let output = ctags.output().map_err(|error| format!("ctags: {error}"))?;
    if !output.status.success() {
        return Err(format!("ctags in {} failed with {}", root.display(), output.status));
    }
    let mut counts = HashMap::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let Ok(tag) = serde_json::from_str::<Value>(line) else { continue };
        if let Some(name) = tag["name"].as_str().filter(|_| tag["kind"] != "prototype") {
            *counts.entry(name.to_lowercase()).or_default() += 1;
        }
    }
    Ok(counts)
}
