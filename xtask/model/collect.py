#!/usr/bin/env python3
"""Downloads the packages that sources.txt names, checks their licences, and unpacks those that may be used.

usage: collect.py --work DIR [--only python,npm,debian,rust,github]

Each line of sources.txt is "KIND NAME" with KIND one of python, npm, debian-go, debian-java, debian-ts, rust, github. The ordinary
client of each registry downloads the package (pip, npm, apt-get, cargo, git). No code of a package is run.

A package is refused if barred.txt names it, by the name of the package or by an address that the package declares as its own. For
all other packages, the licence that the package declares decides:

  python      License-Expression, License or the classifiers in METADATA
  npm         "license" in package.json
  rust        license in Cargo.toml; the dependencies of a listed crate are checked in the same way
  github      the licence files at the top (clones.py); a clone that exists in DIR/clones is used
  debian-*    the License of the "Files: *" paragraph of debian/copyright, where "Go" is the name of a BSD-3-Clause text

Accepted are MIT, BSD, Apache-2.0, ISC, MPL-2.0, PSF and Unlicense. For "A OR B", one accepted licence is enough; for "A AND B", both
must be accepted. Packages without a readable declaration are dropped. Results: DIR/src/LANG/PACKAGE, and DIR/packages-KIND.tsv with
kind, package, version, licence, and use (used, dropped or barred).
"""
import argparse
import email.parser
import glob
import json
import os
import re
import subprocess
import tarfile
import tomllib
import zipfile

import clones
from barred import Barred
from engine import extensions

HERE = os.path.dirname(os.path.abspath(__file__))
DEBIAN_FILES = ("copyright", "control", "watch", "upstream/metadata")
BARRED = Barred()
ACCEPTED = re.compile(r"(?i)^(the )?(go|mit|mit license|expat|x11/mit|bsd|0bsd|bsd[- ]?[234]?([- ]clause)?.*|new bsd.*|modified bsd.*|"
                      r"[23]-clause bsd.*|apache|apache[- ]?(license|software|v?2).*|asl-?2.*|isc|isc license.*|mpl[- ]?2.*|"
                      r"mozilla public license 2.*|psf.*|python[- ]software.*|python-2.*|unlicense|the unlicense.*)$")
REFUSED = re.compile(r"(?i)gpl|cddl|epl|eclipse|proprietary|commercial|non-?free|cc-by|creative|sspl|busl|elastic")


def allowed(text):
    """Whether a licence expression can be met with accepted licences only."""
    text = re.sub(r"\s+", " ", text or "").strip()
    if not text or len(text) > 200:
        return False
    text = re.sub(r"(?i)\s+with\s+llvm-exception", "", text).replace("/", " OR ") if "x11/" not in text.lower() else text
    return _any_of(text)


def _split(text, word):
    """Splits an expression at OR or AND outside of parentheses."""
    out, depth, cur = [], 0, []
    for part in re.split(r"(\(|\)|\b(?i:%s)\b)" % word, text):
        if part == "(":
            depth += 1
        elif part == ")":
            depth -= 1
        if depth == 0 and part and part.lower() == word:
            out.append("".join(cur))
            cur = []
        else:
            cur.append(part or "")
    return out + ["".join(cur)]


def _any_of(text):
    return any(_all_of(p) for p in _split(text, "or"))


def _all_of(text):
    parts = _split(text.strip(), "and")
    if len(parts) > 1:
        return all(_any_of(p) for p in parts)
    one = text.strip(" ,;.")
    if one.startswith("(") and one.endswith(")"):
        return _any_of(one[1:-1])
    return bool(ACCEPTED.match(one)) and not REFUSED.search(one)


def run(cmd, quiet=False, **kw):
    """Runs a client. If it fails, only this package is missing, and the run continues. tar fails if a pattern matches no file."""
    p = subprocess.run(cmd, capture_output=True, text=True, **kw)
    if p.returncode and not quiet:
        print("  failed:", " ".join(cmd[:4]), (p.stderr.strip().splitlines() or ["?"])[-1][:160], flush=True)
    return p.stdout if p.returncode == 0 else None


def python_licence(meta):
    """Returns the licence that a wheel's METADATA declares: the expression, else the classifiers, else the free text field."""
    m = email.parser.HeaderParser().parsestr(meta)
    if m.get("License-Expression"):
        return m["License-Expression"]
    cl = [c.split(" :: ")[-1] for c in m.get_all("Classifier", []) if c.startswith("License ::")]
    cl = [re.sub(r" \(.*\)$", "", c) for c in cl if c != "OSI Approved"]
    if cl:
        return " AND ".join(sorted(set(cl)))
    return (m.get("License") or "").strip().split("\n")[0]


