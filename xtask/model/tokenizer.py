"""The tokenizer of the static model, equivalent to the Rust implementation.

1. Runs. A text is split into runs of word characters. Word characters are the ASCII letters and digits, and all code points from U+0080
   on except SEPARATORS. All other characters separate runs and are dropped.
2. Pieces. The classes are U = A-Z, D = 0-9, and L = a-z and every non-ASCII word character. A run is split before character i (i >= 1) if
     a) exactly one of c[i-1] and c[i] is a D; or
     b) c[i-1] is an L and c[i] is a U; or
     c) c[i-1] and c[i] are U and c[i+1] is an L, unless c[i+1] is "s" and c[i+2] is missing or not an L, so that "URLs" is not split.
3. A piece with a non-ASCII character, or with more than 64 characters, has no tokens. Other pieces are lower-cased (ASCII).
4. WordPiece. From left to right, the longest vocabulary entry is chosen with which the remaining piece starts. After the first token,
   entries have the prefix "##". If no entry matches, the whole piece has no tokens.
"""
import re

SEPARATORS = ((0x80, 0xBF), (0xD7, 0xD7), (0xF7, 0xF7), (0x2000, 0x2BFF), (0x3000, 0x303F),
              (0xFE00, 0xFE6F), (0xFF00, 0xFF20), (0x1F000, 0x1FFFF))
MAX_WORD = 64

_SEP = "".join(chr(a) if a == b else f"{chr(a)}-{chr(b)}" for a, b in SEPARATORS)
_OTHER = rf"[^\x00-\x7f{_SEP}]"
_LOW = rf"(?:[a-z]|{_OTHER})"
_PIECE = re.compile(rf"[0-9]+|[A-Z]{{2,}}s(?!{_LOW})|[A-Z]+(?!{_LOW})|[A-Z]?{_LOW}+")


def pieces(text):
    """Returns the lower-cased pieces of a text (rules 1 to 3)."""
    return [p.lower() for p in _PIECE.findall(text) if len(p) <= MAX_WORD and p.isascii()]


def pieces_by_rule(text):
    """A slow, literal implementation of the same rules, for testing the regular expression above."""
    def word(c):
        o = ord(c)
        return c.isalnum() if o < 128 else not any(a <= o <= b for a, b in SEPARATORS)

    def cls(c):
        return "U" if "A" <= c <= "Z" else "D" if "0" <= c <= "9" else "L"

    runs, cur = [], ""
    for c in text + " ":
        if word(c):
            cur += c
        elif cur:
            runs.append(cur)
            cur = ""
    out = []
    for r in runs:
        k = [cls(c) for c in r] + ["-", "-"]
        start = 0
        for i in range(1, len(r)):
            split = (k[i - 1] == "D") != (k[i] == "D") or (k[i - 1] == "L" and k[i] == "U")
            if k[i - 1] == k[i] == "U" and k[i + 1] == "L":
                split = not (r[i + 1] == "s" and k[i + 2] != "L")
            if split:
                out.append(r[start:i])
                start = i
        out.append(r[start:])
    return [p.lower() for p in out if len(p) <= MAX_WORD and p.isascii()]


class Tokenizer:
    """Greedy WordPiece over a list of tokens. Caches the tokens of every piece."""

    def __init__(self, tokens):
        self.tokens = tokens
        self.first = {t: i for i, t in enumerate(tokens) if not t.startswith("##")}
        self.rest = {t[2:]: i for i, t in enumerate(tokens) if t.startswith("##") and len(t) > 2}
        self.longest = max(map(len, tokens))
        self.seen = {}

    def piece(self, p):
        """Returns the token ids of one lower-cased piece, or an empty list if no tokens match."""
        got = self.seen.get(p)
        if got is None:
            got, at, table = [], 0, self.first
            while at < len(p):
                for end in range(min(len(p), at + self.longest), at, -1):
                    i = table.get(p[at:end])
                    if i is not None:
                        break
                else:
                    got = []
                    break
                got.append(i)
                at, table = end, self.rest
            self.seen[p] = got
        return got

    def encode(self, text, limit=None):
        """Returns at most `limit` token ids of a text."""
        out = []
        for p in pieces(text):
            out += self.piece(p)
            if limit and len(out) >= limit:
                return out[:limit]
        return out


RULES = {
    "word_characters": "ASCII letters and digits; code points from U+0080 but the separators",
    "separators": [f"U+{a:04X}..U+{b:04X}" for a, b in SEPARATORS],
    "breaks": ["between a digit and a non-digit", "before A-Z after a-z or non-ASCII",
               "between A-Z and A-Z when a-z or non-ASCII follows, but not when what follows is 's' and no a-z or non-ASCII comes after it"],
    "dropped_pieces": "with a non-ASCII character, or longer than 64 characters",
    "case": "ASCII lower-case",
    "wordpiece": "greedy longest match, continuations with ##; a piece that does not fit has no tokens",
    "special_tokens": "none",
    "max_tokens": 256,
}

if __name__ == "__main__":
    import random
    rng = random.Random(1)
    pool = "aAbBsSxX09_-. éÜ日’ s"
    for _ in range(200000):
        t = "".join(rng.choice(pool) for _ in range(rng.randrange(14)))
        assert pieces(t) == pieces_by_rule(t), (t, pieces(t), pieces_by_rule(t))
    print("the two implementations agree;", pieces("getUserData HTTPSConnection URLs IDsOf base64 it’s café snake_case_9x"))
