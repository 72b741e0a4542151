"""Fits the models of `query/src/confidence/model.rs`, and measures their calibration on other repositories.

usage: calibrate.py --clones DIR --work WORK --aur PROGRAM [--only NAME,...] [--large TREE TREE] [--answers FILE] [--conversations DIR]

Needs only Python's standard library. DIR is the same as for measure.py, but the clones need their history. For each repository, WORK gets
the directory of `aur mem eval mine`. The script asks the mined questions and the questions of this directory (also with typing errors),
and for every repository questions without an answer: `unanswerable.tsv`, generated nonsense, and questions about other repositories. FILE
keeps the evidence, so that a later call does not ask again. The models are fitted on the repositories of the part training, with every
second question without an answer, and measured on the rest. Larger indexes contain all repositories of a part, and with --large also a
large directory of source code: the first for the fit, the second for the measurement. --conversations fits the models of memory instead: DIR is the directory data
of REALTALK (danny911kr/REALTALK); the models are fitted on its conversations, and measured on those in DIR/locomo.
"""
import argparse
import json
import math
import os
import random
import shutil
import subprocess
from collections import defaultdict

from measure import HERE, repositories

MEASURES = ["known_words", "lead", "coverage", "matched", "keywords", "file_keywords", "name", "exact", "cosine", "words", "file_cosine", "size"]
MEANING = {"cosine", "words", "file_cosine"}
ANSWERABLE = ["described", "terse", "typo", "exact", "docstring", "commit", "multi-hop", "temporal", "open", "single-hop"]
UNANSWERABLE = ["nonsense", "question", "prompt", "other-name", "other"]
# Share of the questions of each set that are asked in each repository.
ASKED = {"question": 0.4, "prompt": 0.4, "nonsense": 0.4, "exact": 0.6, "docstring": 0.6, "commit": 0.75}
MOST_MINED = 40
# Weight of all questions without an answer, in units of one set of questions with answers.
SHARE_UNANSWERABLE = 2.0
# Weight of an index of one repository, and of larger indexes.
SHARES = {"single": 3.0, "part": 1.0, "large": 1.0}
# Shares of the questions that are asked in a larger index.
ASKED_LARGE = {"exact": 0.3, "docstring": 0.4, "commit": 0.4}
MIN_CHUNKS = 100
# Weight of the size in the models RELEVANT. The fit gives .6, which rejects too many answers in an index of 1.4 million chunks.
SIZE_RELEVANT = 0.5
# Share of answerable questions whose answers may be declared not close. Without measures of meaning, other questions are harder to detect.
MOST_REJECTED = {"hybrid": 0.03, "sparse": 0.05}
MOST_REJECTED_MEMORY = 0.05
# Share of correct first hits that may be left out as not close.
MOST_LEFT_OUT = 0.015


def read(path):
    with open(path, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def prepare(a, name, repository, commit):
    """Mines a repository into WORK, unless that was done before. Returns the directory, or None if the commit is missing."""
    made = os.path.abspath(os.path.join(a.work, name))
    if os.path.exists(made):
        return made
    flat, clone, part = os.path.join(a.clones, repository.replace("/", "+")), made + ".clone", made + ".part"
    source = next((path for path in (os.path.join(flat, "repo"), flat) if os.path.exists(os.path.join(path, "HEAD"))), None)
    if not source:
        return None
    for path in (clone, part):
        shutil.rmtree(path, ignore_errors=True)
    subprocess.run(["git", "clone", "--quiet", "--shared", "--no-checkout", os.path.abspath(source), clone], check=True)
    if subprocess.run(["git", "-C", clone, "checkout", "--quiet", commit], capture_output=True).returncode:
        return None
    mine = [a.aur, "mem", "eval", "mine", clone, "--held-out", "0", "--max", str(MOST_MINED), "--out", part]
    subprocess.run(mine, check=True, capture_output=True)
    shutil.rmtree(clone)
    os.rename(part, made)
    return made


def nonsense(rng, count):
    """Returns words and names that no repository contains."""
    parts = "ba ro ti zu mek fla gro nip ska vor plu dri xan quo wib ble snor tak jup eki".split()
    word = lambda: "".join(rng.choices(parts, k=rng.randint(2, 4)))
    forms = [
        lambda: "".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randint(6, 14))),
        lambda: " ".join(word() for _ in range(rng.randint(1, 4))),
        lambda: "".join(rng.choices("0123456789abcdef", k=rng.randint(8, 16))),
        lambda: "".join(rng.choices("bcdfghjklmnpqrstvwxz", k=rng.randint(5, 9))) + str(rng.randint(1, 999)),
        lambda: f"how do I {word()} the {word()}",
        lambda: word().capitalize() + word().capitalize(),
    ]
    return ["xyzabc123", "qwertyuiop", "foo bar baz qux", "lorem ipsum dolor sit amet"] + [rng.choice(forms)() for _ in range(count - 4)]


