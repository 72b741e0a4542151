"""Supplies tickets from an export: a file with one JSON object per line, in the order of the changes."""
import json
from aurora_stage import Partial, documents


@documents
def tickets(state, config):
    """Yields the tickets that have changed since the last run. The state is the number of lines read so far."""
    seen = int(state or 0)
    with open(config["export"]) as export:
        lines = export.readlines()
    # The last line of a ticket is its current version.
    changed = {ticket["id"]: ticket for ticket in map(json.loads, lines[seen:])}
    for ticket in changed.values():
        if ticket.get("closed"):
            yield {"path": ticket["id"] + ".md", "deleted": True}
        else:
            yield {"path": ticket["id"] + ".md", "text": "# %(title)s\n\n%(text)s\n" % ticket}
    return Partial(len(lines)) if state else len(lines)
