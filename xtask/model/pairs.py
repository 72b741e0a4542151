#!/usr/bin/env python3
"""Make (doc sentence, code) pairs from the packages that collect.py unpacked.

usage: pairs.py --work DIR

Reads DIR/src/KIND/PACKAGE and writes DIR/pairs.jsonl, one pair a line:
  lang, pkg, path (of the file inside the package), query (first sentence of the doc comment),
  head ("kind Qualified.name"), sig, body (code from the signature on, its doc comment removed),
  rest (what else the doc comment says).
Python is read with ast; the other languages with a mask (strings and comments blanked), brace
matching on the mask and one regular expression for declarations each. A sentence that begins
with the name itself, as Go has it, loses that word. Generated files, tests and
vendored copies are left out; a sentence is used once; a package gives at most --cap pairs a language.
"""
import argparse
import ast
import bisect
import glob
import json
import os
import random
import re
import warnings
import zlib
from collections import Counter
from multiprocessing import Pool

SKIP = re.compile(r"(^|/)(tests?|testing|testdata|__tests__|spec|specs|fixtures|vendor|vendored|_vendor|third_party|node_modules|"
                  r"examples?|docs?|locale|migrations|min)/|(_test\.go|\.pb\.go|_pb2(_grpc)?\.py|\.min\.js|\.d\.ts|zz_generated.*|"
                  r"_generated\.\w+|\.test\.\w+|\.spec\.\w+|(^|/)test_\w+\.py|Test\.java|bindata\.go)$|(^|/)src/test/")
VENDORED = re.compile(r"(?i)(^|/)(celery|vite|webpack|gson|prometheus|flask|django|springframework)(/|\.)")
LANG = {".py": "python", ".js": "javascript", ".mjs": "javascript", ".cjs": "javascript", ".jsx": "javascript", ".ts": "typescript",
        ".tsx": "typescript", ".mts": "typescript", ".go": "go", ".java": "java", ".rs": "rust"}
MAX_FILE, MAX_BODY = 1_500_000, 3000

STR = r'"(?:\\.|[^"\\\n])*"'
MASK = {
    "javascript": rf"/\*.*?\*/|//[^\n]*|{STR}|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`",
    "go": rf"/\*.*?\*/|//[^\n]*|{STR}|'(?:\\.|[^'\\\n])+'|`[^`]*`",
    "java": rf"/\*.*?\*/|//[^\n]*|\"\"\".*?\"\"\"|{STR}|'(?:\\.|[^'\\\n])+'",
    "rust": rf"/\*.*?\*/|//[^\n]*|\br(#*)\".*?\"\1|\"(?:\\.|[^\"\\])*\"|'(?:\\[^'\n]+|[^'\\\n])'",
}
MASK["typescript"] = MASK["javascript"]
MASK = {k: re.compile(v, re.S) for k, v in MASK.items()}