def misspelt(rng, query):
    """Returns the query with one mistyped word, or None if all words are short."""
    words = query.split()
    long = [at for at, word in enumerate(words) if len(word) >= 6 and word.isalpha()]
    if not long:
        return None
    at = rng.choice(long)
    cut = rng.randrange(1, len(words[at]) - 1)
    words[at] = words[at][:cut] + words[at][cut + 1 :]
    return " ".join(words)


def ask(a, tree, mode, questions):
    """Asks (set, query, answers) and yields the evidence, and whether the first and one of the first ten files is an answer."""
    rng = random.Random(os.path.basename(os.path.dirname(os.path.dirname(tree))) + os.path.basename(tree))
    questions = [question for question in questions if rng.random() < ASKED.get(question[0], 1)]
    command = [a.aur, "mem", "search", "--stdin", "--format", "jsonl", "--no-record", "--no-refresh", "--mode", mode, "--root", tree]
    yield from answers_of(command, mode, questions, lambda result: result["file"])


def answers_of(command, mode, questions, name_of, **options):
    """Runs a search command for (set, query, answers). `name_of` returns the part of a result that is compared with the answers."""
    lines = "".join(" ".join(query.split()) + "\n" for _, query, _ in questions)
    answers = subprocess.run(command, check=True, capture_output=True, text=True, input=lines, **options).stdout.splitlines()
    for (of, query, wanted), answer in zip(questions, map(json.loads, answers), strict=True):
        if "error" not in answer:
            found = [name_of(result) in wanted for result in answer["results"][:10]]
            kept = {key: answer[key] for key in ("evidence", "confidence", "close")} | {"chunks": answer["stages"]["indexed"]}
            yield {"set": of, "query": query, "mode": mode, "first": found[:1] == [True], "any": any(found), **kept}


