#!/usr/bin/env python3
"""Makes pairs (commit subject, code) from the history of clones.

usage: commits.py --clones DIR --out FILE [--tsv FILE] [--cap 5000] [--only OWNER/NAME,...]

DIR/OWNER+NAME is a full clone, with or without a work tree (git clone --bare https://github.com/OWNER/NAME DIR/OWNER+NAME). Repositories
are read only if their licences are accepted (collect.py) and neither barred.txt nor held-out.txt names them.

The history is walked from HEAD, newest commit first. Commits are chosen by subject and number of files from a git log without contents.
One diff and one read of blobs are run for each 100 commits. A commit is used if it is not a merge, changes one to four source files and
at most 150 lines in them, and has an informative subject after cleaning.

The query of a pair is the cleaned subject. The code is a function, method or class as it is after the commit. Each commit gives a pair for
each of up to three definitions with the most changed lines. A changed line belongs to the innermost definition around it, so only changed
fields count for a class. Blank lines, comments and documentation do not count. Definitions with more than 200 lines, and test modules,
are skipped.

Pairs have the form of pairs.py, with an empty "rest" and git:OWNER/NAME as "pkg", and the same parser finds the definitions. In a
repository, each subject is used once, each function at most five times, and there are at most --cap pairs. FILE and TSV (repository,
commit, licence, pairs) grow repository by repository. Repositories that TSV already names are not read again.
"""
import argparse
import json
import os
import re
import subprocess
import tempfile
import time
from collections import Counter

from barred import Barred
from clones import head, licence, names
from collect import allowed
from engine import definitions, extensions
from pairs import KINDS, MAX_BODY, SKIP, held_out, useful

MAX_FILES, MAX_LINES, MAX_TEXT, PER_COMMIT, PER_FUNCTION, LONGEST, BATCH = 4, 150, 400_000, 3, 5, 200, 100
BARRED = Barred()
# More files that are skipped: benchmarks, mocks, built files, and other spellings of tests.
SKIP_TOO = re.compile(r"(?i)(^|/)(([\w-]*[_-])?test(s|ing|suites?|utils?|kit|lib|data|helpers?|fixtures)?([_-][\w-]*)?|e2e|integration|it|"
                      r"bench(es|marks?)?|[\w-]*-benchmarks?|__mocks__|mocks?|fakes?|dist|build|samples?|demos?|website|site|playground|"
                      r"third-party|external|scripts?)/|(^|/)(conftest|setup)\.py$|(Tests?|IT|Mock)\.java$|(^|/)(tests?|bench(mark)?s?|"
                      r"[\w-]+_tests?|test_[\w-]+)\.\w+$|[._](generated|gen|mock|bench)\.\w+$")
# For cleaning subjects: kinds of commits that are skipped, prefixes and links that are removed, subjects that do not describe
# code, and words that do not count as content.
TYPES_OUT = re.compile(r"(?i)^[\[(]?(docs?|documentation|tests?|testing|chore|ci|build|style|release|deps?(-dev)?|dependencies|infra|website|"
                       r"examples?|changelog|bench(marks?)?|meta|types?|upgrade|i18n|lint|dx|contrib|packaging|workflows?|"
                       r"\.github)\b[^:\]]{0,40}[:\])]")
PREFIX = re.compile(r"^(?:[\[(][^\])]{1,40}[\])]\s*[:,-]?\s*"                       # [JIRA-123], (core)
                    r"|[\w./*@$+#&{},-]+(?:[ /|,]+[\w./*@$+#&-]+){0,2}(?:\s?\([^)]*\))?!?:+\s+"   # net/http:, feat(scope)!:
                    r"|:\w+:\s*|(?:GH|gh|issue|bpo)?-?#\d+\s*[:,-]?\s*|(?!UTF|SHA|ISO|AES|RFC)[A-Z][A-Z0-9]+-\d+\s*[:;,-]?\s*|[-*]\s+)")
