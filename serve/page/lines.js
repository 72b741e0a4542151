// Shows the text of a file, line by line. Blocks of lines are plain text until they come near the viewport. Therefore,
// long files open immediately, and the browser's own search finds everything.

import { fileLink } from "./address.js";
import * as code from "./code.js";
import { element, replace } from "./dom.js";

/** Number of lines in a block. */
const BLOCK = 200;
/** Maximum number of characters shown of a line. */
const MAX_LINE_CHARS = 2000;
/** Distance from the viewport at which a block gets its tokens. */
const NEAR = "1500px 0px";

/** The lines of a file. */
export class Lines {
  node = element("div", { class: "code", role: "region", tabindex: "0", "aria-label": "Text of the file" });
  #path = "";
  #lines = [];
  #tokens = null;
  #blame = null;
  #chosen = null;
  #blocks = [];
  #observer = new IntersectionObserver((entries) => this.#onNear(entries), { rootMargin: NEAR });

  /** Shows a text. `tokens` is a list for each line, or null. */
  show(path, text, tokens) {
    this.#path = path;
    this.#lines = text.split("\n").map((line) => (line.endsWith("\r") ? line.slice(0, -1) : line));
    if (this.#lines.at(-1) === "") {
      this.#lines.pop();
    }
    this.#tokens = tokens;
    this.#blame = null;
    this.#chosen = null;
    const widest = this.#lines.reduce((most, line) => Math.max(most, code.columns(line.slice(0, MAX_LINE_CHARS))), 0);
    const digits = String(this.#lines.length).length;
    this.node.style.setProperty("--columns", widest + 2);
    this.node.style.setProperty("--digits", Math.max(digits, 3));
    this.#observer.disconnect();
    this.#blocks = [];
    for (let first = 0; first < this.#lines.length; first += BLOCK) {
      this.#blocks.push(this.#block(first));
    }
    replace(this.node, this.#blocks.map((block) => block.node));
    this.#blocks.forEach((block) => this.#observer.observe(block.node));
  }

  /** Shows the commits of the lines; null hides them. */
  setBlame(blame) {
    this.#blame = blame;
    this.node.classList.toggle("with-blame", blame !== null);
    this.#refresh();
  }

  /** Highlights lines, as `[first, last]`, and scrolls to them; null removes the highlight. */
  choose(lines) {
    this.#chosen = lines;
    this.#refresh();
    const block = lines && this.#blocks[Math.floor((lines[0] - 1) / BLOCK)];
    if (block) {
      this.#fill(block);
      const row = block.node.children[(lines[0] - 1) % BLOCK];
      row?.scrollIntoView({ block: "center", inline: "start" });
    }
  }

  #block(first) {
    const last = Math.min(first + BLOCK, this.#lines.length);
    const text = this.#lines.slice(first, last).map((line) => line.slice(0, MAX_LINE_CHARS));
    const node = element("div", { class: "block", variables: { lines: last - first } }, text.join("\n"));
    return { node, first, last, isFilled: false };
  }

  #onNear(entries) {
    for (const entry of entries.filter((entry) => entry.isIntersecting)) {
      this.#fill(this.#blocks.find((block) => block.node === entry.target));
    }
  }

  #fill(block) {
    if (!block.isFilled) {
      block.isFilled = true;
      this.#observer.unobserve(block.node);
      this.#write(block);
    }
  }

  #refresh() {
    this.#blocks.filter((block) => block.isFilled).forEach((block) => this.#write(block));
  }

  #write(block) {
    const rows = [];
    for (let at = block.first; at < block.last; at += 1) {
      rows.push(this.#row(at, at === block.first));
    }
    replace(block.node, rows);
  }

  #row(at, isHead) {
    const number = at + 1;
    const isChosen = this.#chosen !== null && this.#chosen[0] <= number && number <= this.#chosen[1];
    const tokens = this.#tokens?.[at] ?? [];
    return element(
      "div",
      { class: isChosen ? "line chosen" : "line" },
      this.#blame && this.#blame.cell(number, isHead),
      element("a", { class: "number", href: fileLink(this.#path, number), tabindex: "-1", data: { line: number } }, number),
      element("code", {}, code.line(this.#lines[at], { tokens, longest: MAX_LINE_CHARS })),
    );
  }
}