def collect(a):
    rng, rows = random.Random(1), [row for row in repositories() if not a.only or row[0] in a.only.split(",")]
    made = {name: (prepare(a, name, repository, commit), language, part) for name, repository, commit, language, part in rows}
    made = {name: row for name, row in made.items() if row[0]}
    own = {name: read(os.path.join(HERE, "questions", name + ".jsonl")) for name in made}
    names = {name: read(os.path.join(directory, "exact.jsonl")) for name, (directory, _, _) in made.items()}
    with open(os.path.join(HERE, "unanswerable.tsv"), encoding="utf-8") as lines:
        general = [tuple(line.rstrip("\n").split("\t")) for line in lines if not line.startswith("#")]
    general += [("nonsense", text) for text in nonsense(rng, 100)]
    is_name = lambda text: any(c in "_." for c in text) or sum(c.isupper() for c in text) > 1
    found = []
    for name, (directory, language, part) in made.items():
        wanted = lambda question: {answer["path"] for answer in question["relevant"]}
        whole = [("exact", question["query"], wanted(question)) for question in names[name]]
        for question in own[name]:
            form = "terse" if "-t" in question["id"].removeprefix(name) else "described"
            whole.append((form, question["query"], wanted(question)))
            typed = misspelt(rng, question["query"]) if rng.random() < 0.3 else None
            whole += [("typo", typed, wanted(question))] if typed else []
        # Whether a question is held out must not depend on the repository.
        held_out = part == "validation"
        whole += [(kind, text, set()) for at, (kind, text) in enumerate(general) if at % 2 == held_out]
        others = [other for other in made if other != name and made[other][1] != language]
        for other in rng.sample(others, min(10, len(others))):
            candidates = [("other-name", question["query"], set()) for question in names[other] if is_name(question["query"])]
            whole += rng.sample(candidates, min(3, len(candidates)))
            whole += [("other", question["query"], set()) for question in rng.sample(own[other], 2)]
        sets = [("head", whole)]
        for of, tree in (("docstring", "stripped"), ("commit", "pin")):
            path = os.path.join(directory, of + ".jsonl")
            sets.append((tree, [(of, question["query"], wanted(question)) for question in (read(path) if os.path.exists(path) else [])]))
        for mode in ("hybrid", "sparse", "dense") if held_out else ("hybrid", "sparse"):
            for tree, questions in sets:
                if questions:
                    tree = os.path.join(directory, "trees", tree)
                    found += [{"repository": name, "group": "single", "held_out": held_out, **row} for row in ask(a, tree, mode, questions)]
        print(name, len(found), flush=True)
    for held_out, part in enumerate(["training", "validation"]):
        for group, bulk in [("part", None)] + ([("large", a.large[held_out])] if a.large else []):
            found += [{"group": group, "held_out": bool(held_out), **row} for row in ask_large(a, made, own, names, general, held_out, bulk)]
            print(group, part, len(found), flush=True)
    return found


def ask_large(a, made, own, names, general, held_out, bulk):
    """Asks questions in one index of all repositories of a part, and of the directory `bulk`."""
    rng, root = random.Random(1), os.path.abspath(os.path.join(a.work, "large"))
    members = [name for name, (_, _, part) in made.items() if (part == "validation") == bool(held_out)]
    sets = {"head": [], "stripped": [], "pin": []}
    for name in members:
        wanted = lambda question: {f"{name}/{answer['path']}" for answer in question["relevant"]}
        sets["head"] += [("exact", question["query"], wanted(question)) for question in names[name]]
        for question in own[name]:
            form = "terse" if "-t" in question["id"].removeprefix(name) else "described"
            sets["head"].append((form, question["query"], wanted(question)))
            typed = misspelt(rng, question["query"]) if rng.random() < 0.3 else None
            sets["head"] += [("typo", typed, wanted(question))] if typed else []
        for of, tree in (("docstring", "stripped"), ("commit", "pin")):
            path = os.path.join(made[name][0], of + ".jsonl")
            sets[tree] += [(of, question["query"], wanted(question)) for question in (read(path) if os.path.exists(path) else [])]
    sets = {tree: [question for question in of if rng.random() < ASKED_LARGE.get(question[0], 1)] for tree, of in sets.items()}
    sets["head"] += [(kind, text, set()) for at, (kind, text) in enumerate(general) if at % 2 == held_out]
    for name in made:
        if name not in members:
            sets["head"] += [("other-name", question["query"], set()) for question in rng.sample(names[name], 4)]
            sets["head"] += [("other", question["query"], set()) for question in rng.sample(own[name], 4)]
    unindexed = shutil.ignore_patterns(".aurora", ".git")
    shutil.rmtree(root, ignore_errors=True)
    shutil.copytree(bulk, os.path.join(root, "bulk"), symlinks=True, copy_function=os.link, ignore=unindexed) if bulk else None
    for tree, questions in sets.items():
        for name in members:
            source, target = os.path.join(made[name][0], "trees", tree), os.path.join(root, name)
            shutil.rmtree(target, ignore_errors=True)
            if os.path.exists(source):
                shutil.copytree(source, target, symlinks=True, copy_function=os.link, ignore=unindexed)
        subprocess.run([a.aur, "mem", "index", root, "--no-git"], check=True, capture_output=True)
        for mode in ("hybrid", "sparse"):
            command = [a.aur, "mem", "search", "--stdin", "--format", "jsonl", "--no-record", "--no-refresh", "--mode", mode, "--root", root]
            yield from answers_of(command, mode, questions, lambda result: result["file"])
    shutil.rmtree(root)


