#!/usr/bin/env python3
"""Converts the memory of aurora-actr to lines of JSON.

    python3 actr_to_jsonl.py ~/.aurora/memory.db --memory user | aur mem import --from jsonl - --memory user

Each row of `chunks` becomes an entry. Rows of `activations` become access records, and rows of `relationships` become
links. `aur mem import` checks the entries and masks their secrets. See docs/guides/memory-transfer.md for details.

The database is untrusted. The script reads a private copy, runs no code from the schema, and limits the size of values.
Values of the wrong type are not converted. The script reports their number on standard error.

Exit codes: 0 if all rows were converted, 1 if some rows were not, 2 if the database cannot be read, 130 if interrupted.
"""

import argparse
import collections
import contextlib
import datetime
import hashlib
import json
import math
import os
import pathlib
import shutil
import signal
import sqlite3
import stat
import sys
import tempfile
import time
import unicodedata

MAX_FILE_BYTES = 64 << 30
MAX_VALUE_BYTES = 32 << 20
MAX_DOCUMENT_BYTES = 8 << 20
MAX_ID_BYTES = 256
MAX_LABEL_BYTES = 128
MAX_LIST_VALUES = 256
MAX_RECENT_TIMES = 32
COPY_ATTEMPTS = 3
HASH_DIGITS = 12

HEADER = b"SQLite format 3\0"
ROW_NUMBER_NAMES = {"rowid", "oid", "_rowid_"}
FIRST_ROW, LAST_ROW, ALL_ROWS = -(2**63), 2**63 - 1, -1
# Decoding can fail, because the messages of SQLite can contain invalid UTF-8 from a damaged schema.
DATABASE_ERRORS = (sqlite3.Error, UnicodeDecodeError)
# The latest time that `aur` accepts, in Unix seconds.
MAX_TIME = 253_402_207_200
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)

KINDS = {
    "code": "code",
    "reasoning": "reasoning",
    "soar": "reasoning",
    "knowledge": "knowledge",
    "kb": "knowledge",
    "doc": "knowledge",
}
PREFIXES = {"code": "code:", "reasoning": "reas:", "knowledge": "know:"}

# The columns of each table, with the maximum length of their values in bytes.
ID_COLUMNS = {"id": 4 << 10, "type": 64}
CHUNK_COLUMNS = {
    **ID_COLUMNS,
    "content": MAX_DOCUMENT_BYTES,
    "metadata": MAX_DOCUMENT_BYTES,
    "created_at": 256,
    "updated_at": 256,
}
RELATIONSHIP_COLUMNS = {"from_chunk": 4 << 10, "to_chunk": 4 << 10, "relationship_type": 1 << 10, "weight": 64}
ACTIVATION_COLUMNS = {"chunk_id": 4 << 10, "last_access": 256, "access_count": 64, "access_history": 8 << 20}


