"""Tests which questions the benches in this directory draw from a small tree, and which answers count as right."""

import random
import subprocess
import tempfile
import unittest
from pathlib import Path

import everyday
import identifiers
from draw import KINDS, Corpus, candidates
from shares import wilson
from trees import Tree, is_test

FILES = {
    "src/queue/worker.py": """import os

MAX_ATTEMPTS = 5
NAMES = {"drain-before-stop": drain_queue, "a.b": 1}


def drain_queue(queue):
    limit = os.environ.get("QUEUE_DRAIN_LIMIT")
    if len(queue) > 4711 and limit:
        raise ValueError("queue %s is longer than the limit allows" % queue)
    return qlimit_of(limit)
""",
    "tests/test_worker.py": """from queue.worker import drain_queue


def test_drained():
    assert drain_queue([]) is None
""",
    "README.md": "A marvellous queue.\n",
    "Cargo.lock": 'name = "drain-lock"\n',
}


class Drawing(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        root = Path(cls.directory.name)
        for path, text in FILES.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        for command in (["init", "-q"], ["add", "-A"], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "a"]):
            subprocess.run(["git", "-C", root, *command], check=True)
        cls.tree = Tree(root)

    @classmethod
    def tearDownClass(cls):
        cls.directory.cleanup()

    def drawn(self, kind):
        return list(candidates(Corpus(self.tree), kind, random.Random(1)))

    def test_questions_of_every_kind_have_the_right_answers(self):
        drawn = {kind: {(found["query"], found["relevant"][0].get("line_start")) for found in self.drawn(kind)} for kind in KINDS}
        self.assertIn(("drain-before-stop", 4), drawn["key"])
        self.assertEqual({("QUEUE_DRAIN_LIMIT", 8), ("4711", 9)}, drawn["literal"])
        self.assertEqual({("const MAX_ATTEMPTS", 3)}, drawn["constant"])
        self.assertEqual({("test for drain_queue", 5)}, drawn["test"])
        [(fragment, line)] = drawn["error"]
        self.assertTrue(fragment in FILES["src/queue/worker.py"] and line == 10 and len(fragment.split()) >= 4)
        self.assertTrue(all(path in FILES or path in {"queue/worker.py", "README.md", "worker.py", "test_worker.py"} for path, _ in drawn["path"]))
        self.assertNotIn("Cargo.lock", {path for path, _ in drawn["path"]})

    def test_equal_seeds_draw_equal_questions(self):
        self.assertEqual(everyday.draw([self.tree], 8, 1), everyday.draw([self.tree], 8, 1))

    def test_identifiers_of_one_file_are_drawn_and_english_words_are_not(self):
        groups = identifiers.candidates(self.tree.files, {"marvellous", "queue", "limit"})
        names = {kind: {found["query"] for found in groups[kind]} for kind in ("code, in one place", "definitions")}
        self.assertIn("qlimit_of", names["code, in one place"])
        self.assertNotIn("drain_queue", names["code, in one place"])
        self.assertEqual({"drain_queue"}, names["definitions"])

    def test_an_answer_is_right_if_its_lines_contain_the_expected_line(self):
        question = {"relevant": [{"path": "a", "line_start": 5, "line_end": 5}], "path": "a", "lines": [5, 9]}
        results = [{"file": file, "line_start": first, "line_end": last} for file, first, last in (("b", 1, 9), ("a", 6, 8), ("a", 4, 5))]
        self.assertEqual(3, everyday.rank(question, results))
        self.assertEqual(3, identifiers.rank(question, results))
        self.assertIsNone(everyday.rank(question, results[:2]))

    def test_test_files_are_recognised_by_their_paths(self):
        for path in ("test/a.rb", "src/a_test.go", "src/A.Tests/B.cs", "a/FooTest.java", "x/a.spec.ts", "test_a.py", "ATests/a.swift"):
            self.assertTrue(is_test(path), path)
        for path in ("latest/a.py", "src/contest.go", "src/attest.rs", "docs/a.md"):
            self.assertFalse(is_test(path), path)

    def test_wilson_interval(self):
        low, high = wilson(5, 10)
        self.assertEqual((23.7, 76.3), (round(low, 1), round(high, 1)))


if __name__ == "__main__":
    unittest.main()
