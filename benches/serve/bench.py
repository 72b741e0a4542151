"""Measures `aur serve` under load, with and without index runs: searches per second, latencies, age of answers, and memory.

    python bench.py AUR DIRECTORY [--minutes 10] [--rate N]

The directory is copied first. The questions are names and lines of comments from its files. In the first phase, four clients send
requests as fast as they can. In the second phase, requests arrive at half of the rate that was reached, or at --rate, without waiting for
earlier answers: first for a minute without changes, then while a hundred files are rewritten every five seconds.
"""

import argparse
import asyncio
import json
import random
import re
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

CLIENTS = 4
CONNECTIONS = 32
FILES, EVERY = 100, 5.0
WARM_UP, FULL_SPEED, STEADY = 5, 20, 60
NAME = re.compile(r"\b[a-z]+(?:[A-Z][a-z]+)+\b|\b[a-z]+(?:_[a-z]+)+\b")
COMMENT = re.compile(r"^\s*(?://+|#|\*)\s+([A-Za-z][\w ,'-]{15,80})$", re.M)


def questions(root):
    """Returns names and an equal number of comment lines, in a pseudorandom order that never changes, and the source files."""
    files = sorted(path for path in root.rglob("*") if path.is_file() and path.suffix in {".c", ".go", ".java", ".js", ".py", ".rs", ".ts"})
    chance = random.Random(1)
    names, comments = set(), set()
    for path in chance.sample(files, min(len(files), 2_000)):
        text = path.read_text(errors="replace")
        names.update(NAME.findall(text)[:5])
        comments.update(COMMENT.findall(text)[:5])
    names, comments = sorted(names), sorted(comments)
    count = min(len(names), len(comments), 1_000)
    return [text for pair in zip(chance.sample(names, count), chance.sample(comments, count)) for text in pair], files


class Connection:
    """A connection that is used for several requests."""

    def __init__(self, port):
        self.port = port
        self.streams = None

    async def search(self, query, **more):
        if self.streams is None:
            self.streams = await asyncio.open_connection("127.0.0.1", self.port, limit=1 << 24)
        reader, writer = self.streams
        body = json.dumps({"query": query, **more}).encode()
        head = f"POST /api/v1/search HTTP/1.1\r\nhost: 127.0.0.1:{self.port}\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
        writer.write(head.encode() + body)
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(re.search(rb"content-length: (\d+)", head).group(1))
        content = await reader.readexactly(length)
        return int(head.split(b" ", 2)[1]), content


class Figures:
    """Latencies and failures of requests."""

    def __init__(self):
        self.took, self.failed = [], 0

    async def ask(self, connection, query, since, **more):
        try:
            status, _ = await connection.search(query, **more)
        except (OSError, asyncio.IncompleteReadError):
            status, connection.streams = 0, None
        self.failed += status != 200
        self.took.append((time.perf_counter() - since) * 1e3)

    def at(self, share):
        return sorted(self.took)[int((len(self.took) - 1) * share)]


async def full_speed(port, texts, seconds, **more):
    """Runs clients, each of which sends its next request when its previous request is answered."""
    figures, end = Figures(), time.perf_counter() + seconds

    async def client(number):
        connection, at = Connection(port), number * 97
        while time.perf_counter() < end:
            await figures.ask(connection, texts[at % len(texts)], time.perf_counter(), **more)
            at += 1

    await asyncio.gather(*(client(number) for number in range(CLIENTS)))
    return figures


async def at_rate(port, texts, rate, seconds):
    """Sends requests at a constant rate. The latency of a request includes the time that it waits for a connection."""
    figures, free, begun = Figures(), asyncio.Queue(), time.perf_counter()
    for _ in range(CONNECTIONS):
        free.put_nowait(Connection(port))

    async def one(text, due):
        connection = await free.get()
        await figures.ask(connection, text, due)
        free.put_nowait(connection)

    tasks, number = set(), 0
    while (due := begun + number / rate) < begun + seconds:
        await asyncio.sleep(max(0, due - time.perf_counter()))
        task = asyncio.create_task(one(texts[number % len(texts)], due))
        tasks.add(task)
        task.add_done_callback(tasks.discard)
        number += 1
    await asyncio.gather(*tasks)
    return figures


