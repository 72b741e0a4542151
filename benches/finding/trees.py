"""Copies checked-out repositories, and reads their files line by line."""

import os
import re
import subprocess
from pathlib import Path

# Maximum size of a file that is read, in bytes.
MAX_FILE = 512 * 1024
# Extensions of source code.
SOURCE = set(
    "c cc cpp cxx h hh hpp cs ex exs go java kt kts js mjs cjs jsx ts tsx mts cts php py pyi rb rs scala swift sh bash lua pl pm dart "
    "hs zig m mm groovy".split()
)
# Files that an index may omit: media, keys, lock files, dumps.
NO_TEXT = re.compile(
    r"\.(?:png|jpe?g|gif|svg|ico|pdf|gz|zip|tar|jar|p12|jks|pem|key|crt|csr|cer|snk|der|lock|sum|snap|map|woff2?|ttf|eot|patch|diff)$"
    r"|\.min\.\w+$|(?:^|/)(?:package-lock\.json|pnpm-lock\.yaml|npm-shrinkwrap\.json|\.git\w+|\.mailmap|\.\w*ignore)$"
)
FOREIGN = {"node_modules", "third_party", "third-party", "vendor", "vendored", "dist", "__snapshots__"}
TEST_PART = re.compile(r"(?:^|[-_.])(?:tests?|specs?|__tests__|testing|e2e|testdata|runtime-tests)(?:$|[-_.])|(?-i:(?:Tests?|Specs?)$)", re.I)
TEST_NAME = re.compile(r"(?:^tests?[-_.]|[-_.](?:tests?|spec)(?:[-_.]|$)|[a-z0-9](?:Tests?|Specs?|TestCase)\.\w+$)")
RUST_TESTS = re.compile(r"^[ \t]*#\[cfg\((?:all\()?test\b.*\n(?:[ \t]*#\[.*\n)*[ \t]*(?:pub )?mod \w+ \{", re.M)


def git(directory, *arguments, check=True, **options):
    """Runs a git command and returns its output."""
    command = ["git", "-C", str(directory), *arguments]
    return subprocess.run(command, check=check, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options).stdout


def copy(directory, target):
    """Copies the checked-out commit with its history, except files that a partial clone lacks."""
    source = Path(directory).resolve()
    git(source, "clone", "--quiet", "--shared", "--no-checkout", str(source), str(target))
    git(target, "read-tree", "HEAD")
    git(target, "checkout-index", "--all", "--quiet", check=False)


def is_test(path):
    """Whether the path of a file shows that it belongs to tests."""
    *directories, name = path.split("/")
    return any(TEST_PART.search(part) for part in directories) or bool(TEST_NAME.search(name))


class File:
    """A text file with its lines, and the number of the first line of test code."""

    def __init__(self, path, text):
        self.path, self.text = path, text
        self.lines = text.split("\n")
        self.extension = path.rsplit(".", 1)[-1] if "." in path else ""
        self.tests_from = 1 if is_test(path) else self.inline_tests()

    def inline_tests(self):
        """Returns the number of the first line of the test module in a Rust file."""
        mark = RUST_TESTS.search(self.text) if self.extension == "rs" else None
        return self.text.count("\n", 0, mark.start()) + 1 if mark else len(self.lines) + 1

    def is_test(self, line):
        return line >= self.tests_from

    @property
    def is_source(self):
        return self.extension in SOURCE


class Tree:
    """The files of the checked-out commit in a directory; `copies` is a subdirectory that is excluded from questions."""

    def __init__(self, directory, copies=None):
        self.directory, self.copies = Path(directory), copies
        self.name = self.directory.resolve().name
        self.commit = git(directory, "rev-parse", "HEAD").decode().strip()
        self.paths = git(directory, "ls-files", "-z").decode(errors="replace").split("\0")[:-1]
        # All text files that are not too large. A text is unique if it occurs once in these files.
        self.files = [file for file in map(self.read, self.paths) if file]

    def read(self, path):
        full = self.directory / path
        if full.is_symlink() or not full.is_file() or full.stat().st_size > MAX_FILE:
            return None
        try:
            text = full.read_bytes().decode("utf-8")
        except UnicodeDecodeError:
            return None
        return None if "\0" in text else File(path, text.replace("\r\n", "\n"))

    @property
    def question_files(self):
        """Returns the files about which questions are drawn."""
        return [file for file in self.files if is_question_file(file.path) and not (self.copies and file.path.startswith(self.copies + "/"))]


def is_question_file(path):
    """Whether questions may be drawn about a file."""
    return not NO_TEXT.search(path) and not FOREIGN.intersection(path.split("/")) and os.path.basename(path) != "LICENSE"
