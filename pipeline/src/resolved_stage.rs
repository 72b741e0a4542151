//! Resolves one stage of a pipeline file: finds its type, checks its keys, and parses its configuration.

use toml::de::{DeTable, Error as TomlError};
use toml::{Spanned, Table};

use crate::access::{Access, StageKind};
use crate::built_in_column::ColumnReference;
use crate::ceilings::MAX_WORKERS;
use crate::column::ColumnSpec;
use crate::config::StageTable;
use crate::config_entry::{ConfigEntry, boolean, count, percentage, string, strings};
use crate::plan::{PlannedStage, Thresholds};
use crate::plan_diagnostics::{BrokenStage, StageSite};
use crate::problems::{Problems, suggest};
use crate::reference::Key;
use crate::registry::{ParsedConfig, Registry, StageType};
use crate::source_map::{SourceMap, Span};
use crate::stage::{BuildContext, Stage};
use crate::stage_error::StageError;
use crate::value::DynamicType;
use aurora_diagnostics::{Diagnostic, Diagnostics, Location, code};

/// Keys that every stage has and that the engine reads. All other keys belong to the stage type.
pub const STAGE_KEYS: &[Key] = &[
    Key::strings("after", "Stages that must come before this one, in addition to the stages whose columns it reads."),
    Key::bool("enabled", "`false` takes the stage out of the pipeline.").computed("`true`"),
    Key::count_up_to(
        "max_failed_rows",
        MAX_FAILED_ROWS,
        "rows",
        "Number of failed rows up to which a run does not exit with 1 because of them.",
    )
    .computed("none"),
    Key::count_up_to(
        "min_values",
        100,
        "percent",
        "Share of the chunks that must have a value in each custom column of the stage; with a smaller share, a run exits with 1.",
    )
    .computed("none"),
    Key::string("use", "The stage type; required if the table's name is not a stage type.").computed("the table's name"),
    Key::count_up_to("workers", MAX_WORKERS, "threads", "Workers of the stage. A source and a sink have one.")
        .computed("`jobs` of `[run]`"),
];

/// Maximum value of `max_failed_rows`.
const MAX_FAILED_ROWS: usize = u32::MAX as usize;

/// Whether the engine reads this key of a stage.
pub(crate) fn is_stage_key(name: &str) -> bool {
    STAGE_KEYS.iter().any(|key| key.name == name)
}

/// An enabled stage with a parsed configuration. It becomes part of the plan if the pipeline has no errors.
pub(crate) struct ResolvedStage {
    pub(crate) site: StageSite,
    /// The stages listed under the key `after`, with their locations.
    pub(crate) after: Vec<(String, Option<Location>)>,
    pub(crate) planned: PlannedStage,
}

/// The result of resolving the table of a stage.
pub(crate) enum Resolution {
    Enabled(Box<ResolvedStage>),
    /// The stage has `enabled = false`.
    Disabled(StageSite),
    /// The stage cannot be planned. The reason has been reported.
    Broken(BrokenStage),
}