LINKS = re.compile(r"(?i)\s*[,;:(\[–-]*\s*\b(?:(?:fix(?:es|ed)?|clos(?:es?|ed|ing)|resolv(?:es?|ed)|refs?|see|re|issues?|bugs?|pr|part of|for|"
                   r"from|in|via|related to|addresses)[ :]+)*(?:(?:issues?|bugs?|pr|and|,)\s*)?(?:(?:[\w.-]+/[\w.-]+)?#\d+|gh-\d+|"
                   r"https?://\S+)[)\]]*")
BARE_LINKS = re.compile(r"\s*[\[(]*(?:[\w.-]+/[\w.-]+)?#\d+[\])]*|\s*\(\d{2,}\)|\s*[\[(][A-Z]{3,}-\d{2,}[\])]")
NOISE = re.compile(r"(?i)\s*[\[(](?:skip[ -]ci|ci[ -]skip|wip|nfc|part \d+|cont|contd|cherry.picked[^)\]]*|backport[^)\]]*|\d+/\d+|"
                   r"[\w. ]+ via [\w ,]+|thanks[^)\]]*|by @?[\w-]+|@[\w-]+)[\])]|\s+(?:thanks to|patch by|credit:?|by) @[\w-]+.*$|[.,;]? (based on a )?(patch|pr|"
                   r"pull request) (was )?(provided |submitted |contributed )?by .*$|\s+(?:signed-off-by|change-id):.*$")
STARTS = re.compile(r"(?i)^(merge|revert|reapply|backport|bump|release|prepare|preparing|publish|start(ing)? (next|work)|cherry|(bump|update|"
                    r"upgrade|pin|unpin|migrate|downgrade|set|lock|vendor|revendor|switch|move)\b.*(\bdep(endenc(y|ies)|s)?\b|\bversions?\b|"
                    r"\bv?\d+\.\d+|\bvendor|\bsubmodule|\bto latest\b)|update (dep|vendor|go\.|package|yarn|lock|cargo|the )?(lock|mod|"
                    r"toolchain)|version|v?\d+\.\d+|wip\b|initial commit|init\b|oops|misc|minor|tweaks?|polish|nits?\b|more |further |another |"
                    r"better |even |temporar|temp\b|address|apply (suggest|review|feedback|patch|changes)|pr feedback|(remove|drop|"
                    r"delete)[sd]? (unnecessary|redundant|unneeded|needless|obsolete|superfluous|extra|stale|old|dead)\b|review|code review|"
                    r"follow[- ]?up|fixups?|squash|small|tiny|simple|quick|final|done|various|some |several |(fix|fixed|fixes) (it|this|that|"
                    r"build|compil\w+|errors?|warnings?|bugs?|issues?|merge|imports?|conflicts?|review|windows build|style|doc\w*|comments?|"
                    r"example\w*|links?|eslint|flake\w*|mypy|pylint|ruff|type\w*|docs)\b(?! \w+ \w+ \w+)|(add|fix|improve|update|remove|delete|"
                    r"enable|disable|skip|clean|refactor|move|rename|more|deflake|unflake|use|make|allow|ignore|correct|rework|extend|"
                    r"expand)\w*( \w+){0,2} (tests?|testing|testcases?|specs?|docs|documentation|comments?|flak\w+|examples?|logging|todos?|"
                    r"fixmes?|benchmarks?|changes|news)\b)")
