"""Builds on a local cluster of several nodes. The variable `AUR` names the program."""

import hashlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from unittest import mock

from aurora_ray import tasks

os.environ["RAY_USAGE_STATS_ENABLED"] = "0"

AUR = shutil.which(os.environ.get("AUR", "aur"))
PACKAGE = pathlib.Path(__file__).resolve().parents[1]
# Logs each run with the node, so that a test can kill a node while it indexes a shard.
WRAPPER = """#!/bin/sh
echo "start $RAY_RAYLET_PID $*" >> '{log}'
case "$*" in *--shard*) sleep 1 ;; esac
'{aur}' "$@"
code=$?
echo "end $RAY_RAYLET_PID $*" >> '{log}'
exit $code
"""
FILES = 60


def kill_with_children(process):
    """Kills a process and its child processes, as the end of a machine does."""
    children = [path.parent for path in pathlib.Path("/proc").glob("[0-9]*/stat") if parent_of(path) == process]
    os.kill(process, signal.SIGKILL)
    for child in children:
        os.kill(int(child.name), signal.SIGKILL)


def parent_of(stat):
    try:
        return int(stat.read_text().rpartition(")")[2].split()[1])
    except OSError:
        return None


@unittest.skipUnless(AUR, "AUR does not name a program")
class OnACluster(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        from ray.cluster_utils import Cluster

        directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(directory.cleanup)
        cls.directory = pathlib.Path(directory.name)
        cls.log = cls.directory / "log"
        cls.aur = cls.directory / "aur"
        cls.aur.write_text(WRAPPER.format(log=cls.log, aur=AUR))
        cls.aur.chmod(0o755)
        cls.large = cls.repository("large", FILES)
        cls.small = cls.repository("small", 3)
        cls.variables = {**os.environ, "AURORA_HOME": str(cls.directory / "home"), "PYTHONPATH": str(PACKAGE)}
        cls.variables["TMPDIR"] = str(cls.directory / "tmp")
        (cls.directory / "tmp").mkdir()
        # The paths of sockets have a maximum length.
        sockets = tempfile.TemporaryDirectory(prefix="ray-", dir="/tmp")
        cls.addClassCleanup(sockets.cleanup)
        cls.variables["RAY_TMPDIR"] = sockets.name
        os.environ.update({name: cls.variables[name] for name in ("AURORA_HOME", "TMPDIR", "RAY_TMPDIR")})
        cls.cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
        cls.addClassCleanup(cls.cluster.shutdown)
        for _ in range(3):
            cls.cluster.add_node(num_cpus=1)

    @classmethod
    def repository(cls, name, files):
        root = cls.directory / name
        git = ["git", "-C", str(root), "-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
        subprocess.run(["git", "init", "--quiet", str(root)], check=True)
        (root / ".gitignore").write_text(".aurora/\n")
        for number in range(files):
            words = [hashlib.sha256(f"{number} {each}".encode()).hexdigest() for each in range(200)]
            functions = [f"def retry_{word[:20]}(call):\n    return call({word[20:]!r})\n" for word in words]
            (root / f"module_{number}.py").write_text("\n".join(functions))
            if number % 20 == 0 or number == files - 1:
                subprocess.run([*git, "add", "."], check=True)
                subprocess.run([*git, "commit", "--quiet", "-m", f"Add {number}"], check=True)
        return root

    def setUp(self):
        self.log.write_text("")
        self.output = pathlib.Path(tempfile.mkdtemp(dir=self.directory))

    def start(self, *arguments):
        common = ["--address", self.cluster.address, "--aur", str(self.aur), "--output", str(self.output)]
        command = [sys.executable, "-m", "aurora_ray", *map(str, arguments), *common]
        process = subprocess.Popen(command, env=self.variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.addCleanup(process.stdout.close)
        return process

    def wait_for(self, found):
        """Waits until the log of runs satisfies a condition, and returns the result of the condition."""
        end = time.monotonic() + 120
        while time.monotonic() < end:
            if value := found([line.split() for line in self.log.read_text().splitlines()]):
                return value
            time.sleep(0.05)
        self.fail(f"the expected runs did not happen: {self.log.read_text()}")

    def assert_equals_a_single_run(self, root):
        """Asserts that the result has the digest of an index that one process has built."""
        for arguments in (["index", "--quiet", str(root)], ["verify", "--digest", "--root", str(root)]):
            single = subprocess.run([AUR, "mem", *arguments], env=self.variables, check=True, capture_output=True).stdout
        imported = pathlib.Path(tempfile.mkdtemp(dir=self.directory))
        file = self.output / f"{root.name}.aur"
        for arguments in (["import", str(file), "--root", str(imported)], ["verify", "--digest", "--root", str(imported)]):
            merged = subprocess.run([AUR, "mem", *arguments], env=self.variables, check=True, capture_output=True).stdout
        self.assertEqual(merged, single)

    def assert_no_temporary_files(self):
        self.assertEqual(list((self.directory / "tmp").glob("aurora-ray-*")), [])

    def test_a_node_that_is_killed_does_not_change_the_result(self):
        process = self.start(self.large, "--shard-size", "48KiB")

        def busy_node(lines):
            """Returns a node that has finished a shard, whose part it holds, and is indexing another one."""
            shards = [line for line in lines if "--shard" in line]
            nodes = {line[1] for line in shards if line[0] == "end"}
            counts = {node: [line[0] for line in shards if line[1] == node] for node in nodes}
            return next((node for node, found in counts.items() if found[-1] == "start"), None)

        node = int(self.wait_for(busy_node))
        kill_with_children(node)
        self.addCleanup(self.cluster.add_node, num_cpus=1)
        out = process.communicate(timeout=300)[0]
        self.assertEqual(process.returncode, 0, out)
        starts = [line for line in self.log.read_text().splitlines() if line.startswith("start") and "--shard" in line]
        result = json.loads((self.output / "results.json").read_text())["large"]
        shards = len(result["shards"])
        self.assertGreater(shards, 8)
        # Ray stores smaller parts in the process of the driver, where they cannot be lost.
        self.assertGreater(min(used["bytes"] for used in result["shards"].values()), 100 << 10)
        self.assertGreater(len(starts), shards, "no shard was repeated")
        self.assert_equals_a_single_run(self.large)

    def test_a_failed_repository_makes_the_exit_code_1_and_the_others_are_built(self):
        catalog = self.directory / "catalog.toml"
        catalog.write_text(
            f'[[repository]]\npath = "{self.small}"\n'
            f'[[repository]]\nurl = "file://{self.large}"\n'
            '[[repository]]\nurl = "file:///no/such/repository"\n'
        )
        shared = self.directory / "shared"
        shared.mkdir()
        cache = self.directory / "cache"
        options = ["--shard-size", "200KiB", "--shared", shared, "--max-object", "1KiB", "--cache", cache]
        process = self.start(catalog, *options)
        out = process.communicate(timeout=300)[0]
        self.assertEqual(process.returncode, 1, out)
        results = json.loads((self.output / "results.json").read_text())
        outcomes = {name: each["outcome"] for name, each in results.items()}
        self.assertEqual(outcomes, {"large": "indexed", "small": "indexed", "repository": "failed"})
        self.assertIn("/no/such/repository", results["repository"]["message"])
        self.assertEqual(list(shared.iterdir()), [])
        self.assert_equals_a_single_run(self.small)
        self.assert_equals_a_single_run(self.large)
        self.assert_no_temporary_files()

    def test_only_changed_repositories_are_built_in_the_next_run(self):
        first, second = self.repository("first", 3), self.repository("second", 3)
        catalog = self.directory / "nightly.toml"
        catalog.write_text(f'[[repository]]\npath = "{first}"\n[[repository]]\nurl = "file://{second}"\n')

        def built(*options):
            """Builds the catalogue, and returns the repositories that were not skipped."""
            process = self.start(catalog, "--cache", self.directory / "cache", *options)
            out = process.communicate(timeout=300)[0]
            self.assertEqual(process.returncode, 0, out)
            results = json.loads((self.output / "results.json").read_text())
            return {name for name, each in results.items() if each["outcome"] == "indexed"}

        self.assertEqual(built(), {"first", "second"})
        (second / "module_0.py").write_text("def changed():\n    return 1\n")
        git = ["git", "-C", str(second), "-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
        subprocess.run([*git, "commit", "--quiet", "-am", "Change"], check=True)
        self.assertEqual(built(), {"second"})
        self.assert_equals_a_single_run(second)
        # Changes that are not committed are indexed, too.
        (first / "module_0.py").write_text("def changed():\n    return 1\n")
        (self.output / "second.aur").unlink()
        self.assertEqual(built(), {"first", "second"})
        self.assert_equals_a_single_run(first)
        self.assertEqual(built("--force"), {"first", "second"})

    def test_a_clone_is_indexed_without_a_writable_home(self):
        settings = tasks.Settings(AUR, cache=str(self.directory / "private"))
        with mock.patch.dict(os.environ, {"AURORA_HOME": "/proc/none"}):
            for _ in range(2):
                source, planned = tasks.Source("small", url=f"file://{self.small}"), tasks.Plan(None, 0, 1)
                _, exported = tasks.index_clone(source, planned, False, settings)
                (self.output / "small.aur").write_bytes(exported)
                self.assert_equals_a_single_run(self.small)

    def test_an_interrupted_run_stops_its_programs_and_removes_its_files(self):
        process = self.start(self.large, "--shard-size", "48KiB")
        self.wait_for(lambda lines: any("--shard" in line for line in lines))
        process.send_signal(signal.SIGINT)
        out = process.communicate(timeout=60)[0]
        self.assertEqual(process.returncode, 130, out)
        self.assert_no_temporary_files()
        self.assertEqual([path.name for path in self.output.iterdir()], ["results.json"])
        runs = self.log.read_text()
        time.sleep(2)
        self.assertEqual(self.log.read_text(), runs, "a program runs after the end")

    def test_a_run_that_cannot_start_exits_with_2(self):
        for arguments in (["/no/such/catalog.toml"], [__file__], [self.small, "--group", "a"]):
            process = self.start(*arguments)
            out = process.communicate(timeout=60)[0]
            self.assertEqual(process.returncode, 2, out)
            self.assertNotIn("Traceback", out)


if __name__ == "__main__":
    unittest.main()
