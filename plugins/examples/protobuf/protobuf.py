"""Adds Protocol Buffers as a language: finds messages, enums, services and their methods."""
import re
from aurora_stage import stage

KINDS = {"message": "struct", "enum": "enum", "service": "interface", "rpc": "method"}

@stage
def definitions(text):
    found, blocks, comment = [], [], []
    for number, line in enumerate(text.splitlines(), 1):
        match = re.match(r"\s*(message|enum|service|rpc)\s+(\w+)", line)
        if match:
            found.append({
                "name": match[2],
                "kind": KINDS[match[1]],
                "line_start": number,
                "line_end": number,
                "signature": line.strip(" {"),
                "doc": "\n".join(comment),
            })
        is_comment = line.strip().startswith("//")
        comment = comment + [line.strip(" /")] if is_comment else []
        code = "" if is_comment else re.sub(r'"(\\.|[^"\\])*"', "", line)
        for mark in re.findall(r"[{}]", code):
            if mark == "{":
                blocks.append(found[-1] if match and found else None)
                match = None
            elif blocks:
                block = blocks.pop()
                if block:
                    block["line_end"] = number
    return found
