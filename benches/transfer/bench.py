"""How many bytes does each commit of a repository add to a remote, compared with other ways to distribute an index?

    python bench.py AUR REPOSITORY ... [--commits 100] [--rounds 3] [--peers-every 1] [--work DIR] [--out FILE]

Corpus: the last commits of each git repository along first parents. Each commit is checked out, indexed and pushed to a remote in a
directory. The peers get the artefacts (`aur mem export`) of the same commits in the same run:

- the whole artefact;
- `zstd --patch-from` with the artefact of the previous commit;
- content-defined chunks of 16 to 64 KiB (FastCDC), of which the previous commit's artefact does not have the same, each compressed by
  zstd, and an index with 40 bytes for each chunk, as in casync.

The frames of an artefact are compressed, which hides what two artefacts have in common. The peers therefore also get the decompressed
rows. In the end, the bench measures a push and a pull after all commits together, and then alternates between two ways to make a fresh
clone searchable: a full index run, and a pull.
"""

import argparse
import json
import os
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from collections import Counter
from hashlib import blake2b
from pathlib import Path

import zstandard
from fastcdc import fastcdc

# Level of the frames of artefacts and of parts in remotes.
LEVEL = 6
CHUNK_SIZES = (16 << 10, 32 << 10, 64 << 10)
# Bytes of a chunk in casync's index: offset and SHA-256.
INDEX_ENTRY = 40
PEERS = ["artefact", "patch", "patch of rows", "chunks", "chunks of rows"]


class Checkout:
    """A work tree with an index, and the home directory of its user."""

    def __init__(self, aur, source, directory, remotes, key):
        self.aur, self.root = aur, directory / "tree"
        home, (secret, public) = directory / "home", key
        self.environment = os.environ | {"AURORA_HOME": str(home), "AURORA_SIGNING_KEY": str(secret)}
        home.mkdir(parents=True)
        (home / "config.toml").write_text(f'[remotes]\ntrusted_keys = ["{public}"]\n')
        call(["git", "clone", "--quiet", "--shared", "--no-checkout", str(source), str(self.root)])
        for name, url in remotes.items():
            self.run("remote", "add", name, f"file://{url}", "--user")

    def check_out(self, commit):
        call(["git", "-C", str(self.root), "checkout", "--quiet", "--detach", commit])

    def run(self, *arguments):
        """Runs `aur`. Returns its standard output."""
        run = subprocess.run([self.aur, *arguments], cwd=self.root, env=self.environment, capture_output=True)
        if run.returncode != 0:
            sys.exit(f"aur {' '.join(arguments)}: {run.returncode}\n{run.stderr.decode()}")
        return run.stdout

    def timed(self, *arguments):
        """Runs `aur`. Returns the processor time and the wall-clock time in seconds."""
        started, before = time.monotonic(), os.times()
        self.run(*arguments)
        after = os.times()
        return (
            after.children_user + after.children_system - before.children_user - before.children_system,
            time.monotonic() - started,
        )

    def push(self, name):
        """Pushes the index. Returns the uploaded bytes by kind of part, the downloaded bytes, and the size of all parts."""
        pushed = json.loads(self.run("remote", "push", name, "--format", "json"))
        groups = Counter(pushed["uploaded_by_group"], download=pushed["downloaded_bytes"])
        return groups, pushed["manifest"]["bytes"]


class Artefact:
    """An exported index: its file, its decompressed rows, and the chunks of both."""

    def __init__(self, path):
        self.path, self.rows = path, path.with_suffix(".rows")
        content = path.read_bytes()
        rows = decompress(content)
        self.rows.write_bytes(rows)
        self.chunks, self.row_chunks = chunks(content), chunks(rows)


def decompress(content):
    """Returns the manifest and the decompressed frames of an artefact."""
    (length,) = struct.unpack_from("<I", content, 12)
    at, rows = 48 + length, [content[48 : 48 + length]]
    decompressor = zstandard.ZstdDecompressor()
    while at < len(content):
        size, compressed = struct.unpack_from("<II", content, at)
        frame = content[at + 8 : at + 8 + compressed]
        rows.append(decompressor.decompress(frame, max_output_size=size))
        at += 8 + compressed
    return b"".join(rows)


def chunks(content):
    """Returns the content-defined chunks by hash."""
    cut = fastcdc(content, *CHUNK_SIZES)
    pieces = (content[chunk.offset : chunk.offset + chunk.length] for chunk in cut)
    return {blake2b(piece, digest_size=16).digest(): piece for piece in pieces}


def new_chunks(old, new):
    """Returns the bytes of the chunks that are new, and of the index."""
    compressor = zstandard.ZstdCompressor(level=LEVEL)
    return sum(len(compressor.compress(piece)) for hash, piece in new.items() if hash not in old) + INDEX_ENTRY * len(new)


def patch(old, new):
    """Returns the size of the difference between two files."""
    command = ["zstd", f"-{LEVEL}", "--quiet", "--long=31", f"--patch-from={old}", "-c", str(new)]
    return len(subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout)


def compare(old, new):
    """Returns the bytes that each peer transfers."""
    sizes = [
        new.path.stat().st_size,
        patch(old.path, new.path),
        patch(old.rows, new.rows),
        new_chunks(old.chunks, new.chunks),
        new_chunks(old.row_chunks, new.row_chunks),
    ]
    return dict(zip(PEERS, sizes))


