"""Recognises repositories that are excluded from training (barred.txt) by their addresses, packages and vendored copies."""
import os
import re
from fnmatch import fnmatchcase

LIST = os.path.join(os.path.dirname(os.path.abspath(__file__)), "barred.txt")
# `OWNER/NAME` in the address of a repository on a forge, or in a short form of such an address (`git@github.com:OWNER/NAME.git`, `github:OWNER/NAME`).
ADDRESS = re.compile(r"(?:github(?:\.com)?|gitlab\.com|bitbucket\.org|codeberg\.org|githubusercontent\.com)[/:]+(?:repos/)?([\w.-]+)/([\w.-]+)", re.I)
SITE = re.compile(r"(?:https?:|git:|ssh:)//(?:[\w.-]+@)?([\w.-]+)", re.I)
# Prefixes and suffixes that are added to a project's name in registries, such as in Debian source packages and Go modules.
AFFIX = re.compile(r"^(?:golang-(?:github|gopkg|go|golang)-|node-|python3?-|ruby-|haskell-|php-|rust-|lua-|elixir-|r-cran-|lib(?=\w{3})|@types/)"
                   r"|(?:-java|-dev|-perl|\.js)$|[-.]?v?\d[\d.]*$")
# Directories with copies of other projects, one subdirectory per project.
VENDOR = {"vendor", "vendored", "_vendor", "node_modules", "third_party", "third-party", "thirdparty", "3rdparty", "external", "extern", "externals",
          "deps", "contrib", "submodules", "pods", "carthage", "bundled", "gems", "subprojects"}


class Barred:
    """The list of barred repositories. Each method checks one form of reference to a repository, and returns the repository or ""."""

    def __init__(self, path=LIST):
        self.repositories, self.names, self.globs, self.sites, self.paths, self.files = {}, {}, [], {}, [], {}
        with open(path, encoding="utf-8") as f:
            for line in f:
                if line.strip() and not line.startswith("#"):
                    self._add(*line.lower().split())

    def _add(self, repository, *others):
        owner, name = repository.split("/")
        self.repositories[repository] = repository
        for known in (name, re.sub(r"\.(js|nvim|json)$", "", name), f"{owner}-{name}"):
            self.names[_plain(known)] = repository
        for other in others:
            if other.startswith("*/"):
                self.files[other[2:]] = repository
            elif other.startswith("/"):
                self.paths.append((other, repository))
            elif "*" in other:
                self.globs.append((_plain(other), repository))
            elif "/" in other and not other.startswith("@"):
                self.repositories[other] = repository
                self.names[_plain(other)] = repository
            else:
                self.sites[other] = repository
                self.names[_plain(other)] = repository

    def address(self, text):
        """Whether a text, such as an address or a metadata file, names a barred repository or its website."""
        for owner, name in ADDRESS.findall(text):
            found = self.repositories.get(f"{owner}/{name}".lower().removesuffix(".git").rstrip("."))
            if found:
                return found
        for host in SITE.findall(text):
            parts = host.lower().split(".")
            for at in range(len(parts) - 1):
                if ".".join(parts[at:]) in self.sites:
                    return self.sites[".".join(parts[at:])]
        return ""

    def repository(self, name):
        """Whether OWNER/NAME, or OWNER+NAME as in the names of clones, is barred."""
        return self.repositories.get(name.replace("+", "/", 1).lower(), "")

    def package(self, name):
        """Whether a package with this name, in any registry, belongs to a barred repository."""
        if self.repository(name):
            return self.repository(name)
        plain = _plain(name.replace("+", "/"))
        while True:
            found = self.names.get(plain) or next((r for glob, r in self.globs if fnmatchcase(plain, glob)), "")
            shorter = AFFIX.sub("", plain, count=1)
            if found or shorter == plain or not shorter:
                return found
            plain = shorter

    def vendored(self, path):
        """Whether a file inside a package is a copy from a barred repository."""
        parts = path.lower().split("/")
        whole = "/" + "/".join(parts)
        found = self.files.get(parts[-1]) or next((r for mark, r in self.paths if mark in whole), "")
        for at, part in enumerate(parts[:-1]):
            found = found or self.repositories.get("/".join(parts[at:at + 2]), "")
            if part in VENDOR:
                inner = parts[at + 1:-1] or [parts[at + 1].split(".")[0]]
                found = found or self.package(inner[0]) or self.package("/".join(inner[:2]))
        return found


def _plain(name):
    return name.lower().replace("_", "-")
