//! Generates the reference in Markdown from the descriptions of keys in the code.

use std::fmt::Write;

use aurora_diagnostics::Setting;
use aurora_logs::Settings;
use aurora_pipeline::{ColumnReference, Key, RunConfig, STAGE_KEYS, TableReference, ValueType, format_bytes};
use aurora_project::{LogSettings, RedactSettings, SettingsTable as _, UsageSettings};
use aurora_query::{Parameter, SearchConfig};
use aurora_stages::limits::Limits;
use serde_json::Value;

/// All stages, in the order in which they run.
const STAGES: [&str; 11] = [
    "discover",
    "incremental-check",
    "parse",
    "chunk",
    "git-signal",
    "embed",
    "tokens",
    "store",
    "bm25",
    "process",
    "documents",
];

const OPENING: &str = "\
# Configuration reference

<!-- Written by `AURORA_WRITE_REFERENCE=1 cargo test --test reference` from the code. Do not edit. -->

Aurora has two configuration files:

- `.aurora/pipeline.toml` configures the stages of an index run ([the pipeline](#the-pipeline)). `aur pipeline check`
  checks the file, `aur pipeline show` prints the effective values, and `aur pipeline schema` prints a JSON Schema for
  editors.
- `config.toml` configures the ranking of results ([the search](#the-search)). The user's file is
  `~/.aurora/config.toml`, or `config.toml` in the directory `AURORA_HOME`. A project's file is `.aurora/config.toml`.
  The user's file may also set [limits](#limits) for the pipelines of projects, and configure
  [conversation logs](#conversation-logs), [the log, the record of searches and the masking of
  personal data](#log-usage-and-personal-data). `aur config show` prints all settings and where they are set.
- `[remote.NAME]` in either file names a [remote](../guides/sharing-an-index.md#remotes) with its `url`. `[remotes]` in
  the user's file has `trusted_keys`, a list of public keys, and `signing_key`, the file of a secret key.

## The pipeline

`extends`, at the top of the file, names the pipeline that the file changes: `default`, `lexical` or `nightly`. Keys
that the file does not set have the values of this pipeline. A table `[stage.NAME]` configures a stage.
";

const SEARCH: &str = "
## The search

Values come from five layers: built-in defaults, the user's file, the project's file, environment variables, and
command-line flags. A later layer overrides an earlier one. The name of the environment variable for a key consists of
`AURORA_` and the key in upper case, with `_` instead of `.`. For example, `AURORA_SEARCH_BM25_K1` sets
`search.bm25.k1`.

The column *measured* shows search quality with other values. Each pair of numbers is MRR@10 of documentation questions
and R@10 of commit questions. The first pair was measured on flask, and the second on spring-framework. With the
defaults, the results were .659, .921; .466, .780. [Ranking measurements](../internals/ranking-measurements.md)
describes the questions and the uncertainty of the results. [How ranking works](../internals/ranking.md) explains the
components of a score.
";

const BOOSTS: &str = "
### `[search.boost]`

| key | type | default | meaning |
|---|---|---|---|
| name of a custom column | number from -1 to 1 | as the column declares | Weight of the column: the amount that a value of 1 adds to a score, in units of the best fused score of the query. Values are clamped to −1…1. 0 turns the boost off. The column must contain integers or floats; other names are ignored, and a note lists them. There is no environment variable for these keys. |
";

const LIMITS: &str = "
## Limits

`[limits]` in the user's `config.toml` limits the values in a project's pipeline. A project cannot raise these limits.
They do not apply to command-line flags or to files selected with `--pipeline` ([limits](limits.md)).

| key | type | default | meaning | environment variable |
|---|---|---|---|---|
";

const LOG: &str = "
## Log, usage and personal data

`[log]` in the user's `config.toml` configures the [log of the program](../guides/observability.md#log), and `[usage]`
the [record of searches](../guides/observability.md#report), and `[redact]` the masking of
[personal data](../guides/security.md#personal-data).

| key | values | default | meaning | environment variable |
|---|---|---|---|---|
";

const LOGS: &str = "
## Conversation logs

`[logs]` in the user's `config.toml` sets the directory of [conversation logs](../guides/conversation-logs.md), their
names, and the time after which they are compressed or removed.

| key | type | default | meaning | environment variable |
|---|---|---|---|---|
";

/// Returns the complete page about the configuration.
pub(crate) fn reference() -> String {
    let registry = aurora::registry();
    let mut page = OPENING.to_owned();
    section(&mut page, "[run]", &RunConfig::reference());
    page.push_str("\n### Keys of every stage\n");
    rows(&mut page, STAGE_KEYS.iter().map(|key| (key, None)));
    for name in STAGES {
        let table = registry.reference().find(|table| table.name == name).expect("the stage is described");
        section(&mut page, &format!("[stage.{name}]"), table);
    }
    assert_eq!(registry.reference().count(), STAGES.len(), "a stage is missing from `STAGES`");
    page.push_str(SEARCH);
    search(&mut page);
    page.push_str(BOOSTS);
    page.push_str(LIMITS);
    for (key, default, variable) in Limits::reference() {
        let default = default_of(&key, Some(&Value::from(default)));
        let _ = writeln!(page, "| `{}` | {} | {default} | {} | `{variable}` |", key.name, type_of(&key), key.meaning);
    }
    page.push_str(LOGS);
    for Setting { key, values, default, meaning, variable } in Settings::reference() {
        let _ = writeln!(page, "| `{key}` | {values} | `{default}` | {meaning} | `{variable}` |");
    }
    page.push_str(LOG);
    for (table, keys) in [
        (LogSettings::NAME, LogSettings::KEYS),
        (UsageSettings::NAME, UsageSettings::KEYS),
        (RedactSettings::NAME, RedactSettings::KEYS),
    ] {
        for Setting { key, values, default, meaning, variable } in keys {
            let _ = writeln!(page, "| `{table}.{key}` | {values} | `{default}` | {meaning} | `{variable}` |");
        }
    }
    page
}

const COLUMNS: &str = "\
# Built-in columns

<!-- Written by `AURORA_WRITE_REFERENCE=1 cargo test --test reference` from the code. Do not edit. -->

Custom stages read these columns by name: `reads = [\"file.path\", \"chunk.name\"]`. Names of file columns begin with
`file.`, and names of chunk columns begin with `chunk.`. A stage in Rust can read every column by name with
`BatchView::values`. `BatchView::read` returns values of the Rust type. If the table shows a column in parentheses after
the Rust type, `BatchView::read` needs this column.

**Stability.** Names, types and meanings of these columns change only in a new major version of Aurora, and the release
notes list such changes. New columns may be added at any time. The Rust types may change with each version of Aurora's
crates.

| column | type | Rust type | meaning | may also be written by |
|---|---|---|---|---|
";

/// Returns the complete page about columns.
pub(crate) fn columns() -> String {
    let mut page = COLUMNS.to_owned();
    let registry = aurora::registry();
    let (files, chunks): (Vec<&ColumnReference>, Vec<_>) =
        registry.columns().partition(|column| column.name.starts_with("file."));
    for column in files.into_iter().chain(chunks) {
        let cell = column.cell.replace("alloc::sync::", "").replace("alloc::string::", "").replace("alloc::vec::", "");
        let cell = cell.replace("core::option::", "").replace("aurora_stages::columns::", "");
        let field = column.field_of.map_or(String::new(), |of| format!(" (`{of}`)"));
        let writers = column.writers;
        let _ = writeln!(
            page,
            "| `{}` | {} | `{cell}`{field} | {} | {writers} |",
            column.name, column.value, column.meaning
        );
    }
    page
}

fn section(page: &mut String, title: &str, table: &TableReference) {
    let _ = write!(page, "\n### `{title}`\n\n{}\n", table.summary);
    if table.keys.is_empty() {
        page.push_str("It has only the [keys of every stage](#keys-of-every-stage).\n");
    } else {
        rows(page, table.keys.iter().map(|key| (key, table.default_of(key))));
    }
}

fn rows<'a>(page: &mut String, keys: impl Iterator<Item = (&'a Key, Option<&'a Value>)>) {
    page.push_str("\n| key | type | default | meaning |\n|---|---|---|---|\n");
    for (key, default) in keys {
        let effect = if key.effect.is_empty() { String::new() } else { format!(" Measured: {}", key.effect) };
        let default = default_of(key, default);
        let _ = writeln!(page, "| `{}` | {} | {default} | {}{effect} |", key.name, type_of(key), key.meaning);
    }
}

fn type_of(key: &Key) -> String {
    let unit = if key.unit.is_empty() { String::new() } else { format!(", {}", key.unit) };
    match key.value {
        ValueType::Bool => "`true` or `false`".to_owned(),
        ValueType::Count { most: Some(most), least } => format!("whole number from {least} to {most}{unit}"),
        ValueType::Count { most: None, least } => format!("whole number ≥ {least}{unit}"),
        ValueType::Size => "size, such as `\"512MiB\"`, or a number of bytes".to_owned(),
        ValueType::String => "string".to_owned(),
        ValueType::Strings => "list of strings".to_owned(),
        ValueType::Table => "table".to_owned(),
        ValueType::OneOf(words) => words.iter().map(|word| format!("`\"{word}\"`")).collect::<Vec<_>>().join(" or "),
    }
}

fn default_of(key: &Key, default: Option<&Value>) -> String {
    match default {
        _ if !key.computed.is_empty() => key.computed.to_owned(),
        None => "none".to_owned(),
        Some(default) => match (key.value, default.as_u64()) {
            (ValueType::Size, Some(bytes)) => format!("`\"{}\"`", format_bytes(bytes)),
            (_, Some(bytes)) if key.unit == "bytes" => format!("`{bytes}` ({})", format_bytes(bytes)),
            _ => format!("`{default}`"),
        },
    }
}

fn search(page: &mut String) {
    let mut current = "";
    let defaults = SearchConfig::default();
    for parameter in Parameter::all() {
        let Parameter { key, unit, meaning, measured, .. } = parameter;
        let (values, default) = (parameter.values(), parameter.show(&defaults));
        let (table, name) = group(key);
        if table != current {
            current = table;
            let _ = write!(
                page,
                "\n### `[{table}]`\n\n| key | type | default | meaning | measured |\n|---|---|---|---|---|\n"
            );
        }
        let unit = if unit.is_empty() { String::new() } else { format!(", {unit}") };
        let _ = writeln!(page, "| `{name}` | {values}{unit} | `{default}` | {meaning} | {measured} |");
    }
}

/// Splits a key into its table, which has at most two levels, and the rest of the name.
fn group(key: &str) -> (&str, &str) {
    let mut dots = key.match_indices('.').map(|(at, _)| at);
    let end = dots.next().map_or(0, |first| dots.next().unwrap_or(first));
    (&key[..end], &key[end + 1..])
}
