//! The remotes in the configuration files, and the keys in the user's file.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use toml_edit::{DocumentMut, Item, Table, value};

use crate::error::RemoteError;
use crate::location::RemoteUrl;
use crate::signature::TrustedKeys;

/// Table of remotes, in the files of users and projects.
pub const REMOTE_TABLE: &str = "remote";
/// Table of keys, in the files of users only.
pub const REMOTES_TABLE: &str = "remotes";
/// Maximum length of the name of a remote in bytes.
const MAX_NAME_BYTES: usize = 64;

/// The remotes and keys of a user in a project.
#[derive(Debug, Clone, Default)]
pub struct RemoteSettings {
    /// The URLs of remotes by name.
    pub remotes: BTreeMap<String, RemoteUrl>,
    /// Names of the remotes in the project's file.
    pub project_remotes: BTreeSet<String>,
    /// URLs that the user trusts, with everything below them. They include the user's own remotes.
    pub trusted_urls: Vec<RemoteUrl>,
    /// Whether a search in a project without an index pulls it from a trusted remote.
    pub pull: PullPolicy,
    /// Public keys whose signatures are accepted.
    pub trusted_keys: TrustedKeys,
    /// File of the secret key that signs manifests.
    pub signing_key: Option<PathBuf>,
}

/// Whether a search in a project without an index pulls the index from a remote of the project.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PullPolicy {
    /// Asks on a terminal, and otherwise only mentions the remote.
    #[default]
    Ask,
    /// Pulls without a question.
    Always,
    /// Does not mention remotes.
    Never,
}

