"""Simulates a day of a team with custom stages on a repository, and checks that values of columns are never lost silently.

    python team_day.py AUR [REPOSITORY ...]

Each repository is cloned first. Without repositories, a small one is created. Two stages give every chunk a value: `owner` is computed from
the path, and `risk` comes from a service that may be down. During the day, files and stages are edited while `aur serve` and `aur mcp`
run, the service fails, the same user and another user clone the repository, and a CI job restores caches.

After each step, one of these must hold; anything else is a finding:
- every chunk has the current value of both columns;
- the command has ended with an exit code other than 0;
- the answer has a note that names the stage.

The exit code is 1 if there are findings.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

# Maximum number of seconds until a server notices a change.
PATIENCE = 120

OWNER = '''from aurora_stage import stage

VERSION = "{version}"


@stage
def owner(path):
    return VERSION + ":" + path.split("/")[0]
'''

RISK = '''import os
from aurora_stage import Retry, stage


@stage(batch=True)
def risk(text, config):
    if os.path.exists(config["down"]):
        raise Retry("the service does not answer")
    return [len(one) for one in text]
'''

PIPELINE = '''extends = "default"

[stage.owner]
use = "process"
command = ["python3", ".aurora/plugins/owner.py"]
reads = ["file.path"]
writes = {{ owner = "string" }}

[stage.risk]
use = "process"
command = ["python3", ".aurora/plugins/risk.py"]
reads = ["chunk.text"]
writes = {{ risk = "integer" }}
config = {{ down = {down} }}
'''


class Answer:
    """Result of a command or request: the exit code, the messages, and the JSON object if there is one."""

    def __init__(self, code, messages, value=None, out=""):
        self.code, self.messages, self.value, self.out = code, messages, value, out

    def announces(self, stage):
        return self.code != 0 or stage in self.messages


class User:
    """A user with a home directory, who runs `aur`."""

    def __init__(self, program, home):
        self.program, self.home = program, home
        home.mkdir(parents=True, exist_ok=True)
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("AURORA_", "GIT_"))}
        self.environment = {**kept, "HOME": str(home), "AURORA_HOME": str(home / ".aurora"), "NO_COLOR": "1"}

    def aur(self, root, *arguments):
        done = subprocess.run(
            [self.program, *arguments], cwd=root, env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True
        )
        try:
            value = json.loads(done.stdout)
        except ValueError:
            value = None
        messages = done.stderr + ("" if value is None else json.dumps([value.get("notes"), value.get("columns")]))
        return Answer(done.returncode, messages, value, done.stdout)

    def start(self, root, *arguments):
        return subprocess.Popen(
            [self.program, *arguments], cwd=root, env=self.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True,
        )


class Tree:
    """A work tree with the stages."""

    def __init__(self, root):
        self.root = root
        self.version = "v1"
        self.edits = 0

    def write(self, path, text):
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)

    def write_stages(self, down):
        self.write(".aurora/pipeline.toml", PIPELINE.format(down=json.dumps(str(down))))
        self.write(".aurora/plugins/risk.py", RISK)
        self.write_owner()

    def write_owner(self):
        self.write(".aurora/plugins/owner.py", OWNER.format(version=self.version))

    def edit_stage(self):
        self.version = "v%d" % (int(self.version[1:]) + 1)
        self.write_owner()

    def edit_file(self):
        """Adds a function with a unique name, and returns the name."""
        self.edits += 1
        name = "team_day_change_%d" % self.edits
        self.write("team_day/change_%d.py" % self.edits, 'def %s(card):\n    """Adds %d."""\n    return card + %d\n' % (name, self.edits, self.edits))
        return name

    def owners(self):
        """Returns the values of `owner` that the current version of the stage computes."""
        tops = {path.name for path in self.root.iterdir() if path.name not in (".git",)}
        return ",".join('"%s:%s"' % (self.version, top) for top in sorted(tops) if '"' not in top)


class Day:
    def __init__(self):
        self.findings = []

    def check(self, label, tree, answer, count):
        """Checks whether all values are current, or a message reports missing values.

        `count(condition)` returns the number of chunks that meet a condition.
        """
        # A missing column counts as a column without values.
        chunks, missing = count(None), []
        for stage, condition in (("owner", "owner in " + tree.owners()), ("risk", "risk!=none")):
            current = count(condition)
            if current == chunks:
                continue
            missing.append("%s of %d of %d chunks" % (stage, current, chunks))
            if not answer.announces(stage):
                self.findings.append("%s: %s has current values of %d of %d chunks, and no message reports it" % (label, stage, current, chunks))
                missing.append("NOT ANNOUNCED")
        print("  %-58s code %d  %s" % (label, answer.code, "; ".join(missing) or "all %d chunks have values" % chunks), flush=True)

    def expect(self, label, holds, detail=""):
        if not holds:
            self.findings.append("%s %s" % (label, detail))
        print("  %-58s %s" % (label, "ok" if holds else "FAILED " + detail), flush=True)


def counter(user, root):
    """Counts chunks through the command line, without updating the index."""

    def count(condition):
        found = ["--source", "code"] if condition is None else ["--where", condition, "--source", "code"]
        answer = user.aur(root, "mem", "search", *found, "--limit", "1", "--format", "json", "--no-record", "--no-refresh", "--no-index")
        return answer.value["stages"]["eligible"] if answer.code == 0 and answer.value else 0

    return count


class Server:
    """`aur serve` on a tree."""

    def __init__(self, user, root):
        self.process = user.start(root, "serve")
        self.address = self.process.stdout.readline().split()[-1]

    def search(self, query):
        body = json.dumps({"query": query, "mode": "sparse", "record": False}).encode()
        request = urllib.request.Request(self.address + "/api/v1/search", body, {"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                found = json.load(answer)
        except urllib.error.HTTPError as error:
            return Answer(error.code, error.read().decode(), {"results": []})
        return Answer(0, " ".join(found["notes"]), found)

    def names(self, query):
        return [hit["name"] for hit in self.search(query).value["results"]]

    def end(self):
        self.process.terminate()
        self.process.wait()


class Agent:
    """A client of `aur mcp` on a tree."""

    def __init__(self, user, root):
        self.process, self.last = user.start(root, "mcp"), 0
        client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "team-day", "version": "1"}}
        self.request("initialize", client)
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def send(self, message):
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def request(self, method, parameters):
        self.last += 1
        self.send({"jsonrpc": "2.0", "id": self.last, "method": method, "params": parameters})
        while True:
            message = json.loads(self.process.stdout.readline())
            if message.get("id") == self.last:
                return message["result"]

    def search(self, query):
        result = self.request("tools/call", {"name": "search", "arguments": {"query": query}})
        return Answer(int(result.get("isError", False)), "\n".join(part["text"] for part in result["content"]))

    def names(self, query):
        return [query] if "def %s(" % query in self.search(query).messages else []

    def end(self):
        self.process.kill()
        self.process.wait()


def until_found(server, name):
    """Waits until a server finds a new name, and returns the answer."""
    end = time.monotonic() + PATIENCE
    while name not in server.names(name) and time.monotonic() < end:
        time.sleep(0.2)
    return server.search(name)


def small_repository(root):
    root.mkdir()
    git(root, "init", "--quiet")
    for number in range(30):
        for directory, text in (
            ("src/pay", 'def pay_{0}(card):\n    """Charges a card."""\n    return card\n\n\nclass Charge{0}:\n    def run(self):\n        return pay_{0}(self)\n'),
            ("web", "function web_{0}(page) {{ return page }}\n"),
            ("docs", "# Guide {0}\n\nHow payments number {0} are made.\n"),
        ):
            path = root / directory / ("f%d%s" % (number, {"src/pay": ".py", "web": ".js", "docs": ".md"}[directory]))
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text.format(number))
        if number % 10 == 9:
            commit(root, "change %d" % number)


def git(root, *arguments):
    identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *identity, *arguments], cwd=root, check=True, stdout=subprocess.DEVNULL)


def commit(root, subject):
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", subject)


def served(day, label, tree, user, server):
    """Edits files and a stage while a server runs."""
    count = counter(user, tree.root)
    try:
        answer = until_found(server, tree.edit_file())
        day.check("%s: a file is added" % label, tree, answer, count)
        tree.edit_stage()
        answer = until_found(server, tree.edit_file())
        day.check("%s: a stage is edited, not allowed" % label, tree, answer, count)
        user.aur(tree.root, "plugin", "trust", "owner", "--yes")
        answer = until_found(server, tree.edit_file())
        day.check("%s: the edited stage is allowed" % label, tree, answer, count)
    finally:
        server.end()
    day.check("%s: the next index run" % label, tree, user.aur(tree.root, "mem", "index", "--format", "json"), count)


def run(program, source, work):
    day, down = Day(), work / "down"
    root = work / "app"
    if source is None:
        small_repository(root)
    else:
        subprocess.run(["git", "clone", "--quiet", str(source), str(root)], check=True)
    tree, ada = Tree(root), User(program, work / "ada")
    tree.write_stages(down)
    count = counter(ada, root)

    def index(user, tree, *more):
        return user.aur(tree.root, "mem", "index", "--format", "json", *more)

    answer = index(ada, tree)
    day.expect("programs that are not allowed stop the first run", answer.code == 2, answer.messages)
    for stage in ("owner", "risk"):
        ada.aur(root, "plugin", "trust", stage, "--yes")
    answer = index(ada, tree)
    day.expect("the first index", answer.code == 0, answer.messages)
    day.check("the first index", tree, answer, count)
    commit(root, "stages")

    served(day, "serve", tree, ada, Server(ada, root))
    served(day, "mcp", tree, ada, Agent(ada, root))

    tree.edit_file()
    down.touch()
    answer = index(ada, tree)
    day.check("a service is down", tree, answer, count)
    day.expect("a service that is down is announced", answer.code == 1, "code %d" % answer.code)
    answer = index(ada, tree)
    day.check("it is still down", tree, answer, count)
    down.unlink()
    answer = index(ada, tree)
    day.check("the service is back", tree, answer, count)
    day.expect("nothing is left to try again", answer.code == 0, "code %d" % answer.code)
    commit(root, "the day's changes")

    clone = Tree(work / "clone")
    clone.version, clone.edits = tree.version, tree.edits
    git(work, "clone", "--quiet", str(root), str(clone.root))
    answer = index(ada, clone)
    day.expect("a clone of the same user needs no consent", answer.code == 0, answer.messages)
    day.check("a clone of the same user", clone, answer, counter(ada, clone.root))
    bob = User(program, work / "bob")
    theirs = Tree(work / "theirs")
    theirs.version, theirs.edits = tree.version, tree.edits
    git(work, "clone", "--quiet", str(root), str(theirs.root))
    answer = index(bob, theirs)
    day.expect("code in a clone of another user is not run without consent", answer.code == 2, answer.messages)
    day.check("without the stages", theirs, index(bob, theirs, "--untrusted", "skip"), counter(bob, theirs.root))
    listed = ada.aur(clone.root, "plugin", "list", "--format", "json").value["stages"]
    allowed = work / "allowed"
    allowed.write_text("".join("%s  %s\n" % (stage["digest"], stage["name"]) for stage in listed if "digest" in stage))
    answer = bob.aur(theirs.root, "plugin", "trust", "--digest", str(allowed))
    day.expect("a list of digests allows both stages", answer.code == 0, answer.messages)
    day.check("allowed by digest", theirs, index(bob, theirs), counter(bob, theirs.root))
    theirs.edit_stage()
    answer = bob.aur(theirs.root, "plugin", "trust", "--digest", str(allowed), "--yes")
    day.expect("a changed program is not on the list", answer.code == 2, answer.messages)
    for untrusted in ("keep", "fail", "skip"):
        answer = index(bob, theirs, "--untrusted", untrusted)
        day.check("--untrusted %s" % untrusted, theirs, answer, counter(bob, theirs.root))

    job = Tree(work / "job")
    job.version, job.edits = tree.version, tree.edits
    git(work, "clone", "--quiet", str(root), str(job.root))
    shutil.copytree(root / ".aurora", job.root / ".aurora", dirs_exist_ok=True)
    shutil.copytree(ada.home, work / "runner")
    runner = User(program, work / "runner")
    answer = index(runner, job)
    day.check("a restored cache", job, answer, counter(runner, job.root))
    stranger = User(program, work / "stranger")
    answer = index(stranger, job)
    day.check("a restored cache without the user's directory", job, answer, counter(stranger, job.root))

    answer, before = index(ada, tree), ada.aur(root, "mem", "verify", "--digest").out
    index(ada, tree, "--force")
    fresh = ada.aur(root, "mem", "verify", "--digest").out
    day.expect("the index of the day equals a fresh one", before == fresh != "", "%s and %s" % (before, fresh))
    day.check("a fresh index", tree, answer, count)
    return day.findings


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", type=Path)
    parser.add_argument("repositories", type=Path, nargs="*")
    arguments = parser.parse_args()
    findings = []
    for source in arguments.repositories or [None]:
        print("A team's day in %s" % (source or "a small repository"))
        with tempfile.TemporaryDirectory(prefix="team-day-") as work:
            found = run(arguments.program.resolve(), source and source.resolve(), Path(work).resolve())
            findings += ["%s: %s" % (source or "small", finding) for finding in found]
    for finding in findings:
        print("Finding: %s" % finding)
    sys.exit(1 if findings else 0)


if __name__ == "__main__":
    main()
