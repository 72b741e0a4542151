//! A repository and a home directory for an attack. A canary directory outside of both must not be touched by any run.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, Weak};

use tempfile::TempDir;

use crate::fixture::{hermetic, program};
use crate::process::{Limits, Outcome, Running, start};
use crate::record::Record;

/// Text in every file of the canary directory, which no run may print.
pub(crate) const SECRET: &str = "canarysecret";
/// Query that would find only the files of the canary directory, if they were indexed.
pub(crate) const CANARY_QUERY: &str = "quokka zanzibar";
/// Id of an ordinary user.
const NOBODY: u32 = 65_534;

const SOURCES: &[(&str, &str)] = &[
    ("src/token.py", "def parse_token(text):\n    \"\"\"Read the header of a token.\"\"\"\n    return text.split()\n"),
    ("src/retry.go", "package src\n\n// Retry calls f again after a timeout.\nfunc Retry(f func()) {\n\tf()\n}\n"),
    (
        "src/deep/cache.js",
        "/** Evicts the oldest entry. */\nexport function evict(cache) {\n  return cache.shift();\n}\n",
    ),
    ("docs/guide.md", "# Guide\n\nRead this first.\n\n## Retry\n\nWhat happens after a timeout.\n"),
    (
        ".aurora/reasoning/pattern.json",
        "{\"id\": \"p1\", \"problem\": \"slow parse\", \"solution\": \"cache the header\"}\n",
    ),
];

/// The directory from which all sandboxes are copied. It is created once, and deleted after the last test that uses it.
struct Template(TempDir);

impl Template {
    fn shared() -> Arc<Self> {
        static CURRENT: Mutex<Weak<Template>> = Mutex::new(Weak::new());
        let mut current = CURRENT.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        current.upgrade().unwrap_or_else(|| {
            let made = Arc::new(Self::new());
            *current = Arc::downgrade(&made);
            made
        })
    }

    fn new() -> Self {
        let made = Self(TempDir::new().expect("a temporary directory can be created"));
        let root = made.0.path();
        for directory in ["repo", "home", "tmp", "canary/project", "canary/directory"] {
            fs::create_dir_all(root.join(directory)).expect("the directory can be created");
        }
        let sandbox = Sandbox { root: root.to_owned(), limits: Limits::default(), _directory: None };
        for (path, text) in SOURCES {
            sandbox.write(path, text);
            let secret =
                if path.ends_with(".json") { secret_text(path) } else { format!("{text}\n{}", secret_text(path)) };
            sandbox.write(format!("../canary/project/{path}"), secret);
        }
        sandbox.git(&["init", "--quiet", "--initial-branch=main", "--template="]);
        sandbox.git(&["add", "src", "docs"]);
        sandbox.git(&["commit", "--quiet", "--message", "first"]);
        for project in [sandbox.path(""), sandbox.canary("project")] {
            for arguments in [&["mem", "index"][..], &["mem", "search", "parse token"], &["mem", "eval", "mine"]] {
                let made = sandbox.run(sandbox.aur(arguments).current_dir(&project));
                assert_eq!(made.code, Some(0), "{}", made.summary());
            }
        }
        let secrets = [
            ".bashrc",
            "secret.txt",
            "directory/notes.json",
            "directory/data.mdb",
            "directory/pattern.md",
            "project/.aurora/pipeline.toml",
            "project/.aurora/config.toml",
            "project/.aurora/tuned.toml",
            "project/.aurora/index.new/data.mdb",
            "project/.aurora/index.old/data.mdb",
            "project/.aurora/index.unusable/data.mdb",
            "project/.aurora/tmp/run-0",
            "project/.aurora/history.walk.new",
            "project/.aurora/history.comparisons.new",
            "project/.aurora/tree.walk.new",
        ];
        for path in secrets {
            sandbox.write(format!("../canary/{path}"), secret_text(path));
        }
        fs::set_permissions(sandbox.canary("secret.txt"), fs::Permissions::from_mode(0o600))
            .expect("permissions can be set");
        made
    }
}

/// Returns the content of a file in the canary directory.
fn secret_text(path: &str) -> String {
    if path.ends_with("config.toml") {
        return format!("# {SECRET}\n[search.bm25]\nk1 = 1.3\n");
    }
    if path.ends_with(".json") {
        return format!(
            "{{\"id\": \"{SECRET}\", \"content\": {{\"pattern\": \"quokka zanzibar\", \"success_score\": 0.9}}}}\n"
        );
    }
    format!("{SECRET} quokka zanzibar\n")
}

