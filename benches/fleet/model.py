"""Predicts processor time and wall-clock time of builds on many machines from the results of measure.py.

Usage: model.py MEASURED.json... [--held-out NAME,NAME] [--cores 8] [--bandwidth 125e6] [--sigma 1.5]

Components are fitted to the measured processor times: non-negative coefficients with the least squares of relative
errors. Each repository is then predicted by a model that is fitted to the others; held-out repositories are never
fitted. Assumptions of a prediction:

- Tasks use one core and are limited by the processor. All cores are as fast as those of the measurement.
- All machines have clones, and the cluster is running.
- A merge first receives all parts through one link, and the driver receives all indexes through one link.
- Sizes of repositories have a log-normal distribution. Chunks, files, bytes and commits are proportional to the lines,
  as in the median of the measured repositories. A repository has at most a million commits.
- Ray needs processor time for each worker that it starts, each task, and each byte of a part.
"""

import argparse
import heapq
import json
import math
import pathlib
import random
import statistics
from collections import deque

MAX_SHARDS = 64
SHARD_BYTES = 64 << 20

# The inputs of each component: functions of a repository and the number of shards.
INPUTS = {
    "process": {
        "run": lambda repository, shards: 1,
        "chunk": lambda repository, shards: repository["chunks"],
        "commit": lambda repository, shards: repository["commits"],
    },
    "shard": {
        "shard": lambda repository, shards: 1,
        "file": lambda repository, shards: repository["files"],
        "commit": lambda repository, shards: repository["commits"],
        "chunk of the shard": lambda repository, shards: repository["chunks"] / shards,
        "commit, divided": lambda repository, shards: repository["commits"] / shards,
    },
    "merge": {
        "merge": lambda repository, shards: 1,
        "chunk": lambda repository, shards: repository["chunks"],
        "shard": lambda repository, shards: shards,
    },
    "bytes of parts": {"chunk": lambda repository, shards: repository["chunks"]},
    "ray": {
        "worker": lambda repository, shards: repository["workers"],
        "task": lambda repository, shards: shards + 2,
        "byte": lambda repository, shards: repository["part_bytes"],
    },
    "waiting": {"build": lambda repository, shards: 1},
}


def observations(repositories: list[dict]):
    """Yields the component, the repository, the number of shards, and the measured value."""
    for each in repositories:
        yield "process", each, 1, each["single"]["index"] + each["single"]["export"]
        for shards, costs in each["shards"].items():
            yield "shard", each, int(shards), statistics.mean(costs["index"])
            yield "merge", each, int(shards), costs["merge"] + costs["export"]
            yield "bytes of parts", each, int(shards), sum(costs["bytes"])
        for costs in each["ray"]:
            shards = len(costs["index"])
            yield "ray", {**each, "workers": costs["workers"]}, shards, costs["ray"] - costs["ray_start"]
            if costs.get("wall") and shards == costs["workers"]:
                yield "waiting", each, shards, costs["wall"] - max(costs["index"]) - costs["merge"]


class Model:
    """Coefficients of each component. Times are in seconds."""

    def __init__(self, repositories: list[dict]):
        found = list(observations(repositories))
        self.coefficients = {}
        for component, inputs in INPUTS.items():
            rows = [
                ([give(each, n) for give in inputs.values()], value)
                for kind, each, n, value in found
                if kind == component
            ]
            self.coefficients[component] = dict(zip(inputs, fit(rows)))

    def predict(self, component: str, repository: dict, shards: int = 1) -> float:
        inputs = INPUTS[component]
        return sum(value * inputs[name](repository, shards) for name, value in self.coefficients[component].items())

    def total(self, repository: dict, shards: int) -> float:
        return shards * self.predict("shard", repository, shards) + self.predict("merge", repository, shards)


def fit(rows: list[tuple[list[float], float]]) -> list[float]:
    """Returns non-negative coefficients with the least sum of squared relative errors, by coordinate descent."""
    if not rows:
        return []
    scaled = [[x / value for x in inputs] for inputs, value in rows]
    count = len(scaled[0])
    # Columns of length 1 make the descent fast.
    norms = [math.sqrt(sum(row[k] ** 2 for row in scaled)) or 1.0 for k in range(count)]
    scaled = [[x / norm for x, norm in zip(row, norms)] for row in scaled]
    result, errors = [0.0] * count, [1.0] * len(scaled)
    for _ in range(3_000):
        for k in range(count):
            step = max(sum(row[k] * error for row, error in zip(scaled, errors)), -result[k])
            result[k] += step
            errors = [error - step * row[k] for row, error in zip(scaled, errors)]
    return [value / norm for value, norm in zip(result, norms)]


