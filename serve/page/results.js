// Shows results with their lines of code, grouped by file.

import { resultLink } from "./address.js";
import * as code from "./code.js";
import { element, replace } from "./dom.js";
import { count, split } from "./format.js";

/** The list of results. `onSelect` is called with each result that is selected. */
export class ResultList {
  node = element("div", { class: "results" });
  #onSelect;
  /** The results in the order of the list, with their links. */
  #items = [];
  #selected = null;

  constructor(onSelect) {
    this.#onSelect = onSelect;
  }

  /**
   * Shows results, best first. Results in the same file are grouped at the position of the best one. Selects `selected`
   * if it is among the results, otherwise the first result.
   */
  show(results, selected = null) {
    const files = new Map();
    for (const hit of results) {
      const path = hit.root ? `${hit.root}/${hit.file}` : hit.file;
      files.set(path, [...(files.get(path) ?? []), hit]);
    }
    this.#items = [];
    this.#selected = null;
    replace(this.node, [...files].map(([path, hits]) => this.#file(path, hits)));
    const kept = selected && this.#items.find(({ hit }) => keyOf(hit) === keyOf(selected));
    this.#mark(kept ?? this.#items[0] ?? null);
  }

  /** Returns the selected result, or null if there are no results. */
  selected() {
    return this.#selected?.hit ?? null;
  }

  /** Focuses the first result, and returns whether there is one. */
  focusFirst() {
    return this.#focus(this.#items[0]);
  }

  /** Focuses the selected result, and returns whether there is one. */
  focusSelected() {
    return this.#focus(this.#selected);
  }

  /** Moves the focus by a number of results, and returns whether that was possible. */
  move(by) {
    const at = this.#items.findIndex((item) => item.anchor === document.activeElement);
    const from = at < 0 ? this.#items.indexOf(this.#selected) - Math.max(by, 0) : at;
    return this.#focus(this.#items[from + by]);
  }

  #focus(item) {
    item?.anchor.focus();
    return Boolean(item);
  }

  #mark(item) {
    this.#selected?.node.classList.remove("selected");
    item?.node.classList.add("selected");
    this.#selected = item;
  }

  #select(item) {
    if (item !== this.#selected) {
      this.#mark(item);
      this.#onSelect(item.hit);
    }
  }

  #file(path, hits) {
    const [directory, name] = split(path);
    const inner = [element("span", { class: "faint" }, directory), name];
    const state = { changed: "changed since it was indexed", gone: "no longer there" }[hits[0].file_state];
    return element(
      "section",
      { class: "file-results", "aria-label": path },
      element(
        "h2",
        {},
        element("a", { href: resultLink(hits[0]), title: path, data: { key: `file ${path}` } }, inner),
        element("span", { class: "language" }, hits[0].language),
        state && element("span", { class: "badge warn" }, state),
      ),
      element("ol", {}, hits.map((hit) => this.#result(hit))),
    );
  }

  #result(hit) {
    const name = hit.qualified_name || hit.name || `Lines ${hit.line_start}–${hit.line_end}`;
    const href = resultLink(hit, hit.line_start, hit.line_end);
    const anchor = element("a", { class: "result-name", href, data: { key: keyOf(hit) } }, name);
    const copies = hit.copies?.count ?? 0;
    const node = element(
      "li",
      { class: "result" },
      element(
        "h3",
        {},
        anchor,
        element("span", { class: "badge" }, hit.type),
        element("span", { class: "faint" }, `${count(hit.line_start)}–${count(hit.line_end)}`),
        copies > 0 && element("span", { class: "faint", title: hit.copies.places.join("\n") }, `+ ${copies} like it`),
        element("span", { class: "score" }, meter(hit.score), hit.score.toFixed(2)),
      ),
      snippet(hit),
    );
    const item = { hit, anchor, node };
    this.#items.push(item);
    anchor.addEventListener("focus", () => this.#select(item));
    node.addEventListener("click", () => this.#select(item));
    return node;
  }
}

/** Returns a key of a result that does not depend on its lines, its text or its position in the list. */
function keyOf(hit) {
  return `result ${hit.root ?? ""} ${hit.id}`;
}

function meter(score) {
  return element("span", { class: "meter", variables: { share: score }, "aria-hidden": true });
}

/** Returns the best matching lines, without their common indentation. */
function snippet(hit) {
  const lines = hit.snippet ?? [];
  const skip = code.indentation(lines.map((line) => line.text));
  const rows = lines.map((line, at) => {
    const isApart = at > 0 && line.line !== null && line.line !== lines[at - 1].line + 1;
    return element(
      "a",
      { class: `row${isApart ? " apart" : ""}`, href: resultLink(hit, line.line ?? hit.line_start), tabindex: "-1" },
      element("span", { class: "number" }, line.line ?? ""),
      element("code", {}, code.line(line.text, { tokens: line.tokens, matches: line.matches, skip })),
    );
  });
  return lines.length > 0 && element("div", { class: "snippet" }, rows);
}