def main():
    parser = argparse.ArgumentParser(description="Converts the memory of aurora-actr to lines of JSON.")
    parser.add_argument("database", help="the memory.db of aurora-actr, in ~/.aurora or in the .aurora of a project")
    parser.add_argument(
        "--memory",
        choices=("project", "user"),
        default="project",
        help="the memory to import the entries into; pass the same value to `aur mem import` (default: project)",
    )
    parser.add_argument("--root", help="make the paths of files below this directory relative to it")
    parser.add_argument("--verbose", action="store_true", help="list everything that is left out or altered")
    arguments = parser.parse_args()
    # Exit with an exception on signals, so that the private copy is removed.
    for name in ("SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), lambda *_: sys.exit(130))
    report = Report(arguments.verbose)
    try:
        with tempfile.TemporaryDirectory(prefix="aurora-import-") as directory:
            copy = pathlib.Path(directory, "memory.db")
            copy_database(arguments.database, copy)
            with contextlib.closing(connect(copy)) as database:
                write_lines(database, arguments, report, sys.stdout)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # Without this line, Python would report the broken pipe again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        print_error("error: standard output is closed")
        return 2
    except OSError as error:
        print_error(f"error: {error}")
        return 2
    except (Unreadable, MemoryError, *DATABASE_ERRORS) as error:
        print_error(f"error: {arguments.database} cannot be read: {error}")
        return 2
    report.print_counts()
    return 1 if report.unmapped else 0


def print_error(text):
    """Prints a line on standard error, without control characters that could affect a terminal."""
    print("".join(c if c.isprintable() else "?" for c in text), file=sys.stderr)


class Unreadable(Exception):
    """The file is not a database of aurora-actr, or cannot be read now."""


class Report:
    """Counts the rows that were not converted, and the entries and values that were altered."""

    def __init__(self, is_verbose):
        self.is_verbose = is_verbose
        self.entries = 0
        self.unmapped = collections.Counter()
        self.altered = collections.Counter()

    def unmap(self, what, reason, why):
        self._add(self.unmapped, what, reason, why)

    def alter(self, what, reason, why):
        self._add(self.altered, what, reason, why)

    def _add(self, counts, what, reason, why):
        counts[reason] += 1
        if self.is_verbose:
            print_error(f"{what}: {why}")

    def print_counts(self):
        print_error(f"Converted {self.entries} {'entry' if self.entries == 1 else 'entries'}")
        for name, counts in (("Not converted", self.unmapped), ("Altered", self.altered)):
            if counts:
                reasons = ", ".join(f"{reason} {count}" for reason, count in sorted(counts.items()))
                print_error(f"  {name}: {counts.total()} ({reasons})")


def write_lines(database, arguments, report, out):
    root = arguments.root and os.path.realpath(arguments.root)
    is_ascii = out.isatty()  # Some non-ASCII characters can affect a terminal.
    if stored_columns(database, "chunks") is None:
        raise Unreadable("it is not a database of aurora-actr, because it has no table `chunks`")
    ids = entry_ids(database)
    links = links_of_chunks(database, ids, report)
    accesses = accesses_of_chunks(database, ids, report)
    context = Context(arguments.memory, root, ids, links, accesses)
    for row, cells in rows(database, "chunks", CHUNK_COLUMNS, report):
        line = line_of_chunk(row, cells, context, report)
        if line is None:
            continue
        try:
            encoded = json.dumps(line, ensure_ascii=is_ascii, separators=(",", ":")).encode()
        except (UnicodeEncodeError, RecursionError):
            report.unmap(f"chunk {row}", "json", "it has an unpaired surrogate or is nested too deeply")
            continue
        out.buffer.write(encoded + b"\n")
        report.entries += 1


Context = collections.namedtuple("Context", "scope root ids links accesses")


# Copying of the database.
#
# SQLite can create files next to a database that it reads, and can follow paths in a journal. Therefore, only the
# database and its write-ahead log are copied, to a directory that only the user can open.


def copy_database(path, copy):
    real = os.path.realpath(path, strict=True)
    log, journal = f"{real}-wal", f"{real}-journal"
    journal_state = state_of(journal)
    if journal_state and journal_state.size > 0:
        raise Unreadable(f"the last write was interrupted, because {journal} exists; open the database once with aurora-actr")
    with open_regular(real) as file:
        start = file.read(len(HEADER))
    if start not in (b"", HEADER):
        raise Unreadable("file is not a database")
    copied_log = copy.with_name(f"{copy.name}-wal")
    for _ in range(COPY_ATTEMPTS):
        before = state_of(real), state_of(log)
        copy_file(real, copy)
        copied_log.unlink(missing_ok=True)
        if before[1] and before[1].size > 0:
            copy_file(log, copied_log)
        if before == (state_of(real), state_of(log)):
            return
    raise Unreadable("another program is writing to it; stop the program, or convert a copy")


State = collections.namedtuple("State", "file size modified")


def state_of(path):
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return None
    return State(found.st_ino, found.st_size, found.st_mtime_ns)


def open_regular(path):
    """Opens a regular file. Rejects pipes and devices, because opening or reading them could wait forever."""
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(path, flags)
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode) or found.st_size > MAX_FILE_BYTES:
        os.close(descriptor)
        raise Unreadable(f"{path} is not a regular file of at most {MAX_FILE_BYTES} bytes")
    return open(descriptor, "rb")


