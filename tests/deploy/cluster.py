"""A server with the part of the Kubernetes API that `kubectl apply`, `get` and `delete` need.

An Indexed Job runs on this machine when it is created, one pod after the other. The server supports the features of the
manifests in `deploy/kubernetes`, and fails for others.
"""

import json
import pathlib
import subprocess
import tempfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

RESOURCES = {
    "/api/v1": {"configmaps": "ConfigMap", "persistentvolumeclaims": "PersistentVolumeClaim"},
    "/apis/batch/v1": {"jobs": "Job"},
}


class Cluster(ThreadingHTTPServer):
    """A cluster with volumes in a directory."""

    def __init__(self, directory: pathlib.Path, programs: str):
        super().__init__(("127.0.0.1", 0), Handler)
        self.directory = directory
        self.programs = programs
        self.objects: dict[str, dict] = {}
        # The Job, the index and the exit code of each pod that has ended, and the output of all pods.
        self.pods: list[tuple[str, int, int]] = []
        self.output = ""

    def create(self, created: dict):
        if created["kind"] == "Job":
            spec = created["spec"]
            failed = [index for index in range(spec["completions"]) if not self.run_index(created, index)]
            ended = ["FailureTarget", "Failed"] if failed else ["SuccessCriteriaMet", "Complete"]
            created["status"] = {"conditions": [{"type": each, "status": "True"} for each in ended]}

    def run_index(self, job: dict, index: int) -> bool:
        """Runs pods until one succeeds or a limit of the Job is reached. Returns whether one has succeeded."""
        spec = job["spec"]
        rules = [rule for rule in spec["podFailurePolicy"]["rules"] if rule["action"] == "FailIndex"]
        final = [code for rule in rules for code in rule["onExitCodes"]["values"]]
        for _ in range(spec["backoffLimitPerIndex"] + 1):
            code = self.run_pod(job["metadata"]["namespace"], spec["template"]["spec"], index)
            self.pods.append((job["metadata"]["name"], index, code))
            if code == 0 or code in final:
                return code == 0
        return False

    def run_pod(self, namespace: str, spec: dict, index: int) -> int:
        """Runs the container of a pod, with directories as volumes. Returns the exit code that a container reports."""
        with tempfile.TemporaryDirectory() as directory:
            paths = {each["name"]: self.volume(namespace, each, pathlib.Path(directory)) for each in spec["volumes"]}
            [container] = spec["containers"]
            mounts = {mount["mountPath"]: paths[mount["name"]] for mount in container["volumeMounts"]}

            def local(text: str) -> str:
                path = next((path for path in mounts if f"{text}/".startswith(f"{path}/")), None)
                return text if path is None else f"{mounts[path]}{text.removeprefix(path)}"

            variables = {"PATH": self.programs, "JOB_COMPLETION_INDEX": str(index)}
            for source in container["envFrom"]:
                if "configMapRef" in source:
                    variables.update(self.config(namespace, source["configMapRef"]["name"]))
            variables.update({each["name"]: local(each["value"]) for each in container["env"]})
            command = [local(each) for each in container["command"] + container["args"]]
            options = {"env": variables, "cwd": local(container["workingDir"]), "text": True}
            ended = subprocess.run(command, **options, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            self.output += ended.stdout
            return ended.returncode if ended.returncode >= 0 else 128 - ended.returncode

    def volume(self, namespace: str, volume: dict, directory: pathlib.Path) -> pathlib.Path:
        path = directory / volume["name"]
        if "persistentVolumeClaim" in volume:
            path = self.directory / volume["persistentVolumeClaim"]["claimName"]
            assert f"/api/v1/namespaces/{namespace}/persistentvolumeclaims/{path.name}" in self.objects
        path.mkdir(exist_ok=True)
        if "configMap" in volume:
            for name, text in self.config(namespace, volume["configMap"]["name"]).items():
                (path / name).write_text(text)
        return path

    def config(self, namespace: str, name: str) -> dict[str, str]:
        return self.objects[f"/api/v1/namespaces/{namespace}/configmaps/{name}"]["data"]


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        path = self.path.partition("?")[0]
        documents = {
            "/version": {"major": "1", "minor": "33", "gitVersion": "v1.33.0"},
            "/api": {"kind": "APIVersions", "versions": ["v1"]},
            "/apis": {"kind": "APIGroupList", "groups": [group("batch")]},
            "/openapi/v3": {"paths": {each[1:]: {"serverRelativeURL": f"/openapi/v3{each}"} for each in RESOURCES}},
        }
        for prefix in RESOURCES:
            documents[prefix] = resources(prefix)
            documents[f"/openapi/v3{prefix}"] = openapi(prefix)
        self.answer({**documents, **self.server.objects}.get(path))

    def do_POST(self):
        created = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        created["metadata"].update(uid="1", resourceVersion="1")
        self.server.create(created)
        self.server.objects[f"{self.path.partition('?')[0]}/{created['metadata']['name']}"] = created
        self.answer(created)

    def do_DELETE(self):
        self.answer(self.server.objects.pop(self.path.partition("?")[0], None))

    def answer(self, document: dict | None):
        """Answers with a document, or with an error if there is none."""
        missing = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404}
        body = json.dumps(missing if document is None else document).encode()
        self.send_response(404 if document is None else 200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def group(name: str) -> dict:
    version = {"groupVersion": f"{name}/v1", "version": "v1"}
    return {"name": name, "versions": [version], "preferredVersion": version}


def resources(prefix: str) -> dict:
    verbs = ["create", "delete", "get"]
    found = [
        {"name": name, "singularName": kind.lower(), "namespaced": True, "kind": kind, "verbs": verbs}
        for name, kind in RESOURCES[prefix].items()
    ]
    return {"kind": "APIResourceList", "groupVersion": prefix.split("/", 2)[2], "resources": found}


def openapi(prefix: str) -> dict:
    """Returns a description from which `kubectl` learns that the server validates fields."""
    name = prefix.split("/")[2] if prefix.startswith("/apis/") else ""
    parameters = [{"name": "fieldValidation", "in": "query", "schema": {"type": "string"}}]
    paths = {
        f"{prefix}/namespaces/{{namespace}}/{plural}/{{name}}": {
            "patch": {
                "parameters": parameters,
                "responses": {},
                "x-kubernetes-group-version-kind": {"group": name, "kind": kind, "version": "v1"},
            }
        }
        for plural, kind in RESOURCES[prefix].items()
    }
    return {"openapi": "3.0.0", "info": {"title": "Kubernetes", "version": "1"}, "paths": paths}
