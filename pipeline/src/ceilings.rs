//! Upper limits for the values in pipeline files.

use toml::de::DeValue;

use crate::byte_size::parse_bytes;
use crate::config_entry::{ConfigEntry, integer};
use crate::source_map::SourceMap;
use aurora_diagnostics::{Diagnostic, Diagnostics, code};

/// Maximum length of a pipeline file, in bytes.
pub(crate) const MAX_FILE_BYTES: usize = 128 << 10;
/// Maximum number of stages in one file.
pub(crate) const MAX_STAGES: usize = 256;

/// Maximum number of threads of a run, and of workers of a stage. The limit also applies to values set by the user.
pub const MAX_WORKERS: usize = 256;
/// Maximum number of files in a batch.
pub(crate) const MAX_BATCH_FILES: usize = 65_536;
/// Maximum number of batches in the queue of a stage.
pub(crate) const MAX_QUEUE_BATCHES: usize = 1_024;

/// An upper limit for the value of a key in a pipeline file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ceiling {
    /// The stage type. `None` for keys of `[run]`, and for `workers` in any stage.
    pub stage: Option<&'static str>,
    /// The key.
    pub key: &'static str,
    /// The largest allowed value, in bytes if the value is a size.
    pub most: u64,
    /// Advice on how to raise the limit.
    pub help: String,
}

/// Reports an entry that exceeds its limit, if the entry is in one of the `files`.
pub(crate) fn check(
    ceilings: &[Ceiling],
    stage: Option<&str>,
    entry: &ConfigEntry<'_>,
    files: &[&str],
    sources: &SourceMap,
    found: &mut Diagnostics,
) {
    let applies = |ceiling: &&Ceiling| {
        let of_stage = ceiling.stage == stage || (ceiling.stage.is_none() && ceiling.key == "workers");
        ceiling.key == entry.key && of_stage
    };
    let Some(ceiling) = ceilings.iter().find(applies) else { return };
    let value = match entry.value.get_ref() {
        DeValue::String(text) => parse_bytes(text),
        other => integer(other),
    };
    if value.is_none_or(|value| value <= ceiling.most) {
        return;
    }
    let location = sources.locate(&entry.value.span()).filter(|location| files.contains(&location.file.as_str()));
    let Some(location) = location else { return };
    let written = entry.value.get_ref();
    let written = written.as_str().map_or_else(|| value.map_or_else(String::new, |v| v.to_string()), str::to_owned);
    let message = format!("`{}` is {written}, above the limit of {}", entry.key, ceiling.most);
    found.push(Diagnostic::error(code::LIMIT, Some(location), message).with_help(Some(ceiling.help.clone())));
}