def conversations(a):
    """Stores every conversation in a memory of its own, and asks its questions, and questions without an answer."""
    rng, categories, found = random.Random(1), {1: "multi-hop", 2: "temporal", 3: "open", 4: "single-hop", 5: "adversarial"}, []
    with open(os.path.join(HERE, "unanswerable.tsv"), encoding="utf-8") as lines:
        general = [tuple(line.rstrip("\n").split("\t")) for line in lines if not line.startswith("#")]
    general += [("nonsense", text) for text in nonsense(rng, 60)]
    for held_out, directory in enumerate([a.conversations, os.path.join(a.conversations, "locomo")]):
        read_one = lambda name: json.load(open(os.path.join(directory, name), encoding="utf-8"))
        chats = {name: read_one(name) for name in sorted(os.listdir(directory)) if name.endswith(".json")}
        # LoCoMo has the sessions in an object of their own.
        chats = {name: {**chat.get("conversation", {}), **chat} for name, chat in chats.items()}
        asked = {}
        for name, chat in chats.items():
            home, empty, ids, entries = os.path.abspath(os.path.join(a.work, name + ".home")), os.path.join(a.work, "empty"), {}, []
            os.makedirs(empty, exist_ok=True)
            for session in (key for key in chat if key.startswith("session_") and isinstance(chat[key], list)):
                for order, turn in enumerate(chat[session], 1):
                    text = turn.get("clean_text", turn.get("text", "")).strip() or "[image]"
                    ids[turn["dia_id"]] = f"turn:{session}:{order}"
                    content = {"session": session, "speaker": turn["speaker"], "order": order, "text": text}
                    entries.append({"type": "turn", "id": ids[turn["dia_id"]], "content": content})
            environment = {**os.environ, "AURORA_HOME": home}
            if not os.path.exists(home):
                text = "".join(json.dumps(entry) + "\n" for entry in entries)
                command = [a.aur, "mem", "import", "--from", "jsonl", "-", "--memory", "user"]
                subprocess.run(command, check=True, capture_output=True, text=True, input=text, cwd=empty, env=environment)
            asked[name] = [(categories[q["category"]], q["question"], {ids[of] for of in q["evidence"] if of in ids}) for q in chat["qa"]]
            asked[name] = [question for question in asked[name] if question[2]]
        for name in chats:
            whole = asked[name] + [(kind, text, set()) for at, (kind, text) in enumerate(general) if at % 2 == held_out]
            others = [query for other in chats if other != name for of, query, _ in asked[other] if of != "adversarial"]
            whole += [("other", query, set()) for query in rng.sample(others, 40)]
            environment = {**os.environ, "AURORA_HOME": os.path.abspath(os.path.join(a.work, name + ".home"))}
            for mode in ("hybrid", "sparse"):
                command = [a.aur, "mem", "search", "--stdin", "--format", "jsonl", "--no-record", "--source", "memory", "--scope", "user", "--mode", mode]
                answers = answers_of(command, mode, whole, lambda result: result["id"], cwd=os.path.join(a.work, "empty"), env=environment)
                found += [{"repository": name, "group": "single", "held_out": bool(held_out), **row} for row in answers]
            print(name, len(found), flush=True)
    return found


