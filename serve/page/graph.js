// The graph view: shows the callers and callees of a definition, or its implementers, as a drawing and as lists. Shows
// the impact of a change, the imports of a file, and unused definitions as lists.

import { fileLink, go, here, link } from "./address.js";
import { get, isAbort, post } from "./api.js";
import { drawn, element, failure, message, replace } from "./dom.js";
import { count, counted } from "./format.js";
import { NODE, layered } from "./layers.js";
import { endings, shortened } from "./paths.js";
import { impactLists, importLists, relationLists, unusedList } from "./relation-lists.js";
import { showEdges } from "./scrolling.js";

const DEPTHS = [1, 2, 3, 4];
const DEPTH = 1;
const MARGIN = 8;
/** Maximum number of characters of a name in a node. */
const MAX_NAME_CHARS = 26;
/** Maximum number of characters of a path in a node. */
const MAX_PLACE_CHARS = 32;
/** Minimum confidence of relations that are drawn with solid lines. Other relations are dashed. */
const SURE = 0.7;
/** Number of definitions that are suggested for an unknown or ambiguous name. */
const SUGGESTIONS = 20;
/** Matches narrow screens. */
const NARROW = matchMedia("(max-width: 48rem)");
/** Space between layers. It is smaller on narrow screens, so that parts of the adjacent layers are visible. */
const ACROSS = { wide: 84, narrow: 36 };

/** The relations, by the value in the URL. `path` and `lists` belong to relations that are shown only as lists. */
const RELATIONS = {
  calls: { choice: "Calls", title: "Callers and callees" },
  implementers: { choice: "Implementers", title: "Implementers" },
  impact: { choice: "Impact", title: "Impact of a change", path: "graph/impact", lists: impactLists },
  imports: { choice: "Imports", title: "Imports of a file", path: "graph/imports", lists: importLists, hasRelation: true },
  "imported-by": { choice: "Imported by", title: "Files that import a file", path: "graph/imports", lists: importLists, hasRelation: true },
  unused: { choice: "Unused", title: "Unused definitions", path: "graph/unused", lists: unusedList },
};

/** Shows the relations of the definition that the URL names. */
export class GraphView {
  #name = element("input", { type: "text", id: "graph-name", spellcheck: "false", autocomplete: "off" });
  #depth = element("select", { id: "graph-depth" }, DEPTHS.map((depth) => element("option", { value: depth }, depth)));
  #relations = element("nav", { class: "switch", "aria-label": "Relation" });
  #title = element("h1", {}, "Relations");
  #body = element("div", { class: "graph-body" });
  #request = null;
  #shown = null;
  /** Whether to focus the drawing when it is ready. */
  #isAwaited = false;

