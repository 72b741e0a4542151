"""Repositories to build: those of a catalogue, or one directory."""

import json
import pathlib
import re
import subprocess

from .tasks import BuildError, Source, printable

# Maximum size of the output of `aur catalog status`, in bytes.
MAX_STATUS_BYTES = 256 << 20
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
BRANCH = re.compile(r"(?![-/])(?!.*\.\.)[\w./+@#-]+")


def load(source: pathlib.Path, groups: list[str], aur: str) -> list[Source]:
    """Returns the repositories of a catalogue that are in one of the groups, or a directory as the only repository.

    `aur` reads the catalogue, so its rules apply: names are unique, and only usual transports are accepted.
    """
    if source.is_dir():
        if groups:
            raise BuildError("a directory has no groups; give a catalogue")
        return [Source(name_of(source.resolve()), path=str(source.resolve()))]
    command = [aur, "catalog", "status", "--format", "json", "--color", "never", "--", str(source)]
    try:
        ended = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True)
    except OSError as error:
        raise BuildError(f"cannot run {aur}: {error.strerror}") from None
    # 1 means that a repository has no index yet.
    if ended.returncode not in (0, 1) or len(ended.stdout) > MAX_STATUS_BYTES:
        lines = ended.stderr.decode(errors="replace").splitlines()
        raise BuildError("\n".join(map(printable, lines)) or f"aur cannot read {source}")
    return parse(ended.stdout, groups)


def parse(status: bytes, groups: list[str]) -> list[Source]:
    """Returns the repositories in the output of `aur catalog status`."""
    try:
        wanted = [each for each in json.loads(status) if not groups or set(groups) & set(each["groups"])]
        found = [source_of(each) for each in wanted]
    except (ValueError, KeyError, TypeError) as error:
        raise BuildError(f"the output of `aur catalog status` is unexpected: {error!r}") from None
    if not found:
        raise BuildError("no repository of the catalogue is in these groups")
    return found


def source_of(entry: dict) -> Source:
    name, path, url, branch = entry["name"], entry["path"], entry.get("url"), entry.get("branch")
    if not NAME.fullmatch(name) or (branch is not None and not BRANCH.fullmatch(branch)):
        raise ValueError(f"invalid name or branch of {name!r}")
    if url is None:
        return Source(name, path=str(pathlib.Path(path).resolve()))
    if url.startswith("-") or "::" in url.split("/")[0] or not url.isprintable():
        raise ValueError(f"invalid URL of {name!r}")
    return Source(name, url=url, branch=branch)


def name_of(directory: pathlib.Path) -> str:
    """Returns the name of a directory, with `-` for each letter that a name cannot contain."""
    name = re.sub(r"[^A-Za-z0-9._-]", "-", directory.name).lstrip("._-")[:100]
    return name or "index"