ANYWHERE = re.compile(r"(?i)\b(typos?|misspell\w*|spelling|grammar|white ?space changes|trailing (white)?spaces?|formatting changes|reformat\w*|"
                      r"gofmt|gofumpt|goimports|rustfmt|cargo fmt|clippy|golangci\S*|staticcheck|eslint (errors?|warnings?)|lint(ing|"
                      r"er)? (\w+ )?(errors?|issues?|warnings?|fix\w*)|lints|pyupgrade|isort|flake8|checkstyle|spotless|sonar\w*|findbugs|"
                      r"change ?logs?|release notes?|clean(s|ed|ing)?[ -]?ups?|clean(ed|s|ing)? (code|some|the code)|copyrights?|"
                      r"licen[cs]e headers?|readme|java ?docs?|js ?docs?|docstrings?|rustdoc|godoc|code ?cov\w*|coverage|git ?hub actions?|"
                      r"travis|appveyor|circle ?ci|jenkins\w*|dependabot|renovate|ci|flaky|flakiness|flakes?|unit ?tests?|test (suite|case|"
                      r"failures?|helpers?)s?|deflake|failing tests?|broken tests?|(?<!-)unused(?!-)|dead code|spotbugs|naming conventions?|"
                      r"poeditor|translations?|compiler? warnings?|deprecation warnings?|build (error|failure|warning)s?|mechanical|"
                      r"python ?[23](\.\d+)?|py[23]k?|java ?\d+|nightly|msrv|edition 20\d\d|go ?1\.\d+|es6|f-strings?|review comments?|"
                      r"suggestions?|no functional change|style (fix\w*|changes?)|code style|coding style|type hints?|type annotations?|"
                      r"annotations for|(mypy|pyright|flow) (errors?|types?)|lockfiles?|submodules?|dependenc(y|ies) (to|update)|"
                      r"to v?\d+\.\d+(\.\d+)?$|alpha|beta\d|rc\d?|snapshots? version|npm version)\b")
TRAILER = re.compile(r"(?i)\s+(?:\(?(?:fix(?:es)?|closes?|see|re|refs?|for|in|on|by|with|and|to|from|of|the|a|an|or|at|per|via)\)?)$")
PLAIN = set("a an the of to in on for is are be and or if it its this that these those with from by as at into which will was when can has have not "
            "we you i how what where does do so no but than then also only some all any more now just should there their they our "
            "use using used add adds added adding fix fixes fixed fixing update updates updated updating remove removes removed removing "
            "change changes "
            "changed make makes made improve improved improves refactor refactored refactoring rename renamed move moved moves new support allow "
            "code bug issue issues error problem minor".split())


def clean(subject):
    """Returns the subject of a commit as a question, or None."""
    s = subject.replace("`", "").replace("“", '"').replace("”", '"').replace("’", "'").strip()
    if TYPES_OUT.match(s):
        return None
    s = re.sub(r"^(?:\[[^\]]*\]\s*)+", "", s)
    s = NOISE.sub("", BARE_LINKS.sub("", LINKS.sub("", s)))
    for _ in range(4):
        s, n = PREFIX.subn("", s, count=1)
        if not n or TYPES_OUT.match(s):
            break
    if s.rstrip().endswith(("…", "...")):
        return None
    s = re.sub(r"\s+", " ", s).strip(" .:;,-–!*#")
    s = TRAILER.sub("", s) if subject[-1:] in ")]0123456789" else s
    if TYPES_OUT.match(s) or STARTS.match(s) or ANYWHERE.search(s):
        return None
    return s if is_informative(s) else None


def is_informative(s):
    """Whether a cleaned subject is informative English prose."""
    words = re.findall(r"[A-Za-z][A-Za-z_]+", s)
    content = {w.lower() for w in words} - PLAIN
    if len(words) < 3 or len(content) < 2 or len(s) > 160 or sum(c > "\x7f" for c in s) * 20 > len(s):
        return False
    return sum(c.isalpha() or c == " " for c in s) > .8 * len(s)


def commits(repo):
    """Yields (subject, [(path, text, [hunk])]) for small commits with informative subjects, newest first."""
    batch, seen = [], set()
    for commit, subject, paths in log(repo):
        query = clean(subject) if 1 <= len(paths) <= MAX_FILES else None
        if query and query.lower() not in seen:
            seen.add(query.lower())
            batch.append((commit, query))
        if len(batch) == BATCH:
            yield from with_texts(repo, batch)
            batch = []
    yield from with_texts(repo, batch)


