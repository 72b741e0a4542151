#!/usr/bin/env python3
"""Make (commit subject, code) pairs from the history of clones.

usage: commits.py --clones DIR --out FILE [--tsv FILE] [--cap 5000] [--only OWNER/NAME,...]

DIR/OWNER+NAME is a full clone with or without a work tree (git clone --bare https://github.com/OWNER/NAME
DIR/OWNER+NAME). Its history is walked from HEAD, newest first: one git log without contents chooses by subject and number of
files, one diff and one reading of blobs serve 100 commits. Only repositories whose licence files are accepted ones (collect.py)
are read, and none that the search quality is measured on. A commit counts when it is no merge, changes one to four source files and at most
150 lines in them, and when its cleaned subject says something. The pair's query is that subject; its code is a function, method
or class of the commit's post-image, one pair each for the up to three with the most changed lines. A changed line belongs to the
innermost declaration around it, so a class is there for its fields only; blank lines and comments of a brace language and
docstrings belong to nothing. What is longer than 200 lines, and test modules of Rust, are left out.

Pairs have the form of pairs.py ("rest" is empty, "pkg" is git:OWNER/NAME) and the same declarations, masks, signatures and
stripped comments. A subject is used once a repository, a function at most five times; a repository gives at most --cap
pairs. FILE grows repository by repository, and TSV (repository, commit, licence, pairs) with it: what TSV names already is not
read again.
"""
import argparse
import ast
import bisect
import glob
import json
import os
import re
import subprocess
import time
import warnings
from collections import Counter

from collect import allowed
from pairs import BEFORE, DECL, HOLDER, LANG, MASK, MAX_BODY, NOT_NAMES, SKIP, VENDORED, _body_start, strip_comments_before

MAX_FILES, MAX_LINES, MAX_TEXT, PER_COMMIT, PER_FUNCTION, LONGEST, BATCH = 4, 150, 400_000, 3, 5, 200, 100
GLOBS = [f":(glob)**/*{e}" for e in LANG]
# More that is no source of its own: benchmarks, mocks, built files, other spellings of tests.
SKIP_TOO = re.compile(r"(?i)(^|/)(([\w-]*[_-])?test(s|ing|suites?|utils?|kit|lib|data|helpers?|fixtures)?([_-][\w-]*)?|e2e|integration|it|"
                      r"bench(es|marks?)?|[\w-]*-benchmarks?|__mocks__|mocks?|fakes?|dist|build|samples?|demos?|website|site|playground|"
                      r"third-party|external|scripts?)/|(^|/)(conftest|setup)\.py$|(Tests?|IT|Mock)\.java$|(^|/)(tests?|bench(mark)?s?|"
                      r"[\w-]+_tests?|test_[\w-]+)\.\w+$|[._](generated|gen|mock|bench)\.\w+$")
BARRED = re.compile(r"(?i)/(celery|vite|webpack|gson|prometheus|flask|django|spring-\w+|ripgrep|tantivy|milli|meilisearch|kubernetes|pandas|react|"
                    r"typescript)$")
LICENCE_FILES = re.compile(r"(?i)^(li[cs]en[cs]e|copying|unlicense)([-.](mit|apache|apache2|apache-2\.0|bsd|txt|md|rst))*$")
LICENCES = [("MIT", "permission is hereby granted, free of charge, to any person obtaining a copy"),
            ("Apache-2.0", "apache license version 2.0"), ("Apache-2.0", "licensed under the apache license, version 2.0"),
            ("MPL-2.0", "mozilla public license version 2.0"), ("MPL-2.0", "mozilla public license, version 2.0"),
            ("BSD", "redistribution and use in source and binary forms, with or without modification"),
            ("ISC", "permission to use, copy, modify, and/or distribute this software"),
            ("Unlicense", "this is free and unencumbered software released into the public domain")]

# Cleaning a subject: kinds of commit that are out, prefixes and links that go, subjects that say nothing of the code, words
# that do not count as content.
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
    """The subject of a commit as a question, or None."""
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
    return s if worth(s) else None


def worth(s):
    """Whether a cleaned subject is English prose with something in it."""
    words = re.findall(r"[A-Za-z][A-Za-z_]+", s)
    content = {w.lower() for w in words} - PLAIN
    if len(words) < 3 or len(content) < 2 or len(s) > 160 or sum(c > "\x7f" for c in s) * 20 > len(s):
        return False
    return sum(c.isalpha() or c == " " for c in s) > .8 * len(s)


