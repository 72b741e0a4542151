//! `aur config`: shows the settings of all configuration files.

use std::collections::BTreeMap;
use std::fmt;
use std::io::Write;
use std::path::{Path, PathBuf};

use aurora_confined::read_regular_to_string;
use aurora_diagnostics::document::{Document, Entry, Node, Value};
use aurora_diagnostics::{Place, Setting};
use aurora_logs::Settings;
use aurora_memory::{MemoryRules, Scope};
use aurora_memory_policy::Layer;
use aurora_pipeline::{ValueType, format_bytes};
use aurora_project::{LogSettings, Project, RedactSettings, SettingsTable, UsageSettings, masked, user};
use aurora_query::Parameter;
use aurora_remote::{REMOTE_TABLE, REMOTES_TABLE, RemoteUrl};
use aurora_stages::limits::Limits;
use aurora_storage::ProjectDirectory;
use clap::Subcommand;
use serde::Serialize;

use crate::context::{Failure, Outcome, Program, ReportFormat, configurations, memories, remotes};
use crate::output::{Role, sanitize, width};

/// Maximum size of a configuration file in bytes.
const MAX_FILE_BYTES: u64 = 1 << 20;

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Show the effective settings and where each is set
    #[command(after_help = "\
Examples:
  aur config show                        every setting
  aur config show search.hybrid log      settings whose names begin with these texts
  aur config show --changed              only settings that are not built in
  aur config show --format json

`aur pipeline show` shows the settings of index runs. Secrets in values are masked.")]
    Show {
        /// Beginnings of the names of settings [default: all]
        prefix: Vec<String>,

        /// Only settings that a file, a variable or a flag sets
        #[arg(long)]
        changed: bool,

        /// Project directory [default: the nearest enclosing directory with an index]
        #[arg(long, value_name = "PATH")]
        root: Option<PathBuf>,

        /// Output format
        #[arg(long, value_name = "FORMAT", value_enum, default_value_t = ReportFormat::Text)]
        format: ReportFormat,
    },
}

/// A setting with its effective value.
#[derive(Debug, Serialize)]
struct ShownSetting {
    key: String,
    /// The value in the syntax of its source, with masked secrets.
    value: String,
    #[serde(flatten)]
    source: Source,
}

/// The place where a value is set.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "source", rename_all = "kebab-case")]
enum Source {
    BuiltIn,
    File { file: String, line: usize },
    Environment { variable: String },
    Flag { flag: String },
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BuiltIn => f.write_str("built-in"),
            Self::File { file, line } => write!(f, "{file}:{line}"),
            Self::Environment { variable } => f.write_str(variable),
            Self::Flag { flag } => f.write_str(flag),
        }
    }
}

impl From<Place> for Source {
    fn from(place: Place) -> Self {
        match place {
            Place::File(location) => Self::File { file: location.file, line: location.line },
            Place::Environment(variable) => Self::Environment { variable },
            Place::Flag(flag) => Self::Flag { flag },
        }
    }
}

pub(crate) fn run(command: &ConfigCommand, program: &Program) -> Outcome {
    let ConfigCommand::Show { prefix, changed, root, format } = command;
    let project = program.find(root.as_deref())?;
    configurations::warn_ignored(Some(project.root()), &program.terminal);
    let mut settings = collect(&project, program)?;
    if let Err(invalid) = remotes::settings(project.root()) {
        program.terminal.warn(&invalid.message());
    }
    let is_named = |key: &str| prefix.is_empty() || prefix.iter().any(|prefix| key.starts_with(prefix.as_str()));
    settings.retain(|setting| is_named(&setting.key) && !(*changed && matches!(setting.source, Source::BuiltIn)));
    if settings.is_empty() && !*changed {
        return Err(Failure::new(format!("no setting begins with {}", prefix.join(" or ")))
            .with_help("`aur config show` lists all settings"));
    }
    let paint = program.terminal.out;
    program.terminal.print(*format, &settings, |out| {
        let columns =
            |text: fn(&ShownSetting) -> &str| settings.iter().map(|row| width::measure(text(row))).max().unwrap_or(0);
        let (keys, values) = (columns(|row| &row.key), columns(|row| &row.value).min(40));
        for ShownSetting { key, value, source } in &settings {
            let (key, value) = (width::pad(key, keys), width::pad(&sanitize::line(value), values));
            let source = paint.paint(Role::Faint, &sanitize::line(&source.to_string()));
            writeln!(out, "{key}  {value}  {source}")?;
        }
        Ok(())
    })
}

