"""Runs programs that index directories and answer questions about them."""

import json
import os
import subprocess
import tempfile
from pathlib import Path

from trees import copy


class Program:
    """A program with its own index of a copy of a directory, and a temporary user directory."""

    def __init__(self, path, directory):
        self.path, self.directory = Path(path).resolve(), directory
        self.temporary = tempfile.TemporaryDirectory(prefix="aurora-finding-")
        work = Path(self.temporary.name)
        self.environment = {**os.environ, "HOME": str(work / "home"), "AURORA_HOME": str(work / "home/.aurora")}
        (work / "home").mkdir()
        self.tree = work / Path(directory).resolve().name

    def __enter__(self):
        copy(self.directory, self.tree)
        self.call("index", str(self.tree), "--quiet", accepted=(0, 1))
        return self

    def __exit__(self, *_):
        self.temporary.cleanup()

    def call(self, *arguments, accepted=(0,), **options):
        command = [str(self.path), "mem", *arguments]
        done = subprocess.run(command, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)
        if done.returncode not in accepted:
            raise SystemExit(f"{command} failed with exit code {done.returncode}:\n{done.stderr}")
        return done.stdout

    def skipped(self):
        """Returns files and directories that are not in the index."""
        return {entry["path"] for entry in json.loads(self.call("stats", "--skipped", "--format", "json", "--root", str(self.tree)))["entries"]}

    def ask(self, queries, limit):
        """Returns the results of every query, best first."""
        options = ["--stdin", "--format", "jsonl", "--snippets=0", "--no-record", "--limit", str(limit), "--root", str(self.tree)]
        lines = "".join(query + "\n" for query in queries)
        answers = [json.loads(line) for line in self.call("search", *options, input=lines).splitlines()]
        if len(answers) != len(queries):
            raise SystemExit(f"{self.path} gives {len(answers)} answers to {len(queries)} queries")
        return [answer.get("results") or [] for answer in answers]


def shown(result):
    """Formats a result in one line."""
    return f"{result['file']}:{result['line_start']}-{result['line_end']} {result['type']} {result.get('name') or ''}".rstrip()