_MOD = r"(?:(?:public|protected|private|static|final|abstract|synchronized|native|default|strictfp|sealed)\s+)*"
_TSMOD = r"(?:(?:export|default|declare|public|private|protected|static|async|readonly|override|abstract|get|set)\s+|\*\s*)*"
DECL = {
    "java": [("type", rf"{_MOD}(?P<kind>class|interface|enum|record|@interface)\s+(?P<name>\w+)"),
             ("fn", rf"{_MOD}(?:<[^;{{}}()]*>\s*)?(?:[\w.$]+(?:\s*<[^;{{}}()=]*>)?(?:\s*\[\s*\])*\s+)?(?P<name>\w+)\s*\(")],
    "javascript": [("type", rf"{_TSMOD}(?P<kind>class|interface|enum)\s+(?P<name>[\w$]+)"),
                   ("fn", rf"{_TSMOD}function\s*\*?\s*(?P<name>[\w$]+)"),
                   ("fn", rf"{_TSMOD}(?:const|let|var)\s+(?P<name>[\w$]+)\s*(?::[^=;]+)?=\s*(?:async\s*)?(?:function\b|\(|[\w$]+\s*=>)"),
                   ("fn", r"(?P<name>[\w$]+(?:\.[\w$]+)+)\s*=\s*(?:async\s+)?function\b"),
                   ("fn", r"(?P<name>[\w$]+)\s*:\s*(?:async\s+)?function\b"),
                   ("fn", rf"{_TSMOD}(?P<name>#?[\w$]+)\s*=\s*(?:async\s*)?\([^()]*\)\s*(?::[^={{}}]+)?=>"),
                   ("fn", rf"{_TSMOD}(?P<name>#?[\w$]+)\??\s*(?:<[^;{{}}()]*>)?\s*\(")],
    "go": [("fn", r"func\s+(?:\(\s*(?:\w+\s+)?\*?(?P<recv>\w+)(?:\[[^\]]*\])?\s*\)\s*)?(?P<name>\w+)"),
           ("type", r"type\s+(?P<name>\w+)(?:\[[^\]]*\])?\s+(?P<kind>struct|interface)\b")],
    "rust": [("fn", r"(?:pub(?:\([^)]*\))?\s+)?(?:(?:default|const|async|unsafe|extern(?:\s+\"[^\"]*\")?)\s+)*fn\s+(?P<name>\w+)"),
             ("type", r"(?:pub(?:\([^)]*\))?\s+)?(?:unsafe\s+)?(?P<kind>struct|enum|trait|union)\s+(?P<name>\w+)")],
}
DECL["typescript"] = DECL["javascript"]
DECL = {k: [(a, re.compile(b)) for a, b in v] for k, v in DECL.items()}
NOT_NAMES = {"if", "for", "while", "switch", "return", "catch", "function", "new", "else", "do", "try", "throw", "typeof", "super",
             "require", "constructor", "await", "import", "import_", "define", "describe", "it", "case", "synchronized"}
HOLDER = {
    "java": re.compile(r"\b(?:class|interface|enum|record)\s+(\w+)[^;{}]*\{"),
    "javascript": re.compile(r"\b(?:class|interface|namespace)\s+([\w$]+)[^;{}()]*\{"),
    "rust": re.compile(r"\b(?:impl\b(?:\s*<[^;{}]*?>)?\s*(?:[^;{}]*?\bfor\s+)?&?(?:mut\s+)?(?:dyn\s+)?(?:\w+::)*(\w+)|trait\s+(\w+)|mod\s+\w+)[^;{}]*\{"),
}
HOLDER["typescript"] = HOLDER["javascript"]
BEFORE = {"java": re.compile(r"\s*(?:@(?!interface)[\w.]+\s*(?:\((?:[^()]|\([^()]*\))*\))?\s*)*"),
          "rust": re.compile(r"\s*(?:#\[(?:[^\[\]]|\[[^\[\]]*\])*\]\s*)*"), "go": re.compile(r"[ \t]*\n?"),
          "javascript": re.compile(r"\s*(?:@[\w.]+\s*(?:\((?:[^()]|\([^()]*\))*\))?\s*)*")}
BEFORE["typescript"] = BEFORE["javascript"]


def sentence(doc):
    """The first sentence of a doc text as a query, or None; and the rest of the text."""
    doc = re.sub(r"<pre>.*?</pre>|```.*?```", " ", doc, flags=re.S)
    doc = re.sub(r"\{@\w+\s+([^}]*)\}", r"\1", doc)
    doc = re.sub(r"</?[a-zA-Z][^>]*>", " ", doc)
    doc = re.sub(r":\w+:`~?([^`]*)`", r"\1", doc)
    doc = re.sub(r"\[([^\]]+)\](?:\([^)]*\)|\[[^\]]*\])", r"\1", doc)
    doc = doc.replace("`", "").replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&").strip()
    for tag in ("@description", "@desc", "@summary"):
        if doc.startswith(tag):
            doc = doc[len(tag):].strip()
    if doc.startswith("@"):
        return None, ""
    m = re.search(r"(?<!e\.g)(?<!i\.e)(?<!etc)[.!?](?=\s|$)|\n\s*\n|\n\s*(?=@\w|:param|:return|-{3,}|={3,}|Args:|Returns:|Parameters|#|\* |- |\d\. )", doc)
    end = m.end() if m else len(doc)
    q = re.sub(r"\s+", " ", doc[:end]).strip(" .:-*")
    n = len(q.split())
    if not 4 <= n <= 40 or len(q) > 300 or not q.isascii() and sum(c > "\x7f" for c in q) > len(q) / 10:
        return None, ""
    low = q.lower()
    if re.match(r"(deprecated|todo|fixme|see |auto-?generated|code generated|this (method|function|file) is (deprecated|generated)|copyright|"
                r"licensed|(args|arguments|returns?|parameters|params|raises|examples?|usage|notes?):|@|creates? an instance of|http|non-javadoc|inherit|\{@inherit|override|constructor)", low) or "inheritdoc" in low:
        return None, ""
    return q, re.sub(r"\s+", " ", doc[end:]).strip()[:600]