def git(repo, *args):
    p = subprocess.run(["git", "-C", repo, *args], capture_output=True)
    return p.stdout.decode("utf-8", "replace") if p.returncode == 0 else ""


def licence(repo):
    """The licences of the files at the top that are named as licences, as an expression ("" when one cannot be told)."""
    found = []
    for row in git(repo, "ls-tree", "HEAD").split("\n"):
        what, _, name = row.partition("\t")
        if " blob " in what and LICENCE_FILES.match(name):
            text = re.sub(r"\s+", " ", git(repo, "show", f"HEAD:{name}")).lower()
            first = min(((text.find(mark), one) for one, mark in LICENCES if mark in text[:6000]), default=(0, ""))[1]
            found.append(first or "unknown")
    return " OR ".join(sorted(set(found))) if "unknown" not in found else ""


def commits(repo):
    """(subject, [(path, text, [hunk])]) of the commits whose subject is good and that are small enough, newest first."""
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
    """(commit, subject, changed source paths), from a log without contents."""
    cmd = ["git", "-C", repo, "-c", "core.quotePath=false", "log", "--no-merges", "--no-renames", "--diff-filter=AM", "--name-only",
           "--format=%x01%H %s", "HEAD", "--", *GLOBS]
    with subprocess.Popen(cmd, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, encoding="utf-8", errors="replace") as p:
        try:
            head, paths = None, []
            for line in p.stdout:
                if line.startswith("\x01"):
                    if head:
                        yield *head, paths
                    head, paths = line[1:].rstrip("\n").partition(" ")[::2], []
                elif wanted(line.rstrip("\n")):
                    paths.append(line)
            if head:
                yield *head, paths
        finally:
            p.kill()


def with_texts(repo, batch):
    """The same commits with their hunks and the texts after them: one diff and one reading of blobs for all."""
    cmd = ["git", "-C", repo, "-c", "core.quotePath=false", "diff-tree", "--stdin", "-r", "--root", "--no-renames", "--no-ext-diff",
           "--no-textconv", "--diff-filter=AM", "-p", "-U0", "--full-index", "--src-prefix=a/", "--dst-prefix=b/", "--format=%x01%H", "--", *GLOBS]
    p = subprocess.run(cmd, input="".join(c + "\n" for c, _ in batch).encode(), capture_output=True)
    changes = {c: files for c, files in parse_diff(p.stdout.split(b"\n")) if small(files)}
    texts = read_blobs(repo, {blob for files in changes.values() for _, blob, _ in files})
    for c, query in batch:
        if c in changes:
            yield query, [(path, texts[blob], hunks) for path, blob, hunks in changes[c] if hunks and texts.get(blob)]


def parse_diff(lines):
    """(commit, [(path, blob, [(first line, lines, lines changed)])]) of a diff without context."""
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
            if wanted(path):
                files.append((path, blob, hunks))
        elif c == b"@" and hunks is not None:
            m = re.match(rb"@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", raw)
            gone, at, come = (int(x) if x is not None else 1 for x in m.groups())
            hunks.append((at, come, max(gone, come)))
    if commit:
        yield commit, files


def read_blobs(repo, blobs):
    """Texts by blob, from one git cat-file; none of what is too long or not UTF-8."""
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


def wanted(path):
    return os.path.splitext(path)[1] in LANG and not (SKIP.search(path) or SKIP_TOO.search(path) or VENDORED.search(path))


def small(files):
    return 1 <= len(files) <= MAX_FILES and sum(h[2] for f in files for h in f[2]) <= MAX_LINES


