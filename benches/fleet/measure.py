"""Measures how much processor time a build in shards takes, compared with one process.

Usage: measure.py REPOSITORY... [--shards 1,2,4,16] [--workers 4] [--together] [--aur PROGRAM] [--output FILE]

Each repository is indexed by one process (the peer), then in shards without Ray, and then on a local Ray cluster. With
`--together`, the repositories are cloned and built as one catalogue on Ray, with the default size of shards, and the
peer is the sum of one process for each clone. The column `ray` then includes git, also in the row of the peer. All
results must be the same bytes. Times are user and system time, because wall-clock times of a shared machine vary. With
`--workers 2` on an idle machine with two cores, the file also has the wall-clock time on Ray. Needs Ray and
`deploy/ray` in PYTHONPATH.
"""

import argparse
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")

from aurora_ray import build, tasks  # noqa: E402
from aurora_ray.tasks import Settings, Source  # noqa: E402

TICK = os.sysconf("SC_CLK_TCK")


def main():
    numbers = lambda text: [int(number) for number in text.split(",") if number]  # noqa: E731
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repositories", type=pathlib.Path, nargs="+")
    parser.add_argument("--shards", type=numbers, default=[1, 2, 4, 16])
    parser.add_argument("--workers", type=numbers, default=[4])
    parser.add_argument("--together", action="store_true")
    parser.add_argument("--aur", default="aur")
    parser.add_argument("--output", type=pathlib.Path)
    options = parser.parse_args()
    measured = []
    print("repository       run         index   merge  export     ray   total   ratio", flush=True)
    if options.together:
        return measure_catalogue([root.absolute() for root in options.repositories], options)
    for root in options.repositories:
        measured.append(measure(root.resolve(), options))
        if options.output:
            options.output.write_text(json.dumps(measured, indent=1))


def measure(root: pathlib.Path, options) -> dict:
    with tempfile.TemporaryDirectory() as name:
        os.environ["AURORA_HOME"] = f"{name}/home"
        single, expected, contents = measure_single(root, options.aur, pathlib.Path(name))
        total = sum(single.values())
        show(root.name, "one process", single, total)
        result = {"name": root.name, **describe(root), **contents, "single": single, "shards": {}, "ray": []}
        for count in options.shards:
            costs, found = measure_shards(root, count, options.aur, pathlib.Path(name))
            check(expected, found, f"{count} shards")
            result["shards"][count] = costs
            show(root.name, f"{count} shards", {**costs, "index": sum(costs["index"])}, total)
        # With several tasks for each worker, the costs of a task and of a worker can be told apart.
        for workers, count in [(workers, factor * workers) for workers in options.workers for factor in (1, 4)]:
            costs, found = measure_ray(root, workers, count, options.aur, pathlib.Path(name), result["bytes"])
            check(expected, found, f"{workers} workers")
            result["ray"].append(costs)
            show(root.name, f"{workers}w {count}s Ray", {**costs, "index": sum(costs["index"])}, total)
    return result


def measure_catalogue(roots: list[pathlib.Path], options):
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        os.environ["AURORA_HOME"] = f"{name}/home"
        expected, peer = {}, dict.fromkeys(["index", "merge", "export", "ray"], 0.0)
        for root in roots:
            clone, exported = directory / "clone", directory / "single.aur"
            commands = [
                ["git", "clone", "--quiet", "--no-tags", "--single-branch", f"file://{root}", str(clone)],
                [options.aur, "mem", "index", "--quiet", str(clone)],
                [options.aur, "mem", "export", "--root", str(clone), str(exported)],
            ]
            for part, command in zip(["ray", "index", "export"], commands):
                peer[part] += timed(command)[0]
            expected[root.name] = digest_of(exported)
            subprocess.run(["rm", "-rf", str(clone)], check=True)
        total = sum(peer.values())
        show("all", "one process", peer, total)
        for workers in options.workers:
            settings = Settings(options.aur, ("--jobs", "1"), f"{name}/cache-{workers}")
            sources = [Source(root.name, url=f"file://{root}") for root in roots]
            results, used = on_ray(sources, workers, directory / f"ray-{workers}", settings)
            for each, digest in expected.items():
                check(digest, digest_of(directory / f"ray-{workers}" / f"{each}.aur"), f"{each} on Ray")
            index = sum(each["cpu"] for result in results.values() for each in result["shards"].values())
            export = sum(result["export"]["cpu"] for result in results.values())
            costs = {"index": index, "merge": 0.0, "export": export, "ray": used["total"] - index - export}
            show("all", f"{workers}w Ray", costs, total)


def measure_single(root, aur, directory):
    own = directory / "single"
    # The index is in the directory, so a copy keeps an index of the user unchanged.
    subprocess.run(["cp", "-r", "--reflink=auto", str(root), str(own)], check=True)
    subprocess.run(["rm", "-rf", str(own / ".aurora")], check=True)
    exported = directory / "single.aur"
    index, out = timed([aur, "mem", "index", "--format", "json", str(own)])
    export, _ = timed([aur, "mem", "export", "--root", str(own), str(exported)])
    summary = json.loads(out)
    contents = {"chunks": summary["chunks"]["total"], "files": summary["files"]["indexed"]}
    digest = digest_of(exported)
    subprocess.run(["rm", "-rf", str(own)], check=True)
    return {"index": index, "merge": 0.0, "export": export}, digest, contents


