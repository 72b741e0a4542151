"""Tests that nothing of a barred repository is collected under any name: python3 -m unittest test_collect (no network)."""
import io
import json
import os
import tarfile
import tempfile
import unittest
import zipfile
from unittest import mock

import collect
from barred import Barred

HERE = os.path.dirname(os.path.abspath(__file__))
BARRED = Barred()


def rows(name):
    """Returns the lines of a table or list in this directory, split at white space."""
    with open(os.path.join(HERE, name), encoding="utf-8") as f:
        return [line.split() for line in f if line.strip() and not line.startswith("#")]


class Lists(unittest.TestCase):
    def test_every_repository_is_barred_by_itself(self):
        self.assertGreater(len(BARRED.repositories), 180)
        for repository, *others in rows("barred.txt"):
            owner, name = repository.split("/")
            for form in (repository, f"{owner}+{name}", repository.upper(), name):
                self.assertTrue(BARRED.package(form), form)
            for address in (f"https://github.com/{repository}", f"git+ssh://git@github.com/{repository}.git", f"git@github.com:{repository}.git",
                            f"github:{repository}", f"https://github.com/{repository}/tree/main/sub", f'opts="x" https://github.com/{repository}/tags .*'):
                self.assertTrue(BARRED.address(address), address)
            for path in (f"vendor/github.com/{repository}/a.go", f"pkg/node_modules/{name}/a.js", f"third_party/{name}/a.cc", f"src/{repository}/a.c"):
                self.assertTrue(BARRED.vendored(path), path)

    def test_names_in_registries(self):
        for name in ("pandas", "sqlite3", "libfmt", "nlohmann-json3", "tokio-util", "@vue/reactivity", "vue.js", "symfony/console", "libspring-java",
                     "spring-core", "jackson-databind", "golang-github-spf13-cobra", "golang-github-go-chi-chi.v5", "postgresql-15", "python3-numpy",
                     "node-d3", "ruby-rack", "haskell-aeson", "rust-serde", "libuv1", "react-dom", "activerecord", "pydantic_core", "apache/pekko"):
            self.assertTrue(BARRED.package(name), name)

    def test_vendored_copies(self):
        for path in ("a/org/springframework/core/A.java", "include/spdlog/fmt/bundled/core.h", "src/sqlite3.c", "vendor/k8s.io/api/types.go",
                     "vendor/symfony/console/A.php", "node_modules/@vue/shared/index.js", "deps/libuv/src/a.c", "shadow/com/google/gson/Gson.java"):
            self.assertTrue(BARRED.vendored(path), path)

    def test_others_pass(self):
        for name in ("caddy", "tokio-rustls", "sqlx", "networkx", "golang-testify", "typelevel/fs2", "nodemailer/nodemailer", "commons-io"):
            self.assertFalse(BARRED.package(name), name)
        for address in ("https://github.com/rust-lang/cargo", "https://redis-py.example.org", "github:eslint/eslint"):
            self.assertFalse(BARRED.address(address), address)
        for path in ("src/core/a.go", "lib/echo.py", "vendor/github.com/pkg/errors/errors.go", "com/example/Chart.java"):
            self.assertFalse(BARRED.vendored(path), path)

    def test_no_list_names_a_barred_package(self):
        for file in ("sources.txt", "held-out.txt"):
            for kind, name in rows(file):
                self.assertFalse(BARRED.package(name), f"{file}: {kind} {name}")

    def test_no_table_has_pairs_of_a_barred_package(self):
        for row in [r for r in rows("packages.tsv") if r[-1].isdigit()]:
            if int(row[-1]) + int(row[-2]):
                self.assertFalse(BARRED.package(row[1]), f"packages.tsv: {row[:2]}")
        for row in rows("repositories.tsv"):
            self.assertFalse(BARRED.package(row[0]), f"repositories.tsv: {row[0]}")

    def test_what_is_held_out_is_not_trained_on(self):
        apart = {(kind, name.lower()) for kind, name in rows("held-out.txt")}
        for row in [r for r in rows("packages.tsv") if r[-1].isdigit()]:
            self.assertFalse((row[0], row[1].lower()) in apart and int(row[-2]), f"packages.tsv: {row[:2]}")
        for row in rows("repositories.tsv"):
            self.assertNotIn(("github", row[0].lower()), apart)


