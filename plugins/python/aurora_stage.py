"""Turns a function into a stage of an Aurora pipeline.

    from aurora_stage import stage

    @stage
    def owner(path):
        return "payments" if path.startswith("pay/") else None

The parameters of the function are columns: `path` is `file.path` or `chunk.path`, whichever the pipeline's file lists
in `reads`; `file_path` and `chunk_path` name one of both. A parameter named `config` is the table `config` of the stage,
and `row` a dictionary of all columns. The function returns the value of the column that the stage writes, or a
dictionary of several. `None` is no value.

Raise an exception to report a row that cannot be processed, `Retry("reason")` if the next run should try it again, and
`Drop("reason")` to drop it. `print` writes to the log of the run.

With `@stage(batch=True)` the function gets the rows of a message at once, each column as a list, and returns a list of
values, or a dictionary with a list for each column that the stage writes; `None` in a list is no value. An exception in
the place of a value is reported for its row, so that the others keep their values:

    @stage(batch=True)
    def owner(path):
        found = directory.teams(path)
        return [found.get(one, Retry("the directory does not know it yet")) for one in path]

`raise Retry("reason", rows=[0, 3])` does the same for rows by their places in the lists; the function is called again with
the others. Any other exception, and a `Retry` without `rows`, is for all rows of the message.

A row that takes longer than the stage's `timeout` ends the program. Call `heartbeat()` inside long work, a loop for
instance, to say that it is going on.

This file needs Python 3.8 and its standard library only.
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
# Least seconds between two heartbeats.
HEARTBEAT = 1.0
# Where heartbeats go while the program runs as a stage.
_output = None


class Drop(Exception):
    """Raised by a stage to drop a row, with the reason."""


class Retry(Exception):
    """Raised by a stage that cannot process a row now: a service does not answer, for instance. The next run tries again.

    In a batch, `rows` are the places of the rows in the lists that the function got; without it all of them.
    """

    def __init__(self, reason="", rows=None):
        super().__init__(reason)
        self.rows = None if rows is None else list(rows)


def stage(function=None, *, batch=False):
    """Runs the function as a stage, for as long as the host has messages.

    With `batch`, the function gets each column as a list with the rows of a message, and returns lists.
    """
    if function is None:
        return lambda function: stage(function, batch=batch)
    # The function is imported by its own tests, and run as a stage otherwise.
    if function.__module__ == "__main__":
        _Host(function, batch).run()
    return function


def documents(function):
    """Runs a function that supplies documents: a stage of the type `documents`.

    The function gets `state`, what it kept from the last run or None, and `config`, as far as it has such parameters. It
    yields dictionaries with `path` and `text`, and perhaps `language`; or `path` and `deleted=True`. What it returns is
    kept for the next run. With a state it may yield only what has changed since: `return Partial(state)` says so.
    """
    if function.__module__ == "__main__":
        _serve_documents(function)
    return function


class Partial(str):
    """A state that says that documents which were not yielded are as they were."""


def heartbeat():
    """Tells the host that the program is working, so that a row may take longer than the stage's `timeout`.

    It may be called as often as wanted, and from any thread: at most one message a second is sent. It is for work that
    makes progress; a thread that calls it in any case would hide that the program hangs. Without a host it does nothing.
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
    """The messages of the host, and where answers go. What the program prints must not be taken for answers."""
    target = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return sys.stdin.buffer, _Output(target)


def _hello(source):
    hello = json.loads(source.readline() or b"{}")
    if hello.get("type") != "hello" or VERSION not in hello.get("versions", []):
        sys.exit("this program is a stage of an Aurora pipeline; `aur mem index` runs it")
    return hello


