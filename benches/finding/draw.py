"""Draws everyday questions and their answers from the text of a tree, without an index or a parser.

Each kind of question has a function that yields candidates in random order, with at most one candidate for each file and form. A text
is unique if it occurs once in the whole tree, ignoring case.
"""

import os
import re
from collections import Counter, defaultdict

from definitions import definitions

CODE_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
STRING = re.compile(r'"((?:[^"\\\n]|\\.){4,200})"|\'((?:[^\'\\\n]|\\.){4,200})\'')
COMMENT = re.compile(r"^\s*(?:#(?!define)|//|/\*|\*|--|%|;|<!--)")
KEY = re.compile(r"[A-Za-z][A-Za-z0-9_]*(?:[-.][A-Za-z0-9_]+)+")
CONFIGURATION = {"yml", "yaml", "toml", "ini", "cfg", "properties", "conf", "json", "env", "neon", "config", "editorconfig"}
DOMAIN = re.compile(r"\.(?:com|org|io|net|dev|de|local|localhost|invalid|test|example)$|^www\.", re.I)
FILE_NAME = re.compile(r"\.[a-z0-9]{1,8}$", re.I)
ENVIRONMENT = re.compile(
    r"""(?:getenv\w*\(|\bENV(?:\.fetch\(|\[)|process\.env[.\[]|environ(?:\.get\()?[\[(]?|Getenv\(|LookupEnv\(|GetEnvironmentVariable\(|System\.get_env\(|env::var(?:_os)?\(|\$_(?:ENV|SERVER)\[)['"]?([A-Z][A-Z0-9_]{4,})\b"""
)
NUMBER = re.compile(r"(?<![\w.$#%:/+-])[1-9]\d{2,6}(?![\w.%:/-])")
RAISING = re.compile(
    r"\b(?:raise\w*|throw|throws|panic!?|bail!|abort|die|fail|fatal\w*|errorf?|warnf?|warning|infof?|debugf?|printf|Errorf|Fatalf?|Warnf|Printf|"
    r"fprintf|perror|log\w*|LOG\w*|logger|Error|Exception|New|expect|unreachable!|trigger_error)\b|\w+(?:Error|Exception|Errorf)\b"
)
PLACEHOLDER = re.compile(r"%[-+0-9.*]*[a-zA-Z%]+|\$?\{[^}]*\}|#\{[^}]*\}|\\.|\$\w+|<[^>]*>")
# Lines with values that an index may mask as secrets.
SECRET = re.compile(r"(?:pass\w*|secret\w*|token|api_?key|credentials?|authorization\w*)[\"']?\s*[:=]", re.I)
CONSTANT = "[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+"
CONSTANT_LINES = {
    "c cc cpp h hpp": rf"^\s*#\s*define\s+({CONSTANT})\s+\S|^\s*(?:static\s+|inline\s+)*(?:constexpr|const)\s+[^=;()]*?\b({CONSTANT})\s*(?:\[\])?\s*=[^=]",
    "cs": r"^\s*(?:\w+\s+)*const\s+[\w<>?]+\s+([A-Z]\w{5,})\s*=[^=]",
    "go": r"^const\s+(\w{6,})(?:\s+\w+)?\s*=[^=]",
    "java": rf"^\s*(?:(?:public|private|protected|static|final)\s+)+[\w<>\[\], ]+\s({CONSTANT})\s*=[^=]",
    "kt kts": rf"^\s*(?:\w+\s+)*val\s+({CONSTANT})\s*(?::[^=]*)?=[^=]",
    "py rb": rf"^\s*({CONSTANT})\s*(?::[^=]*)?=[^=~>]",
    "rs": rf"^\s*(?:pub(?:\([^)]*\))?\s+)?(?:const|static)\s+({CONSTANT})\s*:",
    "ts tsx js mts": rf"^\s*(?:export\s+)?(?:static\s+|readonly\s+)*(?:const\s+)?({CONSTANT})\s*(?::[^=]*)?=[^=>]",
    "php": rf"^\s*(?:(?:final|public|private|protected)\s+)*const\s+(?:\w+\s+)?({CONSTANT})\s*=[^=>]",
    "ex exs": r"^\s*@([a-z]+(?:_[a-z0-9]+)+)\s+[^\s=(]",
}
IS_TYPE = re.compile(r"\b(?:class|struct|interface|enum|record|type|trait|module|object|protocol|defmodule|extension)\s")
IS_NAME = re.compile(r"[a-z0-9]_[a-z0-9]|[a-z][A-Z]|[A-Z][a-z]+[A-Z]")
KINDS = ["path", "path:line", "key", "literal", "word", "error", "constant", "test"]


