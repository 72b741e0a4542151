"""What the encoder reads in training: pairs in batches of one language, and lists of a search's results."""
from collections import defaultdict

import numpy as np

# Words that questions drop.
STOP = set("a an the of to in on for is are be and or if it its this that these those with from by as at into which will was when can has have not "
           "we you i how what where does do s t given all any each".split())
QUERY, PASSAGE = 20, 64  # tokens of a text with its marks
QUERY_WIDTHS, PASSAGE_WIDTHS = (10, 14, QUERY), (32, 48, PASSAGE)
PLACE, SCOPES, DOC = 8, 8, 16
RUN = 16  # pairs of one package that stand together
MOST_OF_PACKAGE, MOST_OF_LANGUAGE = 800, 30000


class PairBatches:
    """Endless batches of pairs. Each is of one language and made of runs from one package, so that many wrong answers are neighbours."""

    def __init__(self, examples, tokens, marks, size, rng):
        self.examples, self.marks, self.size, self.rng = examples, marks, size, rng
        self.stop = {i for i, t in enumerate(tokens) if t in STOP}
        self.groups = examples.groups(held=False)

    def __iter__(self):
        while True:
            pool = {language: self.of_language(packages) for language, packages in self.groups.items()}
            order = [language for language, batches in pool.items() for _ in batches]
            self.rng.shuffle(order)
            for language in order:
                yield self.batch(pool[language].pop())

    def of_language(self, packages):
        runs = []
        for pairs in packages.values():
            pairs = self.ordered(pairs)
            if len(pairs) > MOST_OF_PACKAGE:
                at = self.rng.randrange(len(pairs) - MOST_OF_PACKAGE)
                pairs = pairs[at:at + MOST_OF_PACKAGE]
            runs += [pairs[at:at + RUN] for at in range(0, len(pairs), RUN)]
        self.rng.shuffle(runs)
        flat = [pair for run in runs for pair in run][:MOST_OF_LANGUAGE]
        return [flat[at:at + self.size] for at in range(0, len(flat) - self.size + 1, self.size)]

    def ordered(self, pairs):
        """In half of the packages the methods of a class follow each other."""
        pairs = pairs[:]
        if self.rng.random() < .5:
            self.rng.shuffle(pairs)
            return pairs
        classes = defaultdict(list)
        for pair in pairs:
            classes[self.examples.class_of(pair)].append(pair)
        names = list(classes)
        self.rng.shuffle(names)
        return [pair for name in names for pair in classes[name]]

    def batch(self, pairs):
        """Queries, passages, and which of them must not be held against each other: equal queries, equal code."""
        queries = filled([self.query(pair) for pair in pairs], QUERY_WIDTHS, self.marks)
        passages = filled([self.passage(pair) for pair in pairs], PASSAGE_WIDTHS, self.marks)
        query, body = (np.array([hash(self.examples.rows(text, pair).tobytes()) for pair in pairs]) for text in ("query", "body"))
        same = (query[:, None] == query) | (body[:, None] == body)
        return queries, passages, same & ~np.eye(len(pairs), dtype=bool)

    def query(self, pair):
        """The sentence; in 30 % its words without the stop words, and half of these times only some of them."""
        query, chance = list(self.examples.rows("query", pair)), self.rng.random()
        if chance < .30:
            words = [t for t in query if t not in self.stop]
            if len(words) >= 2:
                if chance < .15 and len(words) > 4:
                    count = self.rng.randint(3, min(8, len(words)))
                    words = [words[at] for at in sorted(self.rng.sample(range(len(words)), count))]
                query = words
        return marked(query, QUERY, self.marks)

    def passage(self, pair):
        """Place and scopes in 85 %, the rest of the documentation in 30 %; in 15 % a later part of the code after the name."""
        rows, out = self.examples.rows, []
        if self.rng.random() < .85:
            out += list(rows("place", pair)[-PLACE:])
        if self.rng.random() < .85:
            out += list(rows("scopes", pair)[-SCOPES:])
        if self.rng.random() < .3:
            out += list(rows("rest", pair)[:DOC])
        body = list(rows("body", pair))
        if self.rng.random() < .15:
            out += list(rows("name", pair))
            if len(body) > 60:
                body = body[self.rng.randrange(len(body) - 40):]
        return marked(out + body, PASSAGE, self.marks)


def marked(rows, width, marks):
    return [marks.begin, *rows[:width - 2], marks.end]


def filled(texts, widths, marks):
    """Texts as one matrix, as wide as nine in ten of them need; others are cut."""
    wanted = np.percentile([len(text) for text in texts], 90)
    width = next((width for width in widths if width >= wanted), widths[-1])
    out = np.full((len(texts), width), marks.fill, np.int32)
    for row, text in zip(out, texts):
        text = text if len(text) <= width else text[:width - 1] + [marks.end]
        row[:len(text)] = text
    return out


def read_lists(path):
    """The lists of lists.py that have right and wrong results, and no exact name, by part."""
    with np.load(path) as saved:
        arrays = {name: saved[name] for name in saved.files}
    parts = {"training": [], "validation": []}
    starts = np.cumsum([0, *arrays["results"]])
    for at, (start, end) in enumerate(zip(starts, starts[1:])):
        right = arrays["right"][start:end]
        if right.any() and not right.all() and not arrays["exact"][start:end].any():
            parts[str(arrays["part"][at])].append({
                "set": str(arrays["set"][at]), "query": arrays["query"][at], "passages": arrays["passages"][start:end], "right": right,
                "score": arrays["score"][start:end]})
    return parts


def list_batch(lists, length):
    """Lists as matrices. A place without a result has a score that no other can fall below."""
    passages = np.stack([np.resize(x["passages"], (length, PASSAGE)) for x in lists])
    right, score = np.zeros(passages.shape[:2], bool), np.full(passages.shape[:2], -1e3, np.float32)
    for row, x in enumerate(lists):
        right[row, :len(x["right"])], score[row, :len(x["score"])] = x["right"], x["score"]
    return np.stack([x["query"] for x in lists]), passages, right, score


