// Explains the rank of a result with bars that show how much each part contributes to the score.

import { link, resultLink, rootOf } from "./address.js";
import { element, replace } from "./dom.js";
import { ago, counted } from "./format.js";

const WIDE = matchMedia("(min-width: 80rem)");

/** The score of the selected result. */
export class ExplanationPanel {
  node = element("aside", { class: "explanation", "aria-label": "Score of the result", tabindex: "-1" });
  /** On narrow screens, the panel is closed until the reader opens it. */
  #isOpen = WIDE.matches;
  #hit = null;

  constructor() {
    WIDE.addEventListener("change", () => {
      this.#isOpen = WIDE.matches;
      this.show(this.#hit);
    });
  }

  /** Shows the score of a result, or nothing for null. */
  show(hit) {
    this.#hit = hit;
    this.node.hidden = hit === null;
    if (hit === null) {
      return;
    }
    const toggle = element(
      "button",
      { type: "button", class: "plain", "aria-expanded": String(this.#isOpen), data: { key: "score" }, onclick: () => this.toggle() },
      this.#isOpen ? "Hide" : "Show",
    );
    const name = hit.qualified_name || hit.name || hit.file;
    replace(
      this.node,
      element("header", {}, element("h2", {}, "Score"), element("span", { class: "explained" }, name), toggle),
      this.#isOpen && [bars(hit), facts(hit), links(hit)],
    );
  }

  /** Opens or closes the panel. */
  toggle() {
    this.#isOpen = !this.#isOpen;
    const hadFocus = this.node.contains(document.activeElement);
    this.show(this.#hit);
    if (hadFocus) {
      this.node.querySelector("button").focus();
    }
    return true;
  }
}

/** Returns a bar for each part. The parts add up to the score. */
function bars({ score, scores, explanation }) {
  const parts = [
    ["Words", scores.weighted.bm25, explanation.bm25],
    ["Meaning", scores.weighted.semantic, explanation.semantic],
    ["Activity", scores.weighted.activation, explanation.activation],
    ...explanation.rules.map((rule) => [rule.rule.replaceAll("_", " "), rule.effect, rule.reason]),
  ];
  let sum = 0;
  const rows = parts.map(([name, value, reason]) => {
    const from = Math.min(sum, sum + value);
    sum += value;
    return row(name, value, reason, from);
  });
  return element("ol", { class: "bars" }, rows, row("Score", score, "", 0, "total"));
}

/** Returns the bar of a part, which begins where the previous bar ends. */
function row(name, value, reason, from, kind = value < 0 ? "less" : "") {
  const variables = { from: clamp(from), share: clamp(Math.abs(value)) };
  return element(
    "li",
    { class: kind },
    element("span", { class: "bar-name" }, name),
    element("span", { class: "bar-value" }, `${kind === "total" ? "" : value < 0 ? "−" : "+"}${Math.abs(value).toFixed(3)}`),
    element("span", { class: "bar-track", "aria-hidden": true }, element("span", { class: "bar-fill", variables })),
    reason && element("span", { class: "bar-reason" }, reason),
  );
}

function clamp(value) {
  return Math.max(0, Math.min(1, value));
}

function facts({ git, access, explanation, scores }) {
  const rows = [
    ["Matching words", explanation.matched_terms.join(", ")],
    ["Last change", git.last_modified && `${ago(git.last_modified)} in ${counted(git.commits, "commit")}`],
    ["Authors", git.authors.join(", ")],
    ["Shown before", access?.count ? counted(access.count, "time") : ""],
    ["Cosine", scores.raw.cosine?.toFixed(3)],
    ["BM25", scores.raw.bm25.toFixed(2)],
  ];
  const shown = rows.filter(([, value]) => value);
  return element("dl", { class: "facts" }, shown.map(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]));
}

function links(hit) {
  return element(
    "p",
    { class: "links" },
    element("a", { href: resultLink(hit, hit.line_start, hit.line_end), data: { key: "score file" } }, "Open the file"),
    element("a", { href: link("graph", { name: hit.id, ...rootOf(hit) }), data: { key: "score graph" } }, "Callers and callees"),
  );
}