def copy_file(path, copy):
    with open_regular(path) as source, open(copy, "wb") as target:
        shutil.copyfileobj(source, target, 1 << 20)


# Reading of tables. See https://www.sqlite.org/security.html.


def connect(path):
    database = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, isolation_level=None)
    database.text_factory = Text
    for limit, value in (
        (sqlite3.SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES),
        (sqlite3.SQLITE_LIMIT_SQL_LENGTH, 1 << 20),
        (sqlite3.SQLITE_LIMIT_COLUMN, 200),
        (sqlite3.SQLITE_LIMIT_EXPR_DEPTH, 20),
        (sqlite3.SQLITE_LIMIT_COMPOUND_SELECT, 3),
        (sqlite3.SQLITE_LIMIT_VDBE_OP, 25_000),
        (sqlite3.SQLITE_LIMIT_ATTACHED, 0),
        (sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH, 1),
        (sqlite3.SQLITE_LIMIT_WORKER_THREADS, 0),
    ):
        database.setlimit(limit, value)
    for setting in ("trusted_schema = 0", "query_only = 1", "mmap_size = 0", "cell_size_check = 1"):
        database.execute(f"PRAGMA {setting}")
    return database


class Text(bytes):
    """The undecoded bytes of a text in SQLite. A blob is plain `bytes`."""


class Unfit:
    """A value that cannot be used."""

    def __init__(self, description):
        self.description = description


def cell(value, max_bytes):
    if isinstance(value, bytes) and len(value) > max_bytes:
        return Unfit(f"too long, with {len(value)} bytes")
    if isinstance(value, Text):
        try:
            return value.decode()
        except UnicodeDecodeError:
            return Unfit("not UTF-8")
    return Unfit("a blob") if isinstance(value, bytes) else value


def describe(value):
    match value:
        case None:
            return "missing"
        case Unfit():
            return value.description
        case str():
            return "a text"
        case _:
            return "a number"


def stored_columns(database, table):
    """Returns the columns of a table, or None if it does not exist. Rejects views, virtual tables and generated columns."""
    query = "SELECT type, rootpage FROM sqlite_master WHERE name = ? COLLATE NOCASE AND type IN ('table', 'view')"
    found = database.execute(query, (table,)).fetchone()
    if found is None:
        return None
    kind, root_page = found
    columns = []
    # The root page of a virtual table is 0.
    if kind == b"table" and isinstance(root_page, int) and root_page > 0:
        columns = database.execute(f"PRAGMA table_xinfo({table})").fetchall()
    names = {column[1].decode(errors="replace").lower() for column in columns}
    is_stored = all(column[6] == 0 for column in columns)
    if not names or not is_stored or ROW_NUMBER_NAMES & names or not has_row_numbers(database, table):
        raise Unreadable(f"it is not a database of aurora-actr, because `{table}` is not an ordinary table")
    return names


def has_row_numbers(database, table):
    try:
        database.execute(f"SELECT _rowid_ FROM {table} NOT INDEXED LIMIT 0")
    except DATABASE_ERRORS:
        return False
    return True


