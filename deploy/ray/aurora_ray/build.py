"""The driver of a run: a work queue of repositories and of the shards of each repository."""

import json
import os
import pathlib
import shutil
import tempfile
import time
from collections import deque
from dataclasses import asdict, dataclass, field

import ray

from . import tasks
from .tasks import BuildError, Killed, Plan, Settings, Source, Usage, printable

RESULTS = "results.json"
# Time in seconds that cancelled tasks have to end.
CANCEL_TIMEOUT = 2 * tasks.GRACE


@dataclass
class Repository:
    """The state of a repository during a run."""

    source: Source
    outcome: str = "failed"
    message: str | None = None
    plan: Plan | None = None
    # The tasks that have not ended, and the parts, by the number of the shard. The task that exports the index has
    # number 0.
    running: dict = field(default_factory=dict)
    parts: dict = field(default_factory=dict)
    used: dict[int, Usage] = field(default_factory=dict)

    def result(self) -> dict:
        """Returns the entry of the file of results."""
        shards = {number: asdict(used) for number, used in sorted(self.used.items()) if number}
        export = asdict(self.used[0]) if 0 in self.used else None
        commit, size = (self.plan.commit, self.plan.bytes) if self.plan else (None, None)
        key = {"outcome": self.outcome, "message": self.message, "commit": commit, "bytes": size}
        return {**key, "shards": shards, "export": export}