/// Returns all settings. Fails if the configuration is invalid.
fn collect(project: &Project, program: &Program) -> Outcome<Vec<ShownSetting>> {
    let config = project.settings(Vec::new())?;
    user::limits()?;
    let logs = user::logs()?;
    let invalid = |found| Failure::findings("the configuration", &found);
    LogSettings::load().map_err(invalid)?;
    UsageSettings::load().map_err(invalid)?;
    RedactSettings::load().map_err(invalid)?;
    let rules = memories::load_rules(Some(project.root()), None)?;
    let files = Files::read(project.root());
    let sources = files.sources();

    let mut all = Vec::new();
    for parameter in Parameter::all() {
        let source = sources.find(parameter.key, Some(&parameter.variable()));
        all.push(masked_setting(parameter.key.to_owned(), parameter.show(&config), source.map(|(source, _)| source)));
    }
    for (column, weight) in &config.boost {
        let key = format!("search.boost.{column}");
        let source = sources.find(&key, None).map(|(source, _)| source);
        all.push(masked_setting(key, weight.to_string(), source));
    }
    for (key, default, variable) in Limits::reference() {
        let default =
            if key.value == ValueType::Size { format!("\"{}\"", format_bytes(default)) } else { default.to_string() };
        all.push(sources.setting(format!("limits.{}", key.name), &default, &variable));
    }
    let tables: [(&str, &[Setting]); 4] = [
        (aurora_logs::TABLE, &Settings::reference()),
        (LogSettings::NAME, LogSettings::KEYS),
        (UsageSettings::NAME, UsageSettings::KEYS),
        (RedactSettings::NAME, RedactSettings::KEYS),
    ];
    for (table, keys) in tables {
        all.extend(keys.iter().map(|key| sources.setting(format!("{table}.{}", key.key), key.default, key.variable)));
    }
    // The default depends on AURORA_HOME.
    let path = all.iter_mut().find(|setting| setting.key == "logs.path" && matches!(setting.source, Source::BuiltIn));
    if let Some((path, logs)) = path.zip(logs) {
        *path = masked_setting(path.key.clone(), format!("{:?}", logs.path), None);
    }
    if let Some(level) = all.iter_mut().find(|setting| setting.key == "log.level") {
        let variable = || std::env::var("RUST_LOG").ok().filter(|directives| !directives.trim().is_empty());
        let set = match (program.verbose, variable()) {
            (0, None) => None,
            (0, Some(value)) => Some((value, Source::Environment { variable: "RUST_LOG".to_owned() })),
            (1, _) => Some(("\"info\"".to_owned(), Source::Flag { flag: "-v".to_owned() })),
            _ => Some(("\"debug\"".to_owned(), Source::Flag { flag: "-vv".to_owned() })),
        };
        if let Some((value, source)) = set {
            *level = masked_setting(level.key.clone(), value, Some(source));
        }
    }
    all.extend(memory(&rules, &sources));
    all.extend(remote(&sources));
    Ok(all)
}

/// Returns the settings of the table `memory`.
fn memory(rules: &MemoryRules, sources: &Sources<'_>) -> Vec<ShownSetting> {
    let policies = &rules.policies;
    let mut all = Vec::new();
    let mut add = |key: String, value: String, source: Option<Source>| {
        let source = source.or_else(|| Some(sources.find(&key, None)?.0));
        all.push(masked_setting(key, value, source));
    };
    add("memory.policies.enabled".to_owned(), policies.is_enabled().to_string(), None);
    add("memory.policies.default".to_owned(), format!("{:?}", policies.default_policy().name), None);
    for policy in policies.iter() {
        // The file that an environment variable names is not searched by key.
        let source: Option<Source> =
            (policy.layer >= Layer::Environment).then(|| Place::File(policy.location.clone()).into());
        let Ok(serde_json::Value::Object(fields)) = serde_json::to_value(policy) else { continue };
        for (field, value) in fields.into_iter().filter(|(_, value)| !value.is_null()) {
            if ["condition", "lifespan", "decay", "escalation", "description"].contains(&field.as_str()) {
                add(format!("memory.policy.{}.{field}", policy.name), value.to_string(), source.clone());
            }
        }
    }
    for (kind, rates) in rules.rates.by_kind() {
        let key = format!("memory.decay.{kind}");
        if rates.iter().all(|rate| *rate == rates[0]) {
            add(key, rates[0].to_string(), None);
        } else {
            for (scope, rate) in Scope::ALL.iter().zip(rates) {
                add(format!("{key}.{}", scope.as_str()), rate.to_string(), None);
            }
        }
    }
    all
}

/// Returns the remotes and the settings of the table `remotes`. A remote of the user takes precedence over one of the
/// project, and only the user's file has the table `remotes`.
fn remote(sources: &Sources<'_>) -> Vec<ShownSetting> {
    let mut remotes: BTreeMap<&str, Vec<ShownSetting>> = BTreeMap::new();
    for document in [&sources.user, &sources.project].into_iter().flatten() {
        for remote in document.root.get(REMOTE_TABLE).map(Node::entries).unwrap_or_default() {
            let row = |entry: &Entry<'_>| ShownSetting {
                key: format!("{REMOTE_TABLE}.{}.{}", remote.key, entry.key),
                value: without_credentials(document, &entry.node),
                source: Place::File(document.location(entry.key_span.clone())).into(),
            };
            remotes.entry(&remote.key).or_insert_with(|| remote.node.entries().iter().map(row).collect());
        }
    }
    let setting = |(key, default, variable): (&str, &str, Option<&str>)| {
        let key = format!("{REMOTES_TABLE}.{key}");
        if let Some((variable, value)) = variable.and_then(|variable| sources.variable(variable)) {
            return ShownSetting { key, value, source: Source::Environment { variable } };
        }
        let found = sources.user.as_ref().and_then(|user| Some((user, entry(&user.root, &key)?)));
        match found {
            Some((user, (span, node))) => ShownSetting {
                key,
                value: without_credentials(user, node),
                source: Place::File(user.location(span)).into(),
            },
            None => ShownSetting { key, value: default.to_owned(), source: Source::BuiltIn },
        }
    };
    remotes.into_values().flatten().chain(remotes::KEYS.map(setting)).collect()
}

