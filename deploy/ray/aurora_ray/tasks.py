"""Tasks that run on the machines of a cluster.

Ray sends this module to the workers, so a machine needs only Ray, git and `aur`. The module imports nothing else of
this package.
"""

import fcntl
import hashlib
import os
import pathlib
import re
import resource
import shutil
import signal
import socket
import subprocess
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass

# Transports that git may use; others can run any program.
TRANSPORTS = "https:http:ssh:git:file"
# Number of bytes of an error output that are read.
MAX_ERROR_BYTES = 64 << 10
# Maximum length of a message about a failure, in characters.
MAX_MESSAGE = 500
# Time in seconds that a cancelled process has to end cleanly.
GRACE = 10
# Prefix of the temporary directories of tasks.
SCRATCH = "aurora-ray-"


class BuildError(Exception):
    """A failure that a repetition does not repair, with a message for people."""


class Killed(Exception):
    """The end of a process by a signal, for example because the machine had too little memory."""


@dataclass(frozen=True)
class Settings:
    """Settings of all tasks of a run."""

    aur: str = "aur"
    options: tuple[str, ...] = ()
    # Directory for clones on each machine.
    cache: str = ""
    # Directory that all machines share, for parts larger than `max_object` bytes.
    shared: str | None = None
    max_object: int = 256 << 20
    # Size of the files of one shard, in bytes.
    shard_size: int = 64 << 20
    max_shards: int = 64


@dataclass(frozen=True)
class Source:
    """A repository: a directory that all machines share, or a URL."""

    name: str
    path: str | None = None
    url: str | None = None
    branch: str | None = None


@dataclass(frozen=True)
class Plan:
    """The result of inspecting a repository."""

    commit: str | None
    bytes: int
    shards: int
    # Digest of everything that determines the index, or `None` if uncommitted changes do as well.
    key: str | None = None


@dataclass(frozen=True)
class Usage:
    """What a task used and wrote."""

    node: str
    # User and system time of the processes of `aur`, in seconds.
    cpu: float
    # Maximum resident memory of one process, in bytes.
    memory: int
    bytes: int
    # Something that `aur` reports although it succeeded.
    report: str | None = None