class Collecting(unittest.TestCase):
    """Packages whose names are not barred, but that declare a barred repository as theirs, and one package that may be used."""

    def setUp(self):
        self.work = self.enterContext(tempfile.TemporaryDirectory())
        self.enterContext(mock.patch.object(collect, "extensions", lambda: (".py", ".js", ".c")))
        self.run = self.enterContext(mock.patch.object(collect, "run", side_effect=self.local))

    @staticmethod
    def local(cmd, quiet=False, **kw):
        if cmd[0] != "tar":
            raise AssertionError(f"{cmd} would use the network")
        return RUN(cmd, quiet, **kw)

    def path(self, *parts):
        path = os.path.join(self.work, *parts)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        return path

    def check(self, found, kind):
        self.assertEqual({row[1]: row[4] for row in found}, {"harmless": "barred", "fine": "used"})
        self.assertEqual(os.listdir(os.path.join(self.work, "src", kind)), ["fine"])

    def test_python(self):
        for field in ("Home-page: https://github.com/pandas-dev/pandas", "Project-URL: Source, https://github.com/psf/requests/", "Home-page: https://numpy.org"):
            for name, field in (("harmless", field), ("fine", "Home-page: https://example.org")):
                with zipfile.ZipFile(self.path("dl", "python", name, f"{name}-1.0-py3-none-any.whl"), "w") as z:
                    z.writestr(f"{name}-1.0.dist-info/METADATA", f"Name: {name}\nLicense-Expression: MIT\n{field}\n\n")
                    z.writestr(f"{name}/a.py", "a = 1\n")
            self.check(collect.collect_python(["harmless", "fine"], self.work), "python")

    def test_npm(self):
        for repository in ("facebook/react", {"url": "git+https://github.com/vuejs/core.git"}, "github:axios/axios"):
            for name, repository in (("harmless", repository), ("fine", "example/fine")):
                files = {"package/package.json": json.dumps({"license": "MIT", "repository": repository}), "package/a.js": "a\n"}
                archive(self.path("dl", "npm", name, f"{name}-1.0.0.tgz"), files)
            self.check(collect.collect_npm(["harmless", "fine"], self.work), "npm")

    def test_debian(self):
        for file, text in (("control", "Homepage: https://www.sqlite.org/\n"), ("control", "Vcs-Git: https://github.com/redis/redis.git\n"),
                           ("copyright", "Upstream-Contact: https://github.com/nlohmann/json\n"),
                           ("copyright", "Source:\n https://github.com/libuv/libuv\n"), ("watch", "version=4\nhttps://github.com/curl/curl/tags .*/v(.*)\n")):
            for name, text in (("harmless", text), ("fine", "\n")):
                files = {"debian/control": "Source: x\n", "debian/copyright": ""}
                files[f"debian/{file}"] = files.get(f"debian/{file}", "") + text
                files["debian/copyright"] += "\nFiles: *\nLicense: Expat\n"
                archive(self.path("dl", "debian", name, f"{name}_1.0-1.debian.tar.gz"), files)
                archive(self.path("dl", "debian", name, f"{name}_1.0.orig.tar.gz"), {f"{name}/a.c": "int a;\n"})
                open(self.path("dl", "debian", name, f"{name}_1.0-1.dsc"), "w").close()
            self.check(collect.collect_debian("debian-c", ["harmless", "fine"], self.work), "debian-c")

    def test_rust(self):
        for name, repository in (("harmless", "https://github.com/tokio-rs/tokio"), ("fine", "https://example.org/fine")):
            with open(self.path("dl", "rust", "home", "registry", "src", "x", f"{name}-1.0.0", "Cargo.toml"), "w") as f:
                f.write(f'[package]\nname = "{name}"\nlicense = "MIT"\nrepository = "{repository}"\n')
        with mock.patch.dict(os.environ, CARGO_HOME=self.work):
            self.check(collect.collect_rust(["harmless", "fine"], self.work), "rust")

    def test_github(self):
        found = list(collect.collect_github(["Spf13/Cobra", "pandas-dev/pandas"], self.work))
        self.assertEqual([row[4] for row in found], ["barred", "barred"])
        self.assertFalse(os.path.exists(os.path.join(self.work, "clones")))


RUN = collect.run


def archive(path, files):
    with tarfile.open(path, "w:gz") as t:
        for name, text in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(text.encode())
            t.addfile(info, io.BytesIO(text.encode()))


if __name__ == "__main__":
    unittest.main()
