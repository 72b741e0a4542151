"""Turns a function into a stage of an Aurora pipeline.

    from aurora_stage import stage

    @stage
    def owner(path):
        return "payments" if path.startswith("pay/") else None

Each parameter of the function names a column that `reads` lists in the pipeline file. `path` means `file.path` or
`chunk.path`, whichever is listed; `file_path` and `chunk_path` name one of the two. The parameter `config` receives the
table `config` of the stage, and `row` receives a dictionary of all columns. The function returns the value of the
column that the stage writes, or a dictionary with the values of several columns. `None` means that there is no value.

To report a row that cannot be processed, raise an exception; the next run processes the row again. To drop a row, raise
`Drop("reason")`. `print` writes to the log of the run.

With `@stage(batch=True)`, the function receives all rows of a message at once, with each column as a list. It returns
a list of values, or a dictionary with a list for each column that the stage writes. `None` in a list means that there
is no value. A list may contain an exception instead of a value. It is reported for its row, and the other rows keep
their values:

    @stage(batch=True)
    def owner(path):
        found = directory.teams(path)
        return [found.get(one, Retry("the directory does not know it yet")) for one in path]

`raise Retry("reason", rows=[0, 3])` reports the rows at these positions in the lists, and the function is called again
with the other rows. A `Retry` without `rows` reports all rows of the message. After any other exception, the rows are
sent again in smaller messages, so that only the rows that cause it fail.

If a row takes longer than the stage's `timeout`, the host ends the program. Call `heartbeat()` during long work, for
instance in a loop, to report that the program is still working.

This file only needs Python 3.8 and its standard library.
"""

import inspect
import json
import os
import sys
import threading
import time

__all__ = ["Drop", "Partial", "Retry", "documents", "heartbeat", "stage"]

PROTOCOL = "aurora-stage"
VERSION = 1
# Minimum time between two heartbeats, in seconds.
HEARTBEAT = 1.0
# The output to which heartbeats are written while the program runs as a stage.
_output = None


class Drop(Exception):
    """Raised by a stage to drop a row. The argument is the reason."""


class Retry(Exception):
    """Raised by a stage that cannot process a row now, for example because a service is down. The next run retries.

    In a batch, `rows` contains the positions of the failed rows in the lists that the function received. Without
    `rows`, all rows failed.
    """

    def __init__(self, reason="", rows=None):
        super().__init__(reason)
        self.rows = None if rows is None else list(rows)


def stage(function=None, *, batch=False):
    """Runs the function as a stage until the host sends no more messages.

    With `batch`, the function receives each column as a list with the rows of a message, and returns lists.
    """
    if function is None:
        return lambda function: stage(function, batch=batch)
    # Tests import the module of the function, so the function only runs as a stage if its module is the main program.
    if function.__module__ == "__main__":
        _Host(function, batch).run()
    return function


def documents(function):
    """Runs a function that supplies documents, for a stage of the type `documents`.

    The function may have the parameters `state`, which is the state of the last run or None, and `config`. It yields
    dictionaries with `path`, `text`, and optionally `language`, or with `path` and `deleted=True`. Its return value is
    the state for the next run. If `state` is not None, the function may yield only the documents that have changed
    since the last run; it must then return `Partial(state)`.
    """
    if function.__module__ == "__main__":
        _serve_documents(function)
    return function


class Partial(str):
    """The state after a partial listing, in which documents that were not yielded have not changed."""


def heartbeat():
    """Reports to the host that the program is working, so that a row may take longer than the stage's `timeout`.

    It may be called at any rate and from any thread: at most one message per second is sent. Call it only when the work
    makes progress. A thread that calls it all the time would hide that the program hangs. Does nothing without a host.
    """
    if _output is not None:
        _output.beat()


def _serve_documents(function):
    source, output = _streams()
    send = output.send
    hello = _hello(source)
    output.greet()
    message = json.loads(source.readline() or b"{}")
    given = {"state": message.get("state"), "config": hello.get("config", {})}
    names = inspect.signature(function).parameters
    listing, found = function(**{name: given[name] for name in names}), []
    try:
        while True:
            try:
                found.append(next(listing))
            except StopIteration as end:
                send({"type": "documents", "documents": found})
                state = None if end.value is None else str(end.value)
                send({"type": "done", "state": state, "partial": isinstance(end.value, Partial)})
                return
            if len(found) == 100:
                send({"type": "documents", "documents": found})
                found = []
    except Exception as error:  # The host keeps the documents of the last run.
        send({"type": "error", "message": _text(error)})


def _streams():
    """Returns the input and the output for messages. Redirects `print` to stderr, away from the messages."""
    target = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return sys.stdin.buffer, _Output(target)


def _hello(source):
    hello = json.loads(source.readline() or b"{}")
    if hello.get("type") != "hello" or VERSION not in hello.get("versions", []):
        sys.exit("this program is a stage of an Aurora pipeline; `aur mem index` runs it")
    return hello