def python_pairs(text):
    """Functions, methods and classes of a Python file with a docstring."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(text)
    lines = text.split("\n")
    stack = [(tree, [], False)]
    while stack:
        node, path, in_class = stack.pop()
        for c in ast.iter_child_nodes(node):
            if not isinstance(c, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                continue
            is_class = isinstance(c, ast.ClassDef)
            stack.append((c, path + [c.name], is_class))
            doc = ast.get_docstring(c)
            if not doc:
                continue
            d = c.body[0]
            sig = "\n".join(lines[c.lineno - 1:d.lineno - 1]).strip()
            code = "\n".join(lines[d.end_lineno:c.end_lineno])
            if not sig or len(code.strip()) < 20:
                continue
            kind = "class" if is_class else "method" if in_class else "function"
            yield doc, kind, ".".join(path + [c.name]), sig, sig + "\n" + code


def comment_text(raw, lang):
    """A doc comment without its marks."""
    if raw.startswith("/*"):
        return "\n".join(re.sub(r"^\s*\*? ?", "", x) for x in raw[2:-2].lstrip("*!").split("\n")).strip()
    return "\n".join(re.sub(r"^\s*//[/!]? ?", "", x) for x in raw.split("\n")).strip()


def brace_pairs(text, lang):
    """Declarations of a brace language that a doc comment stands before."""
    docs, parts, at = [], [], 0
    for m in MASK[lang].finditer(text):
        s = m.group(0)
        parts.append(text[at:m.start()])
        parts.append(re.sub(r"[^\n]", " ", s))
        at = m.end()
        if lang in ("go", "rust"):
            if s.startswith("///" if lang == "rust" else "//") and not s.startswith("////"):
                if docs and re.fullmatch(r"\n[ \t]*", text[docs[-1][1]:m.start()]):
                    docs[-1][1] = m.end()
                else:
                    docs.append([m.start(), m.end()])
        elif s.startswith("/**") and len(s) > 8:
            docs.append([m.start(), m.end()])
    if not docs:
        return
    mask = "".join(parts) + text[at:]
    close, opened = {}, []
    for m in re.finditer(r"[{}]", mask):
        if m.group() == "{":
            opened.append(m.start())
        elif opened:
            close[opened.pop()] = m.end()
    holders = []
    if lang in HOLDER:
        for m in HOLDER[lang].finditer(mask):
            name = next((g for g in m.groups() if g), None)
            if name and m.end() - 1 in close:
                holders.append((m.start(), close[m.end() - 1], name))
    starts = [h[0] for h in holders]
    for a, b in docs:
        at = BEFORE[lang].match(mask, b).end()
        if lang == "go" and at and mask[at - 1] not in "\n":
            continue
        for what, rx in DECL[lang]:
            m = rx.match(mask, at)
            if m:
                break
        else:
            continue
        name = m.group("name")
        if name in NOT_NAMES:
            continue
        brace, semi = _body_start(mask, m.end() - (1 if mask[m.end() - 1] == "(" else 0))
        if brace < 0 or semi or brace - at > 1500 or brace not in close:
            continue
        end = close[brace]
        sig, body = text[at:brace].strip(), text[at:end]
        if len(body) - len(sig) < 24:
            continue
        path = [h[2] for h in holders[max(0, bisect.bisect_left(starts, at) - 60):bisect.bisect_left(starts, at)] if h[0] < at < h[1]]
        if lang == "go" and what == "fn" and m.group("recv"):
            path = [m.group("recv")]
        kind = "function" if what == "fn" and not path else "method" if what == "fn" else m.group("kind").replace("@", "")
        yield comment_text(text[a:b], lang), kind, ("::" if lang == "rust" else ".").join(path + [name]), sig, body


def _body_start(mask, at):
    """Offset of the brace that opens a body after `at`; whether a semicolon came first."""
    depth = 0
    for m in re.compile(r"[(){;\[\]]").finditer(mask, at, at + 3000):
        c = m.group()
        if c in "([":
            depth += 1
        elif c in ")]":
            depth -= 1
            if depth < 0:
                return -1, True
        elif depth == 0:
            return (m.start(), False) if c == "{" else (-1, True)
    return -1, True


def strip_comments_before(body, lang):
    """Doc comments inside a body (of members, of nested functions) go: they would give answers away."""
    if lang == "python":
        return body
    return re.sub(r"/\*\*.*?\*/", "", body, flags=re.S) if lang != "rust" else re.sub(r"(?m)^\s*///.*\n", "", body)


def one_file(job):
    """All pairs of one file."""
    path, lang, pkg, kind, rel = job
    try:
        with open(path, encoding="utf-8") as f:
            text = f.read()
    except (OSError, UnicodeDecodeError):
        return []
    if len(text) > 12_000_000 or len(text) > MAX_FILE and "typescript" not in path or re.search(r"(?i)code generated|@generated|do not edit", text[:600]):
        return []
    if len(text) / (text.count("\n") + 1) > 250:
        return []
    out = []
    try:
        for doc, what, name, sig, body in python_pairs(text) if lang == "python" else brace_pairs(text.replace("\r\n", "\n"), lang):
            q, rest = sentence(doc)
            first, _, tail = (q or "").partition(" ")
            if first.strip("():,").lower() == re.split(r"[.:]", name)[-1].lower():
                q = tail if len(tail.split()) >= 3 else None
            if q:
                out.append({"lang": lang, "pkg": f"{kind}:{pkg}", "path": rel, "query": q, "head": f"{what} {name}", "sig": sig[:1000],
                            "body": strip_comments_before(body, lang)[:MAX_BODY], "rest": rest})
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return out
    return out


def jobs(work):
    """The files to read, by package."""
    for root in sorted(glob.glob(os.path.join(work, "src", "*", "*"))):
        kind, pkg = root.split(os.sep)[-2:]
        for folder, sub, files in os.walk(os.path.realpath(root)):
            sub.sort()
            for f in sorted(files):
                lang = LANG.get(os.path.splitext(f)[1])
                rel = os.path.relpath(os.path.join(folder, f), os.path.realpath(root))
                if lang and not SKIP.search(rel) and not VENDORED.search(rel):
                    yield os.path.join(folder, f), lang, pkg, kind, rel


def main():
    ap = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    ap.add_argument("--work", required=True)
    ap.add_argument("--cap", type=int, default=4000)
    ap.add_argument("--seed", type=int, default=1)
    a = ap.parse_args()
    todo = list(jobs(a.work))
    print(len(todo), "files", flush=True)
    seen, by_pkg, total = set(), {}, Counter()
    with Pool(2) as pool:
        for got in pool.imap_unordered(one_file, todo, chunksize=50):
            for p in got:
                by_pkg.setdefault((p["lang"], p["pkg"]), []).append(p)
    rng = random.Random(a.seed)
    with open(os.path.join(a.work, "pairs.jsonl"), "w") as f:
        for key in sorted(by_pkg, key=lambda k: (zlib.crc32(repr(k).encode()), k)):
            rows = sorted(by_pkg[key], key=lambda p: (p["head"], p["query"], p["body"], p["path"]))
            rng.shuffle(rows)
            n = 0
            for p in rows:
                mark = re.sub(r"\W+", " ", p["query"].lower())
                code = zlib.crc32((p["head"] + p["body"]).encode("utf-8", "replace"))
                if mark in seen or code in seen or n >= a.cap:
                    continue
                seen.update((mark, code))
                n += 1
                f.write(json.dumps(p, ensure_ascii=False) + "\n")
            total[key[0]] += n
            if n > 1500:
                print(f"{key[0]:11s} {key[1]:40s} {n}")
    print(dict(total), sum(total.values()))


if __name__ == "__main__":
    main()