def verdict(name, declared, lic):
    """Returns the use of a package. `declared` are the addresses that the package declares as its own."""
    if BARRED.package(name) or BARRED.address(declared):
        return "barred"
    return "used" if allowed(lic) else "dropped"


def python_addresses(meta):
    """Returns the addresses in a wheel's METADATA that belong to the project itself."""
    m = email.parser.HeaderParser().parsestr(meta)
    own = r"(?i)\s*(home|source|repo|code|github|project|development)"
    return "\n".join([m.get("Home-page") or "", *(u for u in m.get_all("Project-URL", []) if re.match(own, u))])


def collect_python(names, work):
    for name in names:
        d = os.path.join(work, "dl", "python", name)
        if not glob.glob(d + "/*.whl"):
            os.makedirs(d, exist_ok=True)
            run(["python3", "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:", "-d", d, name])
        for whl in glob.glob(d + "/*.whl"):
            with zipfile.ZipFile(whl) as z:
                meta = [n for n in z.namelist() if n.count("/") == 1 and n.endswith(".dist-info/METADATA")]
                meta = z.read(meta[0]).decode("utf-8", "replace") if meta else ""
                lic = python_licence(meta)
                version = os.path.basename(whl).split("-")[1]
                use = verdict(name, python_addresses(meta), lic)
                if use == "used":
                    out = os.path.join(work, "src", "python", name)
                    for n in z.namelist():
                        if n.lower().endswith(extensions()) and ".." not in n:
                            z.extract(n, out)
            yield "python", name, version, lic, use


def npm_address(info):
    """Returns the repository and the home page that a package.json declares. "OWNER/NAME" alone means a repository on GitHub."""
    repository = info.get("repository") or ""
    repository = repository.get("url", "") if isinstance(repository, dict) else str(repository)
    if re.fullmatch(r"[\w.-]+/[\w.-]+", repository):
        repository = "github:" + repository
    return f"{repository}\n{info.get('homepage') or ''}"


def collect_npm(names, work):
    for name in names:
        d = os.path.join(work, "dl", "npm", name.replace("/", "+"))
        if not glob.glob(d + "/*.tgz"):
            os.makedirs(d, exist_ok=True)
            run(["npm", "pack", "--silent", "--ignore-scripts", "--pack-destination", d, name])
        for tgz in glob.glob(d + "/*.tgz"):
            with tarfile.open(tgz) as t:
                members = [m for m in t.getmembers() if m.isfile() and ".." not in m.name]
                top = min((m for m in members if m.name.endswith("package.json")), key=lambda m: m.name.count("/"))
                info = json.load(t.extractfile(top))
                lic = info.get("license") or info.get("licenses") or ""
                if isinstance(lic, list):
                    lic = " OR ".join(x.get("type", "") if isinstance(x, dict) else str(x) for x in lic)
                elif isinstance(lic, dict):
                    lic = lic.get("type", "")
                use = verdict(name, npm_address(info), lic)
                if use == "used":
                    out = os.path.join(work, "src", "npm", name.replace("/", "+"))
                    good = [m for m in members if m.name.lower().endswith(extensions()) and not m.name.endswith((".d.ts", ".min.js"))]
                    t.extractall(out, members=good, filter="data")
            yield "npm", name, info.get("version", ""), lic, use


def debian_licence(text):
    """Returns the License of the paragraph for all files in a machine-readable debian/copyright."""
    for par in re.split(r"\n\s*\n", text):
        if re.search(r"(?m)^Files:\s*\*\s*$", par):
            m = re.search(r"(?m)^License:\s*(.+)$", par)
            return m.group(1).strip() if m else ""
    names = [n for n, s in (("Apache-2.0", "Apache License, Version 2.0"), ("MPL-2.0", "Mozilla Public License, v. 2.0"))
             if s.lower() in re.sub(r"\s+", " ", text).lower()]
    return names[0] if len(names) == 1 and not REFUSED.search(text) else ""


def debian_addresses(texts):
    """Returns what the files in debian/ declare as the origin of the package: home page, version control, upstream and watch file."""
    fields = re.compile(r"(?mi)^(?:Homepage|Vcs-\w+|Source|Upstream-\w+|Repository\S*|Bug-\w+):(.*(?:\n[ \t]+.*)*)")
    control = [m.group(1) for name in ("control", "copyright", "upstream/metadata") for m in fields.finditer(texts.get(name, ""))]
    return "\n".join([*control, re.sub(r"(?m)^#.*", "", texts.get("watch", ""))])