async def edit(port, root, files, seconds):
    """Rewrites files repeatedly. Returns, for each change, the seconds until an answer reflected the change."""
    chance, connection, ages, round = random.Random(2), Connection(port), [], 0
    end = time.perf_counter() + seconds
    while (begun := time.perf_counter()) < end:
        chosen = chance.sample(files, FILES)
        for at, path in enumerate(chosen):
            text = path.read_text(errors="replace").rstrip("\n").rsplit("\n// round ", 1)[0]
            path.write_text(f"{text}\n// round {round} changed_{at}\n")
        marker = f"zebra_marker_{round}"
        (root / "bench_marker.py").write_text(f"def {marker}():\n    return {round}\n")
        written = time.perf_counter()
        while time.perf_counter() - written < EVERY:
            _, content = await connection.search(marker, limit=1, record=False)
            found = json.loads(content)["results"]
            if found and found[0]["name"] == marker:
                break
            await asyncio.sleep(0.02)
        ages.append(time.perf_counter() - written)
        round += 1
        await asyncio.sleep(max(0, begun + EVERY - time.perf_counter()))
    return ages


def memory(process):
    """Returns the memory of the process by kind, in MiB."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    return {name: int(size) / 1024 for name, size in re.findall(r"(RssAnon|RssFile|VmHWM):\s+(\d+) kB", status)}


async def measure(process, port, root, options):
    texts, files = questions(root)
    await full_speed(port, texts, WARM_UP)
    print(f"{len(texts)} questions; {CLIENTS} clients at full speed")
    reached = {}
    for mode in ("hybrid", "sparse"):
        figures = await full_speed(port, texts, FULL_SPEED, mode=mode)
        reached[mode] = len(figures.took) / FULL_SPEED
        print(f"  {mode:8}{reached[mode]:8.0f} searches/s  p50 {figures.at(0.5):6.1f} ms  p99 {figures.at(0.99):6.1f} ms  failed {figures.failed}")
    rate = options.rate or reached["hybrid"] / 2
    print(f"{rate:.0f} requests/s")
    quiet = await at_rate(port, texts, rate, STEADY)
    print(f"  no changes     p50 {quiet.at(0.5):6.1f} ms  p99 {quiet.at(0.99):6.1f} ms  failed {quiet.failed}")
    before, seconds = memory(process), options.minutes * 60
    busy, ages = await asyncio.gather(at_rate(port, texts, rate, seconds), edit(port, root, files, seconds))
    after = memory(process)
    print(f"  {FILES} files / {EVERY:.0f} s p50 {busy.at(0.5):6.1f} ms  p99 {busy.at(0.99):6.1f} ms  failed {busy.failed}  p99 ratio {busy.at(0.99) / quiet.at(0.99):.2f}")
    print(f"  age of answers in {len(ages)} changes: median {sorted(ages)[len(ages) // 2]:.2f} s, maximum {max(ages):.2f} s")
    names = {"RssAnon": "private", "RssFile": "of mapped files", "VmHWM": "peak in total"}
    print("  memory in MiB: " + ", ".join(f"{what} {before[name]:.0f} before, {after[name]:.0f} after" for name, what in names.items()))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("aur")
    parser.add_argument("directory", type=Path)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--rate", type=float)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch) / "project"
        shutil.copytree(options.directory, root, symlinks=True, ignore=shutil.ignore_patterns(".aurora"))
        summary = subprocess.run([options.aur, "mem", "index", "--format", "json", root], check=True, capture_output=True)
        print(f"{json.loads(summary.stdout)['chunks']['total']} chunks")
        command = [options.aur, "serve", "--root", root, "--log", "off", "--rate", "0"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            port = int(process.stdout.readline().rsplit(":", 1)[1])
            asyncio.run(measure(process, port, root, options))
        finally:
            process.terminate()
            process.wait()


if __name__ == "__main__":
    main()
