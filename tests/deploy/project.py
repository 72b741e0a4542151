"""A repository and runs of `aur` for the tests of `deploy`. The variable `AUR` names the program."""

import hashlib
import os
import pathlib
import subprocess
import tempfile
import unittest

DEPLOY = pathlib.Path(__file__).resolve().parents[2] / "deploy"
AUR = os.environ["AUR"]


class ProjectTest(unittest.TestCase):
    """A test with a temporary directory and a home directory of `aur`."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)
        self.bin = self.directory / "bin"
        self.bin.mkdir()
        self.program("aur", f'exec {AUR} "$@"')
        path = f"{self.bin}{os.pathsep}{os.environ['PATH']}"
        self.variables = {"PATH": path, "HOME": str(self.directory / "home"), "TMPDIR": str(self.directory)}
        (self.directory / "home").mkdir()

    def program(self, name, script):
        """Writes a shell script to the directory of programs."""
        (self.bin / name).write_text(f"#!/bin/sh\n{script}\n")
        (self.bin / name).chmod(0o755)

    def repository(self, name, files):
        """Creates a repository with a commit for every eight files. Returns its directory and the last commit."""
        root = self.directory / name
        subprocess.run(["git", "init", "--quiet", "--initial-branch=main", str(root)], check=True)
        (root / ".gitignore").write_text(".aurora/\n")
        for number in range(files):
            words = [hashlib.sha256(f"{name} {number} {each}".encode()).hexdigest() for each in range(20)]
            functions = [f"def retry_{word[:20]}(call):\n    return call({word[20:]!r})\n" for word in words]
            (root / f"module_{number}.py").write_text("\n".join(functions))
            if number % 8 == 0 or number == files - 1:
                commit = self.commit(root, f"Add {number}")
        return root, commit

    def commit(self, root, subject):
        git = ["git", "-C", str(root), "-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
        subprocess.run([*git, "add", "."], check=True)
        subprocess.run([*git, "commit", "--quiet", "-m", subject], check=True)
        return subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()

    def run_aur(self, *arguments):
        """Runs `aur`, which must succeed, and returns its output."""
        ended = subprocess.run([AUR, *arguments], env=self.variables, capture_output=True, text=True)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        return ended.stdout

    def digest_of_single_run(self, root):
        self.run_aur("mem", "index", "--quiet", str(root))
        return self.run_aur("mem", "verify", "--digest", "--root", str(root))

    def digest_of_export(self, file):
        root = tempfile.mkdtemp(dir=self.directory)
        self.run_aur("mem", "import", str(file), "--root", root)
        return self.run_aur("mem", "verify", "--digest", "--root", root)