def rows(database, table, columns, report):
    """Yields the row number and the cells of each row. Stops at the first error in a damaged table."""
    known = stored_columns(database, table)
    if known is None:
        return
    values = ", ".join(name if name in known else "NULL" for name in columns)
    source = f"FROM {table} NOT INDEXED WHERE _rowid_ >= ? ORDER BY _rowid_ LIMIT ?"
    first, limit = FIRST_ROW, ALL_ROWS
    while first <= LAST_ROW:
        before = first
        try:
            for number, *row in database.execute(f"SELECT _rowid_, {values} {source}", (first, limit)):
                if number < first:
                    # In a damaged file, a page can occur twice in a table, so that the rows would never end.
                    report.unmap(f"table {table}", "damaged", "its rows are not in order")
                    return
                first = number + 1
                yield number, [cell(value, max_bytes) for value, max_bytes in zip(row, columns.values())]
            if limit == ALL_ROWS or first == before:
                return
        except DATABASE_ERRORS as error:
            if limit == ALL_ROWS:
                # Python reads one row ahead, so it is unknown which row has the error. Read the next rows one by one.
                limit = 1
                continue
            if getattr(error, "sqlite_errorcode", None) != sqlite3.SQLITE_TOOBIG:
                report.unmap(f"table {table}", "damaged", f"it cannot be read completely: {error}")
                return
            found = database.execute(f"SELECT _rowid_ {source}", (first, 1)).fetchone()
            if found is None or found[0] < first:
                return
            report.unmap(f"table {table}, row {found[0]}", "too-long", f"a value has more than {MAX_VALUE_BYTES} bytes")
            first, limit = found[0] + 1, ALL_ROWS


# Ids.


def entry_ids(database):
    """Maps the ids of chunks to the ids of entries. Keeps valid ids, and derives all others in chunk order."""
    found = rows(database, "chunks", ID_COLUMNS, Report(is_verbose=False))
    chunks = [(cells[0], KINDS[cells[1]]) for _, cells in found if isinstance(cells[0], str) and kind_of(cells[1])]
    ids, taken = {}, set()
    for fits in (True, False):
        for original, kind in chunks:
            if original not in ids and is_id(kind, original) == fits:
                ids[original] = original if fits else derive_id(kind, original, taken)
                taken.add(ids[original])
    return ids


def kind_of(chunk_type):
    return KINDS.get(chunk_type) if isinstance(chunk_type, str) else None


def is_id(kind, text):
    prefix = PREFIXES[kind]
    is_named = text.startswith(prefix) and not is_blank(text[len(prefix) :])
    return is_named and len(text.encode()) <= MAX_ID_BYTES and not has_control(text)


def derive_id(kind, original, taken):
    plain = PREFIXES[kind] + original
    digits = hashlib.sha256(original.encode()).hexdigest()[:HASH_DIGITS]
    has_room = len(plain.encode()) + HASH_DIGITS < MAX_ID_BYTES
    made = plain if has_room and is_id(kind, plain) else f"{PREFIXES[kind]}entry-{digits}"
    return f"{made}-{digits}" if made in taken else made


def is_blank(text):
    return all(c.isspace() or c == "\ufeff" for c in text)


def has_control(text):
    return any(unicodedata.category(c) == "Cc" for c in text)


def is_label(text):
    return len(text.encode(errors="replace")) <= MAX_LABEL_BYTES and not is_blank(text) and not has_control(text)


def quote(text):
    """Formats a text in quotes, shortened and with escapes for all characters outside ASCII."""
    return json.dumps(text[:60]) + ("…" if len(text) > 60 else "")


# Times.


def seconds(value):
    """Converts a time to Unix seconds.

    Accepts Unix seconds and RFC 3339, also with a space instead of the `T`. A time without an offset is in UTC.
    """
    try:
        if isinstance(value, str):
            found = datetime.datetime.fromisoformat(value.strip())
            found = found if found.tzinfo else found.replace(tzinfo=EPOCH.tzinfo)
            value = (found - EPOCH).total_seconds()
        if type(value) in (int, float) and rfc3339(int(value)):
            return int(value)
    except (ValueError, OverflowError):
        pass
    return None