def validate(repositories: list[dict], held_out: list[str]):
    """Prints measured and predicted processor times of each repository, predicted from the others."""
    print("| repository | shards | measured s | predicted s | error |\n|---|--:|--:|--:|--:|")
    errors, walls, sums = [], [], [0.0, 0.0]
    for each in repositories:
        name = each["name"] + (" (held out)" if each["name"] in held_out else "")
        model = Model([other for other in repositories if other is not each and other["name"] not in held_out])
        for shards, costs in each["shards"].items():
            measured = sum(costs["index"]) + costs["merge"] + costs["export"]
            predicted = model.total(each, int(shards))
            error = predicted / measured - 1
            errors.append(abs(error))
            sums = [sums[0] + measured, sums[1] + predicted]
            print(f"| {name} | {shards} | {measured:.1f} | {predicted:.1f} | {error:+.0%} |")
        for costs in each["ray"]:
            if costs.get("wall"):
                shards = len(costs["index"])
                rounds = math.ceil(shards / costs["workers"])
                time = rounds * model.predict("shard", each, shards) + model.predict("merge", each, shards)
                predicted = model.predict("waiting", each) + time
                error = predicted / costs["wall"] - 1
                walls.append(abs(error))
                print(f"| {name}, wall-clock | {shards} | {costs['wall']:.1f} | {predicted:.1f} | {error:+.0%} |")
    print(f"\nProcessor time: largest error {max(errors):.0%}, mean {statistics.mean(errors):.0%}", end="")
    print(f", of the sum {sums[1] / sums[0] - 1:+.0%}")
    if walls:
        print(f"Wall-clock time: largest error {max(walls):.0%}, mean {statistics.mean(walls):.0%}")
    print()


def catalogue(lines: float, count: int, sigma: float, per_line: dict) -> list[dict]:
    """Returns repositories whose sizes are quantiles of a log-normal distribution, in random order."""
    normal = statistics.NormalDist()
    sizes = [math.exp(sigma * normal.inv_cdf((number + 0.5) / count)) for number in range(count)]
    random.Random(1).shuffle(sizes)
    scale = lines / sum(sizes)
    made = [{name: value * size * scale for name, value in per_line.items()} for size in sizes]
    for each in made:
        each["commits"] = min(each["commits"], 1e6)
    return made


def simulate(model: Model, repositories: list[dict], machines: int, options) -> tuple[float, float]:
    """Returns the wall-clock time and the processor time in seconds."""
    free, clock, link, work = machines * options.cores, 0.0, 0.0, 0.0
    waiting, running = deque(), []

    def shards_of(each):
        return min(max(math.ceil(each["bytes"] / SHARD_BYTES), 1), MAX_SHARDS)

    left = [shards_of(each) for each in repositories]
    for number, each in enumerate(repositories):
        waiting.extend([(number, "shard", model.predict("shard", each, left[number]))] * left[number])
    while waiting or running:
        while waiting and free:
            number, kind, time = waiting.popleft()
            free -= 1
            work += time
            transfer = (
                model.predict("bytes of parts", repositories[number]) / options.bandwidth if kind == "merge" else 0.0
            )
            heapq.heappush(running, (clock + time + transfer, number, kind))
        clock, number, kind = heapq.heappop(running)
        free += 1
        each = repositories[number]
        if kind == "merge":
            link = max(link, clock) + model.predict("bytes of parts", each) / options.bandwidth
            continue
        left[number] -= 1
        if left[number] == 0:
            # Ray starts a task when its inputs exist; it is then before tasks of later repositories.
            waiting.appendleft((number, "merge", model.predict("merge", each, shards_of(each))))
    for each in repositories:
        moved = {**each, "part_bytes": model.predict("bytes of parts", each), "workers": 0}
        work += model.predict("ray", moved, shards_of(each))
    work += model.predict("ray", {"part_bytes": 0, "workers": machines * options.cores}, -2)
    return model.predict("waiting", {}) + max(clock, link), work


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("measured", type=pathlib.Path, nargs="+")
    parser.add_argument(
        "--held-out", type=lambda text: text.split(","), default=[], help="repositories that are never fitted"
    )
    parser.add_argument("--cores", type=int, default=8, help="cores of a machine")
    parser.add_argument("--bandwidth", type=float, default=125e6, help="bytes per second of a link")
    parser.add_argument("--sigma", type=float, default=1.5, help="standard deviation of the logarithm of the sizes")
    options = parser.parse_args()
    found = {each["name"]: each for file in options.measured for each in json.loads(file.read_text())}
    repositories = list(found.values())
    for each in repositories:
        each["part_bytes"] = statistics.mean(sum(costs["bytes"]) for costs in each["shards"].values())
    validate(repositories, options.held_out)
    fitted = [each for each in repositories if each["name"] not in options.held_out]
    model = Model(fitted)
    print("| component | seconds, or bytes of parts |\n|---|---|")
    for component, values in model.coefficients.items():
        print(f"| {component} | " + "; ".join(f"{value:.3g} for each {name}" for name, value in values.items()) + " |")
    names = ("chunks", "files", "bytes", "commits")
    per_line = {name: statistics.median(each[name] / each["lines"] for each in fitted) for name in names}
    print("\nfor each line: " + ", ".join(f"{value:.3g} {name}" for name, value in per_line.items()))
    print(
        "\n| build | machines | wall-clock time | processor time | one process per repository |\n|---|--:|--:|--:|--:|"
    )
    for name, lines, count in (
        ("1,000 repositories, 100 million lines", 1e8, 1000),
        ("one repository, 100 million lines", 1e8, 1),
    ):
        made = catalogue(lines, count, options.sigma, per_line)
        alone = sum(model.predict("process", each) for each in made)
        for machines in (1, 10, 100):
            wall, work = simulate(model, made, machines, options)
            print(f"| {name} | {machines} | {wall:,.0f} s | {work:,.0f} s | {alone:,.0f} s |")


if __name__ == "__main__":
    main()
