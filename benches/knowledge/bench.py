"""Compares `aur serve` with a service that uses FastAPI, chromadb and rank-bm25, on the same knowledge articles and questions.

    python bench.py AUR [--documents 5000] [--questions 300]

The articles are docstrings of the Python packages that the service needs, without their first lines. The questions are these first
lines. The right answer to a question is the article from which it was taken.
"""

import argparse
import ast
import json
import random
import re
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import threading
import time
import urllib.request
from http.client import HTTPConnection
from pathlib import Path

HERE = Path(__file__).parent
CLIENTS = 4


def docstrings(count):
    """Returns docstrings as pairs of first line and remaining text, in a pseudorandom order that never changes. All remaining texts differ."""
    site = Path(sysconfig.get_path("purelib"))
    found = {}
    for package in ("numpy", "scipy", "sklearn", "torch", "transformers"):
        for file in sorted((site / package).rglob("*.py")):
            try:
                tree = ast.parse(file.read_bytes())
            except SyntaxError:
                # The file needs a newer version of Python.
                continue
            for node in ast.walk(tree):
                if not isinstance(node, (ast.ClassDef, ast.FunctionDef)):
                    continue
                first, _, rest = (ast.get_docstring(node) or "").partition("\n")
                if len(first.split()) > 3 and len(rest.strip()) > 300:
                    found.setdefault(rest.strip(), first)
    pairs = sorted((first, rest) for rest, first in found.items())
    random.Random(1).shuffle(pairs)
    assert len(pairs) >= count, f"only {len(pairs)} articles"
    return pairs[:count]


class Server:
    """A running server: `aur serve` or the baseline."""

    def __init__(self, command, ready):
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.port = ready(self.process)
        self.session = self.ask("POST", "sessions", {})["id"]

    def ask(self, method, path, body=None, connection=None):
        own = connection or HTTPConnection("127.0.0.1", self.port, timeout=600)
        text = None if body is None else json.dumps(body)
        own.request(method, f"/api/v1/{path}", text, {"content-type": "application/json"})
        answer = own.getresponse()
        content = answer.read()
        assert answer.status < 300, (method, path, answer.status, content)
        if connection is None:
            own.close()
        return json.loads(content) if content else None

    def memory(self):
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmHWM:\s+(\d+)", status).group(1)) / 1024

    def stop(self):
        self.process.terminate()
        self.process.wait()


def in_parallel(server, jobs):
    """Runs jobs from several clients. Returns the milliseconds that each job took, and the jobs per second."""
    took, rest, lock = [], list(jobs), threading.Lock()

    def work():
        connection = HTTPConnection("127.0.0.1", server.port, timeout=600)
        while True:
            with lock:
                if not rest:
                    return
                job = rest.pop()
            begun = time.perf_counter()
            job(connection)
            took.append((time.perf_counter() - begun) * 1e3)

    begun = time.perf_counter()
    threads = [threading.Thread(target=work) for _ in range(CLIENTS)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    return took, len(took) / (time.perf_counter() - begun)


def measure(server, pairs, questions):
    """Measures one of the servers."""
    numbers, path, figures = {}, f"sessions/{server.session}", {}

    def add(at):
        def job(connection):
            body = {"title": f"Article {at}", "url": f"https://example.org/{at}", "content": pairs[at][1]}
            numbers[at] = server.ask("POST", f"{path}/articles", body, connection)["article_id"]

        return job

    _, figures["adds/s"] = in_parallel(server, [add(at) for at in range(len(pairs))])
    server.ask("POST", f"{path}/search", {"query": "warm up"})
    ranks = {}

    def search(at):
        def job(connection):
            body = {"query": pairs[at][0], "top_k": 10}
            results = server.ask("POST", f"{path}/search", body, connection)["results"]
            found = [result["article_id"] for result in results]
            ranks[at] = found.index(numbers[at]) + 1 if numbers[at] in found else None

        return job

    took, figures["searches/s"] = in_parallel(server, [search(at) for at in questions])
    took.sort()
    figures["p50 ms"], figures["p99 ms"] = statistics.median(took), took[int(len(took) * 0.99)]
    figures["MRR@10"] = sum(1 / rank for rank in ranks.values() if rank) / len(ranks)
    figures["recall@10"] = sum(rank is not None for rank in ranks.values()) / len(ranks)
    changes = []
    for at in questions[:20]:
        # Measure a change together with a search that finds it.
        begun = time.perf_counter()
        server.ask("DELETE", f"{path}/articles/{numbers[at]}")
        server.ask("POST", f"{path}/search", {"query": pairs[at][0]})
        changes.append((time.perf_counter() - begun) * 1e3)
    figures["delete and search ms"] = statistics.median(changes)
    figures["memory MiB"] = server.memory()
    return figures


def start_aurora(program, directory):
    def ready(process):
        return int(process.stdout.readline().rsplit(":", 1)[1])

    command = [program, "serve", "--root", directory, "--knowledge", f"{directory}/knowledge", "--log", "off", "--rate", "0"]
    return Server(command, ready)


def start_baseline(directory):
    port = random.randrange(20_000, 60_000)

    def ready(process):
        while process.poll() is None:
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/openapi.json").read()
                return port
            except OSError:
                time.sleep(0.2)
        sys.exit("baseline.py did not start")

    return Server([sys.executable, str(HERE / "baseline.py"), directory, str(port)], ready)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("aur")
    parser.add_argument("--documents", type=int, default=5_000)
    parser.add_argument("--questions", type=int, default=300)
    options = parser.parse_args()
    pairs = docstrings(options.documents)
    questions = random.Random(2).sample(range(len(pairs)), min(options.questions, len(pairs)))
    print(f"{len(pairs)} articles, {len(questions)} questions, {CLIENTS} clients")
    sides = {}
    for name, start in (("aurora", lambda d: start_aurora(options.aur, d)), ("baseline", start_baseline)):
        with tempfile.TemporaryDirectory() as directory:
            server = start(directory)
            try:
                sides[name] = measure(server, pairs, questions)
            finally:
                server.stop()
    print(f"{'':22}{'aurora':>12}{'baseline':>12}{'ratio':>10}")
    for figure, ours in sides["aurora"].items():
        theirs = sides["baseline"][figure]
        print(f"{figure:22}{ours:12.3f}{theirs:12.3f}{ours / theirs:10.2f}")


if __name__ == "__main__":
    main()