impl ResolvedStage {
    pub(crate) fn resolve(
        stage: StageTable<'_>,
        sources: &SourceMap,
        registry: &Registry,
        found: &mut Diagnostics,
    ) -> Resolution {
        let StageTable { name, header, entries } = stage;
        let location = sources.locate(&header);
        let (engine, own): (Vec<_>, Vec<_>) = entries.into_iter().partition(|entry| is_stage_key(&entry.key));
        let key = |name: &str| engine.iter().find(|entry| entry.key == name);

        let enabled = key("enabled").and_then(|entry| boolean(sources, entry, found));
        let used = key("use").and_then(|entry| Some((string(sources, entry, found)?, entry.value.span())));
        let workers = key("workers").and_then(|entry| count(sources, entry, 1..=MAX_WORKERS, found));
        let max_failed_rows =
            key("max_failed_rows").and_then(|entry| count(sources, entry, 0..=MAX_FAILED_ROWS, found));
        let min_values = key("min_values").and_then(|entry| percentage(sources, entry, found));
        let thresholds = Thresholds { max_failed_rows: max_failed_rows.map(|rows| rows as u64), min_values };
        let after = key("after").and_then(|entry| strings(sources, entry, found)).unwrap_or_default();
        let after: Vec<_> = after.into_iter().map(|(name, span)| (name, sources.locate(&span))).collect();

        let (type_name, place) = used.unwrap_or_else(|| (name.clone(), header.clone()));
        let reads = own.iter().find(|entry| entry.key == "reads");
        let reads = reads.and_then(|entry| sources.locate(&entry.value.span()));
        let mut site = StageSite { name, location, reads, writes: Vec::new() };
        let Some(known) = registry.get(&type_name) else {
            if enabled != Some(false) {
                let help = registry
                    .help_for_absent(&type_name)
                    .or_else(|| suggest(&type_name, registry.stage_types(), "stage types"));
                let message = format!("unknown stage type `{type_name}`");
                found.push(Diagnostic::error(code::UNKNOWN_STAGE, sources.locate(&place), message).with_help(help));
                // Also checks the other keys, against the type that the user probably meant.
                let meant = aurora_suggest::nearest(&type_name, registry.stage_types());
                let declared = DeclaredColumns::new(&own, registry);
                let config = meant.and_then(|meant| registry.get(meant)).and_then(|known| {
                    let reader = ConfigReader { name: &site.name, header: &header, sources, known };
                    reader.read(own, found, &mut Vec::new())
                });
                return broken(site, after, declared, config.as_deref());
            }
            return Resolution::Disabled(site);
        };
        let reader = ConfigReader { name: &site.name, header: &header, sources, known };
        if enabled == Some(false) {
            let config = reader.read(own, &mut Diagnostics::default(), &mut Vec::new());
            site.writes = config.map(|config| written(&config.access())).unwrap_or_default();
            return Resolution::Disabled(site);
        }
        let table = plain(&own);
        let keys: Vec<(String, Span)> = own.iter().map(|entry| (entry.key.clone(), entry.value.span())).collect();
        let mut unread = Vec::new();
        let declared = DeclaredColumns::new(&own, registry);
        let Some(config) = reader.read(own, found, &mut unread) else {
            return broken(site, after, declared, None);
        };
        let locate = |key: &str| {
            let span = keys.iter().find(|(name, _)| name == key).map_or(&header, |(_, span)| span);
            sources.locate(span)
        };
        config.check(&mut Problems {
            diagnostics: found,
            locate: &locate,
            unread: &unread,
            consequences: Diagnostics::default(),
        });

        let mut access = config.access();
        for (column, given) in registry.resolve_columns(&mut access) {
            found.push(refused_column(&site.name, &column, given, locate("writes")));
        }
        if let (Some(entry), Some(_), StageKind::Source | StageKind::Sink) = (key("workers"), workers, access.kind) {
            let message = format!("stage `{}` is a {} and runs on one worker", site.name, access.kind.as_str());
            let location = sources.locate(&entry.key_span);
            let help = Some("remove `workers`".to_owned());
            found.push(Diagnostic::error(code::INVALID_VALUE, location, message).with_help(help));
        }
        site.writes = written(&access);
        let planned = PlannedStage {
            name: site.name.clone(),
            location: site.location.clone(),
            type_name,
            access,
            workers,
            thresholds,
            after: after.iter().map(|(name, _)| name.clone()).collect(),
            table,
            step: 0,
            config,
        };
        Resolution::Enabled(Box::new(Self { site, after, planned }))
    }
}

/// The configuration of a single stage, parsed and checked without a pipeline; see [`Registry::configure`].
pub struct Configured {
    config: Box<dyn ParsedConfig>,
}

impl Configured {
    /// The declared access of the stage.
    pub fn access(&self) -> Access {
        self.config.access()
    }

    /// Builds the stage.
    ///
    /// # Errors
    /// Returns an error if the stage cannot be built.
    pub fn build(self, cx: &BuildContext<'_>) -> Result<Box<dyn Stage>, StageError> {
        self.config.build(cx)
    }
}

