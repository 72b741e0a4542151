"""A substitute for `kubectl` that runs Indexed Jobs on this machine, one pod after the other.

It supports the calls of `deploy/kubernetes/run`. `KUBECTL` is the real program, which renders overlays. `CLUSTER` is a
directory for objects, volumes, and the log of pods.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

import yaml

CLUSTER = pathlib.Path(os.environ["CLUSTER"])


def main(verb, *arguments):
    if verb == "kustomize":
        sys.exit(subprocess.run([os.environ["KUBECTL"], verb, *arguments]).returncode)
    overlay, selector = (arguments[arguments.index(option) + 1] for option in ("-k", "-l"))
    rendered = subprocess.run([os.environ["KUBECTL"], "kustomize", overlay], check=True, capture_output=True).stdout
    found = [each for each in yaml.safe_load_all(rendered) if selects(selector, each["metadata"].get("labels", {}))]
    state = CLUSTER / "objects.json"
    objects = json.loads(state.read_text()) if state.exists() else {}
    for each in found:
        key = f"{each['kind']}/{each['metadata']['name']}"
        if verb == "delete":
            objects.pop(key, None)
        elif verb == "apply" and each["kind"] == "Job":
            assert key not in objects, f"{key} is immutable"
            failed = [index for index in range(each["spec"]["completions"]) if not run_index(each, index, objects)]
            objects[key] = {"failed": failed}
        elif verb == "apply":
            objects[key] = each
        elif verb == "get":
            print("FailureTarget Failed" if objects[key]["failed"] else "SuccessCriteriaMet Complete")
    state.write_text(json.dumps(objects))


def selects(selector, labels):
    """Returns whether labels satisfy requirements such as `a=b,c!=d`."""
    for requirement in selector.split(","):
        name, value = requirement.replace("!", "").split("=")
        if (labels.get(name) == value) == ("!=" in requirement):
            return False
    return True


def run_index(job, index, objects):
    """Runs pods until one succeeds or the limits of the Job are reached. Returns whether one has succeeded."""
    spec = job["spec"]
    rules = [rule for rule in spec["podFailurePolicy"]["rules"] if rule["action"] == "FailIndex"]
    final = [rule["onExitCodes"]["values"] for rule in rules]
    for _ in range(spec["backoffLimitPerIndex"] + 1):
        code = run_pod(spec["template"]["spec"], index, objects)
        with (CLUSTER / "pods").open("a") as log:
            log.write(f"{job['metadata']['name']} {index} {code}\n")
        if code == 0 or any(code in values for values in final):
            return code == 0
    return False


def run_pod(spec, index, objects):
    """Runs the container of a pod, with directories as volumes. Returns the exit code that a container reports."""
    with tempfile.TemporaryDirectory() as directory:
        paths = {volume["name"]: volume_path(volume, pathlib.Path(directory), objects) for volume in spec["volumes"]}
        [container] = spec["containers"]
        mounts = {mount["mountPath"]: paths[mount["name"]] for mount in container["volumeMounts"]}

        def local(text):
            path = next((path for path in mounts if f"{text}/".startswith(f"{path}/")), None)
            return text if path is None else f"{mounts[path]}{text.removeprefix(path)}"

        variables = {"PATH": os.environ["PATH"], "JOB_COMPLETION_INDEX": str(index)}
        for source in container["envFrom"]:
            if "configMapRef" in source:
                variables.update(objects[f"ConfigMap/{source['configMapRef']['name']}"]["data"])
        variables.update({each["name"]: local(each["value"]) for each in container["env"]})
        command = [local(each) for each in container["command"] + container["args"]]
        code = subprocess.run(command, env=variables, cwd=local(container["workingDir"])).returncode
        return code if code >= 0 else 128 - code


def volume_path(volume, directory, objects):
    if "persistentVolumeClaim" in volume:
        path = CLUSTER / volume["persistentVolumeClaim"]["claimName"]
        assert f"PersistentVolumeClaim/{path.name}" in objects
    else:
        path = directory / volume["name"]
    path.mkdir(exist_ok=True)
    if "configMap" in volume:
        for name, text in objects[f"ConfigMap/{volume['configMap']['name']}"]["data"].items():
            (path / name).write_text(text)
    return path


if __name__ == "__main__":
    main(*sys.argv[1:])
