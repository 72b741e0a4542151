//! Remotes: their configuration and keys, and transfers that Ctrl-C stops.

use std::path::{Path, PathBuf};

use aurora_confined::read_regular_to_string;
use aurora_project::{Project, chain, masked, user};
use aurora_remote::{Remote, RemoteError, RemoteSettings, RemoteUrl, SigningKey, StoreError, Trust};
use aurora_storage::ProjectDirectory;
use aurora_suggest::did_you_mean;
use clap::Args;

use crate::context::{Failure, Outcome, Program, interrupt};
use crate::output::progress::TransferProgress;

/// Maximum size of a configuration file in bytes.
pub(crate) const MAX_CONFIG_BYTES: u64 = 1 << 20;
/// Environment variable with the file of the secret key.
const SIGNING_KEY: &str = "AURORA_SIGNING_KEY";
/// Environment variable with the password of the secret key.
const SIGNING_KEY_PASSWORD: &str = "AURORA_SIGNING_KEY_PASSWORD";

/// Names, default values and environment variables of the settings in the table `remotes`.
pub(crate) const KEYS: [(&str, &str, Option<&str>); 4] = [
    ("pull", "\"ask\"", None),
    ("signing_key", "\"\"", Some(SIGNING_KEY)),
    ("trusted_keys", "[]", None),
    ("trusted_urls", "[]", None),
];

/// The remote of a command, and the project whose configuration may name it.
#[derive(Debug, Args)]
pub(crate) struct RemoteArgs {
    /// Name of the remote
    pub(crate) name: String,

    /// Project directory [default: the nearest enclosing directory with an index, or the top of the work tree]
    #[arg(long, value_name = "PATH")]
    pub(crate) root: Option<PathBuf>,
}

/// An opened remote with its context.
pub(crate) struct Opened {
    pub(crate) name: String,
    pub(crate) project: Project,
    pub(crate) settings: RemoteSettings,
    pub(crate) remote: Remote,
}

impl RemoteArgs {
    /// Opens the remote. `creates` allows it to create a missing directory.
    pub(crate) fn open(&self, allows_unsigned: bool, creates: bool, program: &Program) -> Outcome<Opened> {
        let project = program.find(self.root.as_deref())?;
        let settings = settings(project.root())?;
        Opened::new(project, settings, &self.name, allows_unsigned, creates)
    }
}

impl Opened {
    /// Opens the remote of a name. `creates` allows it to create a missing directory.
    pub(crate) fn new(
        project: Project,
        settings: RemoteSettings,
        name: &str,
        allows_unsigned: bool,
        creates: bool,
    ) -> Outcome<Self> {
        let url = find(&settings, name)?;
        let trust = Trust { keys: settings.trusted_keys.clone(), allows_unsigned };
        let records = user::absolute_directory().map(|user| user.remote_records());
        let remote = Remote::open(url, trust, records, creates).map_err(failure)?;
        Ok(Self { name: name.to_owned(), project, settings, remote })
    }
}

/// Reads the remotes and keys from the user's and the project's configuration.
pub(crate) fn settings(root: &Path) -> Outcome<RemoteSettings> {
    let unreadable = |path: &Path, error| Failure::new(format!("cannot read {}: {error}", path.display()));
    let is_missing = |error: &std::io::Error| {
        matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory)
    };
    let read = |path: PathBuf, text: std::io::Result<String>| match text {
        Ok(text) => Ok(Some((path, text))),
        Err(error) if is_missing(&error) => Ok(None),
        Err(error) => Err(unreadable(&path, error)),
    };
    let user = user::absolute_directory().map(|user| user.config());
    let user = user.map(|path| read(path.clone(), read_regular_to_string(&path, MAX_CONFIG_BYTES))).transpose()?;
    let directory = ProjectDirectory::in_root(root);
    let project = directory.open().and_then(|open| open.read_to_string(ProjectDirectory::CONFIG, MAX_CONFIG_BYTES));
    let project = read(directory.path_of(ProjectDirectory::CONFIG), project)?;
    fn borrowed(file: &Option<(PathBuf, String)>) -> Option<(&Path, &str)> {
        file.as_ref().map(|(path, text)| (path.as_path(), text.as_str()))
    }
    RemoteSettings::parse(borrowed(&user.flatten()), borrowed(&project)).map_err(failure)
}