/// A directory with everything that an attack needs. It is deleted on drop.
pub(crate) struct Sandbox {
    root: PathBuf,
    /// Limits of every run.
    pub(crate) limits: Limits,
    _directory: Option<Directory>,
}

/// A copy of the template.
struct Directory {
    directory: TempDir,
    _template: Arc<Template>,
}

impl Drop for Directory {
    fn drop(&mut self) {
        // `remove_dir_all` keeps a file descriptor open for every level, so it fails for deep trees.
        let _ = Command::new("rm").arg("-rf").arg(self.directory.path().join("repo")).status();
    }
}

/// Optional content of a sandbox.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Start {
    /// Whether the sandbox contains an index.
    pub(crate) indexed: bool,
    /// Whether the sandbox contains mined questions. They consist of many files, so most attacks omit them.
    pub(crate) mined: bool,
}

impl Start {
    /// Returns the paths of the template that are not copied.
    fn without(self) -> Vec<&'static str> {
        let mut without = Vec::new();
        if !self.indexed {
            without.push("repo/.aurora");
        }
        if !self.mined {
            without.extend(["repo/.aurora/eval", "canary/project/.aurora/eval"]);
        }
        without
    }
}

impl Sandbox {
    /// Copies the template without the parts that `start` excludes, and trusts the copied index.
    pub(crate) fn new(start: Start) -> Self {
        let made = Self::from_template(&start.without());
        if start.indexed {
            // The copied index is not trusted yet, because its identity differs from the identity of the recorded index.
            let _ = made.aur(&["mem", "trust-index"]).output();
            let _ = made.aur(&["mem", "trust-index", "access"]).output();
        }
        made
    }