class Corpus:
    """The text of a tree, with tables for checking whether a candidate is unique."""

    def __init__(self, tree):
        self.tree = tree
        self.files = [file for file in tree.question_files if file.text.strip()]
        self.lower = "\n".join(" ".join(file.text.lower().split()) for file in tree.files)
        self.words = Counter(word.lower() for file in tree.files for word in CODE_WORD.findall(file.text))
        self.tails = Counter(tail for path in tree.paths for tail in tails(path.lower()))

    def is_once(self, text):
        """Whether a text occurs exactly once in the whole tree, ignoring case and spacing."""
        text = " ".join(text.lower().split())
        first = self.lower.find(text)
        return first >= 0 and self.lower.find(text, first + 1) < 0

    def shuffled(self, chance, which=lambda file: True):
        files = [file for file in self.files if which(file)]
        chance.shuffle(files)
        return files


def tails(path):
    """Returns a path and all suffixes of the path that consist of whole components."""
    parts = path.split("/")
    return ["/".join(parts[start:]) for start in range(len(parts))]


def answer(file, first=None, last=None):
    return {"path": file.path} | ({"line_start": first, "line_end": last or first} if first else {})


def question(query, *answers):
    return {"query": query, "relevant": list(answers)}


def path_query(corpus, file, form):
    """Returns the path of a file, its last two components, or its name; None if several files match."""
    parts = file.path.split("/")
    if form == "whole":
        return file.path if len(parts) > 1 else None
    text = "/".join(parts[-2:] if form == "end" else parts[-1:])
    is_fair = corpus.tails[text.lower()] == 1 and len(text) >= 5 and len(parts) > (2 if form == "end" else 0)
    return text if is_fair else None


FORMS = ["whole", "end", "name"]


def paths(corpus, chance):
    for number, file in enumerate(corpus.shuffled(chance)):
        text = path_query(corpus, file, FORMS[number % 3])
        if text:
            yield question(text, answer(file))


def paths_with_lines(corpus, chance):
    for number, file in enumerate(corpus.shuffled(chance, lambda file: file.is_source and len(file.lines) >= 30)):
        text = path_query(corpus, file, FORMS[number % 3])
        line = chance.choice([line for line, content in enumerate(file.lines, 1) if len(content.strip()) >= 4])
        if text:
            yield question(f"{text}:{line}", answer(file, line))


def is_key(corpus, key, line, start):
    """Whether a text with hyphens or dots is a key, not a file, a domain, a version or part of a longer text."""
    before, after = line[:start], line[start + len(key):]
    if len(key) < 8 or re.search(r"[\w./@:$\\-]$", before) or re.match(r"[\w/@(\\-]|\.\w|:/", after):
        return False
    is_file = ("-" not in key and FILE_NAME.search(key) and corpus.tails[key.lower()]) or corpus.tails[key.lower()]
    return not is_file and not DOMAIN.search(key) and not re.search(r"\d\.\d", key)