def rfc3339(number):
    """Formats Unix seconds as RFC 3339. Returns None if the time is out of range."""
    if number > MAX_TIME:
        return None
    try:
        return f"{(EPOCH + datetime.timedelta(seconds=number)).replace(tzinfo=None).isoformat()}Z"
    except OverflowError:
        return None


# Relationships and activations.


def links_of_chunks(database, ids, report):
    """Returns the links of each chunk, by the id of the chunk. A link is a tuple of target, relation and weight."""
    links = collections.defaultdict(list)
    for number, (start, to, name, weight) in rows(database, "relationships", RELATIONSHIP_COLUMNS, report):
        what = f"relationship {number}"
        try:
            start, _ = known_chunk(start, "from_chunk", ids)
            _, to = known_chunk(to, "to_chunk", ids)
        except ValueError as error:
            report.alter(what, "relationship", error)
            continue
        if not isinstance(name, str):
            report.alter(what, "relationship", f"`relationship_type` is {describe(name)}")
            continue
        if weight is None:
            weight = 1.0
        elif not isinstance(weight, (int, float)):
            report.alter(what, "weight", f"`weight` is {describe(weight)}, and counts as 1")
            weight = 1.0
        elif not 0 <= weight <= 1:
            nearest = 1.0 if weight > 1 else 0.0
            report.alter(what, "weight", f"`weight` is {weight}, and counts as {nearest:.0f}")
            weight = nearest
        links[start].append((to, name, float(weight)))
    return links


def known_chunk(value, column, ids):
    if not isinstance(value, str):
        raise ValueError(f"`{column}` is {describe(value)}")
    if value not in ids:
        raise ValueError(f"`{column}` is not the id of a converted chunk: {quote(value)}")
    return value, ids[value]


def accesses_of_chunks(database, ids, report):
    """Returns the access record of each chunk, by the id of the chunk. Chunks that were never used have no record."""
    accesses = {}
    for number, (chunk, last, count, history) in rows(database, "activations", ACTIVATION_COLUMNS, report):
        try:
            chunk, _ = known_chunk(chunk, "chunk_id", ids)
        except ValueError as error:
            report.alter(f"activation {number}", "access", error)
            continue
        wrong = []
        if count is None:
            count = 0
        elif not isinstance(count, int) or count < 0:
            wrong.append(f"`access_count` is {count if isinstance(count, int) else describe(count)}, and counts as 0")
            count = 0
        recent = times_of(history, wrong)
        count = max(count, len(recent))
        time_of_last = seconds(last)
        if time_of_last is None and count > 0:
            wrong.append("`last_access` is not a time")
        times = [*recent, *([] if time_of_last is None else [time_of_last])]
        if times and count > 0:
            last = max(times)
            recent = [rfc3339(time) for time in recent[-MAX_RECENT_TIMES:] or [last]]
            accesses[chunk] = {"count": count, "last": rfc3339(last), "recent": recent}
        if wrong:
            report.alter(f"activation {number}", "access", "; ".join(wrong))
    return accesses


def times_of(history, wrong):
    """Returns the times in an access history, sorted."""
    try:
        items = parse(history, "access_history") if history is not None else None
    except ValueError:
        items = history
    if items is None:
        return []
    if not isinstance(items, list):
        is_text = isinstance(history, str)
        wrong.append(f"`access_history` is {'not a list' if is_text else describe(history)}")
        return []
    times = [seconds(item.get("timestamp", item) if isinstance(item, dict) else item) for item in items]
    found = sorted(time for time in times if time is not None)
    if len(found) < len(items):
        wrong.append(f"{len(items) - len(found)} of the times in `access_history` are invalid")
    return found


# Chunks.