def log(repo):
    """Yields (commit, subject, changed source paths), from a log without contents."""
    cmd = ["git", "-C", repo, "-c", "core.quotePath=false", "log", "--no-merges", "--no-renames", "--diff-filter=AM", "--name-only",
           "--format=%x01%H %s", "HEAD"]
    with subprocess.Popen(cmd, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, encoding="utf-8", errors="replace") as p:
        try:
            head, paths = None, []
            for line in p.stdout:
                if line.startswith("\x01"):
                    if head:
                        yield *head, paths
                    head, paths = line[1:].rstrip("\n").partition(" ")[::2], []
                elif is_wanted(line.rstrip("\n")):
                    paths.append(line)
            if head:
                yield *head, paths
        finally:
            p.kill()


def with_texts(repo, batch):
    """Yields the commits with their hunks and new texts. Uses one diff and one read of blobs for all commits."""
    cmd = ["git", "-C", repo, "-c", "core.quotePath=false", "diff-tree", "--stdin", "-r", "--root", "--no-renames", "--no-ext-diff",
           "--no-textconv", "--diff-filter=AM", "-p", "-U0", "--full-index", "--src-prefix=a/", "--dst-prefix=b/", "--format=%x01%H"]
    p = subprocess.run(cmd, input="".join(c + "\n" for c, _ in batch).encode(), capture_output=True)
    changes = {c: files for c, files in parse_diff(p.stdout.split(b"\n")) if is_small(files)}
    texts = read_blobs(repo, {blob for files in changes.values() for _, blob, _ in files})
    found = parse({blob: path for files in changes.values() for path, blob, hunks in files if hunks and texts.get(blob)}, texts)
    for c, query in batch:
        if c in changes:
            yield query, [(path, texts[blob], hunks, found[blob]) for path, blob, hunks in changes[c] if hunks and blob in found]


def parse(paths, texts):
    """Returns the language and the definitions of the blobs in `paths`, by blob, without generated and minified files."""
    blobs = [blob for blob in paths if useful(texts[blob])]
    with tempfile.TemporaryDirectory() as d:
        files = [os.path.join(d, blob, os.path.basename(paths[blob])) for blob in blobs]
        for blob, path in zip(blobs, files):
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as f:
                f.write(texts[blob])
        return dict(zip(blobs, definitions(files))) if files else {}


def parse_diff(lines):
    """Yields (commit, [(path, blob, [(first line, lines, lines changed)])]) from a diff without context."""
    commit, files, hunks, blob = None, [], None, ""
    for raw in lines:
        c = raw[:1]
        if c in b"+-" and c and not raw.startswith(b"+++ b/"):
            continue
        if c == b"\x01":
            if commit:
                yield commit, files
            commit, files, hunks = raw[1:].decode().strip(), [], None
        elif raw.startswith(b"index "):
            blob = raw[6:].split()[0].split(b"..")[-1].decode()
        elif raw.startswith(b"+++ b/"):
            path, hunks = raw[6:].decode("utf-8", "replace").rstrip("\t"), []
            if is_wanted(path):
                files.append((path, blob, hunks))
        elif c == b"@" and hunks is not None:
            m = re.match(rb"@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", raw)
            gone, at, come = (int(x) if x is not None else 1 for x in m.groups())
            hunks.append((at, come, max(gone, come)))
    if commit:
        yield commit, files


def read_blobs(repo, blobs):
    """Returns the texts of blobs, by blob, from one git cat-file. Texts that are too long or not UTF-8 are skipped."""
    p = subprocess.run(["git", "-C", repo, "cat-file", "--batch"], input="".join(b + "\n" for b in sorted(blobs)).encode(), capture_output=True)
    out, at = {}, 0
    while at < len(p.stdout):
        end = p.stdout.index(b"\n", at)
        head = p.stdout[at:end].split()
        at = end + 1
        if len(head) == 3:
            data = p.stdout[at:at + int(head[2])]
            at += len(data) + 1
            try:
                out[head[0].decode()] = data.decode("utf-8").replace("\r\n", "\n") if len(data) <= MAX_TEXT else ""
            except UnicodeDecodeError:
                pass
    return out


