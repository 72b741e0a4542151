// The file view: shows the text of a file, its definitions, and the commit of each line.

import { fileLink, go, here, link, linesOf } from "./address.js";
import { get, isAbort } from "./api.js";
import { Blame } from "./blame.js";
import { element, failure, message, replace } from "./dom.js";
import { bytes, counted, split } from "./format.js";
import { Lines } from "./lines.js";

const WIDE = matchMedia("(min-width: 60rem)");

const STATES = {
  changed: "The file has changed since it was indexed: definitions and blame refer to the indexed text.",
  gone: "The file no longer exists. The index keeps it until the next run.",
  unknown: "Whether the file has changed since it was indexed is unknown.",
};

/** Shows the file that the URL names. */
export class FileView {
  #head = element("header", { class: "page-head" });
  #notes = element("ul", { class: "notes", hidden: true });
  #outline = element("nav", { class: "outline", "aria-label": "Definitions" });
  #lines = new Lines();
  #body;
  #blameButton = element("button", { type: "button", onclick: () => this.#toggleBlame() }, "Blame");
  #request = null;
  /** The key of the shown file: its root and path. */
  #shown = null;
  #report = null;
  #definitions = [];
  /** A promise for the commits of the lines, or null. */
  #blame = null;

  constructor(section) {
    this.#body = element("div", { class: "file-body" });
    section.append(this.#head, this.#notes, this.#body);
    this.#lines.node.addEventListener("click", (event) => this.#chooseLine(event));
  }

  /** Shows the file of an address, and returns the title of the page. */
  show(address) {
    const path = address.get("path") ?? "";
    const key = JSON.stringify([address.get("root"), path]);
    if (key !== this.#shown) {
      this.#shown = key;
      this.#open(path);
    } else if (this.#report) {
      this.#choose();
      this.#showBlame();
    }
    return `${split(path)[1]} · Aurora`;
  }

  /** Focuses the text, so that it scrolls with the keyboard. */
  focus() {
    this.#lines.node.focus({ preventScroll: true });
  }

  /** Handles a key, and returns whether it was used. */
  key(key) {
    switch (key) {
      case "j":
        return this.#step(1);
      case "k":
        return this.#step(-1);
      case "b":
        return this.#toggleBlame();
      case "g":
        return this.#openGraph();
      default:
        return false;
    }
  }

  async #open(path) {
    this.#request?.abort();
    const { signal } = (this.#request = new AbortController());
    this.#report = null;
    this.#definitions = [];
    this.#blame = null;
    this.#blameButton.disabled = false;
    this.#notes.hidden = true;
    replace(this.#head, element("h1", {}, trail(path)));
    replace(this.#body, element("p", { class: "message faint" }, "Reading the file …"));
    try {
      const report = await get("file", { path, highlight: true }, signal);
      signal.throwIfAborted();
      this.#report = report;
      this.#showReport(report);
      this.#choose();
      await this.#showBlame();
    } catch (error) {
      if (!signal.aborted && !isAbort(error)) {
        replace(this.#body, failure(error));
      }
    }
  }

  #showReport(report) {
    const { file, language, size, lines, content } = report;
    const facts = [language || "no language", counted(lines, "line"), bytes(size)].join(" · ");
    const tools = element("div", { class: "tools" }, content !== null && this.#blameButton);
    replace(this.#head, element("h1", {}, trail(file)), element("span", { class: "faint" }, facts), tools);
    this.#note([STATES[report.file_state], ...report.warnings]);
    if (content === null) {
      const why = report.skipped ? `The file was skipped: ${report.skipped}.` : "This file has no text to show.";
      replace(this.#body, message(why));
      return;
    }
    this.#definitions = definitionsOf(report);
    this.#lines.show(file, content, report.tokens ?? null);
    replace(this.#body, this.#definitions.length > 0 && this.#outline, this.#lines.node);
  }

  #note(notes) {
    const shown = notes.filter(Boolean);
    replace(this.#notes, shown.map((note) => element("li", {}, note)));
    this.#notes.hidden = shown.length === 0;
  }

  /** Highlights the lines that the URL names. */
  #choose() {
    const lines = linesOf(location.hash);
    this.#lines.choose(lines);
    const chosen = lines && innermost(this.#definitions, lines[0]);
    const depths = depthsOf(this.#definitions);
    const entry = (chunk, at) => {
      const href = fileLink(this.#report.file, chunk.line_start, chunk.line_end);
      const name = element("span", { class: "outline-name" }, outlineName(chunk, depths[at]));
      const current = chunk === chosen ? "true" : null;
      const anchor = { href, "aria-current": current, title: chunk.qualified_name, variables: { depth: depths[at] } };
      return element("li", {}, element("a", anchor, name, element("span", { class: "faint" }, chunk.type)));
    };
    replace(this.#outline, element("h2", {}, "Definitions"), element("ol", {}, this.#definitions.map(entry)));
    const current = this.#outline.querySelector("[aria-current]");
    if (current) {
      const [list, place] = [this.#outline, current.offsetTop - this.#outline.offsetTop];
      list.scrollTop = place - list.clientHeight / 2;
    }
  }

  #chooseLine(event) {
    const line = Number(event.target.closest("a.number")?.dataset.line);
    const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.altKey;
    if (line && isPlain) {
      event.preventDefault();
      const from = (event.shiftKey && linesOf(location.hash)?.[0]) || line;
      this.#goTo(Math.min(from, line), Math.max(from, line));
    }
  }

  /** Moves to lines of the file without a new history entry. */
  #goTo(first, last) {
    const blame = here().get("blame");
    const lines = first === last ? `${first}` : `${first}-${last}`;
    go(link("file", { path: this.#report.file, blame }, lines), { replaces: true });
  }

  #step(by) {
    const line = linesOf(location.hash)?.[0] ?? 0;
    const starts = (one) => (by > 0 ? one.line_start > line : one.line_start < line);
    const next = by > 0 ? this.#definitions.find(starts) : this.#definitions.findLast(starts);
    if (next) {
      this.#goTo(next.line_start, next.line_end);
    }
    return true;
  }

  #openGraph() {
    const definition = innermost(this.#definitions, linesOf(location.hash)?.[0] ?? 1);
    if (definition) {
      go(link("graph", { name: definition.id }));
    }
    return Boolean(definition);
  }

  #wantsBlame() {
    return (here().get("blame") ?? (WIDE.matches ? "1" : "0")) === "1";
  }

  #toggleBlame() {
    const address = here();
    address.set("blame", this.#wantsBlame() ? "0" : "1");
    go(`?${address}${location.hash}`, { replaces: true });
    return true;
  }

  /** Shows or hides the commits of the lines. They are requested only once. */
  async #showBlame() {
    const isWanted = this.#wantsBlame() && this.#report.content !== null;
    this.#blameButton.setAttribute("aria-pressed", String(isWanted));
    if (!isWanted) {
      this.#lines.setBlame(null);
      return;
    }
    const { file } = this.#report;
    const { signal } = this.#request;
    this.#blame ??= get("blame", { path: file }, signal);
    try {
      const { runs } = await this.#blame;
      if (!signal.aborted && this.#wantsBlame()) {
        this.#lines.setBlame(new Blame(runs));
      }
    } catch (error) {
      if (!signal.aborted && !isAbort(error)) {
        this.#blameButton.disabled = true;
        this.#blameButton.setAttribute("aria-pressed", "false");
        this.#note([STATES[this.#report.file_state], ...this.#report.warnings, `No blame: ${error.message}`]);
      }
    }
  }
}

/** Returns the path of a file, with links to its directories. */
function trail(path) {
  const parts = path.split("/");
  return parts.map((part, at) => {
    if (at === parts.length - 1) {
      return part;
    }
    const directory = parts.slice(0, at + 1).join("/");
    return [element("a", { href: link("contents", { path: directory }) }, part), " / "];
  });
}

/** Matches the end of the id of a part of an overlong chunk. Ids of later parts are the id of the first part, followed by `~2` and so on. */
const PART = /~\d+$/;

/**
 * Returns the definitions of a file. These are its chunks, except for code between definitions, whose chunks are named
 * after the file. The parts of an overlong chunk are merged.
 */
function definitionsOf({ file, chunks }) {
  const [, fileName] = split(file);
  const found = new Map();
  for (const chunk of chunks) {
    const first = PART.test(chunk.id) && found.get(chunk.id.replace(PART, ""));
    if (first) {
      first.line_end = Math.max(first.line_end, chunk.line_end);
    } else if (chunk.type !== "code" || chunk.qualified_name !== fileName) {
      found.set(chunk.id, { ...chunk });
    }
  }
  return [...found.values()];
}

/** Returns the name of a chunk in the outline. The name of a nested chunk does not repeat the name of the outer chunk. */
function outlineName({ qualified_name: name, line_start: first, line_end: last }, depth) {
  const shown = depth > 0 ? name.split(/::|[.#]/).findLast((part) => part !== "") : name;
  return shown || `Lines ${first}–${last}`;
}

/** Returns the nesting depth of each chunk. */
function depthsOf(chunks) {
  const open = [];
  return chunks.map((chunk) => {
    while (open.length > 0 && open.at(-1).line_end < chunk.line_end) {
      open.pop();
    }
    const depth = open.filter((outer) => outer.line_start <= chunk.line_start).length;
    open.push(chunk);
    return Math.min(depth, 6);
  });
}

/** Returns the smallest chunk around a line. */
function innermost(chunks, line) {
  const around = chunks.filter((chunk) => chunk.line_start <= line && line <= chunk.line_end);
  return around.sort((a, b) => a.line_end - a.line_start - (b.line_end - b.line_start))[0] ?? null;
}
