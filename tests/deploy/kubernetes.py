"""Validates the manifests in `deploy/kubernetes`, and runs the Jobs on this machine.

The variables `AUR` and `KUBECTL` name the programs.
"""

import os
import re
import shutil
import subprocess
import threading
import unittest

import kubernetes_validate
import yaml
from cluster import Cluster
from project import AUR, DEPLOY, ProjectTest

KUBECTL = shutil.which(os.environ["KUBECTL"])
OVERLAYS = ["repository", "catalogue"]


def rendered(overlay):
    ended = subprocess.run(
        [KUBECTL, "kustomize", str(DEPLOY / "kubernetes" / overlay)], check=True, capture_output=True
    )
    return list(yaml.safe_load_all(ended.stdout))


class Manifests(unittest.TestCase):
    def test_manifests_satisfy_the_published_schemas(self):
        for overlay in OVERLAYS:
            for each in rendered(overlay):
                with self.subTest(overlay=overlay, name=each["metadata"]["name"]):
                    kubernetes_validate.validate(each, "1.37", strict=True)

    def test_an_unknown_field_is_found(self):
        [job, _] = [each for each in rendered("repository") if each["kind"] == "Job"]
        job["spec"]["backoffLimitsPerIndex"] = 1
        with self.assertRaises(kubernetes_validate.ValidationError):
            kubernetes_validate.validate(job, "1.37", strict=True)

    def test_the_numbers_of_tasks_agree_with_the_queue(self):
        for overlay in OVERLAYS:
            lines = (DEPLOY / "kubernetes" / overlay / "queue").read_text().splitlines()
            shards = [int(line.split()[3]) for line in lines if not line.startswith("#")]
            jobs = [each["spec"] for each in rendered(overlay) if each["kind"] == "Job"]
            self.assertEqual([job["completions"] for job in jobs], [sum(shards), len(shards)], overlay)


CONFIG = """
apiVersion: v1
kind: Config
clusters: [{{name: test, cluster: {{server: "http://127.0.0.1:{port}"}}}}]
contexts: [{{name: test, context: {{cluster: test}}}}]
current-context: test
"""