def keys(corpus, chance):
    """Yields keys. Keys of CI configuration are excluded, because they are the same in all repositories."""
    for file in corpus.shuffled(chance, lambda file: not file.path.startswith(".github/") and (file.is_source or file.extension in CONFIGURATION)):
        found = []
        for number, line in enumerate(file.lines, 1):
            if file.is_test(number) or SECRET.search(line):
                continue
            if file.extension in CONFIGURATION:
                hit = re.match(rf"\s*-?\s*[\"']?({KEY.pattern})[\"']?\s*[:=]", line)
                hits = [(hit[1], hit.start(1))] if hit else []
            elif COMMENT.match(line) or re.match(r"\s*(?:import|require|use|from|export)\b", line):
                hits = []
            else:
                literals = ((hit, 1 if hit[1] is not None else 2) for hit in STRING.finditer(line))
                hits = [(hit[group], hit.start(group)) for hit, group in literals if KEY.fullmatch(hit[group])]
            found += [(key, number) for key, start in hits if is_key(corpus, key, line, start) and corpus.is_once(key)]
        found = [(key, number) for key, number in found if not re.search(r"\.(?:\w{1,4}|html|lock)$", key) or "-" in key]
        if found:
            key, number = chance.choice(found)
            yield question(key, answer(file, number))


def literals(corpus, chance):
    """Yields names of environment variables, numbers and texts in turn, until none are left."""
    found = defaultdict(list)
    numbers = Counter(number for file in corpus.tree.files for number in re.findall(r"\d+", file.text))
    for file in corpus.shuffled(chance, lambda file: file.is_source):
        of_file = defaultdict(list)
        for number, line in enumerate(file.lines, 1):
            if COMMENT.match(line) or SECRET.search(line):
                continue
            of_file["environment"] += [(hit[1], number) for hit in ENVIRONMENT.finditer(line) if corpus.words[hit[1].lower()] == 1]
            bare = STRING.sub('""', line).split("//")[0].split(" # ")[0]
            # Rows of numbers are data, which nobody searches for.
            if len(re.findall(r"\d+", bare)) <= 3 and not file.is_test(number):
                of_file["number"] += [(hit[0], number) for hit in NUMBER.finditer(bare) if numbers[hit[0]] == 1]
            for hit in STRING.finditer(line):
                text = hit[1] or hit[2]
                is_text = re.fullmatch(r"[A-Za-z][\w,'-]*(?: [\w,'/-]+){1,2}", text) and len(text) >= 10
                if is_text and not RAISING.search(line) and corpus.is_once(text):
                    of_file["text"].append((text, number))
        for form, hits in of_file.items():
            if hits:
                text, number = chance.choice(hits)
                found[form].append(question(text, answer(file, number)))
    while any(found.values()):
        for form in ("environment", "number", "text"):
            if found[form]:
                yield found[form].pop(0)


def words(corpus, chance):
    for file in corpus.shuffled(chance):
        found = []
        for number, line in enumerate(file.lines, 1):
            hits = () if SECRET.search(line) else re.finditer(r"(?<![\w./@\\'%-])[A-Za-z]?[a-z]{5,}(?![\w/@-]|\.\w|'\w)", line)
            for hit in hits:
                if corpus.words[hit[0].lower()] == 1 and corpus.is_once(hit[0]):
                    found.append((hit[0], number))
        if found:
            word, number = chance.choice(found)
            yield question(word, answer(file, number))


def errors(corpus, chance):
    """Yields four to eight consecutive words of a message between its placeholders."""
    for file in corpus.shuffled(chance, lambda file: file.is_source):
        found = []
        for number, line in enumerate(file.lines, 1):
            before = file.lines[number - 2].rstrip() if number > 1 else ""
            is_message = RAISING.search(STRING.sub('""', line)) or (before.endswith("(") and RAISING.search(before))
            if COMMENT.match(line) or file.is_test(number) or not is_message:
                continue
            for hit in STRING.finditer(line):
                for part in PLACEHOLDER.split(hit[1] or hit[2]):
                    part = re.split(r"[.;!?](?:\s|$)", part)[0].strip(" :,.-()'\"`[]=")
                    count = len(part.split())
                    is_plain = re.fullmatch(r"[A-Za-z][\w ,'`/()-]*", part) and not re.match(r"(?:SELECT|INSERT|UPDATE|CREATE|ALTER)\b", part)
                    if count >= 4 and is_plain and len(part) >= 18:
                        size = min(chance.randint(4, 8), count)
                        start = chance.randint(0, count - size)
                        fragment = " ".join(part.split()[start:start + size]).strip(" ,")
                        if corpus.is_once(fragment):
                            found.append((fragment, number))
        if found:
            fragment, number = chance.choice(found)
            yield question(fragment, answer(file, number))


