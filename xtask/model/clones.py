"""Reads the licence and the files of clones (WORK/clones/OWNER+NAME, with or without a work tree)."""
import os
import re
import subprocess
import threading

LICENCE_FILES = re.compile(r"(?i)^((mit|apache|bsd)[-_.])?(li[cs]en[cs]e|copying|unlicense)([-.](mit|apache|apache2|apache-2\.0|bsd|txt|md|rst))*$")
LICENCES = [("MIT", "permission is hereby granted, free of charge, to any person obtaining a copy"),
            ("Apache-2.0", "apache license version 2.0"), ("Apache-2.0", "licensed under the apache license, version 2.0"),
            ("MPL-2.0", "mozilla public license version 2.0"), ("MPL-2.0", "mozilla public license, version 2.0"),
            ("BSD", "redistribution and use in source and binary forms, with or without modification"),
            ("ISC", "permission to use, copy, modify, and/or distribute this software"),
            ("Unlicense", "this is free and unencumbered software released into the public domain")]
# A form that R packages fill in, in a separate file next to the text of the licence.
FORM = re.compile(r"year: ?\d{4}\S* copyright holder:")
REFUSED_TEXT = re.compile(r"gnu (lesser |affero |library )?general public license|eclipse public license")
MAX_FILE = 1_500_000


def git(repo, *args):
    p = subprocess.run(["git", "-C", repo, *args], capture_output=True)
    return p.stdout.decode("utf-8", "replace") if p.returncode == 0 else ""


def licence(repo):
    """Returns the licences of the licence files at the top of a repository as an expression, or "" if one of them is not recognised."""
    found = []
    for row in git(repo, "ls-tree", "HEAD").split("\n"):
        what, _, name = row.partition("\t")
        if " blob " in what and LICENCE_FILES.match(name):
            text = re.sub(r"(\s|^//|^#)+", " ", git(repo, "show", f"HEAD:{name}"), flags=re.M).strip().lower()
            if FORM.match(text):
                continue
            first = min(((text.find(mark), one) for one, mark in LICENCES if mark in text[:6000]), default=(0, ""))
            refused = REFUSED_TEXT.search(text[:first[0]] if first[1] else text)
            found.append("unknown" if refused or not first[1] else first[1])
    return " OR ".join(sorted(set(found))) if "unknown" not in found else ""


def unpack(repo, out, keep):
    """Writes the files of HEAD that `keep` accepts to the directory `out`, except files that the clone lacks."""
    rows = (row.partition("\t")[::2] for row in git(repo, "ls-tree", "-r", "-z", "HEAD").split("\0"))
    wanted = [(what.split()[2], name) for what, name in rows if what.startswith("100") and ".." not in name and keep(name)]
    with subprocess.Popen(["git", "-C", repo, "cat-file", "--batch", "--buffer"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as p:
        threading.Thread(target=_ask, args=(p.stdin, [blob for blob, _ in wanted])).start()
        for _, name in wanted:
            head = p.stdout.readline().split()
            if len(head) != 3:
                continue
            data = p.stdout.read(int(head[2]) + 1)[:-1]
            if len(data) <= MAX_FILE:
                path = os.path.join(out, name)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "wb") as f:
                    f.write(data)


def _ask(pipe, blobs):
    with pipe:
        pipe.write("".join(blob + "\n" for blob in blobs).encode())


def head(repo):
    """Returns the commit at HEAD."""
    return git(repo, "log", "-1", "--format=%H").strip()


def names(directory):
    """Yields OWNER/NAME and the path of each clone in a directory."""
    for entry in sorted(os.listdir(directory)) if os.path.isdir(directory) else ():
        if "+" in entry:
            yield entry.replace("+", "/", 1), os.path.join(directory, entry)