def line_of_chunk(row, cells, context, report):
    """Returns the line of an export, or None if the chunk is not an entry."""
    original, chunk_type, content, metadata, added, updated = cells
    if not isinstance(original, str):
        report.unmap(f"chunk {row}", "id", f"`id` is {describe(original)}")
        return None
    if (kind := kind_of(chunk_type)) is None:
        is_text = isinstance(chunk_type, str)
        why = f"unsupported type {quote(chunk_type)}" if is_text else f"`type` is {describe(chunk_type)}"
        report.unmap(f"chunk {row}", "type", why)
        return None
    try:
        content = parse_object(content, "content")
    except ValueError as error:
        report.unmap(f"chunk {row}", "json", error)
        return None
    what, entry_id = f"chunk {quote(original)}", context.ids[original]
    if entry_id != original:
        report.alter(what, "id", f"the entry has the id {quote(entry_id)}, which begins with the prefix of its kind")
    try:
        metadata = parse_object(metadata, "metadata") if metadata is not None else {}
    except ValueError as error:
        report.alter(what, "metadata", f"{error}, and is left out")
        metadata = {}
    fields = Fields("content", content)
    parent = CONTENT_OF_KIND[kind](fields, context)
    content = fields.finish(what, report)
    fields = Fields("metadata", metadata)
    log_file = fit_metadata(fields)
    metadata = fields.finish(what, report)
    for column, value in (("created_at", added), ("updated_at", updated)):
        if value is not None and seconds(value) is None:
            report.alter(what, "time", f"`{column}` is not a time")
    given = first(metadata.get(name) for name in ("created", "timestamp", "acquired"))
    edited, now = seconds(updated), int(time.time())
    created = first((seconds(given), seconds(added), edited))
    if given is None and created is not None:
        metadata["created"] = rfc3339(created)
    if found := links_of(original, parent, context, what, report):
        metadata["links"] = found
    # Clocks can differ, and an entry with a time in the future could never be replaced.
    edited = min(first((edited, created, now)), now)
    line = {"id": entry_id, "scope": context.scope}
    line |= {"created_at": rfc3339(first((created, edited))), "edited_at": rfc3339(edited)}
    if access := context.accesses.pop(original, None):
        line["access"] = access
    line["entry"] = {"id": entry_id, "type": kind}
    reference = {"file": log_file} if log_file is not None else {}
    for name, section in (("content", content), ("metadata", metadata), ("conversation_log_reference", reference)):
        if section:
            line["entry"][name] = section
    return line


def first(values):
    return next((value for value in values if value is not None), None)


def links_of(original, parent, context, what, report):
    """Returns the links of an entry. Of links with equal target and relation, keeps the link with the greatest weight."""
    found = sorted(context.links.pop(original, []), key=lambda link: link[2])
    if parent is not None and (to := context.ids.get(parent)) is None:
        report.alter(what, "link", f"its parent {quote(parent)} is not the id of a converted chunk")
    elif parent is not None:
        found.insert(0, (to, "part_of", 1.0))
    links = {}
    for to, name, weight in found:
        why = ""
        if to == context.ids[original]:
            why = "an entry cannot be linked with itself"
        elif not is_label(name):
            why = f"a relation must have 1 to {MAX_LABEL_BYTES} bytes and no control characters"
        elif (to, name) not in links and len(links) >= MAX_LIST_VALUES:
            why = f"an entry has at most {MAX_LIST_VALUES} links"
        if why:
            report.alter(what, "link", f"the link to {quote(to)} is left out: {why}")
        else:
            links[to, name] = weight
    return [{"to": to, "relation": name, "weight": weight} for (to, name), weight in links.items()]


def parse(value, column):
    if not isinstance(value, str):
        raise ValueError(f"`{column}` is {describe(value)}")
    try:
        return json.loads(value, parse_constant=finite, parse_float=finite, parse_int=whole)
    except (ValueError, RecursionError):
        raise ValueError(f"`{column}` is not JSON") from None


def finite(text):
    if not math.isfinite(number := float(text)):
        raise ValueError("a number is not finite")
    return number


def whole(text):
    """Parses an integer, or a float if the integer does not fit in 64 bits."""
    return number if -(2**63) <= (number := int(text)) < 2**64 else finite(text)


