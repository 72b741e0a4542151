"""Tests of the parts of the package that need neither a cluster nor `aur`."""

import argparse
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

from aurora_ray import __main__ as command, sources, tasks
from aurora_ray.tasks import BuildError, Killed, Settings, Source


class Units(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)

    def test_sizes_and_numbers_outside_of_their_range_are_refused(self):
        self.assertEqual([command.size(text) for text in ("7", "2KiB", "64MiB", "1gib")], [7, 2048, 64 << 20, 1 << 30])
        for text in ("", "0", "-1", "1.5MiB", "1MB", "1e3", "9999999999"):
            self.assertRaises(argparse.ArgumentTypeError, command.size, text)
        for text in ("0", "65", "-1", "x", "²", ""):
            self.assertRaises(argparse.ArgumentTypeError, command.number(1, 64), text)

    def test_entries_of_a_catalogue_become_sources(self):
        entries = [
            {"name": "web", "path": "/clones/web", "url": "git@example.org:web.git", "branch": "main", "groups": ["a"]},
            {"name": "tools", "path": str(self.directory), "groups": []},
        ]
        web = Source("web", url="git@example.org:web.git", branch="main")
        tools = Source("tools", path=str(self.directory.resolve()))
        self.assertEqual(sources.parse(json.dumps(entries).encode(), []), [web, tools])
        self.assertEqual(sources.parse(json.dumps(entries).encode(), ["a", "b"]), [web])
        self.assertRaises(BuildError, sources.parse, json.dumps(entries).encode(), ["b"])

    def test_hostile_entries_are_refused(self):
        good = {"name": "web", "path": "/web", "url": "https://example.org/web", "groups": []}
        for change in (
            {"name": "../web"},
            {"name": ".results"},
            {"name": "web\n"},
            {"name": 7},
            {"url": "--upload-pack=touch x"},
            {"url": "ext::sh -c id"},
            {"url": "https://example.org/\x1b[2J"},
            {"branch": "--force"},
            {"branch": "a..b"},
            {"branch": "a:b"},
            {"groups": 1},
        ):
            with self.subTest(change=change):
                status = json.dumps([{**good, **change}]).encode()
                self.assertRaises(BuildError, sources.parse, status, ["x"] if "groups" in change else [])
        for status in (b"", b"{}", b"[1]", b"null", b"\xff"):
            self.assertRaises(BuildError, sources.parse, status, [])

    def test_names_of_directories_are_valid_names(self):
        for name, expected in (("web", "web"), (".hidden dir", "hidden-dir"), ("ä", "index"), ("-x", "x")):
            self.assertEqual(sources.name_of(pathlib.Path("/srv") / name), expected)
        self.assertTrue(sources.NAME.fullmatch(sources.name_of(pathlib.Path("/"))))

    def test_programs_run_without_a_shell(self):
        script = "import sys; print(sys.argv[1])"
        code, out = tasks.run([sys.executable, "-c", script, "$(id); `id` *"], self.directory, stdout=True)
        self.assertEqual((code, out), (0, "$(id); `id` *\n"))

    def test_error_messages_contain_neither_control_characters_nor_passwords(self):
        script = "import sys; sys.exit('first\\nfetch https://ada:secret@example.org/a\\n\\x1b[2J' + 'x' * 100)"
        code, message = tasks.run([sys.executable, "-c", script], self.directory)
        self.assertEqual(code, 1)
        self.assertNotRegex(message, r"secret|\x1b")
        self.assertIn("://…@example.org/a; \N{REPLACEMENT CHARACTER}[2Jxxx", message)

    def test_a_killed_program_is_not_an_error_of_the_repository(self):
        script = f"import os; os.kill(os.getpid(), {int(signal.SIGKILL)})"
        self.assertRaisesRegex(Killed, "SIGKILL", tasks.run, [sys.executable, "-c", script], self.directory)

    def test_a_missing_program_is_reported(self):
        self.assertRaisesRegex(BuildError, "no-such-aur", tasks.run, ["no-such-aur"], self.directory)

    def test_large_parts_go_through_the_shared_directory(self):
        part = self.directory / "part"
        part.write_bytes(b"x" * 100)
        small, large = (Settings(shared=str(self.directory), max_object=size) for size in (100, 99))
        self.assertEqual(tasks.handed_over(part, small), b"x" * 100)
        self.assertEqual(tasks.handed_over(part, Settings(max_object=1)), b"x" * 100)
        target = pathlib.Path(tasks.handed_over(part, large))
        self.assertEqual((target.parent, target.read_bytes()), (self.directory, b"x" * 100))

    def test_the_number_of_shards_follows_the_size(self):
        (self.directory / "a").write_bytes(b"x" * 1000)
        (self.directory / ".git").mkdir()
        (self.directory / ".git" / "pack").write_bytes(b"x" * 1000)
        source = Source("a", path=str(self.directory))
        for size, expected in ((2000, 1), (1000, 1), (999, 2), (10, 64)):
            self.assertEqual(tasks.plan(source, Settings(shard_size=size)).shards, expected)

    def test_the_key_depends_on_everything_that_determines_the_index(self):
        root, pipeline = self.directory / "a", self.directory / "pipeline.toml"
        git = ["git", "-C", str(root), "-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
        subprocess.run(["git", "init", "--quiet", str(root)], check=True)
        (root / "file").write_text("first")
        (root / ".gitignore").write_text(".aurora/\n")
        (root / ".aurora").mkdir()
        subprocess.run([*git, "add", "."], check=True)
        subprocess.run([*git, "commit", "--quiet", "-m", "first"], check=True)
        pipeline.write_text("first")
        program = self.directory / "program"
        program.touch(mode=0o755)
        options = (f"--pipeline={pipeline}",)

        def key(options=options, source=Source("a", path=str(root))):
            return tasks.plan(source, Settings(str(program), options)).key

        keys = [key(), key(options=())]
        for change in (
            lambda: pipeline.write_text("second"),
            lambda: program.write_text("second"),
            lambda: (root / ".aurora" / "pipeline.toml").write_text("second"),
            lambda: subprocess.run([*git, "commit", "--quiet", "--allow-empty", "-m", "second"], check=True),
        ):
            change()
            self.assertEqual(key(), key())
            keys.append(key())
        self.assertEqual(len({*keys, None}), 7)
        # The commit does not determine the index.
        (root / "other").touch()
        self.assertIsNone(key())
        (root / "other").unlink()
        (root / "file").write_text("third")
        self.assertIsNone(key())
        self.assertIsNone(key(source=Source("b", path=str(self.directory))))

    def test_temporary_files_of_killed_tasks_are_removed_and_others_are_kept(self):
        old, tempfile.tempdir = tempfile.tempdir, str(self.directory)
        self.addCleanup(setattr, tempfile, "tempdir", old)
        left = self.directory / f"{tasks.SCRATCH}{os.getuid()}-left"
        left.mkdir()
        (left / "lock").touch()
        with tasks.scratch() as first, tasks.scratch() as second:
            self.assertEqual((left.exists(), first.exists(), second.exists()), (False, True, True))
        self.assertEqual(list(self.directory.iterdir()), [])

    def test_a_clone_is_at_the_planned_commit_and_unusual_transports_are_refused(self):
        origin, settings = self.directory / "origin", Settings(cache=str(self.directory / "cache"))
        git = ["git", "-C", str(origin), "-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
        subprocess.run(["git", "init", "--quiet", str(origin)], check=True)
        for text in ("first", "second"):
            (origin / "file").write_text(text)
            subprocess.run([*git, "add", "."], check=True)
            subprocess.run([*git, "commit", "--quiet", "-m", text], check=True)
            if text == "first":
                source = Source("a", url=f"file://{origin}")
                with tasks.checkout(source, None, settings, self.directory) as (root, first):
                    self.assertEqual((root / "file").read_text(), "first")
        with tasks.checkout(source, None, settings, self.directory) as (root, second):
            self.assertEqual((root / "file").read_text(), "second")
        with tasks.checkout(source, first, settings, self.directory) as (root, commit):
            self.assertEqual(((root / "file").read_text(), commit), ("first", first))
        mark = self.directory / "mark"
        hostile = Source("b", url=f"ext::touch {mark}")
        with self.assertRaises(BuildError), tasks.checkout(hostile, None, settings, self.directory):
            pass
        self.assertFalse(mark.exists())
        with self.assertRaises(BuildError), tasks.checkout(Source("c", path=str(origin)), first, settings, self.directory):
            pass


if __name__ == "__main__":
    unittest.main()