impl Registry {
    /// Parses and checks the configuration of one stage. `text` is TOML with the content of a table `[stage.<name>]`.
    ///
    /// # Errors
    /// Returns all errors of the configuration.
    pub fn configure(&self, type_name: &str, text: &str) -> Result<Configured, Diagnostics> {
        let (mut sources, mut found) = (SourceMap::default(), Diagnostics::default());
        let stage = StageTable::parse(type_name, &mut sources, text, &mut found);
        let resolved = ResolvedStage::resolve(stage, &sources, self, &mut found);
        found.sort(|file| sources.rank(file));
        match resolved {
            Resolution::Enabled(stage) if !found.has_errors() => Ok(Configured { config: stage.planned.config }),
            _ => Err(found),
        }
    }
}

/// Returns the error for a stage that declares a built-in column with the wrong type, or that may not write the column.
fn refused_column(stage: &str, column: &ColumnReference, given: DynamicType, place: Option<Location>) -> Diagnostic {
    let (message, help) = if !column.writers.is_empty() {
        let message = format!("stage `{stage}` writes column `{}` as `{given}`; it is `{}`", column.name, column.value);
        let given = match column.value {
            DynamicType::Vector => "{ type = \"vector\", dimensions = 384 }".to_owned(),
            value => format!("\"{value}\""),
        };
        (message, format!("`\"{}\" = {given}`", column.name))
    } else {
        let message = format!("stage `{stage}` writes column `{}`, which is a built-in one", column.name);
        (message, "give the column another name".to_owned())
    };
    Diagnostic::error(code::COLUMN_TYPE, place, message).with_help(Some(help))
}

/// Creates the result for a stage that cannot be planned. `config` is its configuration, parsed as the type that the
/// user probably meant.
fn broken(
    mut site: StageSite,
    after: Vec<(String, Option<Location>)>,
    declared: DeclaredColumns,
    config: Option<&dyn ParsedConfig>,
) -> Resolution {
    let are_writes_known = declared.writes.is_some() || config.is_some();
    site.writes = config.map(|config| written(&config.access())).unwrap_or_default();
    site.writes.extend(declared.writes.unwrap_or_default());
    Resolution::Broken(BrokenStage { site, are_writes_known, reads: declared.reads, after })
}

/// The columns listed under the keys `reads` and `writes`, independent of the stage type.
struct DeclaredColumns {
    /// Columns under `reads`. A built-in column is replaced with the column that stores its values.
    reads: Vec<String>,
    /// Columns under `writes`; `None` if the stage does not have the key.
    writes: Option<Vec<String>>,
}

impl DeclaredColumns {
    fn new(entries: &[ConfigEntry<'_>], registry: &Registry) -> Self {
        let reads = columns_of(entries, "reads").unwrap_or_default();
        let mut access = Access::transform().reads(reads.into_iter().map(ColumnSpec::named));
        registry.resolve_columns(&mut access);
        let reads = access.reads.iter().map(|column| column.name().to_owned()).collect();
        Self { reads, writes: columns_of(entries, "writes") }
    }
}

/// Returns the columns listed under a key; `None` if the stage does not have the key.
fn columns_of(entries: &[ConfigEntry<'_>], key: &str) -> Option<Vec<String>> {
    let value = entries.iter().find(|entry| entry.key == key)?.value.get_ref();
    let names: Vec<&str> = match (value.as_table(), value.as_array()) {
        (Some(table), _) => table.keys().map(|name| name.get_ref().as_ref()).collect(),
        (None, Some(list)) => list.iter().filter_map(|name| name.get_ref().as_str()).collect(),
        (None, None) => return None,
    };
    let full = |name: &str| if name.contains('.') { name.to_owned() } else { format!("chunk.{name}") };
    Some(names.into_iter().map(full).collect())
}

fn written(access: &Access) -> Vec<String> {
    access.written().map(|column| column.name().to_owned()).collect()
}

/// Returns the entries as a table without locations.
fn plain(entries: &[ConfigEntry<'_>]) -> Table {
    let table = table_of(entries);
    serde::Deserialize::deserialize(toml::de::Deserializer::from(table)).unwrap_or_default()
}

fn table_of<'a>(entries: &[ConfigEntry<'a>]) -> Spanned<DeTable<'a>> {
    let table: DeTable<'a> = entries
        .iter()
        .map(|entry| (Spanned::new(entry.key_span.clone(), entry.key.clone().into()), entry.value.clone()))
        .collect();
    Spanned::new(0..0, table)
}