def parse_object(value, column):
    found = parse(value, column)
    if not isinstance(found, dict):
        raise ValueError(f"`{column}` is not a JSON object")
    return found


# Conversion of fields to the schema of entries. A shape function returns the valid part of a value, or None, and whether
# the whole value is valid.


def as_text(value):
    """Converts a text or a number to a text. Returns None for any other value."""
    if type(value) in (int, float):
        return json.dumps(value)
    return value if isinstance(value, str) else None


def as_label(value):
    return value if isinstance(value, str) and is_label(value) else None


def text(value):
    found = as_text(value)
    return found, found is not None


def filled(value):
    return (None, True) if isinstance(value, str) and not value.strip() else text(value)


def label(value):
    found = as_label(value)
    return found, found is not None or isinstance(value, str) and not value.strip()


def texts(value, fit=as_text, max_values=None):
    if not isinstance(value, list):
        return None, False
    kept = [found for item in value if (found := fit(item)) is not None][:max_values]
    return kept or None, len(kept) == len(value)


def labels(value):
    return texts(value, as_label, MAX_LIST_VALUES)


def if_true(value, is_fitting):
    return (value, True) if is_fitting else (None, False)


def line_number(value):
    return if_true(value, type(value) is int and 1 <= value < 2**32)


def amount(value):
    return if_true(value, type(value) in (int, float) and value >= 0)


def unsigned_integer(value):
    return if_true(value, type(value) is int and 0 <= value < 2**64)


def flag(value):
    return if_true(value, isinstance(value, bool))


def moment(value):
    found = seconds(value) if isinstance(value, str) else None
    found = rfc3339(found) if found is not None else None
    return found, found is not None


class Fields:
    """Converts the fields of an object."""

    def __init__(self, name, source):
        self.name = name
        self.source = source
        self.to = {}
        self.lost = []

    def take(self, field):
        return self.source.pop(field, None)

    def take_text(self, field):
        """Removes a field from the source, and returns its value if it is a text that is not blank."""
        value = self.take(field)
        if value is not None and not isinstance(value, str):
            self.lost.append(field)
        return value if isinstance(value, str) and value.strip() else None

    def take_list(self, field):
        value = self.take(field)
        if value is not None and not isinstance(value, list):
            self.lost.append(field)
        return value if isinstance(value, list) else []

    def default(self, field, value):
        if value is not None and field not in self.to and self.source.get(field) is None:
            self.source[field] = value

    def keep(self, shape, *fields):
        """Converts fields with a shape function."""
        for field in fields:
            if (value := self.take(field)) is None:
                continue
            value, is_whole = shape(value)
            if value is not None:
                self.to[field] = value
            if not is_whole:
                self.lost.append(field)

    def keep_objects(self, field, name_of_text, texts_of_object):
        """Converts a list of objects. A text in the list becomes an object with one field."""
        items = self.take_list(field)
        kept = [item for item in items if isinstance(item, (str, dict))]
        kept = [{name_of_text: item} if isinstance(item, str) else with_texts(item, texts_of_object) for item in kept]
        if len(kept) < len(items):
            self.lost.append(field)
        if items:
            self.to[field] = kept

    def finish(self, what, report):
        """Returns the converted object. Fields without a conversion are unchanged."""
        for field in self.lost:
            report.alter(what, "field", f"`{self.name}.{field}` does not fit, and is left out in whole or in part")
        return {name: value for name, value in self.source.items() if value is not None} | self.to


def with_texts(fields, names):
    """Converts fields of an object to texts. Removes a field that cannot be converted."""
    for name in names:
        if (found := as_text(fields.pop(name, None))) is not None:
            fields[name] = found
    return fields


def is_texts(value):
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def relative(file, root):
    """Returns a path relative to the root if it is inside the root, and unchanged otherwise."""
    if root is not None and (path := pathlib.PurePath(file)).is_relative_to(root) and path != pathlib.PurePath(root):
        return path.relative_to(root).as_posix()
    return file