def measure_shards(root, count, aur, directory):
    parts = [directory / f"{number}-{count}.part" for number in range(1, count + 1)]
    index = []
    for number, part in enumerate(parts, 1):
        history = directory / f"history-{count}"
        arguments = ["--jobs", "1", "--shard", f"{number}/{count}", "--output", str(part), "--history", str(history)]
        index.append(timed([aur, "mem", "index", "--quiet", *arguments, str(root)])[0])
    merged, exported = directory / f"merged-{count}", directory / f"merged-{count}.aur"
    merged.mkdir()
    merge, _ = timed([aur, "mem", "merge", "--root", str(merged), *map(str, parts)])
    export, _ = timed([aur, "mem", "export", "--root", str(merged), str(exported)])
    costs = {"index": index, "merge": merge, "export": export, "bytes": [part.stat().st_size for part in parts]}
    found = digest_of(exported)
    subprocess.run(["rm", "-rf", str(merged), str(exported), *map(str, parts)], check=True)
    return costs, found


def measure_ray(root, workers, count, aur, directory, size):
    output = directory / f"ray-{workers}-{count}"
    settings = Settings(aur, ("--jobs", "1"), f"{output}-cache", shard_size=-(-size // count), max_shards=count)
    results, used = on_ray([Source("index", path=str(root))], workers, output, settings)
    index = [each["cpu"] for each in results["index"]["shards"].values()]
    # A task merges and exports.
    merge = results["index"]["export"]["cpu"]
    costs = {"workers": workers, "index": index, "merge": merge, "export": 0.0}
    costs.update(ray=used["total"] - sum(index) - merge, ray_start=used["start"])
    # More workers than cores wait for each other, so the time says nothing about more machines.
    costs["wall"] = used["wall"] if workers <= len(os.sched_getaffinity(0)) else None
    return costs, digest_of(output / "index.aur")


def on_ray(sources, workers, output, settings):
    """Builds repositories on a new cluster. Returns the results, and processor and wall-clock times in seconds."""
    import ray

    before = own_time()
    ray.init(num_cpus=workers, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    try:
        start = own_time() - before + sum(process_time(each) for each in descendants(os.getpid()))
        begin = time.monotonic()
        results = build.build(sources, output, settings, log=lambda _: None)
        wall = time.monotonic() - begin
        for name, result in results.items():
            if result["outcome"] == "failed":
                sys.exit(f"{name}: {result['message']}")
        total = own_time() - before + sum(process_time(each) for each in descendants(os.getpid()))
    finally:
        ray.shutdown()
    return results, {"start": start, "wall": wall, "total": total}


def timed(command):
    """Returns the processor time of a program in seconds, and its output."""
    before = tasks.times()
    ended = subprocess.run(command, stdout=subprocess.PIPE)
    if ended.returncode:
        sys.exit(f"{command} ended with exit code {ended.returncode}")
    return tasks.times() - before, ended.stdout


def own_time() -> float:
    """Returns the processor time of this process, without its child processes, in seconds."""
    times = os.times()
    return times.user + times.system


def descendants(process: int) -> list[int]:
    children = {}
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            children.setdefault(int(fields(stat)[1]), []).append(int(stat.parent.name))
        except OSError:
            pass
    found, queue = [], [process]
    while queue:
        queue += children.get(queue.pop(), [])
        found = sorted({*found, *queue})
    return found


def process_time(process: int) -> float:
    """Returns the processor time of a process and of its ended child processes, in seconds."""
    try:
        return sum(map(int, fields(pathlib.Path(f"/proc/{process}/stat"))[11:15])) / TICK
    except OSError:
        return 0.0


def fields(stat: pathlib.Path) -> list[str]:
    """Returns the fields after the name of the program."""
    return stat.read_text().rpartition(")")[2].split()


def describe(root: pathlib.Path) -> dict:
    """Returns the size of a tree and of its history."""
    lines = 0
    for directory, directories, files in os.walk(root):
        directories[:] = [name for name in directories if name not in (".git", ".aurora")]
        for name in files:
            path = os.path.join(directory, name)
            if os.path.isfile(path) and not os.path.islink(path):
                with open(path, "rb") as file:
                    text = file.read()
                lines += 0 if b"\0" in text[:8192] else text.count(b"\n")
    counted = subprocess.run(["git", "-C", root, "rev-list", "--count", "HEAD"], capture_output=True, text=True)
    commits = int(counted.stdout) if counted.returncode == 0 else 0
    return {"bytes": tasks.tree_size(root), "lines": lines, "commits": commits}


def digest_of(file: pathlib.Path) -> str:
    with file.open("rb") as read:
        return hashlib.file_digest(read, "sha256").hexdigest()


def check(expected: str, found: str, run: str):
    if expected != found:
        sys.exit(f"the index of {run} differs from that of one process")


def show(name: str, run: str, costs: dict, single: float):
    values = [costs["index"], costs["merge"], costs["export"], costs.get("ray", 0.0)]
    total = sum(values)
    cells = "".join(f"{value:8.1f}" for value in [*values, total])
    print(f"{name[:16]:16} {run:11}{cells}{total / single:8.2f}", flush=True)


if __name__ == "__main__":
    main()