def constants(corpus, chance):
    forms = ("const {}", "where is {} defined", "{} value")
    table = {extension: re.compile(line) for extensions, line in CONSTANT_LINES.items() for extension in extensions.split(" ")}
    occurrences = defaultdict(list)
    for file in corpus.tree.files:
        expression, is_block = table.get(file.extension), False
        for number, line in enumerate(file.lines, 1):
            if file.extension == "go":
                is_block = line.startswith("const (") or (is_block and not line.startswith(")"))
            hit = expression and expression.search(line)
            name = next(filter(None, hit.groups()), None) if hit else None
            if is_block and not name:
                name = (re.match(r"\t(\w{6,})(?:\s+\w+)?\s*=[^=]", line) or [None, None])[1]
            if name:
                occurrences[name.lower()].append((name, file, number))
            # Assignments and definitions in any language also count, so that a drawn name has only one definition.
            for hit in re.finditer(rf"\b({CONSTANT})\s*:?=[^=>]|^\s*({CONSTANT})\s*[,(]", line):
                other = hit[1] or hit[2]
                if other != name:
                    occurrences[other.lower()].append((other, file, number))
    question_paths = {file.path for file in corpus.files}
    files = defaultdict(list)
    for seen in occurrences.values():
        name, file, number = seen[0]
        if len(seen) == 1 and file.path in question_paths and IS_NAME.search(name if name.upper() != name else name.lower()) and not file.is_test(number):
            files[file.path].append((name, file, number))
    order = sorted(files)
    chance.shuffle(order)
    for position, path in enumerate(order):
        name, file, number = chance.choice(files[path])
        if table.get(file.extension) and (table[file.extension].search(file.lines[number - 1]) or file.extension == "go"):
            form = forms[position % 3].replace("const ", "@" if file.extension in {"ex", "exs"} else "const ")
            yield question(form.format(name), answer(file, number))


def tests(corpus, chance):
    used = defaultdict(lambda: defaultdict(list))
    for file in corpus.files:
        for number in range(file.tests_from, len(file.lines) + 1):
            for word in set(CODE_WORD.findall(file.lines[number - 1])):
                used[word][file.path].append(number)
    by_path = {file.path: file for file in corpus.files}
    names = [entry for entry in definitions(corpus.files) if entry[1].is_source and not entry[1].is_test(entry[2])]
    chance.shuffle(names)
    seen, position = set(), 0
    for name, file, number in names:
        # Only functions with a specific name that exactly one test file mentions are used.
        if IS_TYPE.search(file.lines[number - 1]) or not IS_NAME.search(name) or len(name) < 8 or len(used[name]) != 1:
            continue
        [(path, lines)] = used[name].items()
        call = re.compile(rf"(?<![\w$]){re.escape(name)}(?:::<[^>]*>)?\s*\(" + (rf"|\.{re.escape(name)}\b" if file.extension in {"rb", "ex", "exs"} else ""))
        calls = [line for line in lines if call.search(by_path[path].lines[line - 1]) and not COMMENT.match(by_path[path].lines[line - 1])]
        if calls and path not in seen:
            seen.add(path)
            position += 1
            yield question(f"test for {name}" if position % 2 else f"{name} test", *(answer(by_path[path], line) for line in calls))


DRAWERS = dict(zip(KINDS, (paths, paths_with_lines, keys, literals, words, errors, constants, tests)))


def candidates(corpus, kind, chance):
    """Yields candidates of a kind, each text once, except texts that cannot be one line of input."""
    seen = set()
    for found in DRAWERS[kind](corpus, chance):
        query = found["query"]
        if query.lower() not in seen and query.isprintable() and not query.startswith(("{", "-", "#")) and os.path.sep * 2 not in query:
            seen.add(query.lower())
            yield {**found, "kind": kind}