def fit_code(fields, context):
    if file := fields.take_text("file"):
        fields.to["file"] = relative(file, context.root)
    if docstring := fields.take_text("docstring"):
        fields.to["text"] = docstring
    fields.keep(filled, "function", "signature", "text")
    fields.keep(line_number, "line_start", "line_end")
    fields.keep(texts, "imports", "calls")
    if items := fields.take_list("dependencies"):
        names = [context.ids.get(item, item) for item in items if isinstance(item, str)]
        if len(names) < len(items):
            fields.lost.append("dependencies")
        fields.to["dependencies"] = names


def fit_reasoning(fields, _context):
    fields.keep(filled, "pattern", "original_query", "complexity", "verification_option")
    fields.keep_objects("subgoals", "description", ("id", "description", "agent"))
    # An item that is only the name of a tool belongs to no subgoal. These names are combined into one item.
    items = fields.take_list("tools_used")
    names = [item for item in items if isinstance(item, str)]
    uses = [{"tools": names}] if names else []
    for item in items:
        if isinstance(item, dict) and ("tools" not in item or is_texts(item["tools"])):
            uses.append(with_texts(item, ("subgoal", "agent")))
        elif not isinstance(item, str):
            fields.lost.append("tools_used")
    if uses:
        fields.to["tools_used"] = uses
    # A sequence of calls is converted to a sequence of names. The calls are preserved in `tool_calls`.
    if items := fields.take_list("tool_sequence"):
        names = [name for item in items if (name := name_of_tool(item)) is not None]
        if not is_texts(items):
            fields.to["tool_calls"] = items
        fields.to["tool_sequence"] = names


def name_of_tool(item):
    if isinstance(item, dict):
        names = (item.get(field) for field in ("tool", "name", "tool_name"))
        return next((name for name in names if isinstance(name, str)), None)
    return item if isinstance(item, str) else None


def fit_knowledge(fields, context):
    """Converts knowledge. Returns the id of the parent chunk."""
    fields.keep(filled, "title", "topic", "summary")
    fields.keep(texts, "sources")
    docstring = fields.take_text("docstring")
    if docstring:
        # The chunk is a section of a document. Its fields for code have no meaning.
        for field in ("signature", "dependencies", "ast_summary", "line_start", "line_end"):
            fields.take(field)
    path = fields.take("section_path")
    path = " > ".join(path) if is_texts(path) else ""
    name, function = fields.take_text("name"), fields.take_text("function")
    body = fields.take_text("text")
    file_path, file = fields.take_text("file_path"), fields.take_text("file")
    source = file_path or file
    fields.default("topic", path if path.strip() else name or function)
    fields.default("summary", body or docstring)
    fields.default("sources", [relative(source, context.root)] if source else None)
    fields.keep_objects("facts", "statement", ("id", "statement"))
    return fields.take_text("parent_chunk_id")


CONTENT_OF_KIND = {"code": fit_code, "reasoning": fit_reasoning, "knowledge": fit_knowledge}


def fit_metadata(fields):
    """Converts metadata. Returns the file of the conversation log."""
    fields.default("created", fields.take("created_at"))
    fields.default("last_modified", fields.take("updated_at"))
    fields.keep(moment, "created", "timestamp", "acquired", "last_modified")
    fields.keep(label, "semantic_role", "domain", "session", "language")
    fields.keep(labels, "keywords")
    fields.keep(texts, "derived")
    fields.keep(text, "git_hash")
    fields.keep(flag, "validated")
    fields.keep(unsigned_integer, "usage_count")
    fields.keep(amount, "execution_time_ms", "total_cost_usd")
    if fields.take("links") is not None:
        fields.lost.append("links")
    return fields.take_text("log_file")


if __name__ == "__main__":
    sys.exit(main())