fn find(settings: &RemoteSettings, name: &str) -> Outcome<RemoteUrl> {
    settings.remotes.get(name).cloned().ok_or_else(|| {
        let help = did_you_mean(name, settings.remotes.keys().map(String::as_str));
        let help = help.unwrap_or_else(|| format!("`aur remote add {name} URL` adds it"));
        Failure::new(format!("there is no remote `{}`", name.escape_debug())).with_help(help)
    })
}

/// Reads the secret key, if there is one.
pub(crate) fn signing_key(settings: &RemoteSettings) -> Outcome<Option<SigningKey>> {
    let variable = std::env::var_os(SIGNING_KEY).filter(|path| !path.is_empty()).map(PathBuf::from);
    let Some(path) = variable.or_else(|| settings.signing_key.clone()) else { return Ok(None) };
    let path = match (path.strip_prefix("~"), std::env::home_dir()) {
        (Ok(below), Some(home)) => home.join(below),
        _ => path,
    };
    SigningKey::read(&path, signing_key_password()).map(Some).map_err(failure)
}

/// Returns the password of the secret key, if there is one.
pub(crate) fn signing_key_password() -> Option<String> {
    std::env::var(SIGNING_KEY_PASSWORD).ok().filter(|password| !password.is_empty())
}

/// Runs a transfer and shows its progress. The first Ctrl-C stops the transfer, and the second one ends the process.
/// `kept` describes what an interrupted transfer leaves behind.
pub(crate) fn transfer<T>(
    remote: &Remote,
    progress: &TransferProgress,
    kept: &'static str,
    run: impl FnOnce() -> Outcome<T>,
) -> Outcome<T> {
    let stopper = remote.stopper();
    interrupt::stops_with_message(move || stopper.stop(), kept);
    let result = run();
    interrupt::ends(|| {});
    progress.clear();
    match result {
        Ok(_) if remote.stopper().is_stopped() => Err(Failure::Interrupted("the transfer is complete".to_owned())),
        result => result,
    }
}

/// Converts an error of a remote, with advice.
pub(crate) fn failure(error: RemoteError) -> Failure {
    let help = match &error {
        RemoteError::Stopped => {
            return Failure::Interrupted("the transfer is incomplete; repeat the command to continue".to_owned());
        }
        RemoteError::Untrusted { .. } => {
            "add the public key to `trusted_keys` below [remotes] of your own config.toml, or accept the risk with \
             `--allow-unsigned`"
        }
        RemoteError::Replayed { .. } | RemoteError::Changed(_) => {
            "if somebody has recreated the remote, remove its file from `state/remotes` in your Aurora directory"
        }
        RemoteError::Damaged { .. } => "`aur remote verify` lists all damage, and the next push uploads missing parts",
        _ => {
            return match credentials_message(&error) {
                Some(message) => Failure::new(masked(message)).with_help(
                    "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, GOOGLE_SERVICE_ACCOUNT, or \
                     AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY in the environment",
                ),
                // The message may contain an endpoint with credentials.
                None => Failure::new(masked(chain(&error))),
            };
        }
    };
    Failure::from_error(&error).with_help(help)
}

/// Address of the service that gives credentials to virtual machines. Stores ask it if the environment has no
/// credentials.
const METADATA_ADDRESS: &str = "169.254.169.254";

/// Returns the message of an error that credentials have caused. The text of the server is left out, because it may
/// repeat them.
fn credentials_message(error: &RemoteError) -> Option<String> {
    let RemoteError::Store { action, source } = error else {
        return matches!(error, RemoteError::Access(_)).then(|| error.to_string());
    };
    let text = source.to_string();
    if matches!(source, StoreError::PermissionDenied { .. } | StoreError::Unauthenticated { .. }) {
        let code = text.split_once("<Code>").and_then(|(_, rest)| Some(rest.split_once("</Code>")?.0));
        let code = code.filter(|code| code.len() <= 64 && code.bytes().all(|byte| byte.is_ascii_alphabetic()));
        let code = code.map(|code| format!(" ({code})")).unwrap_or_default();
        return Some(format!("cannot {action}: the store has refused access{code}"));
    }
    text.contains(METADATA_ADDRESS).then(|| format!("cannot {action}: the environment has no credentials"))
}