class Jobs(ProjectTest):
    def setUp(self):
        super().setUp()
        volumes = self.directory / "volumes"
        volumes.mkdir()
        self.store = volumes / "aurora-store"
        self.cluster = Cluster(volumes, self.variables["PATH"])
        threading.Thread(target=self.cluster.serve_forever).start()
        self.addCleanup(self.cluster.server_close)
        self.addCleanup(self.cluster.shutdown)
        config = self.directory / "kubeconfig"
        config.write_text(CONFIG.format(port=self.cluster.server_port))
        self.variables["KUBECONFIG"] = str(config)
        self.program("kubectl", f'exec {KUBECTL} "$@"')
        self.overlays = self.directory / "kubernetes"
        shutil.copytree(DEPLOY / "kubernetes", self.overlays)

    def run_jobs(self, overlay, *queue):
        """Runs the Jobs for a queue. Returns the exit code, the Job, index and exit code of each pod, and the output."""
        directory = self.overlays / overlay
        (directory / "queue").write_text("# NAME URL COMMIT SHARDS\n\n" + "".join(f"{line}\n" for line in queue))
        numbers = iter([sum(int(line.split()[3]) for line in queue), len(queue)])
        text = (directory / "kustomization.yaml").read_text()
        text = re.sub(r"completions: \d+", lambda _: f"completions: {next(numbers)}", text)
        (directory / "kustomization.yaml").write_text(text)
        self.cluster.pods.clear()
        self.cluster.output = ""
        ended = subprocess.run([self.overlays / "run", directory], env=self.variables, capture_output=True, text=True)
        return ended.returncode, list(self.cluster.pods), ended.stdout + ended.stderr + self.cluster.output

    def test_a_merge_of_all_shards_equals_a_single_run(self):
        root, commit = self.repository("app", 24)
        code, pods, out = self.run_jobs("repository", f"app file://{root} {commit} 4")
        self.assertEqual(code, 0, out)
        expected = [("aurora-index", index, 0) for index in range(4)] + [("aurora-merge", 0, 0)]
        self.assertEqual(pods, expected)
        self.assertEqual(self.digest_of_export(self.store / "indexes/app.aur"), self.digest_of_single_run(root))
        self.assertEqual(list((self.store / "parts").iterdir()), [])

    def test_a_killed_pod_is_repeated_and_a_wrong_commit_is_not(self):
        large, commit = self.repository("large", 24)
        small, _ = self.repository("small", 2)
        # The first pod of shard 2 is killed.
        mark = self.directory / "mark"
        kill = f"[ -e {mark} ] || {{ touch {mark}; kill -9 $$; }}"
        self.program("aur", f'case "$*" in *2/3*) {kill} ;; esac\nexec {AUR} "$@"')
        queue = [f"large file://{large} {commit} 3", f"small file://{small} main 1", f"../x file://{small} {commit} 1"]
        queue.append(f"short file://{small} {commit[:12]} 1")
        code, pods, out = self.run_jobs("repository", *queue)
        self.assertEqual(code, 1, out)
        codes = {}
        for job, index, ended in pods:
            codes.setdefault(job, {}).setdefault(index, []).append(ended)
        expected = {0: [0], 1: [137, 0], 2: [0], 3: [2], 4: [2], 5: [2]}
        self.assertEqual(codes, {"aurora-index": expected, "aurora-merge": {0: [0], 1: [2], 2: [2], 3: [2]}})
        self.assertIn("not a commit hash: main", out)
        self.assertEqual(sorted(path.name for path in (self.store / "indexes").iterdir()), ["large.aur", "large.key"])
        self.assertEqual(self.digest_of_export(self.store / "indexes/large.aur"), self.digest_of_single_run(large))

    def test_an_unreachable_repository_is_tried_again(self):
        _, commit = self.repository("small", 2)
        code, pods, out = self.run_jobs("repository", f"gone file:///no/such/repository {commit} 1")
        self.assertEqual((code, len([pod for pod in pods if pod[0] == "aurora-index"])), (1, 4), out)

    def test_only_changed_repositories_are_built_in_the_next_run(self):
        (first, old), (second, other) = self.repository("first", 8), self.repository("second", 2)
        queue = [f"first file://{first} {old} 2", f"second file://{second} {other} 1"]
        self.assertEqual(self.run_jobs("repository", *queue)[0], 0)
        (first / "module_0.py").write_text("def changed():\n    return 1\n")
        queue[0] = f"first file://{first} {self.commit(first, 'Change')} 2"
        calls = self.directory / "calls"
        self.program("aur", f'echo "$2" >> {calls}\nexec {AUR} "$@"')
        # The wrapper is another program, so it builds everything.
        self.assertEqual(self.run_jobs("repository", *queue)[0], 0)
        self.assertEqual(calls.read_text().split(), ["index"] * 3 + ["merge", "export"] * 2)
        calls.write_text("")
        (first / "module_1.py").write_text("def changed_again():\n    return 1\n")
        queue[0] = f"first file://{first} {self.commit(first, 'Change again')} 2"
        code, _, out = self.run_jobs("repository", *queue)
        self.assertEqual((code, calls.read_text().split()), (0, ["index"] * 2 + ["merge", "export"]), out)
        self.assertIn("second is unchanged", out)
        self.assertEqual(self.digest_of_export(self.store / "indexes/first.aur"), self.digest_of_single_run(first))

    def test_indexes_are_pushed_to_a_remote_for_each_repository(self):
        roots = {name: self.repository(name, 4) for name in ("first", "second")}
        remotes = self.directory / "remotes"
        file = self.overlays / "catalogue/kustomization.yaml"
        file.write_text(file.read_text().replace("s3://indexes/nightly", f"file://{remotes}"))
        queue = [f"{name} file://{root} {commit} 2" for name, (root, commit) in roots.items()]
        code, _, out = self.run_jobs("catalogue", *queue)
        self.assertEqual(code, 0, out)
        for name, (root, _) in roots.items():
            pulled = self.directory / f"pulled-{name}"
            subprocess.run(["git", "clone", "--quiet", str(root), str(pulled)], check=True)
            self.run_aur("remote", "add", "--root", str(pulled), "nightly", f"file://{remotes}/{name}")
            self.run_aur("remote", "pull", "--allow-unsigned", "--root", str(pulled), "nightly")
            pulled_digest = self.run_aur("mem", "verify", "--digest", "--root", str(pulled))
            self.assertEqual(pulled_digest, self.digest_of_single_run(root))


if __name__ == "__main__":
    unittest.main()
