//! The command line and the environment with which a program is started.

use std::ffi::OsString;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::process::{Command, Stdio};

use super::config::Process;

/// Environment variables that every program receives: the text encoding, and the locations of the user's files. Version
/// managers, which often provide `python3`, need these locations.
const COMMON: [&str; 6] = ["HOME", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "SystemRoot"];
/// Environment variable that identifies a process of a stage and its descendants.
pub(super) const COOKIE: &str = "AURORA_STAGE_RUN";

/// Name of the subdirectory of a [`HelperDirectory`] for compiled Python modules.
const BYTECODE: &str = "bytecode";
/// A path below which no file can exist.
const NOWHERE: &str = if cfg!(windows) { "NUL" } else { "/dev/null" };

/// A directory outside of any repository that contains the Python module `aurora_stage`, which Python programs import.
pub struct HelperDirectory(pub PathBuf);

/// The command of a stage, with the path of its program and its environment.
pub(super) struct ResolvedCommand {
    program: PathBuf,
    arguments: Vec<String>,
    root: PathBuf,
    environment: Vec<(OsString, OsString)>,
}

impl ResolvedCommand {
    /// Finds the program of a stage in `PATH` or in the project at `root`, and determines its environment.
    ///
    /// # Errors
    /// Returns an error if the program does not exist.
    pub(super) fn new(config: &Process, root: &Path, helper: Option<&HelperDirectory>) -> io::Result<Self> {
        let given = config.command.first().map(String::as_str).unwrap_or_default();
        let search = search_path(root);
        let program = find(given, root, &search)
            .ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, format!("there is no program `{given}`")))?;
        let mut environment = vec![
            ("PATH".into(), std::env::join_paths(&search).unwrap_or_default()),
            // Python 3.11 and newer then does not search the directory of the script for modules. A program imports
            // modules of the repository only if it extends `sys.path`.
            ("PYTHONSAFEPATH".into(), "1".into()),
            // Without this variable, Python would run compiled modules in a `__pycache__` of the repository instead of
            // the source text.
            ("PYTHONPYCACHEPREFIX".into(), bytecode_directory(root, helper).into_os_string()),
            ("PYTHONUTF8".into(), "1".into()),
        ];
        environment.extend(helper.map(|helper| ("PYTHONPATH".into(), helper.0.clone().into_os_string())));
        let named = COMMON.iter().copied().chain(config.env.iter().map(String::as_str));
        environment.extend(named.filter_map(|name| Some((OsString::from(name), std::env::var_os(name)?))));
        Ok(Self { program, arguments: config.command[1..].to_vec(), root: root.to_owned(), environment })
    }

    /// Returns the command, to be started with pipes and in its own process group.
    pub(super) fn command(&self, cookie: &str) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(&self.arguments)
            .current_dir(&self.root)
            .env_clear()
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .env(COOKIE, cookie)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command
    }
}

/// Returns the directory in which Python stores compiled modules. Removes the compiled modules of the project from the
/// directory, because Python uses an outdated compiled module if the new source text has the same size and the same
/// modification time in seconds.
fn bytecode_directory(root: &Path, helper: Option<&HelperDirectory>) -> PathBuf {
    let Some(helper) = helper else { return NOWHERE.into() };
    let directory = helper.0.join(BYTECODE);
    let real = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    let names: PathBuf = real.components().filter(|part| matches!(part, Component::Normal(_))).collect();
    #[allow(clippy::disallowed_methods, reason = "the user's own directory")]
    let _ = std::fs::remove_dir_all(directory.join(names));
    directory
}

/// Returns the directories of `PATH`, except relative ones and directories in the project, because a repository must
/// not be able to supply a program such as `python3`.
pub(super) fn search_path(root: &Path) -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    let is_safe = |directory: &PathBuf| {
        let real = directory.canonicalize();
        directory.is_absolute() && !real.is_ok_and(|real| real.starts_with(&root))
    };
    std::env::split_paths(&path).filter(is_safe).collect()
}

pub(super) fn find(program: &str, root: &Path, search: &[PathBuf]) -> Option<PathBuf> {
    if program.contains(['/', std::path::MAIN_SEPARATOR]) {
        return Some(root.join(program)).filter(|path| path.is_file());
    }
    let endings: &[&str] = if cfg!(windows) { &["", ".exe", ".cmd", ".bat"] } else { &[""] };
    let candidates =
        search.iter().flat_map(|directory| endings.iter().map(move |end| directory.join(format!("{program}{end}"))));
    candidates.into_iter().find(|path| is_executable(path))
}

#[cfg(unix)]
fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(path: &Path) -> bool {
    path.is_file()
}
