#!/usr/bin/env python3
"""Makes pairs (doc sentence, code) from the packages that collect.py has unpacked.

usage: pairs.py --work DIR [--cap 2500]

Reads DIR/src/KIND/PACKAGE and writes DIR/pairs.jsonl, one pair per line, with these fields:
  lang, pkg, path (of the file inside the package), query (first sentence of the doc comment), kind, name, scopes, sig, body (the
  definition without its documentation), rest (the remaining text of the doc comment).

The parser of `aur` finds the definitions and their documentation (engine.py), so that a pair has the same fields as a passage in `aur`, in every
language that it supports. If a sentence begins with the documented name, as in Go, the name is removed. Generated files, tests and
vendored copies are skipped. Each sentence and each body is used once; packages in held-out.txt come first. A package contributes at most --cap
pairs per language.
"""
import argparse
import glob
import json
import os
import random
import re
import zlib
from collections import Counter
from multiprocessing import Pool

from barred import Barred
from engine import definitions, extensions

HERE = os.path.dirname(os.path.abspath(__file__))
SKIP = re.compile(r"(?i)(^|/)(tests?|testing|testdata|__tests__|spec|specs|fixtures|vendor|vendored|_vendor|third[-_]?party|3rd-?party|external|extern|"
                  r"node_modules|pods|carthage|examples?|samples?|demos?|docs?|locale|migrations|min|benchmarks?|site|website)/|(_test\.\w+|\.pb\.\w+|"
                  r"_pb2(_grpc)?\.py|\.min\.js|\.d\.ts|zz_generated.*|_generated\.\w+|\.g\.\w+|\.designer\.cs|\.test\.\w+|\.tests\.\w+|\.spec\.\w+|"
                  r"_spec\.rb|(^|/)test[_-][\w-]+\.\w+|Tests?\.(java|cs|kt|swift|php|scala|groovy|m)|Spec\.(scala|groovy|kt|hs)|bindata\.go|\.t)$"
                  r"|(^|/)src/\w*test\w*/|[-_.]tests?/")
KINDS = {"function", "method", "class", "interface", "type", "struct", "enum"}
MAX_FILE, MAX_BODY, MOST_FILES, BATCH = 1_500_000, 3000, 300, 100
# Beginnings of documentation in some notations: headings of POD, delimiters of Haddock, and characters that the parser keeps.
OPENING = re.compile(r"(?m)\A(?s:.{,400}?)\bDescription *: +(?=[A-Z])|^=\w+.*$|^/O\([^)]*\)/\.?|^[#|^—-]+ ")
TAG = re.compile(r"^(?:[@\\](?:description|desc|summary|brief|short|doc|details)\b|\.SYNOPSIS\b|\.DESCRIPTION\b)\s*")
# Ends of the first sentence: a full stop, an empty line, a tag, a heading, or a list.
END = re.compile(r"(?<!e\.g)(?<!i\.e)(?<!etc)[.!?](?=\s|$)|\n\s*\n|\n\s*(?=@\w|:param|:return|-{3,}|={3,}|Args:|Returns:|Parameters|#|\* |- |\d\. )")
# Sentences that do not describe the code, and remarks for other tools.
NO_QUESTION = re.compile(r"(?i)deprecated|todo|fixme|see |auto-?generated|code generated|this (method|function|file) is (deprecated|generated)|"
                         r"copyright|licensed|(args|arguments|returns?|parameters|params|raises|examples?|usage|notes?):|creates? an instance of|"
                         r"http|non-javadoc|inherit|override|constructor|frozen_string_literal|(en)?coding:|eslint|rubocop|noinspection|swiftlint|"
                         r"nolint|istanbul|prettier-|type:|shellcheck|mark:|pragma|[^a-z0-9\"'(]")


def sentence(doc):
    """Returns the first sentence of a doc text as a query, or None, and the remaining text."""
    doc = re.sub(r"<pre>.*?</pre>|```.*?```", " ", doc, flags=re.S)
    doc = re.sub(r"\{@\w+\s+([^}]*)\}", r"\1", doc)
    doc = re.sub(r"</?[a-zA-Z][^>]*>", " ", doc)
    doc = re.sub(r":\w+:`~?([^`]*)`", r"\1", doc)
    doc = re.sub(r"\[([^\]]+)\](?:\([^)]*\)|\[[^\]]*\])", r"\1", doc)
    doc = doc.replace("`", "").replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&").strip()
    if re.match(r"=|/O|[#|^—-]", doc):
        doc = OPENING.sub("", doc).strip()
    doc = TAG.sub("", doc)
    if doc.startswith(("@", "\\", "=")):
        return None, ""
    m = END.search(doc)
    end = m.end() if m else len(doc)
    q = re.sub(r"\s+", " ", doc[:end]).strip(" .:-*")
    n = len(q.split())
    if not 4 <= n <= 40 or len(q) > 300 or not q.isascii() and sum(c > "\x7f" for c in q) > len(q) / 10:
        return None, ""
    if NO_QUESTION.match(q) or "inheritdoc" in q.lower():
        return None, ""
    return q, re.sub(r"\s+", " ", doc[end:]).strip()[:600]


