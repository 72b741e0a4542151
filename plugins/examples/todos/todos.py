"""Counts notes such as TODO in a chunk. Chunks with many of them rank slightly lower."""
import re
from aurora_stage import stage

@stage
def todos(text, config):
    return sum(len(re.findall(r"\b%s\b" % word, text)) for word in config["words"])
