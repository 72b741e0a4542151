"""How many notes such as TODO a chunk has. Chunks with many of them are ranked a little lower."""
import re
from aurora_stage import stage

@stage
def todos(text, config):
    return sum(len(re.findall(r"\b%s\b" % word, text)) for word in config["words"])