def inputs(row, of, with_lead=True):
    evidence = row["evidence"]
    best = evidence.get("memory") or evidence["best"]
    hit = {**evidence, **(best if of == "best" else evidence["first"])}
    hit["matched"] = math.log1p(hit["matched"])
    hit["lead"] *= with_lead
    hit["size"] = -math.log(max(row["chunks"], MIN_CHUNKS) / MIN_CHUNKS)
    hit["file_keywords"] = hit["keywords"] if hit["file_keywords"] is None else hit["file_keywords"]
    return [1.0] + [hit[measure] or 0.0 for measure in MEASURES]


def probability(weights, values):
    return 1 / (1 + math.exp(-max(-40.0, min(40.0, sum(w * x for w, x in zip(weights, values))))))


def solve(matrix, vector):
    """Solves a system of linear equations by elimination."""
    rows = [row[:] + [value] for row, value in zip(matrix, vector)]
    size = len(rows)
    for at in range(size):
        best = max(range(at, size), key=lambda other: abs(rows[other][at]))
        rows[at], rows[best] = rows[best], rows[at]
        for other in range(size):
            if other != at:
                factor = rows[other][at] / rows[at][at]
                rows[other] = [a - factor * b for a, b in zip(rows[other], rows[at])]
    return [row[-1] / row[at] for at, row in enumerate(rows)]


def fit(samples, used, size=None):
    """Returns weights of at least 0 (except the intercept), by Newton's method with a small ridge penalty. A measure whose weight would
    be negative is left out. `size` fixes the weight of the size."""
    used = [0] + [at + 1 for at in used if size is None or MEASURES[at] != "size"]
    total = sum(weight for _, _, weight in samples)
    while True:
        # Newton's method diverges if it starts far from the solution.
        mean = sum(weight * values[-1] for values, _, weight in samples) / total
        weights = [-mean * (size or 0.0)] + [0.0] * (len(used) - 1)
        for _ in range(25):
            gradient = [-1e-4 * w for w in weights]
            hessian = [[1e-4 * (i == j) + 1e-9 for j in range(len(used))] for i in range(len(used))]
            for values, label, weight in samples:
                x = [values[at] for at in used]
                p = probability(weights + [size or 0.0], x + [values[-1]])
                error, slope = weight / total * (label - p), weight / total * p * (1 - p)
                for i, xi in enumerate(x):
                    gradient[i] += error * xi
                    row, scaled = hessian[i], slope * xi
                    for j, xj in enumerate(x):
                        row[j] += scaled * xj
            step = solve(hessian, gradient)
            weights = [w + s for w, s in zip(weights, step)]
            if max(map(abs, step)) < 1e-4:
                break
        negative = min(range(1, len(used)), key=lambda at: weights[at], default=0)
        if negative == 0 or weights[negative] >= 0:
            result = [0.0] * len(MEASURES) + [size or 0.0]
            for at, weight in zip(used, weights):
                result[at] = weight
            return result
        del used[negative]


def weigh(rows):
    """Returns the weight of each row: in a group of indexes, every set of answerable questions counts the same."""
    counts = defaultdict(int)
    for row in rows:
        counts[row["group"], row["set"]] += 1
    unanswerable = {of for _, of in counts if of in UNANSWERABLE}
    shares = {of: 1.0 for of in ANSWERABLE} | {of: SHARE_UNANSWERABLE / len(unanswerable) for of in unanswerable}
    return [shares.get(row["set"], 0.0) * SHARES[row["group"]] / counts[row["group"], row["set"]] for row in rows]


def quantile(values, share):
    """Returns the lowest of the (value, weight) above which at most `1 - share` of the weight lies."""
    values = sorted(values)
    rest = share * sum(weight for _, weight in values)
    for value, weight in values:
        rest -= weight
        if rest < 0:
            return value