class _Output:
    """Writes messages to the host. Any thread may send messages."""

    def __init__(self, target):
        self.target = target
        self.lock = threading.Lock()
        self.last_sent = time.monotonic()

    def greet(self):
        """Answers the handshake. From then on, heartbeats are allowed."""
        global _output
        self.send({"type": "hello", "protocol": PROTOCOL, "version": VERSION, "encoding": "jsonl"})
        _output = self

    def beat(self):
        if time.monotonic() - self.last_sent > HEARTBEAT:
            self.send({"type": "heartbeat"})

    def send(self, message):
        try:
            line = _encoded(message).encode("utf-8") + b"\n"
        except UnicodeEncodeError:
            if message["type"] in ("documents", "done"):
                raise ValueError("%s has a surrogate, which is not a valid character" % _surrogate_location(message))
            _fail_surrogates(message)
            line = _encoded(message).encode("utf-8", "replace") + b"\n"
        with self.lock:
            self.target.write(line)
            self.target.flush()
            self.last_sent = time.monotonic()


class _Host:
    def __init__(self, function, batch):
        self.function = function
        self.batch = batch
        self.source, self.output = _streams()

    def run(self):
        hello = _hello(self.source)
        self.config = hello.get("config", {})
        self.unit = hello["unit"]
        self.writes = [tuple(name.split(".", 1)) for name in sorted(hello["writes"])]
        self.names = {name for _, name in self.writes}
        # If a parameter does not match the pipeline file, the program exits here, before it answers the handshake.
        self.arguments = _arguments(self.function, hello["reads"])
        self.output.greet()
        for line in self.source:
            message = json.loads(line)
            if message["type"] == "batch":
                try:
                    self.output.send(self.answer(message))
                except Exception as error:  # Except for a `Retry`, the host sends the rows again in smaller messages.
                    self.output.send(dict(_error_fields(error), type="error", id=message["id"]))

    def answer(self, message):
        """Processes one message and returns the answer."""
        units = _Units(message, self.unit)
        columns = {"file": {}, "chunk": {}}
        for entity, name in self.writes:
            columns[entity][name] = [None] * message[entity + "s"]["count"]
        errors, drops = [], []
        if self.batch:
            self.answer_batch(units, columns, errors, drops)
        else:
            arguments = [self.column(units, name) for name in self.arguments]
            for row, values in enumerate(zip(*arguments) if arguments else [()] * units.count):
                self.output.beat()  # The time-out applies to a row, not to a message.
                try:
                    self.store(units, columns, row, self.function(*values))
                except Drop as reason:
                    drops.append({"entity": self.unit, "row": row, "reason": str(reason)})
                except Exception as error:  # A failed row must not affect the other rows.
                    errors.append(dict(_error_fields(error), entity=self.unit, row=row))
        result = {"type": "result", "id": message["id"], "errors": errors, "drops": drops}
        result["files"] = {"columns": columns["file"]}
        result["chunks"] = {"columns": columns["chunk"]}
        return result

    def answer_batch(self, units, columns, errors, drops):
        """Processes all rows of a message at once. After a `Retry` for some rows, calls the function for the others."""
        rows = list(range(units.count))
        while rows:
            try:
                values = self.function(*self.batch_arguments(units, rows))
            except Retry as reason:
                if reason.rows is None:
                    raise
                named = set(reason.rows)
                if not named or not named.issubset(range(len(rows))):
                    raise ValueError("`Retry` names rows that the function did not get: %r" % (reason.rows,))
                errors.extend(dict(_error_fields(reason), entity=self.unit, row=rows[place]) for place in sorted(named))
                rows = [row for place, row in enumerate(rows) if place not in named]
                continue
            self.store_batch(units, columns, rows, values, errors, drops)
            return

    def batch_arguments(self, units, rows):
        whole = len(rows) == units.count
        columns = {name: self.column(units, name) for name in self.arguments if name != "config"}
        return [
            self.config if name == "config" else list(columns[name]) if whole else [columns[name][row] for row in rows]
            for name in self.arguments
        ]

    def store_batch(self, units, columns, rows, value, errors, drops):
        """Stores the lists that the function returned for the rows in the columns."""
        failed = {}
        given = self.named(value)
        left_out = self.names.difference(name for _, name, _ in given)
        if left_out:
            names = ", ".join("`%s`" % name for name in sorted(left_out))
            reason = "no list of values for %s; a list of None leaves a column without values" % names
            self.fail_rows(rows, reason, errors)
            return
        for entity, name, cells in given:
            # If the stage processes files, the values of all their chunks are in one list.
            places = rows if entity == self.unit else [chunk for row in rows for chunk in units.chunks_of(row)]
            if isinstance(cells, (str, bytes, dict)) or not hasattr(cells, "__len__"):
                reason = "`%s` is not a list of values but `%s`" % (name, type(cells).__name__)
            elif len(cells) != len(places):
                reason = "%d values of `%s` for %d rows" % (len(cells), name, len(places))
            else:
                reason = None
            if reason:
                # The values cannot be assigned to rows. The rows are not sent again in smaller messages, because a list
                # might then have the right length by chance.
                self.fail_rows(rows, reason, errors)
                return
            for place, cell in zip(places, cells):
                if isinstance(cell, Exception):
                    failed.setdefault((entity, place), cell)
                else:
                    columns[entity][name][place] = cell
        for (entity, row), error in failed.items():
            if isinstance(error, Drop):
                drops.append({"entity": entity, "row": row, "reason": str(error)})
            else:
                errors.append(dict(_error_fields(error), entity=entity, row=row))

    def fail_rows(self, rows, reason, errors):
        message = _text(ValueError(reason))
        errors.extend({"message": message, "entity": self.unit, "row": row} for row in rows)

    def column(self, units, name):
        if name == "config":
            return [self.config] * units.count
        if name == "row":
            return units.rows()
        return units.column(*name)

    def named(self, value):
        """Returns the result of the function as a list of (entity, name, value), one for each column."""
        values = value if isinstance(value, dict) else {name: value for _, name in self.writes[:1]}
        if not self.names.issuperset(values):
            unknown = ", ".join("`%s`" % name for name in values if name not in self.names)
            raise ValueError("%s is not in `writes`" % unknown)
        return [(entity, name, values[name]) for entity, name in self.writes if name in values]

    def store(self, units, columns, row, value):
        """Stores the result of the function for a row in the columns."""
        for entity, name, cell in self.named(value):
            if entity == self.unit:
                columns[entity][name][row] = cell
                continue
            # The stage processes files, so the value of a chunk column is a list with a value for each chunk of the
            # file.
            chunks = units.chunks_of(row)
            if len(chunks) != len(cell):
                raise ValueError("%d values of `%s` for %d chunks" % (len(cell), name, len(chunks)))
            for chunk, one in zip(chunks, cell):
                columns[entity][name][chunk] = one