def python_changed(text, hunks):
    """(changed lines, kind, name, sig, body) of the Python declarations that hunks lie in."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(text)
    known, lines, found = python_ranges(tree), text.split("\n"), Counter()
    for at, come, weight in hunks:
        for line in range(at, at + max(come, 1)):
            if come and not lines[line - 1].strip():
                continue
            n = max((i for i, k in enumerate(known) if k[0] <= line <= k[1]), default=-1)
            if n >= 0 and known[n][2]:
                found[n] += weight / max(come, 1)
    for n, count in found.items():
        _, _, node, path, in_class = known[n]
        got = python_code(node, lines)
        if got:
            yield count, "class" if isinstance(node, ast.ClassDef) else "method" if in_class else "function", ".".join(path), *got


def python_ranges(tree):
    """First and last line, node, path and whether in a class, of every declaration, outer before inner; docstrings without a node."""
    out, stack = [], [(tree, [], False)]
    while stack:
        node, path, in_class = stack.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            path = path + [node.name]
            out.append((min([node.lineno] + [d.lineno for d in node.decorator_list]), node.end_lineno, node, path, in_class))
            in_class = isinstance(node, ast.ClassDef)
            if ast.get_docstring(node, clean=False) is not None:
                out.append((node.body[0].lineno, node.body[0].end_lineno, None, path, False))
        for name in ("body", "orelse", "handlers", "finalbody", "cases"):
            stack += [(c, path, in_class) for c in getattr(node, name, ()) if not isinstance(c, (ast.Expr, ast.Assign, ast.Return))]
    return out


def python_code(c, lines):
    """Signature, and signature with code but no docstring, as pairs.py has them."""
    d, doc = c.body[0], ast.get_docstring(c, clean=False)
    start = min([d.lineno] + [x.lineno for x in getattr(d, "decorator_list", [])])
    while start - 1 > c.lineno and re.match(r"\s*(#|$)", lines[start - 2]):
        start -= 1
    sig = "\n".join(lines[c.lineno - 1:start - 1]).strip()
    code = "\n".join(lines[d.end_lineno if doc is not None else start - 1:c.end_lineno])
    return (sig, sig + "\n" + code) if sig and len(code.strip()) >= 20 else None


def blank(m):
    s = m.group()
    return " " * len(s) if "\n" not in s else re.sub(r"[^\n]", " ", s)


class Braces:
    """A file in a brace language: its mask and the declarations at its braces."""

    def __init__(self, text, lang):
        self.text, self.lang, self.mask = text, lang, MASK[lang].sub(blank, text)
        self.starts = [0] + [m.end() for m in re.finditer("\n", text)] + [len(text)]
        self.close, self.known, opened = {}, {}, []
        for m in re.finditer(r"[{}]", self.mask):
            if m.group() == "{":
                opened.append(m.start())
            elif opened:
                self.close[opened.pop()] = m.end()
        self.braces = sorted(self.close, reverse=True)

    def at_brace(self, brace):
        """The declaration whose body a brace opens, or None."""
        if brace not in self.known:
            self.known[brace] = self.find(brace)
        return self.known[brace]

    def find(self, brace):
        """What begins at the head of a line at most 25 lines before a brace and has that brace for its body."""
        n = bisect.bisect_right(self.starts, brace) - 1
        for line in range(n, max(-1, n - 25), -1):
            at = BEFORE[self.lang].match(self.mask, self.starts[line]).end()
            if brace - at > 1500:
                break
            what, m = next(((what, m) for what, rx in DECL[self.lang] if at < brace and (m := rx.match(self.mask, at))), ("", None))
            if not m or m.group("name") in NOT_NAMES | {"async"} or m.end() > brace:
                continue
            after = m.end() - (1 if self.mask[m.end() - 1] == "(" else 0)
            if _body_start(self.mask, after) == (brace, False) and (what == "type" or clean_head(self.mask, at, after, brace, self.lang)):
                got = m.groupdict()
                return at, brace, what, got["name"], got.get("recv"), got.get("kind")
        return None

    def around(self, line, come):
        """The innermost declaration around a line, counted from 1; none for a blank line or a comment that came."""
        if not 1 <= line < len(self.starts):
            return None
        first, end = self.starts[line - 1:line + 1]
        if come and not self.mask[first:end].strip() and not re.match(r"\s*[^/*\s]", self.text[first:end]):
            return None
        for brace in self.braces:
            if brace < end + 600 and self.close[brace] > first:
                d = self.at_brace(brace)
                if d and d[0] < end:
                    return d
        return None


def brace_changed(text, hunks, lang):
    """The same for a brace language."""
    file, found = Braces(text, lang), Counter()
    for at, come, weight in hunks:
        for line in range(at, at + max(come, 1)):
            found[file.around(line, come)] += weight / max(come, 1)
    found.pop(None, None)
    holders = holders_of(file.mask, file.close, lang) if found else []
    for (at, brace, what, name, recv, kind), n in found.items():
        sig, body = text[at:brace].strip(), text[at:file.close[brace]]
        path = [recv] if recv else [h[2] for h in holders if h[0] < at < h[1]]
        if len(body) - len(sig) < 24 or "\0test" in path:
            continue
        kind = kind.replace("@", "") if what == "type" else "method" if path else "function"
        yield n, kind, ("::" if lang == "rust" else ".").join(path + [name]), sig, strip_comments_before(body, lang)


def clean_head(mask, at, after, brace, lang):
    """Whether what stands between a function's parameters and its body is a result or a throws clause, and not other code."""
    if lang in ("go", "rust"):
        return True
    if re.match(r"(new|return|throw|else|await|yield)\b", mask[at:at + 8]):
        return False
    depth, end = 0, after
    for m in re.compile(r"[()]").finditer(mask, after, brace):
        depth += 1 if m.group() == "(" else -1
        end = m.end()
        if depth == 0:
            break
    if lang == "java":
        return bool(re.fullmatch(r"\s*(throws\s[\w\s.,@]+)?", mask[end:brace]))
    return mask[:after].endswith("=>") or end > after and bool(re.fullmatch(r"\s*(:[^;(){}]*?)?\s*(=>)?\s*", mask[end:brace]))