def is_wanted(path):
    return path.lower().endswith(extensions()) and not (SKIP.search(path) or SKIP_TOO.search(path) or BARRED.vendored(path))


def is_small(files):
    return 1 <= len(files) <= MAX_FILES and sum(h[2] for f in files for h in f[2]) <= MAX_LINES


def changed(text, found, hunks):
    """Returns (changed lines, definition) for the definitions that hunks change. A line belongs to the innermost definition around it."""
    lines, count = text.split("\n"), Counter()
    inside = [(*d["lines"], n) for n, d in enumerate(found)]
    docs = [d["doc_lines"] for d in found if d["doc_lines"]]
    for at, come, weight in hunks:
        for line in range(at, at + max(come, 1)):
            if come and (not lines[line - 1:line] or not re.match(r"\s*(?!//|/\*|\*|#|--)\S", lines[line - 1])):
                continue
            around = [(last - first, -n) for first, last, n in inside if first <= line <= last]
            if around and not any(first <= line <= last for first, last in docs):
                count[-min(around)[1]] += weight / max(come, 1)
    return [(n, found[i]) for i, n in count.items()]


def repository_pairs(repo, name, cap):
    """Returns the pairs of one repository, newest commit first."""
    uses, total = Counter(), 0
    for query, files in commits(repo):
        rows, taken = [], []
        for path, text, hunks, (lang, found) in files:
            for n, d in changed(text, found, hunks):
                if d["kind"] in KINDS and len(d["code"]) >= len(d["signature"]) + 20 and d["code"].count("\n") <= LONGEST \
                        and not re.search(r"\btests?\b", d["scopes"]):
                    rows.append((n, {"lang": lang, "pkg": f"git:{name}", "path": path, "query": query, "kind": d["kind"], "name": d["name"],
                                     "scopes": d["scopes"], "sig": d["signature"][:1000], "body": d["code"][:MAX_BODY], "rest": ""}))
        for _, p in sorted(rows, key=lambda r: (-r[0], r[1]["path"], r[1]["scopes"] + r[1]["name"])):
            function = p["scopes"] + p["name"], p["path"]
            if len(taken) < 2 * PER_COMMIT and function not in taken and p["body"] not in taken and uses[function] < PER_FUNCTION:
                taken += [function, p["body"]]
                uses[function] += 1
                total += 1
                yield p
                if total == cap:
                    return


def repositories_in(path):
    """Returns the repositories that the table of an earlier run names."""
    if not os.path.exists(path):
        return set()
    return {line.split("\t")[0] for line in open(path, encoding="utf-8")}


def main():
    ap = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    ap.add_argument("--clones", required=True)
    ap.add_argument("--out", required=True)
    ap.add_argument("--tsv", default="repositories.tsv")
    ap.add_argument("--cap", type=int, default=5000)
    ap.add_argument("--only", default="")
    a = ap.parse_args()
    done, apart = repositories_in(a.tsv), {pkg.removeprefix("github:").replace("+", "/") for pkg in held_out()}
    for name, repo in names(a.clones):
        if name in done or BARRED.package(name) or name in apart or a.only and name not in a.only.split(","):
            continue
        started, count, what = time.time(), Counter(), licence(repo)
        if allowed(what):
            rows = list(repository_pairs(repo, name, a.cap))
            count.update(p["lang"] for p in rows)
            with open(a.out, "a", encoding="utf-8") as f:
                f.writelines(json.dumps(p, ensure_ascii=False) + "\n" for p in rows)
        with open(a.tsv, "a", encoding="utf-8") as f:
            f.write(f"{name}\t{head(repo)}\t{what or 'unknown'}\t{sum(count.values())}\n")
        print(f"{name:35s} {what:18s} {dict(count)} {time.time() - started:.0f} s", flush=True)


if __name__ == "__main__":
    main()