def _error_fields(error):
    if isinstance(error, Retry):
        return {"message": str(error), "retry": True}
    return {"message": _text(error)}


def _text(error):
    return "%s: %s" % (type(error).__name__, error)


def _encoded(value):
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def _fail_surrogates(message):
    """Removes values with surrogates, which UTF-8 cannot represent, and reports an error for each of their rows."""
    for entity in ("file", "chunk"):
        for name, cells in message.get(entity + "s", {}).get("columns", {}).items():
            for row, cell in enumerate(cells):
                try:
                    _encoded(cell).encode("utf-8")
                except UnicodeEncodeError:
                    cells[row] = None
                    reason = ValueError("a text of `%s` has a surrogate, which is not a valid character" % name)
                    message["errors"].append({"message": _text(reason), "entity": entity, "row": row})


def _surrogate_location(message):
    """Describes which part of a message of documents has a surrogate."""
    for document in message.get("documents", []):
        try:
            _encoded(document).encode("utf-8")
        except UnicodeEncodeError:
            return "the document %s" % ascii(document.get("path") if isinstance(document, dict) else document)
    return "the state"


class _Units:
    """The rows of a message that the stage processes: files, or chunks with their files."""

    def __init__(self, message, unit):
        self.unit = unit
        self.tables = {"file": message["files"]["columns"], "chunk": message["chunks"]["columns"]}
        self.file = message["chunks"]["file"]
        self.count = message[unit + "s"]["count"]
        self.by_file = None

    def column(self, entity, name):
        values = self.tables[entity][name]
        if entity == self.unit:
            return values
        if self.unit == "chunk":
            return [values[file] for file in self.file]
        # The value for a file is a list with the values of all chunks of the file.
        lists = [[] for _ in range(self.count)]
        for file, value in zip(self.file, values):
            lists[file].append(value)
        return lists

    def chunks_of(self, file):
        """Returns the row numbers of a file's chunks."""
        if self.by_file is None:
            self.by_file = [[] for _ in range(self.count)]
            for chunk, of in enumerate(self.file):
                self.by_file[of].append(chunk)
        return self.by_file[file]

    def rows(self):
        names = [(entity, name) for entity, table in self.tables.items() for name in table]
        columns = [self.column(*name) for name in names]
        keys = ["%s_%s" % name for name in names]
        return [dict(zip(keys, values)) for values in zip(*columns)] if columns else [{} for _ in range(self.count)]


def _arguments(function, reads):
    """Returns what to pass for each parameter of the function: `config`, `row`, or a column as (entity, name)."""
    columns = [tuple(name.split(".", 1)) for name in reads]
    found = []
    for name in inspect.signature(function).parameters:
        if name in ("config", "row"):
            found.append(name)
            continue
        known = [column for column in columns if name in (column[1], "%s_%s" % column)]
        if not known:
            sys.exit("parameter `%s` is not a column in `reads`: %s" % (name, ", ".join(reads) or "there are none"))
        found.append(known[0])
    return found