/// The tables of a configuration file; all others are ignored.
#[derive(Default, Deserialize)]
struct Tables {
    #[serde(default)]
    remote: BTreeMap<String, RemoteTable>,
    remotes: Option<KeyTable>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RemoteTable {
    url: String,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct KeyTable {
    #[serde(default)]
    trusted_keys: Vec<String>,
    #[serde(default)]
    trusted_urls: Vec<String>,
    signing_key: Option<PathBuf>,
    #[serde(default)]
    pull: PullPolicy,
}

impl RemoteSettings {
    /// Reads the texts of configuration files, each with its path for messages. The user's remotes take precedence over
    /// the project's. A project cannot set keys.
    ///
    /// # Errors
    /// Names the file and the first invalid setting.
    pub fn parse(user: Option<(&Path, &str)>, project: Option<(&Path, &str)>) -> Result<Self, RemoteError> {
        let mut settings = Self::default();
        for (is_user, file) in [(true, user), (false, project)] {
            let Some((path, text)) = file else { continue };
            let invalid = |what: String| RemoteError::Settings { path: path.to_owned(), what };
            // The whole message of the parser would repeat the line, which may contain credentials.
            let tables: Tables = toml::from_str(text).map_err(|error| invalid(error.message().to_owned()))?;
            for (name, remote) in tables.remote {
                let invalid = |error: RemoteError| invalid(format!("[remote.{name}]: {error}"));
                check_name(&name).map_err(invalid)?;
                let url = RemoteUrl::parse(&remote.url).map_err(invalid)?;
                match is_user {
                    true => settings.trusted_urls.push(url.clone()),
                    false => drop(settings.project_remotes.insert(name.clone())),
                }
                settings.remotes.entry(name).or_insert(url);
            }
            match tables.remotes {
                Some(keys) if is_user => {
                    let trusted = TrustedKeys::parse(keys.trusted_keys.iter().map(String::as_str));
                    settings.trusted_keys = trusted.map_err(|error| invalid(error.to_string()))?;
                    for url in &keys.trusted_urls {
                        let url = RemoteUrl::parse(url).map_err(|error| invalid(format!("trusted_urls: {error}")))?;
                        settings.trusted_urls.push(url);
                    }
                    settings.signing_key = keys.signing_key;
                    settings.pull = keys.pull;
                }
                Some(_) => {
                    return Err(invalid(
                        "[remotes] belongs in the user's configuration, not in a project's".to_owned(),
                    ));
                }
                None => {}
            }
        }
        Ok(settings)
    }

    /// Whether the user trusts a URL.
    pub fn trusts(&self, url: &RemoteUrl) -> bool {
        self.trusted_urls.iter().any(|trusted| url.is_within(trusted))
    }
}

/// Adds a remote to the text of a configuration file. Returns `None` if the file already has this remote with this URL.
///
/// # Errors
/// Fails if the name is invalid, the file is not valid TOML, or it has a remote of this name with another URL.
pub fn add_remote(path: &Path, text: &str, name: &str, url: &RemoteUrl) -> Result<Option<String>, RemoteError> {
    check_name(name)?;
    let invalid = |what: String| RemoteError::Settings { path: path.to_owned(), what };
    let mut document: DocumentMut =
        text.parse().map_err(|error: toml_edit::TomlError| invalid(error.message().to_owned()))?;
    let mut parent = Table::new();
    parent.set_implicit(true);
    let remotes = document.entry(REMOTE_TABLE).or_insert(Item::Table(parent));
    let remotes = remotes.as_table_like_mut().ok_or_else(|| invalid("`remote` is not a table".to_owned()))?;
    if let Some(known) = remotes.get(name) {
        if known.get("url").and_then(Item::as_str) == Some(url.as_str()) {
            return Ok(None);
        }
        return Err(invalid(format!("there is already a remote `{name}` with another URL")));
    }
    let mut table = Table::new();
    table.insert("url", value(url.as_str()));
    remotes.insert(name, Item::Table(table));
    Ok(Some(document.to_string()))
}

fn check_name(name: &str) -> Result<(), RemoteError> {
    let is_valid = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if name.is_empty() || name.len() > MAX_NAME_BYTES || !name.chars().all(is_valid) {
        return Err(RemoteError::Url("a name of a remote consists of letters, digits, `-` and `_`".to_owned()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(user: &str, project: &str) -> Result<RemoteSettings, RemoteError> {
        RemoteSettings::parse(Some((Path::new("user.toml"), user)), Some((Path::new("project.toml"), project)))
    }

    #[test]
    fn a_project_can_name_remotes_but_no_keys() {
        let settings = parse(
            "[remote.a]\nurl = \"s3://user/a\"",
            "[remote.a]\nurl = \"s3://project/a\"\n[remote.b]\nurl = \"file:///b\"\n[search]\nx = 1",
        );
        let settings = settings.expect("the settings are valid");
        assert_eq!(settings.remotes["a"].as_str(), "s3://user/a");
        assert_eq!(settings.remotes["b"].as_str(), "file:///b");
        assert!(parse("", "[remotes]\ntrusted_keys = []").is_err());
        assert!(parse("[remotes]\ntrusted_keys = [\"x\"]", "").is_err());
    }

    #[test]
    fn only_the_user_trusts_urls() {
        let user = "[remote.a]\nurl = \"s3://user/a\"\n[remotes]\ntrusted_urls = [\"s3://team/x\"]\npull = \"always\"";
        let project = "[remote.b]\nurl = \"s3://team/x/b\"\n[remote.c]\nurl = \"s3://team/xc\"";
        let settings = parse(user, project).expect("the settings are valid");
        assert_eq!(settings.pull, PullPolicy::Always);
        assert_eq!(settings.project_remotes, ["b", "c"].map(str::to_owned).into());
        for (url, is_trusted) in [
            ("s3://user/a", true),
            ("s3://user/a/b", true),
            ("s3://user/b", false),
            ("s3://team/x", true),
            ("s3://team/x/b", true),
            ("s3://team/xc", false),
            ("s3://team/x/./b", false),
            ("s3://team/x//b", false),
            ("s3://team/x/%2e%2e/c", false),
            ("S3://team/x", false),
            ("gs://team/x", false),
        ] {
            let is_found = RemoteUrl::parse(url).is_ok_and(|url| settings.trusts(&url));
            assert_eq!(is_found, is_trusted, "{url}");
        }
        assert!(parse("[remotes]\npull = \"sometimes\"", "").is_err());
        assert!(parse("[remotes]\ntrusted_urls = [\"https://u:hunter2@x\"]", "").is_err());
    }

    #[test]
    fn messages_do_not_repeat_credentials() {
        for text in [
            "[remote.a]\nurl = \"https://u:hunter2@example.com\"",
            "[remote.a]\nurll = \"https://u:hunter2@example.com\"",
            "[remote.a]\nurl = https://u:hunter2@example.com",
        ] {
            let error = parse("", text).expect_err("the settings are invalid").to_string();
            assert!(!error.contains("hunter2"), "{error}");
        }
    }

    #[test]
    fn remotes_are_added_once_and_comments_stay() {
        let url = RemoteUrl::parse("s3://bucket/app").expect("the URL is valid");
        let path = Path::new("config.toml");
        let text = "# weights\n[search]\nhybrid = 0.5 # tuned\n";
        let added = add_remote(path, text, "nightly", &url).expect("the remote can be added").expect("it is new");
        assert!(added.starts_with(text), "{added}");
        assert_eq!(parse("", &added).expect("the settings are valid").remotes["nightly"], url);
        assert!(add_remote(path, &added, "nightly", &url).expect("the remote is known").is_none());
        let other = RemoteUrl::parse("s3://bucket/other").expect("the URL is valid");
        assert!(add_remote(path, &added, "nightly", &other).is_err());
        assert!(add_remote(path, "", "a.b", &url).is_err());
    }
}