class Build:
    """A run over several repositories."""

    def __init__(
        self, sources: list[Source], output: pathlib.Path, settings: Settings, *, cpus=1, retries=3, force=False, log=print
    ):
        self.queue = deque(sources)
        self.output = output
        self.settings = settings
        self.force = force
        self.log = log
        self.repositories = {source.name: Repository(source) for source in sources}
        # The repository and the number of each running task. The plan has the number -1.
        self.pending: dict = {}
        self.begin = time.monotonic()
        # Ray repeats a task whose worker or machine has died, and computes parts again that were lost with a machine.
        options = {"num_cpus": cpus, "max_retries": retries, "retry_exceptions": [Killed], "scheduling_strategy": "SPREAD"}
        self.plan = ray.remote(**options)(tasks.plan)
        self.shard = ray.remote(**options, num_returns=2)(tasks.index_shard)
        self.clone = ray.remote(**options, num_returns=2)(tasks.index_clone)
        self.merge = ray.remote(**options, num_returns=2)(tasks.merge_parts)
        self.cpus = cpus

    def run(self) -> dict[str, dict]:
        """Builds all repositories. Returns the results by name, and writes them to the output directory."""
        ray.cloudpickle.register_pickle_by_value(tasks)
        try:
            while self.queue or self.pending:
                self.start_repositories()
                done, _ = ray.wait(list(self.pending), timeout=60)
                for reference in done:
                    self.finish(reference)
        except BaseException:
            self.cancel(list(self.pending))
            raise
        finally:
            self.write_results()
        return {name: each.result() for name, each in self.repositories.items()}

    def start_repositories(self):
        """Starts repositories while the cluster has room for more tasks."""
        # Twice the number of tasks that can run, so that no machine waits for this process.
        limit = 2 * max(int(ray.cluster_resources().get("CPU", 0) // self.cpus), 1)
        while self.queue and len(self.pending) < limit:
            source = self.queue.popleft()
            self.pending[self.plan.remote(source, self.settings)] = (self.repositories[source.name], -1)

    def finish(self, reference):
        """Handles the end of a task."""
        repository, number = self.pending.pop(reference)
        try:
            result = ray.get(reference)
            if number == -1:
                self.start_shards(repository, result)
            elif number:
                self.finish_shard(repository, number, result)
            else:
                self.finish_repository(repository, result)
        except (BuildError, Killed, OSError, ray.exceptions.RayError) as error:
            self.fail(repository, number, error)

    def start_shards(self, repository: Repository, planned: Plan):
        """Starts the shards of a repository, unless its index was built from the same input."""
        repository.plan = planned
        index, key = self.files(repository)
        if not self.force and index.is_file() and key.is_file() and key.read_text() == planned.key:
            repository.outcome = "unchanged"
            self.say(repository, "unchanged")
            return
        self.say(repository, f"{planned.bytes:,} bytes, {counted(planned.shards, 'shard')}")
        if planned.shards == 1 and repository.source.url:
            # A clone belongs to this program, so its index can be built in it, without a merge.
            used, exported = self.clone.remote(repository.source, planned, self.force, self.settings)
            repository.parts[0] = exported
            self.track(repository, 0, used)
            return
        for number in range(1, planned.shards + 1):
            used, part = self.shard.remote(repository.source, planned, number, self.settings)
            repository.parts[number] = part
            self.track(repository, number, used)

    def finish_shard(self, repository: Repository, number: int, used: Usage):
        repository.used[number] = used
        del repository.running[number]
        done = f"{repository.plan.shards - len(repository.running)} of {repository.plan.shards}"
        self.say(repository, f"shard {number} indexed on {used.node}, {used.cpu:.1f} s CPU, {used.bytes:,} bytes ({done})")
        if not repository.running:
            used, exported = self.merge.remote([repository.parts.pop(key) for key in sorted(repository.parts)], self.settings)
            repository.parts[0] = exported
            self.track(repository, 0, used)

    def finish_repository(self, repository: Repository, used: Usage):
        repository.used[0] = used
        reports = [each.report for each in repository.used.values() if each.report]
        index, key = self.files(repository)
        key.unlink(missing_ok=True)
        write_atomically(index, ray.get(repository.parts.pop(0)))
        if repository.plan.key and not reports:
            write_atomically(key, repository.plan.key.encode())
        repository.outcome, repository.message = "incomplete" if reports else "indexed", reports[0] if reports else None
        cpu = sum(each.cpu for each in repository.used.values())
        self.say(repository, f"done, {cpu:.1f} s CPU" + (f"; {reports[0]}" if reports else ""))
        self.write_results()

    def files(self, repository: Repository) -> list[pathlib.Path]:
        """Returns the paths of the index and of the key of what it was built from."""
        return [self.output / f"{repository.source.name}.{extension}" for extension in ("aur", "key")]

    def track(self, repository: Repository, number: int, reference):
        repository.running[number] = reference
        self.pending[reference] = (repository, number)

    def fail(self, repository: Repository, number: int, error: Exception):
        """Records a failure and cancels the other tasks of the repository. The other repositories continue."""
        cause = error.cause if isinstance(error, ray.exceptions.RayTaskError) else error
        what = {-1: "inspection", 0: "merge" if repository.used else "index"}.get(number, f"shard {number}")
        text = str(cause) if isinstance(cause, (BuildError, Killed, OSError)) else f"{type(cause).__name__}: {cause}"
        repository.message = printable(f"{what}: " + "; ".join(text.split("\n")[:3]))[: tasks.MAX_MESSAGE]
        repository.parts.clear()
        running = [reference for reference in repository.running.values() if reference in self.pending]
        repository.running.clear()
        for reference in running:
            del self.pending[reference]
            ray.cancel(reference)
        self.say(repository, f"failed: {repository.message}")
        self.write_results()

    def cancel(self, references: list):
        """Cancels tasks and waits until they have removed their temporary files."""
        for reference in references:
            ray.cancel(reference)
        if references:
            ray.wait(references, num_returns=len(references), timeout=CANCEL_TIMEOUT)

    def say(self, repository: Repository, text: str):
        self.log(f"[{time.monotonic() - self.begin:7.1f} s] {repository.source.name}: {text}")

    def write_results(self):
        """Writes the results of all repositories. A repository that has not finished counts as failed."""
        results = {name: each.result() for name, each in self.repositories.items()}
        write_atomically(self.output / RESULTS, json.dumps(results, indent=2).encode())


def build(sources: list[Source], output: pathlib.Path, settings: Settings, **options) -> dict[str, dict]:
    """Builds repositories on the connected cluster. Removes its files in the shared directory at the end."""
    output.mkdir(parents=True, exist_ok=True)
    if settings.shared is None:
        return Build(sources, output, settings, **options).run()
    with tempfile.TemporaryDirectory(prefix=tasks.SCRATCH, dir=settings.shared) as shared:
        return Build(sources, output, Settings(**{**vars(settings), "shared": shared}), **options).run()


def write_atomically(target: pathlib.Path, content: bytes | str):
    """Replaces a file by bytes, or by a copy of the file at a path."""
    temporary = target.parent / f".{target.name}.{os.getpid()}"
    try:
        with temporary.open("wb") as out:
            if isinstance(content, str):
                with open(content, "rb") as read:
                    shutil.copyfileobj(read, out, 1 << 20)
            else:
                out.write(content)
            out.flush()
            os.fsync(out.fileno())
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def counted(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")