def holders_of(mask, close, lang):
    """Ranges of classes, impls, traits with their names; of test modules with a name that drops what is in them."""
    out = []
    for m in HOLDER[lang].finditer(mask) if lang in HOLDER else ():
        name = next((g for g in m.groups() if g), None)
        if lang == "rust" and re.match(r"mod\s+\w*tests?\b", m.group()):
            name = "\0test"
        if name and m.end() - 1 in close:
            out.append((m.start(), close[m.end() - 1], name))
    return out


def changed(text, hunks, lang):
    """Declarations of a file that hunks lie in; none of a generated or minified file."""
    if not text or len(text) / (text.count("\n") + 1) > 250 or re.search(r"(?i)code generated|@generated|do not edit", text[:600]):
        return []
    try:
        return list(python_changed(text, hunks) if lang == "python" else brace_changed(text, hunks, lang))
    except (SyntaxError, ValueError, IndexError, RecursionError, MemoryError):
        return []


def repository_pairs(repo, name, cap):
    """The pairs of one repository, newest commit first."""
    uses, total = Counter(), 0
    for query, files in commits(repo):
        rows, taken = [], []
        for path, text, hunks in files:
            lang = LANG[os.path.splitext(path)[1]]
            for n, kind, qual, sig, body in changed(text, hunks, lang):
                if body.count("\n") <= LONGEST:
                    rows.append((n, {"lang": lang, "pkg": f"git:{name}", "path": path, "query": query, "head": f"{kind} {qual}",
                                     "sig": sig[:1000], "body": body[:MAX_BODY], "rest": ""}))
        for _, p in sorted(rows, key=lambda r: (-r[0], r[1]["path"], r[1]["head"])):
            place = p["head"], p["path"]
            if len(taken) < 2 * PER_COMMIT and place not in taken and p["body"] not in taken and uses[place] < PER_FUNCTION:
                taken += [place, p["body"]]
                uses[place] += 1
                total += 1
                yield p
                if total == cap:
                    return


def have(path):
    """The repositories that a table of an earlier run names."""
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
    done = have(a.tsv)
    for repo in sorted(glob.glob(os.path.join(a.clones, "*+*"))):
        name = os.path.basename(repo).replace("+", "/", 1)
        if name in done or BARRED.search(name) or a.only and name not in a.only.split(","):
            continue
        started, count, what = time.time(), Counter(), licence(repo)
        if allowed(what):
            rows = list(repository_pairs(repo, name, a.cap))
            count.update(p["lang"] for p in rows)
            with open(a.out, "a", encoding="utf-8") as f:
                f.writelines(json.dumps(p, ensure_ascii=False) + "\n" for p in rows)
        with open(a.tsv, "a", encoding="utf-8") as f:
            f.write(f"{name}\t{git(repo, 'rev-parse', 'HEAD').strip()}\t{what or 'unknown'}\t{sum(count.values())}\n")
        print(f"{name:35s} {what:18s} {dict(count)} {time.time() - started:.0f} s", flush=True)


if __name__ == "__main__":
    main()