def collect_debian(kind, names, work):
    for name in names:
        d = os.path.join(work, "dl", "debian", name)
        if not glob.glob(d + "/*.dsc"):
            os.makedirs(d, exist_ok=True)
            run(["apt-get", "source", "-qq", "--download-only", "--only-source", name], cwd=d)
        tars = sorted(glob.glob(d + "/*.tar.*"))
        tars = [t for t in tars if not t.endswith(".asc")]
        debian = [t for t in tars if ".debian.tar" in t] or tars[:1]
        if not debian:
            continue
        texts = {n: run(["tar", "xOf", debian[0], "--wildcards", f"*debian/{n}"], quiet=True) or "" for n in DEBIAN_FILES}
        lic = debian_licence(texts["copyright"])
        use = verdict(name, debian_addresses(texts), lic)
        version = re.sub(r"^[^_]*_|\.debian\.tar.*|\.tar.*", "", os.path.basename(debian[0]))
        if use == "used":
            out = os.path.join(work, "src", kind, name)
            os.makedirs(out, exist_ok=True)
            for t in tars:
                if ".debian.tar" not in t:
                    run(["tar", "xf", t, "-C", out, "--wildcards", "--no-same-owner"] + ["*" + e for e in extensions()], quiet=True)
        yield kind, name, version, lic, use


def collect_rust(names, work):
    """Collects crates. All listed crates are in one manifest, from which cargo fetch downloads them and their dependencies."""
    d = os.path.join(work, "dl", "rust", "fetch")
    home = os.path.join(work, "dl", "rust", "home")
    if not glob.glob(home + "/registry/src/*/*"):
        os.makedirs(d + "/src", exist_ok=True)
        open(d + "/src/lib.rs", "w").close()
        with open(d + "/Cargo.toml", "w") as f:
            f.write('[package]\nname = "fetch"\nversion = "0.0.0"\nedition = "2021"\n[dependencies]\n')
            f.writelines(f'{n} = "*"\n' for n in names)
        run(["cargo", "fetch"], cwd=d, env=dict(os.environ, CARGO_HOME=home))
    roots = glob.glob(home + "/registry/src/*/*")
    own = os.environ.get("CARGO_HOME") or os.path.expanduser("~/.cargo")
    have = {os.path.basename(r) for r in roots}
    roots += [r for r in glob.glob(own + "/registry/src/*/*") if os.path.basename(r) not in have]
    for root in sorted(roots):
        m = re.match(r"(.+?)-(\d+\.\d+\..*)$", os.path.basename(root))
        try:
            with open(root + "/Cargo.toml", "rb") as f:
                info = tomllib.load(f)["package"]
        except (OSError, KeyError, tomllib.TOMLDecodeError):
            continue
        lic = info.get("license", "")
        use = verdict(m.group(1) if m else "", f"{info.get('repository', '')}\n{info.get('homepage', '')}", lic if m else "")
        if use == "used":
            out = os.path.join(work, "src", "rust", m.group(1))
            if not os.path.lexists(out):
                os.makedirs(os.path.dirname(out), exist_ok=True)
                os.symlink(root, out)
        yield "rust", m.group(1) if m else os.path.basename(root), m.group(2) if m else "", lic, use


def collect_github(names, work):
    for name in names:
        repo = os.path.join(work, "clones", name.replace("/", "+"))
        if BARRED.package(name):
            yield "github", name, "", "", "barred"
            continue
        if not os.path.exists(repo):
            os.makedirs(os.path.dirname(repo), exist_ok=True)
            run(["git", "clone", "--quiet", "--bare", f"https://github.com/{name}", repo])
        lic = clones.licence(repo)
        use = verdict(name, "", lic)
        out = os.path.join(work, "src", "github", name.replace("/", "+"))
        if use == "used" and not os.path.exists(out):
            clones.unpack(repo, out, lambda path: path.lower().endswith(extensions()))
        yield "github", name, clones.head(repo), lic, use


def main():
    ap = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    ap.add_argument("--work", required=True)
    ap.add_argument("--only", default="python,npm,debian,rust,github")
    ap.add_argument("--sources", default=os.path.join(HERE, "sources.txt"))
    a = ap.parse_args()
    want = {}
    for line in open(a.sources):
        if line.strip() and not line.startswith("#"):
            kind, name = line.split()
            if not BARRED.package(name):
                want.setdefault(kind, []).append(name)
    for kind in sorted(want):
        if kind.split("-")[0] not in a.only.split(","):
            continue
        how = {"python": collect_python, "npm": collect_npm, "rust": collect_rust, "github": collect_github}.get(kind)
        rows = how(want[kind], os.path.abspath(a.work)) if how else collect_debian(kind, want[kind], os.path.abspath(a.work))
        with open(os.path.join(a.work, f"packages-{kind}.tsv"), "w") as f:
            for kind_, name, version, lic, use in rows:
                lic = re.sub(r"\s+", " ", lic)[:120]
                f.write(f"{kind_}\t{name}\t{version}\t{lic}\t{use}\n")
                f.flush()


if __name__ == "__main__":
    main()