class _Output:
    """Messages to the host, from any thread."""

    def __init__(self, target):
        self.target = target
        self.lock = threading.Lock()
        self.last_sent = time.monotonic()

    def greet(self):
        """Answers the handshake; heartbeats are allowed from now on."""
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
                raise ValueError("%s has a surrogate, which is not a valid character" % _place_of_surrogate(message))
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
        # A function that does not fit the pipeline's file ends the program here, before it answers.
        self.arguments = _arguments(self.function, hello["reads"])
        self.output.greet()
        for line in self.source:
            message = json.loads(line)
            if message["type"] == "batch":
                try:
                    self.output.send(self.answer(message))
                except Exception as error:  # Unless it is a `Retry`, the host sends the rows again in smaller messages.
                    self.output.send(dict(_told(error), type="error", id=message["id"]))

    def answer(self, message):
        """Works on one message."""
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
                self.output.beat()  # The time-out is for a row, not for a message.
                try:
                    self.store(units, columns, row, self.function(*values))
                except Drop as reason:
                    drops.append({"entity": self.unit, "row": row, "reason": str(reason)})
                except Exception as error:  # A row that fails must not take the others with it.
                    errors.append(dict(_told(error), entity=self.unit, row=row))
        result = {"type": "result", "id": message["id"], "errors": errors, "drops": drops}
        result["files"] = {"columns": columns["file"]}
        result["chunks"] = {"columns": columns["chunk"]}
        return result

    def answer_batch(self, units, columns, errors, drops):
        """Works on all rows of a message at once, and again on those that are left when some are to be tried another time."""
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
                errors.extend(dict(_told(reason), entity=self.unit, row=rows[place]) for place in sorted(named))
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
        """Puts the lists that the function has returned for these rows into the columns."""
        failed = {}
        given = self.named(value)
        left_out = self.names.difference(name for _, name, _ in given)
        if left_out:
            names = ", ".join("`%s`" % name for name in sorted(left_out))
            self.fail_rows(rows, "no list of values for %s; a list of None leaves a column without values" % names, errors)
            return
        for entity, name, cells in given:
            # A stage that works on files returns the values of their chunks in one list.
            places = rows if entity == self.unit else [chunk for row in rows for chunk in units.chunks_of(row)]
            if isinstance(cells, (str, bytes, dict)) or not hasattr(cells, "__len__"):
                reason = "`%s` is not a list of values but `%s`" % (name, type(cells).__name__)
            elif len(cells) != len(places):
                reason = "%d values of `%s` for %d rows" % (len(cells), name, len(places))
            else:
                reason = None
            if reason:
                # Nobody knows which value is whose. The rows are not sent again: a shorter list might fit fewer rows by chance.
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
                errors.append(dict(_told(error), entity=entity, row=row))

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
        """What the function has returned, by columns: (entity, name, value) each."""
        values = value if isinstance(value, dict) else {name: value for _, name in self.writes[:1]}
        if not self.names.issuperset(values):
            unknown = ", ".join("`%s`" % name for name in values if name not in self.names)
            raise ValueError("%s is not in `writes`" % unknown)
        return [(entity, name, values[name]) for entity, name in self.writes if name in values]

    def store(self, units, columns, row, value):
        """Puts what the function has returned for a row into the columns."""
        for entity, name, cell in self.named(value):
            if entity == self.unit:
                columns[entity][name][row] = cell
                continue
            # The stage works on files: a column of chunks gets a list for the chunks of the file.
            chunks = units.chunks_of(row)
            if len(chunks) != len(cell):
                raise ValueError("%d values of `%s` for %d chunks" % (len(cell), name, len(chunks)))
            for chunk, one in zip(chunks, cell):
                columns[entity][name][chunk] = one


def _told(error):
    if isinstance(error, Retry):
        return {"message": str(error), "retry": True}
    return {"message": _text(error)}


def _text(error):
    return "%s: %s" % (type(error).__name__, error)


def _encoded(value):
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def _fail_surrogates(message):
    """Replaces values with surrogates, which UTF-8 cannot express, by errors of their rows."""
    for entity in ("file", "chunk"):
        for name, cells in message.get(entity + "s", {}).get("columns", {}).items():
            for row, cell in enumerate(cells):
                try:
                    _encoded(cell).encode("utf-8")
                except UnicodeEncodeError:
                    cells[row] = None
                    reason = ValueError("a text of `%s` has a surrogate, which is not a valid character" % name)
                    message["errors"].append({"message": _text(reason), "entity": entity, "row": row})


def _place_of_surrogate(message):
    """Where a message of documents has a surrogate."""
    for document in message.get("documents", []):
        try:
            _encoded(document).encode("utf-8")
        except UnicodeEncodeError:
            return "the document %s" % ascii(document.get("path") if isinstance(document, dict) else document)
    return "the state"


class _Units:
    """The rows of a message that the stage works on: its files, or its chunks with their files."""

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
        # A file gets a list with the values of its chunks.
        lists = [[] for _ in range(self.count)]
        for file, value in zip(self.file, values):
            lists[file].append(value)
        return lists

    def chunks_of(self, file):
        """The rows of the chunks of a file."""
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
    """What each parameter of the function gets: `config`, `row`, or a column as (entity, name)."""
    columns = [tuple(name.split(".", 1)) for name in reads]
    found = []
    for name in inspect.signature(function).parameters:
        if name in ("config", "row"):
            found.append(name)
            continue
        known = [column for column in columns if name in (column[1], "%s_%s" % column)]
        if not known:
            sys.exit("parameter `%s` is none of the columns in `reads`: %s" % (name, ", ".join(reads) or "there are none"))
        found.append(known[0])
    return found