def plan(source: Source, settings: Settings) -> Plan:
    """Fetches a repository and chooses the number of its shards."""
    with scratch() as temporary, checkout(source, None, settings, temporary) as (root, commit):
        size = tree_size(root)
        shards = min(max(-(-size // settings.shard_size), 1), settings.max_shards)
        return Plan(commit, size, shards, key_of(root, commit, settings, temporary))


def key_of(root: pathlib.Path, commit: str | None, settings: Settings, temporary: pathlib.Path) -> str | None:
    """Returns a digest of the commit, the program, the options, and the pipeline files, or `None` if it is not known."""
    status = ["git", "--no-optional-locks", "-C", str(root), "status", "--porcelain", "--untracked-files=normal"]
    program = shutil.which(settings.aur)
    if commit is None or program is None or run(status, temporary, stdout=True) != (0, ""):
        return None
    pipelines = [option.partition("=")[2] for option in settings.options]
    files = [program, *sorted((root / ".aurora").glob("*.toml")), *filter(os.path.isfile, pipelines)]
    parts = [commit, *settings.options]
    for path in files:
        with open(path, "rb") as file:
            parts.append(hashlib.file_digest(file, "sha256").hexdigest())
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def index_shard(source: Source, planned: Plan, number: int, settings: Settings):
    """Indexes one shard. Returns the usage and the part: its bytes, or its path in the shared directory."""
    with scratch() as temporary, checkout(source, planned.commit, settings, temporary) as (root, _):
        part = temporary / "part"
        # The tasks on a machine share the walk over the history.
        history = cache_of(settings) / f".{source.name}.history"
        shard = ["--shard", f"{number}/{planned.shards}", "--output", str(part), "--history", str(history)]
        before = times()
        report = index(root, shard, settings, temporary)
        return usage(before, part, report), handed_over(part, settings)


def index_clone(source: Source, planned: Plan, force: bool, settings: Settings):
    """Indexes a clone and exports the index. Returns the usage and the exported index, like `merge_parts`.

    The index stays in the clone, and later runs on this machine update it.
    """
    with scratch() as temporary, checkout(source, planned.commit, settings, temporary) as (root, _):
        exported = temporary / "index.aur"
        before = times()
        report = index(root, ["--force"] if force else [], settings, temporary)
        # The run has replaced an index that it did not trust, but cannot record its own without a writable home.
        trusting = {"AURORA_TRUST_INDEX": "1"}
        aur(settings, ["export", "--root", str(root), str(exported)], temporary, trusting)
        return usage(before, exported, report), handed_over(exported, settings)


def index(root: pathlib.Path, arguments: list[str], settings: Settings, temporary: pathlib.Path) -> str | None:
    """Indexes a directory. Returns what `aur` reports if it exits with 1."""
    options = ["--quiet", *settings.options, *arguments, "--", str(root)]
    return aur(settings, ["index", *options], temporary, allowed=(0, 1))


def aur(settings: Settings, arguments: list[str], temporary: pathlib.Path, environment=None, allowed=(0,)) -> str | None:
    """Runs a command of `aur mem`. Returns its errors if the exit code is not 0."""
    command = [settings.aur, "mem", arguments[0], "--color", "never", *arguments[1:]]
    code, message = run(command, temporary, environment)
    if code not in allowed:
        raise BuildError(message or f"aur mem {arguments[0]} ended with exit code {code}")
    return message if code else None


def merge_parts(parts: list, settings: Settings):
    """Merges all parts of a repository. Returns the usage and the exported index, like `index_shard`."""
    import ray

    with scratch() as temporary:
        files = []
        for number, reference in enumerate(parts):
            part = ray.get(reference)
            if isinstance(part, str):
                files.append(part)
                continue
            files.append(str(temporary / f"{number}.part"))
            pathlib.Path(files[-1]).write_bytes(part)
            del part
        root, exported = temporary / "root", temporary / "index.aur"
        root.mkdir()
        before = times()
        # The merged index is temporary, so the user's list of indexes must not contain it.
        home = {"AURORA_HOME": str(temporary / "home")}
        for arguments in (["merge", "--root", str(root), *files], ["export", "--root", str(root), str(exported)]):
            aur(settings, arguments, temporary, home)
        return usage(before, exported), handed_over(exported, settings)


@contextmanager
def scratch():
    """Yields a temporary directory, and removes those of tasks that were killed on this machine."""
    parent = pathlib.Path(tempfile.gettempdir())
    for directory in parent.glob(f"{SCRATCH}{os.getuid()}-*"):
        try:
            with locked(directory / "lock", fcntl.LOCK_EX | fcntl.LOCK_NB, create=False):
                shutil.rmtree(directory, ignore_errors=True)
        except OSError:
            pass  # Another task uses it, or has just removed it.
    directory = pathlib.Path(tempfile.mkdtemp(prefix=f"{SCRATCH}{os.getuid()}-"))
    try:
        # Others see the lock only when it is held.
        with locked(directory / "new", fcntl.LOCK_EX):
            (directory / "new").rename(directory / "lock")
            yield directory
    finally:
        shutil.rmtree(directory, ignore_errors=True)


@contextmanager
def locked(path: pathlib.Path, kind: int, create: bool = True):
    """Holds a lock that ends with the process. Yields the file descriptor."""
    descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | (os.O_CREAT if create else 0), 0o600)
    try:
        fcntl.flock(descriptor, kind)
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def checkout(source: Source, commit: str | None, settings: Settings, temporary: pathlib.Path):
    """Yields the directory of a repository and its commit. A clone does not change while it is used.

    With a commit, a clone is at this commit; a directory must be at this commit.
    """
    if source.path is not None:
        root = pathlib.Path(source.path)
        if not root.is_dir():
            raise BuildError(f"{root} is not a directory on {socket.gethostname()}")
        code, out = run(["git", "-C", str(root), "rev-parse", "--verify", "HEAD"], temporary, stdout=True)
        found = out.strip() if code == 0 else None
        if commit is not None and found != commit:
            raise BuildError(f"{root} is at commit {found} on {socket.gethostname()}, and not at {commit}")
        yield root, found
        return
    cache = cache_of(settings)
    root = cache / source.name
    with locked(cache / f".{source.name}.lock", fcntl.LOCK_EX) as lock:
        found = fetch(source, commit, root, temporary)
        # Others may use the clone, and none may change it.
        fcntl.flock(lock, fcntl.LOCK_SH)
        yield root, found


def cache_of(settings: Settings) -> pathlib.Path:
    """Returns the directory for clones on this machine, and creates it."""
    cache = pathlib.Path(settings.cache or os.path.expanduser("~/.cache/aurora-ray"))
    cache.mkdir(mode=0o700, parents=True, exist_ok=True)
    return cache


def fetch(source: Source, commit: str | None, root: pathlib.Path, temporary: pathlib.Path) -> str:
    """Fetches a repository and checks out `commit`, or the head of the branch. Returns the commit."""
    environment = {"GIT_ALLOW_PROTOCOL": TRANSPORTS, "GIT_TERMINAL_PROMPT": "0"}
    environment["GIT_SSH_COMMAND"] = os.environ.get("GIT_SSH_COMMAND", "ssh -oBatchMode=yes")

    def git(*arguments: str) -> str:
        options = ["-c", "core.hooksPath=/dev/null", "-c", "protocol.ext.allow=never"]
        code, out = run(["git", "-C", str(root), *options, *arguments], temporary, environment, stdout=True)
        if code:
            raise BuildError(out or f"git ended with exit code {code}")
        return out.strip()

    root.mkdir(mode=0o700, exist_ok=True)
    if not (root / ".git").exists():
        git("init", "--quiet")
    wanted = commit and run(["git", "-C", str(root), "cat-file", "-e", f"{commit}^{{commit}}"], temporary)[0] == 0
    if not wanted:
        reference = f"refs/heads/{source.branch}" if source.branch else "HEAD"
        fetched = ["--quiet", "--force", "--no-tags", "--no-recurse-submodules", "--", source.url]
        git("fetch", *fetched, f"+{reference}:refs/aurora/head")
    git("checkout", "--quiet", "--force", "--detach", commit or "refs/aurora/head")
    git("clean", "--quiet", "--force", "-d", "--exclude=.aurora")
    return git("rev-parse", "HEAD")


def tree_size(root: pathlib.Path) -> int:
    """Returns the size of all files in bytes, without `.git` and `.aurora`."""
    total = 0
    for directory, directories, files in os.walk(root):
        directories[:] = [name for name in directories if name not in (".git", ".aurora")]
        for name in files:
            try:
                total += os.lstat(os.path.join(directory, name)).st_size
            except OSError:
                pass  # `aur` reports files that it cannot read.
    return total


def run(command: list[str], temporary: pathlib.Path, environment: dict | None = None, stdout: bool = False):
    """Runs a program without a shell. Returns its exit code, and its standard output or the end of its errors.

    If the worker is killed, the kernel kills the program too. If the task is cancelled, the program may end cleanly.
    """
    variables = {**os.environ, "TMPDIR": str(temporary), "LC_ALL": "C", **(environment or {})}
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        variables.pop(name, None)
    setpriv = shutil.which("setpriv")
    guarded = [setpriv, "--pdeathsig", "KILL", *command] if setpriv else command
    with tempfile.TemporaryFile(dir=temporary) as out, tempfile.TemporaryFile(dir=temporary) as err:
        if setpriv and not shutil.which(command[0]):
            raise BuildError(f"{command[0]} is not installed on {socket.gethostname()}")
        try:
            process = subprocess.Popen(guarded, stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=variables)
        except OSError as error:
            raise BuildError(f"cannot run {command[0]} on {socket.gethostname()}: {error.strerror}") from None
        try:
            process.wait()
        except BaseException:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(GRACE)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            raise
        message = error_message(err)
        if process.returncode < 0:
            name = signal.Signals(-process.returncode).name
            raise Killed(f"{command[0]} was killed by {name} on {socket.gethostname()}")
        if stdout and process.returncode == 0:
            out.seek(0)
            return 0, out.read(MAX_ERROR_BYTES).decode(errors="replace")
        return process.returncode, message


def error_message(file) -> str:
    """Returns the last lines of an error output, without control characters."""
    file.seek(max(file.seek(0, os.SEEK_END) - MAX_ERROR_BYTES, 0))
    lines = [line.strip() for line in file.read().decode(errors="replace").splitlines() if line.strip()]
    return printable("; ".join(lines[-5:]))[-MAX_MESSAGE:]


def printable(text: str) -> str:
    """Replaces control characters, invisible characters and passwords in URLs."""
    text = re.sub(r"://[^/\s@]*@", "://…@", text)
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text)


def handed_over(file: pathlib.Path, settings: Settings):
    """Returns the bytes of a file, or its path in the shared directory if it is large."""
    if settings.shared is None or file.stat().st_size <= settings.max_object:
        return file.read_bytes()
    # A repetition of this task writes another file. The driver removes the directory at the end of the run.
    descriptor, target = tempfile.mkstemp(dir=settings.shared, suffix=".part")
    with os.fdopen(descriptor, "wb") as out, file.open("rb") as read:
        shutil.copyfileobj(read, out, 1 << 20)
        out.flush()
        os.fsync(out.fileno())
    return target


def times() -> float:
    """Returns the processor time of the ended child processes, in seconds."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def usage(before: float, file: pathlib.Path, report: str | None = None) -> Usage:
    """Returns what this task has used since `before`."""
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    return Usage(socket.gethostname(), times() - before, memory, file.stat().st_size, report)