/// Formats a value that may contain URLs. Public keys are not masked.
fn without_credentials(document: &Document<'_>, node: &Node<'_>) -> String {
    let texts: Vec<String> =
        node.items().iter().filter_map(Node::text).map(|text| format!("{:?}", RemoteUrl::mask(text))).collect();
    match node.text() {
        Some(text) => format!("{:?}", RemoteUrl::mask(text)),
        None if texts.len() == node.items().len() && !texts.is_empty() => format!("[{}]", texts.join(", ")),
        None => masked(document.raw(node).to_owned()),
    }
}

/// Creates the row of a setting. Masks secrets in the value; the name of the setting may show that the value is a
/// secret.
fn masked_setting(key: String, value: String, source: Option<Source>) -> ShownSetting {
    let line = masked(format!("{key} = {value}"));
    let value = line.get(key.len() + " = ".len()..).unwrap_or_default().to_owned();
    ShownSetting { key, value, source: source.unwrap_or(Source::BuiltIn) }
}

/// Names and texts of the configuration files, the user's first.
struct Files {
    user: Option<(String, String)>,
    project: Option<(String, String)>,
}

impl Files {
    /// Reads the files. A file that cannot be read has already been reported.
    fn read(root: &Path) -> Self {
        let user = user::config();
        let text = user.as_ref().and_then(|path| read_regular_to_string(path, MAX_FILE_BYTES).ok());
        let user = user.zip(text).map(|(path, text)| (path.display().to_string(), text));
        let directory = ProjectDirectory::in_root(root);
        let text = directory.open().and_then(|open| open.read_to_string(ProjectDirectory::CONFIG, MAX_FILE_BYTES));
        let name = directory.path_of(ProjectDirectory::CONFIG).display().to_string();
        Self { user, project: text.ok().map(|text| (name, text)) }
    }

    /// Parses the files.
    fn sources(&self) -> Sources<'_> {
        fn parse(file: &Option<(String, String)>) -> Option<Document<'_>> {
            file.as_ref().and_then(|(name, text)| Document::from_toml(name, text).ok())
        }
        let environment = user::environment().into_iter().collect();
        Sources { project: parse(&self.project), user: parse(&self.user), environment }
    }
}

/// The sources of values, except for the built-in defaults.
struct Sources<'a> {
    project: Option<Document<'a>>,
    user: Option<Document<'a>>,
    environment: BTreeMap<String, String>,
}

impl Sources<'_> {
    /// Returns the source of a setting and the value there in TOML syntax; `None` for a built-in value.
    fn find(&self, key: &str, variable: Option<&str>) -> Option<(Source, String)> {
        if let Some((variable, value)) = variable.and_then(|variable| self.variable(variable)) {
            return Some((Source::Environment { variable }, value));
        }
        // The project's file overrides the user's file.
        [&self.project, &self.user].into_iter().flatten().find_map(|document| {
            let (span, node) = entry(&document.root, key)?;
            Some((Place::File(document.location(span)).into(), document.raw(node).to_owned()))
        })
    }

    /// Returns the name and the value of an environment variable.
    fn variable(&self, name: &str) -> Option<(String, String)> {
        self.environment.get_key_value(name).map(|(name, value)| (name.clone(), value.clone()))
    }

    /// Returns the row of a setting whose value is not converted.
    fn setting(&self, key: String, default: &str, variable: &str) -> ShownSetting {
        match self.find(&key, Some(variable)) {
            Some((source, value)) => masked_setting(key, value, Some(source)),
            None => masked_setting(key, default.to_owned(), None),
        }
    }
}

/// Returns the position of a key and its value. The names of tables may contain dots. If the key is not in the
/// document, but the value of a table above it is not a table, returns that value.
fn entry<'d>(node: &'d Node<'_>, key: &str) -> Option<(std::ops::Range<usize>, &'d Node<'d>)> {
    for found in node.entries() {
        match key.strip_prefix(found.key.as_ref()) {
            Some("") => return Some((found.key_span.clone(), &found.node)),
            Some(rest) if rest.starts_with('.') => {
                if !matches!(found.node.value, Value::Table(_)) {
                    return Some((found.key_span.clone(), &found.node));
                }
                if let Some(found) = entry(&found.node, &rest[1..]) {
                    return Some(found);
                }
            }
            _ => {}
        }
    }
    None
}
