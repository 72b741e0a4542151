"""The command line."""

import argparse
import os
import pathlib
import re
import signal
import sys

from .tasks import BuildError, Settings

UNITS = {"": 1, "KIB": 1 << 10, "MIB": 1 << 20, "GIB": 1 << 30}


def size(text: str) -> int:
    """Parses a number of bytes, such as 64MiB."""
    found = re.fullmatch(r"([1-9][0-9]{0,8}) *(|[KMG]iB)", text, re.IGNORECASE)
    if not found:
        raise argparse.ArgumentTypeError(f"`{text}` is not a size, such as 64MiB")
    return int(found[1]) * UNITS[found[2].upper()]


def number(least: int, most: int):
    """Returns a parser of whole numbers in a range."""

    def parse(text: str) -> int:
        if not (text.isascii() and text.isdigit() and least <= int(text) <= most):
            raise argparse.ArgumentTypeError(f"`{text}` is not a whole number from {least} to {most}")
        return int(text)

    return parse


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="aurora-ray", description="Build indexes of repositories on a Ray cluster.")
    parser.add_argument("source", type=pathlib.Path, help="a catalogue (TOML), or the directory of one repository")
    add = parser.add_argument
    add("--output", "-o", type=pathlib.Path, required=True, metavar="DIR", help="directory for NAME.aur and results.json")
    add("--group", action="append", default=[], help="only repositories of this group; may be repeated")
    add("--address", metavar="ADDRESS", help="address of a cluster, or `auto` [default: a new cluster on this machine]")
    add("--workers", type=number(1, 1024), metavar="N", help="CPUs of the new cluster [default: all of this machine]")
    add("--jobs", "-j", type=number(1, 64), default=1, metavar="N", help="CPUs and threads of one task [default: 1]")
    add("--shard-size", type=size, default=64 << 20, metavar="SIZE", help="size of the files of a shard [default: 64MiB]")
    add("--retries", type=number(0, 100), default=3, metavar="N", help="repetitions after a task was killed [default: 3]")
    add("--shared", type=pathlib.Path, metavar="DIR", help="directory on all machines, for parts above --max-object")
    add("--max-object", type=size, default=256 << 20, metavar="SIZE", help="maximum size in Ray's store [default: 256MiB]")
    add("--cache", type=pathlib.Path, metavar="DIR", help="clones on each machine [default: ~/.cache/aurora-ray]")
    add("--aur", default="aur", metavar="PROGRAM", help="the program `aur` on each machine [default: aur]")
    add("--pipeline", metavar="FILE|NAME", help="like `aur mem index --pipeline`; a file must be on each machine")
    add("--no-git", action="store_true", help="like `aur mem index --no-git`")
    add("--force", action="store_true", help="build repositories that have not changed, too")
    return parser


def settings(options: argparse.Namespace) -> Settings:
    if options.shared and not options.shared.is_dir():
        raise BuildError(f"{options.shared} is not a directory")
    passed = ["--jobs", str(options.jobs)]
    if options.pipeline:
        file = pathlib.Path(options.pipeline)
        passed += [f"--pipeline={file.resolve() if file.is_file() else options.pipeline}"]
    if options.no_git:
        passed.append("--no-git")
    shared = str(options.shared.resolve()) if options.shared else None
    cache = str(options.cache.resolve()) if options.cache else ""
    return Settings(options.aur, tuple(passed), cache, shared, options.max_object, options.shard_size)


def connect(address: str | None, workers: int | None):
    """Connects to a cluster, or starts one on this machine. Sends no usage statistics."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    import ray

    options = {"address": address} if address else {"num_cpus": workers, "include_dashboard": False}
    try:
        ray.init(**options, log_to_driver=False, logging_level="ERROR")
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise BuildError(f"cannot connect to Ray: {error}") from None
    return ray


def main(given: list[str] | None = None) -> int:
    """Returns the exit code: 0 done, 1 if something failed or is reported, 2 if nothing could be done."""
    options = arguments().parse_args(given)

    def log(text: str):
        print(text, file=sys.stderr, flush=True)

    def interrupted(*_):
        # A second signal must not interrupt the end of the tasks.
        for each in (signal.SIGINT, signal.SIGTERM):
            signal.signal(each, signal.SIG_IGN)
        raise KeyboardInterrupt

    ray = None
    try:
        from . import sources

        found, chosen = sources.load(options.source, options.group, options.aur), settings(options)
        ray = connect(options.address, options.workers)
        # Ray handles these signals itself when it connects.
        for each in (signal.SIGINT, signal.SIGTERM):
            signal.signal(each, interrupted)
        from .build import build

        how = {"cpus": options.jobs, "retries": options.retries, "force": options.force}
        results = build(found, options.output, chosen, **how, log=log)
    except (BuildError, OSError) as error:
        log(f"Error: {error}")
        return 2
    except KeyboardInterrupt:
        log("Interrupted: finished repositories are in the output directory")
        return 130
    finally:
        if ray is not None:
            ray.shutdown()
    failed = sum(each["outcome"] == "failed" for each in results.values())
    incomplete = sum(each["outcome"] == "incomplete" for each in results.values())
    unchanged = sum(each["outcome"] == "unchanged" for each in results.values())
    counts = f"{unchanged} unchanged, {failed} failed"
    log(f"{len(results) - failed} of {len(results)} repositories are in {options.output}; {counts}")
    return 1 if failed or incomplete else 0


if __name__ == "__main__":
    sys.exit(main())
