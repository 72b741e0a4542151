"""Finds the SPDX licence identifier in the header of a file."""
import re
from aurora_stage import stage

@stage
def licence(text):
    found = re.search(r"SPDX-License-Identifier:\s*([\w.+-]+)", text[:2000])
    return found[1] if found else None