def useful(text):
    """Whether a file is worth reading: neither generated nor minified."""
    return not re.search(r"(?i)code generated|@generated|do not edit", text[:600]) and len(text) <= 250 * (text.count("\n") + 1)


def pair(found, lang, pkg, path):
    """Returns the pair of one definition, or None."""
    body = found["code"]
    if found["kind"] not in KINDS or not found["has_body"] or not found["doc"] or len(body) < len(found["signature"]) + 20:
        return None
    query, rest = sentence(found["doc"])
    first, _, tail = (query or "").partition(" ")
    if first.strip("():,") == found["name"] and re.match(r"(\w+s|—|--?|:) ", tail):
        query = tail if len(tail.split()) >= 3 else None
    if not query or sum(c.isalpha() or c == " " for c in query) < .8 * len(query):
        return None
    return {"lang": lang, "pkg": pkg, "path": path, "query": query, "kind": found["kind"], "name": found["name"], "scopes": found["scopes"],
            "sig": found["signature"][:1000], "body": body[:MAX_BODY], "rest": rest}


def some_files(job):
    """Returns all pairs of some files. Each file is given as (path on disk, package, path in the package)."""
    files = []
    for path, pkg, rel in job:
        try:
            with open(path, encoding="utf-8") as f:
                if os.path.getsize(path) <= MAX_FILE and useful(f.read()):
                    files.append((path, pkg, rel))
        except (OSError, UnicodeDecodeError):
            pass
    found = definitions([os.path.realpath(path) for path, _, _ in files], documented=True)
    pairs = (pair(d, lang, pkg, rel) for (_, pkg, rel), (lang, ds) in zip(files, found) for d in ds)
    return [p for p in pairs if p]


def sources(work):
    """Returns the files to read, by package. Large packages are sampled."""
    endings, barred = extensions(), Barred()
    for root in sorted(glob.glob(os.path.join(work, "src", "*", "*"))):
        kind, pkg = root.split(os.sep)[-2:]
        assert not barred.package(pkg), f"{root} is barred"
        top, found = os.path.realpath(root), []
        for folder, sub, files in os.walk(top):
            sub.sort()
            paths = (os.path.relpath(os.path.join(folder, f), top) for f in sorted(files) if f.lower().endswith(endings))
            found += [path for path in paths if not SKIP.search(path)]
        random.Random(pkg).shuffle(found)
        yield from ((os.path.join(top, path), f"{kind}:{pkg}", path) for path in found[:MOST_FILES] if not barred.vendored(path))


def held_out(path=os.path.join(HERE, "held-out.txt")):
    """Returns the packages that no model is trained on, as KIND:NAME. This includes the histories of repositories."""
    with open(path, encoding="utf-8") as f:
        rows = [line.split() for line in f if line.strip() and not line.startswith("#")]
    return {f"{kind}:{name.replace('/', '+')}" for kind, name in rows}


def main():
    ap = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    ap.add_argument("--work", required=True)
    ap.add_argument("--cap", type=int, default=2500)
    ap.add_argument("--seed", type=int, default=1)
    a = ap.parse_args()
    todo = list(sources(a.work))
    print(len(todo), "files", flush=True)
    by_pkg, total = {}, Counter()
    with Pool(2) as pool:
        for n, got in enumerate(pool.imap_unordered(some_files, [todo[i:i + BATCH] for i in range(0, len(todo), BATCH)])):
            if n % 100 == 0:
                print(n * BATCH, flush=True)
            for p in got:
                by_pkg.setdefault((p["lang"], p["pkg"]), []).append(p)
    with open(os.path.join(a.work, "pairs.jsonl"), "w", encoding="utf-8") as f:
        for (lang, pkg), rows in distinct(by_pkg, a.cap, random.Random(a.seed)):
            total[lang] += len(rows)
            f.writelines(json.dumps(p, ensure_ascii=False) + "\n" for p in rows)
            if len(rows) > 1000:
                print(f"{lang:11s} {pkg:40s} {len(rows)}")
    print(dict(total), sum(total.values()))


def distinct(by_pkg, cap, rng):
    """Returns at most `cap` pairs of every language and package. No sentence and no code occurs twice."""
    apart, seen = held_out(), set()
    for key in sorted(by_pkg, key=lambda k: (k[1] not in apart, zlib.crc32(repr(k).encode()), k)):
        rows, taken = sorted(by_pkg[key], key=lambda p: (p["scopes"], p["name"], p["query"], p["body"], p["path"])), []
        rng.shuffle(rows)
        for p in rows:
            mark = re.sub(r"\W+", " ", p["query"].lower())
            code = zlib.crc32((p["name"] + p["body"]).encode("utf-8", "replace"))
            if mark not in seen and code not in seen and len(taken) < cap:
                seen.update((mark, code))
                taken.append(p)
        yield key, taken


if __name__ == "__main__":
    main()
