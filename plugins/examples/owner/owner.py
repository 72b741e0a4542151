"""Finds the team that owns a file: the last matching rule in CODEOWNERS."""
import fnmatch
from aurora_stage import stage

RULES = [line.split() for line in open("CODEOWNERS") if line.strip() and not line.startswith("#")]

def matches(path, pattern):
    if pattern.endswith("/"):
        pattern += "*"
    if pattern.startswith("/"):
        return fnmatch.fnmatch(path, pattern[1:])
    return fnmatch.fnmatch(path, pattern) or fnmatch.fnmatch(path, "*/" + pattern)

@stage
def owner(path):
    teams = [rule[1:] for rule in RULES if matches(path, rule[0])]
    return [team.split("/")[-1].lstrip("@") for team in teams[-1]] if teams else None