    /// Copies the template, except for some directories.
    fn from_template(without: &[&str]) -> Self {
        let template = Template::shared();
        let directory = TempDir::new().expect("a temporary directory can be created");
        let without: Vec<PathBuf> = without.iter().map(|path| template.0.path().join(path)).collect();
        copy(template.0.path(), directory.path(), &without);
        fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o755)).expect("permissions can be set");
        let root = directory.path().to_owned();
        Self { root, limits: Limits::default(), _directory: Some(Directory { directory, _template: template }) }
    }

    /// Returns the absolute path of a file in the repository.
    pub(crate) fn path(&self, relative: impl AsRef<Path>) -> PathBuf {
        self.root.join("repo").join(relative)
    }

    /// Returns the absolute path of a file in the canary directory.
    pub(crate) fn canary(&self, relative: &str) -> PathBuf {
        self.root.join("canary").join(relative)
    }

    /// Returns the absolute path of a file in the home directory.
    pub(crate) fn home(&self, relative: &str) -> PathBuf {
        self.root.join("home").join(relative)
    }

    /// Writes a file of the repository and creates its parent directories.
    pub(crate) fn write(&self, relative: impl AsRef<Path>, content: impl AsRef<[u8]>) -> &Self {
        let path = self.prepare_path(relative);
        fs::write(path, content).expect("the file can be written");
        self
    }

    /// Removes a file, a link, or a directory with its content.
    pub(crate) fn remove(&self, relative: impl AsRef<Path>) -> &Self {
        let path = self.path(relative);
        match path.symlink_metadata() {
            Ok(found) if found.is_dir() => fs::remove_dir_all(path).expect("the directory can be removed"),
            Ok(_) => fs::remove_file(path).expect("the file can be removed"),
            Err(_) => {}
        }
        self
    }

    /// Removes the file or directory at a path, if any, creates the parent directories, and returns the absolute path.
    pub(crate) fn prepare_path(&self, relative: impl AsRef<Path>) -> PathBuf {
        let path = self.path(&relative);
        self.remove(relative);
        let parent = path.parent().expect("the path has a parent");
        fs::create_dir_all(parent).unwrap_or_else(|error| panic!("{}: {error}", parent.display()));
        path
    }

    /// Creates a symbolic link.
    pub(crate) fn link(&self, relative: impl AsRef<Path>, target: impl AsRef<Path>) -> &Self {
        symlink(target, self.prepare_path(relative)).expect("the link can be created");
        self
    }

    /// Creates a pipe that nobody writes to.
    pub(crate) fn fifo(&self, relative: impl AsRef<Path>) -> &Self {
        let made = Command::new("mkfifo").arg(self.prepare_path(relative)).status();
        assert!(made.is_ok_and(|status| status.success()), "a pipe can be made");
        self
    }

    /// Creates a socket that nobody listens on.
    pub(crate) fn socket(&self, relative: impl AsRef<Path>) -> &Self {
        let path = self.prepare_path(relative);
        // The path of a socket may have at most about a hundred bytes.
        let short = self.root.join("s");
        drop(UnixListener::bind(&short).expect("a socket can be made"));
        fs::rename(short, path).expect("the path can be renamed");
        self
    }

    /// Creates a sparse file.
    pub(crate) fn sparse(&self, relative: impl AsRef<Path>, bytes: u64) -> &Self {
        let path = self.prepare_path(relative);
        fs::File::create(path).and_then(|file| file.set_len(bytes)).expect("the sparse file can be created");
        self
    }

    /// Changes the permissions of a file or directory in the repository.
    pub(crate) fn mode(&self, relative: impl AsRef<Path>, mode: u32) -> &Self {
        fs::set_permissions(self.path(relative), fs::Permissions::from_mode(mode)).expect("permissions can be set");
        self
    }

    /// Runs git in the repository, asserts that it succeeds, and returns its output.
    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        let mut git = Command::new("git");
        hermetic(&mut git, &self.home(""));
        git.current_dir(self.path(""))
            .args(["-c", "user.name=Ada", "-c", "user.email=ada@example.org"])
            .args(arguments);
        let output = git.output().expect("git runs");
        assert!(output.status.success(), "git {arguments:?}: {output:?}");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    /// Returns a command that runs the program in the repository.
    pub(crate) fn aur(&self, arguments: &[impl AsRef<OsStr>]) -> Command {
        let mut command = Command::new(program());
        self.prepare(&mut command);
        command.args(arguments);
        command
    }

    /// Returns a command that runs the program after shell commands such as `ulimit`.
    pub(crate) fn aur_after(&self, shell: &str, arguments: &[impl AsRef<OsStr>]) -> Command {
        let mut command = Command::new("sh");
        self.prepare(&mut command);
        command.arg("-c").arg(format!("{shell}\nexec \"$@\"")).arg("sh").arg(program()).args(arguments);
        command
    }

    fn prepare(&self, command: &mut Command) {
        hermetic(command, &self.home(""));
        command.current_dir(self.path("")).env("TMPDIR", self.root.join("tmp")).stdin(Stdio::null());
    }

    /// Runs a command until it ends.
    pub(crate) fn run(&self, command: &mut Command) -> Outcome {
        start(command, self.limits).wait()
    }

    /// Starts a command.
    pub(crate) fn start(&self, command: &mut Command) -> Running {
        start(command, self.limits)
    }

    /// Sets a command to run as an ordinary user, whom permissions restrict. This user becomes the owner of the
    /// repository and the home directory.
    pub(crate) fn as_nobody<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        if fs::metadata(self.path("")).expect("the metadata can be read").uid() == 0 {
            for directory in ["repo", "home", "tmp"] {
                let directory = self.root.join(directory);
                let given = Command::new("chown").args(["-hR", &format!("{NOBODY}:{NOBODY}")]).arg(directory).status();
                assert!(given.is_ok_and(|status| status.success()), "chown failed");
            }
        }
        if fs::metadata(self.root.join("canary")).expect("the metadata can be read").uid() == 0 {
            command.uid(NOBODY).gid(NOBODY);
        }
        command
    }

    /// Records everything that a run must not change: the files outside the repository and the home directory, and the
    /// sources.
    pub(crate) fn record(&self) -> [Record; 2] {
        let free = ["repo", "home", "tmp"].map(|name| self.root.join(name));
        let indexes = [".aurora", "src/.aurora"].map(|name| self.path(name));
        [Record::take(&self.root, &free), Record::take(&self.path(""), &indexes)]
    }

    /// Returns the files that are left in the directory of temporary files.
    pub(crate) fn left_over(&self) -> Vec<String> {
        let entries = fs::read_dir(self.root.join("tmp")).into_iter().flatten().flatten();
        entries.map(|entry| format!("{} was left", entry.path().display())).collect()
    }
}

/// Copies a tree with links, permissions and times, except the paths in `without` and everything below them.
fn copy(from: &Path, to: &Path, without: &[PathBuf]) {
    for entry in fs::read_dir(from).expect("the directory can be read").flatten() {
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        if without.contains(&source) {
            continue;
        }
        let metadata = source.symlink_metadata().expect("the metadata can be read");
        if metadata.is_symlink() {
            symlink(fs::read_link(source).expect("the link can be read"), target).expect("the link can be created");
            continue;
        }
        if metadata.is_dir() {
            fs::create_dir(&target).expect("the directory can be created");
            copy(&source, &target, without);
            continue;
        }
        fs::copy(&source, &target).expect("the file can be copied");
        let copied = fs::File::options().append(true).open(&target).expect("the file can be opened");
        copied
            .set_modified(metadata.modified().expect("the modification time is available"))
            .expect("the modification time can be set");
    }
}