  constructor(section) {
    const form = element(
      "form",
      { class: "tools" },
      element("label", { class: "unseen", for: "graph-name" }, "Definition"),
      this.#name,
      element("label", { for: "graph-depth" }, "Steps"),
      this.#depth,
      this.#relations,
    );
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      go(link("graph", { name: this.#name.value.trim(), ...this.#options() }));
    });
    this.#depth.addEventListener("change", () => {
      const address = here();
      address.set("depth", this.#depth.value);
      go(`?${address}`, { replaces: true });
    });
    section.append(element("header", { class: "page-head" }, this.#title, form), this.#body);
  }

  /** Shows the relations of an address, and returns the title of the page. */
  show(address) {
    const name = address.get("name") ?? "";
    this.#name.placeholder = "Name of a definition";
    this.#depth.value = String(DEPTHS.find((depth) => String(depth) === address.get("depth")) ?? DEPTH);
    const relation = Object.hasOwn(RELATIONS, address.get("relation") ?? "") ? address.get("relation") : "calls";
    const choice = ([one, { choice }]) => {
      const href = link("graph", { name, ...this.#options(), relation: one === "calls" ? null : one });
      return element("a", { href, "aria-current": one === relation ? "true" : null }, choice);
    };
    replace(this.#relations, ...Object.entries(RELATIONS).map(choice));
    if (String(address) !== this.#shown) {
      this.#shown = String(address);
      this.#open(name, relation);
    }
    return `${this.#title.textContent} · Aurora`;
  }

  /** Focuses the root definition. */
  focus() {
    const root = this.#body.querySelector(".node.root");
    root?.focus({ preventScroll: true });
    this.#isAwaited = root === null;
  }

  /** Handles a key, and returns whether it was used. */
  key(key) {
    const node = document.activeElement.closest(".node");
    if (key === "f" && node) {
      go(node.dataset.file);
      return true;
    }
    return node !== null && this.#move(node, key);
  }

  #options() {
    const address = here();
    return { depth: address.get("depth"), relation: address.get("relation") };
  }

  async #open(name, relation) {
    this.#request?.abort();
    const { signal } = (this.#request = new AbortController());
    this.#name.value = name;
    const { title, path, lists, hasRelation } = RELATIONS[relation];
    this.#title.textContent = title;
    if (name === "" && relation !== "unused") {
      replace(this.#body, element("p", { class: "message faint" }, "Give the name of a definition, or open one from a result."));
      return;
    }
    if (!this.#body.firstChild) {
      replace(this.#body, element("p", { class: "message faint" }, "Looking for relations …"));
    }
    this.#body.setAttribute("aria-busy", "true");
    const ask = (relation) => get("graph", { name, relation, depth: this.#depth.value }, signal);
    try {
      if (path) {
        const subject = relation === "unused" ? { path: name || null } : { name };
        const report = await get(path, { ...subject, relation: hasRelation ? relation : null }, signal);
        signal.throwIfAborted();
        replace(this.#body, lists(report));
      } else {
        const reports = await Promise.all(relation === "calls" ? [ask("callers"), ask("callees")] : [ask("implementers")]);
        signal.throwIfAborted();
        this.#showReports(reports);
      }
    } catch (error) {
      if (signal.aborted || isAbort(error)) {
        return;
      }
      const isName = error.status === 404 || error.status === 422;
      // Only the first line is shown. The other lines are ids of definitions, which are offered as links instead.
      replace(this.#body, isName ? message(error.message.split("\n")[0].replace(/:$/, "")) : failure(error));
      if (isName) {
        await this.#offer(name, error.candidates, signal).catch(() => {});
      }
    }
    this.#body.removeAttribute("aria-busy");
  }

  /**
   * Suggests the first definitions with the name, whose ids are in the error. Also suggests results of a search for the
   * name, because the name may be unknown, have more definitions, or be the last part of other names.
   */
  async #offer(name, ids, signal) {
    const search = element("a", { href: link("search", { q: name }) }, "Search for more");
    const question = { query: name, mode: "sparse", type: "code", limit: SUGGESTIONS, snippets: 0, record: false };
    const [chunks, { results }] = await Promise.all([
      Promise.all(ids.map((id) => get("chunk", { id }, signal))),
      post("search", question, signal),
    ]);
    signal.throwIfAborted();
    const isOther = (hit) => ids.length === 0 || (!ids.includes(hit.id) && isLastPart(name, hit.qualified_name));
    const others = ids.length > 0 ? `Others whose name ends with ${name}` : "Perhaps one of these";
    const lists = [
      this.#offered("Which one is meant?", chunks),
      this.#offered(others, results.filter(isOther), results.length === SUGGESTIONS && search),
    ];
    this.#body.append(element("div", { class: "graph-lists" }, lists));
  }

  #offered(title, chunks, more = null) {
    const entry = (chunk) =>
      element(
        "li",
        {},
        element("a", { href: link("graph", { name: chunk.id, ...this.#options() }) }, chunk.qualified_name || chunk.name),
        element("span", { class: "faint" }, ` ${chunk.type} in ${chunk.file}:${chunk.line_start}`),
      );
    const entries = [chunks.map(entry), more && element("li", { class: "faint" }, more)];
    return chunks.length > 0 && element("section", {}, element("h2", {}, title), element("ul", { class: "offered" }, entries));
  }

  #showReports(reports) {
    const [first, last] = [reports[0], reports.at(-1)];
    const { root } = last;
    const none = { ...root, children: [] };
    const graph = layered(first.root, reports.length === 2 ? last.root : none, NARROW.matches ? ACROSS.narrow : ACROSS.wide);
    this.#name.value = root.name;
    if (!this.#body.closest("[hidden]")) {
      document.title = `${root.name} · Aurora`;
    }
    const hadFocus = this.#isAwaited || this.#body.contains(document.activeElement);
    const frame = element("div", { class: "graph-frame" }, drawing(graph, root));
    replace(this.#body, frame, notes(reports, graph), relationLists(reports));
    if (hadFocus) {
      this.focus();
    }
    centre(frame, frame.querySelector(".node.root"));
    showEdges(frame);
  }

  /** Moves the focus to the nearest node in a direction. */
  #move(node, key) {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[key];
    if (!step) {
      return false;
    }
    const at = (one) => [Number(one.dataset.x), Number(one.dataset.y)];
    const [x, y] = at(node);
    const distance = (one) => {
      const [dx, dy] = [at(one)[0] - x, at(one)[1] - y];
      const isThere = step[0] !== 0 ? dx * step[0] > 0 : dx === 0 && dy * step[1] > 0;
      return isThere ? Math.abs(dx) * 4 + Math.abs(dy) : Infinity;
    };
    const nodes = [...this.#body.querySelectorAll(".node")].sort((a, b) => distance(a) - distance(b));
    if (distance(nodes[0]) < Infinity) {
      nodes[0].focus();
    }
    return true;
  }
}

/** Scrolls a frame so that a node is in the centre of the frame. */
function centre(frame, node) {
  const [outer, inner] = [frame.getBoundingClientRect(), node.getBoundingClientRect()];
  frame.scrollLeft += inner.left + inner.width / 2 - outer.left - outer.width / 2;
  frame.scrollTop += inner.top + inner.height / 2 - outer.top - outer.height / 2;
}

function drawing({ nodes, edges, width, height }, root) {
  const size = [width + 2 * MARGIN, height + 2 * MARGIN];
  const arrow = drawn(
    "marker",
    { id: "arrow", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" },
    drawn("path", { d: "M0 0 L8 4 L0 8 z" }),
  );
  const places = endings(nodes.map(({ chunk }) => chunk.file));
  return drawn(
    "svg",
    { class: "graph", width: size[0], height: size[1], viewBox: [-MARGIN, -MARGIN, ...size].join(" "), role: "group", "aria-label": `Relations of ${root.name}` },
    drawn("defs", {}, arrow),
    edges.map(({ from, to, confidence }) => drawn("path", { class: confidence < SURE ? "edge unsure" : "edge", d: curve(from, to), "marker-end": "url(#arrow)" })),
    nodes.map((node) => box(node, places.get(node.chunk.file), node.chunk.id === root.id)),
  );
}

function curve(from, to) {
  const [x1, y1] = [from.x + NODE.width, from.y + NODE.height / 2];
  const [x2, y2] = [to.x - 1, to.y + NODE.height / 2];
  // An edge within a layer, or to an earlier layer, starts and ends on the right side of its nodes.
  if (x2 < x1) {
    const out = Math.max(x1, to.x + NODE.width) + 40;
    return `M${x1} ${y1} C${out} ${y1} ${out} ${y2} ${to.x + NODE.width} ${y2}`;
  }
  const bend = (x2 - x1) / 2;
  return `M${x1} ${y1} C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`;
}

/** Returns the node of a definition. `place` is the shortest ending of its path that is unique in the drawing. */
function box({ chunk, x, y }, place, isRoot) {
  const file = fileLink(chunk.file, chunk.line_start, chunk.line_end);
  return drawn(
    "a",
    {
      class: isRoot ? "node root" : "node",
      // The root definition links to its text, and other definitions link to their relations.
      href: isRoot ? file : link("graph", { name: chunk.id, depth: here().get("depth"), relation: here().get("relation") }),
      "aria-label": `${chunk.name}, ${chunk.type} in ${chunk.file}, line ${chunk.line_start}`,
      data: { x, y, file },
    },
    drawn("title", {}, `${chunk.name}\n${chunk.file}:${chunk.line_start}`),
    drawn("rect", { x, y, width: NODE.width, height: NODE.height, rx: 5 }),
    drawn("text", { class: "node-name", x: x + 10, y: y + 17 }, ending(chunk.name, MAX_NAME_CHARS)),
    drawn("text", { class: "node-place", x: x + 10, y: y + 33 }, shortened(`${place}:${chunk.line_start}`, MAX_PLACE_CHARS)),
  );
}

/** Returns whether a name equals a qualified name or its last part. */
function isLastPart(name, qualified) {
  const before = qualified.slice(0, -name.length);
  return qualified.toLowerCase().endsWith(name.toLowerCase()) && /(^|::|[.#/])$/.test(before);
}

/** Returns the end of a text, which is the most informative part of a qualified name. */
function ending(text, length) {
  const characters = [...text];
  return characters.length > length ? `…${characters.slice(1 - length).join("")}` : text;
}

function notes(reports, { hidden, edges }) {
  const leftOut = reports.reduce((sum, report) => sum + report.left_out, 0);
  const texts = [
    edges.some((edge) => edge.confidence < SURE) && "Dashed relations are less certain.",
    hidden > 0 && `${count(hidden)} more are only in the list.`,
    leftOut > 0 && `${counted(leftOut, "relation")} of low confidence ${leftOut === 1 ? "was" : "were"} omitted.`,
    reports.some((report) => !report.complete) && "There are more relations than can be shown.",
  ];
  return element("p", { class: "graph-notes faint" }, texts.filter(Boolean).join(" "));
}