def call(command):
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def measure(options, repository, work):
    """Measures one repository. Returns its results."""
    listed = ["git", "-C", repository, "rev-list", "--first-parent", f"--max-count={options.commits + 1}", "HEAD"]
    commits = subprocess.run(listed, check=True, capture_output=True, text=True).stdout.split()[::-1]
    remotes = {"each": work / "each", "all": work / "all"}
    generated = subprocess.run(
        [options.aur, "remote", "keygen", str(work / "key"), "--format", "json"], check=True, capture_output=True
    )
    key = (work / "key", json.loads(generated.stdout)["public_key"])
    origin = Checkout(options.aur, repository, work / "origin", remotes, key)
    client = Checkout(options.aur, repository, work / "client", remotes, key)
    pull = ["remote", "pull", "all", "--no-update", "--format", "json"]

    counter = 0

    def export():
        nonlocal counter
        counter += 1
        path = work / f"artefact-{counter % 2}.aur"
        origin.run("mem", "export", str(path))
        return Artefact(path)

    origin.check_out(commits[0])
    origin.run("mem", "index", "--quiet")
    base, _ = origin.push("each")
    origin.push("all")
    client.check_out(commits[0])
    client.run(*pull)
    steps, previous = [], None
    for number, commit in enumerate(commits[1:], 1):
        is_measured = number % options.peers_every == 0
        if is_measured and previous is None:
            previous = export()
        origin.check_out(commit)
        origin.run("mem", "index", "--quiet")
        groups, size = origin.push("each")
        step = {"commit": commit, "groups": groups, "index": size}
        if is_measured:
            current = export()
            step["peers"] = compare(previous, current)
            previous = current if options.peers_every == 1 else None
        steps.append(step)
        print(number, commit[:10], sum(groups.values()), step.get("peers", ""), file=sys.stderr, flush=True)
    pushed, size = origin.push("all")
    client.check_out(commits[-1])
    pulled = json.loads(client.run(*pull))["transfer"]["downloaded_bytes"]
    times = {"index": [], "pull": []}
    for number in range(options.rounds):
        for name in times:
            # Nothing is removed before the next run, because new files are created slowly after that.
            fresh = Checkout(options.aur, repository, work / f"{name}-{number}", remotes, key)
            fresh.check_out(commits[-1])
            arguments = ["mem", "index", "--quiet"] if name == "index" else ["remote", "pull", "all"]
            times[name].append(fresh.timed(*arguments))
            print(name, times[name][-1], file=sys.stderr, flush=True)
    return {
        "repository": Path(repository).absolute().name,
        "first_push": base,
        "steps": steps,
        "pushed": sum(pushed.values()),
        "pulled": pulled,
        "index": size,
        "times": times,
    }


def table(results):
    """Prints a row of mean bytes for each repository, and the transfer after all commits together."""
    kinds = sorted({kind for result in results for step in result["steps"] for kind in step["groups"]})
    print("| repository | commits |", " | ".join(kinds), "| all | median | largest |", " | ".join(PEERS), "|")
    print("|---|" + "--:|" * (len(kinds) + len(PEERS) + 4))
    for result in results:
        steps = result["steps"]
        sums = [sum(step["groups"].values()) for step in steps]
        means = [statistics.mean(step["groups"].get(kind, 0) for step in steps) for kind in kinds]
        peers = [statistics.mean(step["peers"][peer] for step in steps if "peers" in step) for peer in PEERS]
        numbers = [*means, statistics.mean(sums), statistics.median(sums), max(sums), *peers]
        print(f"| {result['repository']} | {len(steps)} |", " | ".join(f"{n / 1000:,.0f}" for n in numbers), "|")
    print("\nKilobytes. After all commits together, and medians of a fresh clone:\n")
    print("| repository | artefact | push | pull | share | index: CPU | wall | pull: CPU | wall |\n|---|" + "--:|" * 8)
    for result in results:
        artefact = [step["peers"]["artefact"] for step in result["steps"] if "peers" in step][-1]
        times = [statistics.median(column) for name in ("index", "pull") for column in zip(*result["times"][name])]
        print(
            f"| {result['repository']} | {artefact / 1000:,.0f} | {result['pushed'] / 1000:,.0f} | {result['pulled'] / 1000:,.0f}",
            f"| {result['pulled'] / artefact:.1%} |",
            " | ".join(f"{seconds:.1f} s" for seconds in times) + " |" if times else "",
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("aur")
    parser.add_argument("repositories", nargs="+")
    parser.add_argument("--commits", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=3, help="alternations between a full index run and a pull")
    parser.add_argument("--peers-every", type=int, default=1, metavar="N", help="compare every Nth commit with the peers")
    parser.add_argument("--work", type=Path, help="directory for clones, remotes and artefacts [default: a temporary one]")
    parser.add_argument("--out", type=Path, help="write all figures as JSON")
    options = parser.parse_args()
    results = []
    for repository in options.repositories:
        with tempfile.TemporaryDirectory(dir=options.work) as work:
            results.append(measure(options, repository, Path(work).resolve()))
        if options.out:
            options.out.write_text(json.dumps(results, indent=1))
    table(results)


if __name__ == "__main__":
    main()
