#!/usr/bin/env python3
"""Runs the baseline of `cargo xtask memory-quality`: full-text search of SQLite (FTS5), ranked by bm25().

Standard input: {"tokenize": TOKENIZER, "depth": N, "indexes": [{"turns": [{"id", "speaker", "text"}], "questions": [TEXT]}]}.
Standard output: for each question of each index, the ids of the N best turns, best first.

The query consists of the words of the question, without stop words, joined by OR. Turns with equal scores keep their order.
"""

import json
import re
import sqlite3
import sys

# English function words, including the parts that an apostrophe separates (`'s`, `n't`).
STOP_WORDS = frozenset(
    """a about above after again against all am an and any are as at be because been before being below between both but by can could
    d did do does doing don down during each few for from further had has have having he her here hers herself him himself his how i
    if in into is it its itself just ll m me might more most must my myself no nor not now o of off on once only or other our ours
    ourselves out over own re s same shall she should so some such t than that the their theirs them themselves then there these they
    this those through to too under until up ve very was we were what when where which while who whom why will with would y you your
    yours yourself yourselves""".split()
)


def words(question):
    """Returns the distinct words of a question without stop words, or all words if every word is a stop word."""
    found = list(dict.fromkeys(re.findall(r"\w+", question.lower())))
    return [word for word in found if word not in STOP_WORDS] or found


def answers(index, tokenize, depth):
    """Returns the ids of the best turns for each question of an index."""
    connection = sqlite3.connect(":memory:")
    connection.execute(f"CREATE VIRTUAL TABLE turns USING fts5(id UNINDEXED, speaker, text, tokenize = '{tokenize}')")
    rows = [(turn["id"], turn["speaker"], turn["text"]) for turn in index["turns"]]
    connection.executemany("INSERT INTO turns VALUES (?, ?, ?)", rows)
    best = "SELECT id FROM turns WHERE turns MATCH ? ORDER BY bm25(turns), rowid LIMIT ?"
    for question in index["questions"]:
        query = " OR ".join(f'"{word}"' for word in words(question))
        yield [id for (id,) in connection.execute(best, (query, depth))] if query else []


def main():
    asked = json.load(sys.stdin)
    found = [list(answers(index, asked["tokenize"], asked["depth"])) for index in asked["indexes"]]
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