/// Parses the configuration of one stage.
struct ConfigReader<'a> {
    name: &'a str,
    header: &'a Span,
    sources: &'a SourceMap,
    known: &'a StageType,
}

impl ConfigReader<'_> {
    /// Parses the configuration. Reports and then ignores invalid keys, so that errors in other keys and in the columns
    /// of the stage are found, too. Adds the names of ignored keys to `unread`. Returns `None` if an error does not
    /// belong to a single key.
    fn read(
        &self,
        mut entries: Vec<ConfigEntry<'_>>,
        found: &mut Diagnostics,
        unread: &mut Vec<String>,
    ) -> Option<Box<dyn ParsedConfig>> {
        if let Some(keys) = self.known.keys {
            entries.retain(|entry| keys.contains(&entry.key.as_str()) || self.unknown(entry, keys, found));
        }
        loop {
            match (self.known.parse)(table_of(&entries)) {
                Ok(config) => return Some(config),
                Err(error) => {
                    let at = self.culprit(&entries, &error);
                    self.report(&error, at.map(|at| &entries[at]), found);
                    unread.push(entries.remove(at?).key);
                }
            }
        }
    }

    /// Reports a key that the stage type does not have. Always returns `false`, so that the caller drops the key.
    fn unknown(&self, entry: &ConfigEntry<'_>, keys: &[&str], found: &mut Diagnostics) -> bool {
        let location = self.sources.locate(&entry.key_span);
        let message = format!("unknown key `{}` in stage `{}`", entry.key, self.name);
        let known = keys.iter().copied().chain(STAGE_KEYS.iter().map(|key| key.name));
        let help = suggest(&entry.key, known, "the stage has");
        found.push(Diagnostic::error(code::UNKNOWN_KEY, location, message).with_help(help));
        false
    }

    /// Returns the index of the entry that contains the error.
    fn culprit(&self, entries: &[ConfigEntry<'_>], error: &TomlError) -> Option<usize> {
        let span = error.span().filter(|span| !span.is_empty())?;
        entries.iter().position(|entry| {
            let whole = entry.key_span.start.min(entry.value.span().start)..entry.value.span().end;
            whole.start <= span.start && span.end <= whole.end
        })
    }

    fn report(&self, error: &TomlError, entry: Option<&ConfigEntry<'_>>, found: &mut Diagnostics) {
        let message = error
            .message()
            .replace("expected a sequence", "expected a list")
            .replace("expected a map", "expected a table");
        let stage = self.name;
        if let Some(key) = message.strip_prefix("missing field ") {
            // An invalid key has been ignored and reported, so it must not be reported as missing.
            if entry.is_some() || !found.iter().any(|item| item.message.contains(&format!("{key} of stage `{stage}`")))
            {
                let message = format!("stage `{stage}` needs the key {key}");
                found.push(Diagnostic::error(code::MISSING_KEY, self.sources.locate(self.header), message));
            }
            return;
        }
        let span = error.span().filter(|_| entry.is_some()).unwrap_or_else(|| self.header.clone());
        let location = self.sources.locate(&span);
        let mut quoted = message.split('`').skip(1).step_by(2);
        if let (true, Some(key)) = (message.starts_with("unknown field"), quoted.next()) {
            let inside = entry.map_or(String::new(), |entry| format!("`{}` of ", entry.key));
            let text = format!("unknown key `{key}` in {inside}stage `{stage}`");
            let help = suggest(key, quoted, "there are");
            found.push(Diagnostic::error(code::UNKNOWN_KEY, location, text).with_help(help));
            return;
        }
        let text = match entry {
            Some(entry) => format!("`{}` of stage `{stage}`: {message}", entry.key),
            None => format!("stage `{stage}`: {message}"),
        };
        found.push(Diagnostic::error(code::INVALID_VALUE, location, text));
    }
}