def calibration_error(samples):
    """Returns the expected calibration error over ten bins of equal width."""
    bins = defaultdict(lambda: [0.0, 0.0, 0.0])
    for confidence, label, weight in samples:
        sums = bins[min(int(confidence * 10), 9)]
        for at, value in enumerate((weight, weight * confidence, weight * label)):
            sums[at] += value
    total = sum(weight for weight, _, _ in bins.values())
    table = [(at / 10, weight / total, confidence / weight, label / weight) for at, (weight, confidence, label) in sorted(bins.items())]
    return sum(share * abs(confidence - label) for _, share, confidence, label in table), table


def report(rows, answers, relevant, least):
    scored = [(probability(answers, inputs(row, "first")), row["first"], weight) for row, weight in zip(rows, weigh(rows))]
    error, table = calibration_error(scored)
    print(f"  calibration error {error:.3f}")
    for low, share, confidence, label in table:
        print(f"    {low:.1f}  {share:5.1%} of answers, confidence {confidence:.3f}, answered {label:.3f}")
    close = defaultdict(list)
    for row in rows:
        close[row["set"]].append(probability(relevant, inputs(row, "best")) >= least)
    for of in ANSWERABLE + UNANSWERABLE + ["adversarial"]:
        if close[of]:
            print(f"    {of:12} {len(close[of]):5} questions, {1 - sum(close[of]) / len(close[of]):6.1%} not close")


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("--clones", "--work", "--aur"):
        ap.add_argument(name, required=True)
    ap.add_argument("--only", default="")
    ap.add_argument("--answers")
    ap.add_argument("--large", nargs=2)
    ap.add_argument("--conversations")
    a = ap.parse_args()
    if a.answers and os.path.exists(a.answers):
        rows = read(a.answers)
    else:
        rows = conversations(a) if a.conversations else collect(a)
        if a.answers:
            with open(a.answers, "w", encoding="utf-8") as f:
                f.writelines(json.dumps(row) + "\n" for row in rows)
    for mode in ("hybrid", "sparse"):
        used = [at for at, measure in enumerate(MEASURES) if mode == "hybrid" or measure not in MEANING]
        of_mode = [row for row in rows if row["mode"] == mode]
        known, unknown = [row for row in of_mode if not row["held_out"]], [row for row in of_mode if row["held_out"]]
        weighed = list(zip(known, weigh(known)))
        size = 0.0 if a.conversations else None
        answers = fit([(inputs(row, "first"), row["first"], weight) for row, weight in weighed], used, size)
        # An answerable question without a known answer among the results may still have a relevant result.
        clear = [(row, weight) for row, weight in weighed if row["any"] or row["set"] in UNANSWERABLE]
        relevant = fit([(inputs(row, "best"), row["any"], weight) for row, weight in clear], used, 0.0 if a.conversations else SIZE_RELEVANT)
        most = MOST_REJECTED_MEMORY if a.conversations else MOST_REJECTED[mode]
        least = quantile([(probability(relevant, inputs(row, "best")), weight) for row, weight in weighed if row["set"] in ANSWERABLE], most)
        correct = [(probability(relevant, inputs(row, "first", with_lead=False)), weight) for row, weight in weighed if row["first"]]
        print(mode)
        for title, weights in (("ANSWERS ", answers), ("RELEVANT", relevant)):
            print(f"  {title} intercept: {weights[0]:.2f}, weights: [{', '.join(f'{w:.2f}' for w in weights[1:])}]")
        print(f"  MIN_CLOSE {least:.3f}\n  MIN_HIT {quantile(correct, MOST_LEFT_OUT):.3f}\n  fitted")
        report(known, answers, relevant, least)
        for group in SHARES:
            if rest := [row for row in unknown if row["group"] == group]:
                print(f"  not fitted: {group}")
                report(rest, answers, relevant, least)
        if mode == "hybrid" and not a.conversations:
            print("  other repositories, mode dense")
            report([row for row in rows if row["mode"] == "dense" and row["held_out"]], answers, relevant, least)


if __name__ == "__main__":
    main()
