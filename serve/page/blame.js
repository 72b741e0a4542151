// Shows the commit and author of each line of a file.

import { element } from "./dom.js";
import { ago, moment } from "./format.js";

/** The commits and authors of the lines of a file. */
export class Blame {
  #runs;
  #oldest;
  #newest;

  /** `runs` are runs of lines from one commit each, in the order of the file, as sent by the server. */
  constructor(runs) {
    this.#runs = runs;
    const times = runs.filter((run) => run.time).map((run) => Date.parse(run.time));
    this.#oldest = times.reduce((a, b) => Math.min(a, b), Infinity);
    this.#newest = times.reduce((a, b) => Math.max(a, b), -Infinity);
  }

  /**
   * Returns the cell of a line. At the start of a run, or if `isHead`, the cell names the commit and the author. The
   * colour of its strip is stronger for newer lines.
   */
  cell(line, isHead) {
    const run = this.#at(line);
    if (!run) {
      return element("span", { class: "who" });
    }
    const commit = run.commit ? run.commit.slice(0, 8) : "not committed";
    const title = run.commit
      ? `${run.commit}\n${run.author ?? ""} <${run.email ?? ""}>\n${moment(run.time)}`
      : "This line is not committed";
    const content = [
      element("span", { class: "who-commit" }, commit),
      element("span", { class: "who-author" }, run.author ?? ""),
      element("span", { class: "who-time" }, run.time ? ago(run.time) : ""),
    ];
    const isShown = isHead || run.line === line;
    return element("span", { class: "who", title, variables: { age: this.#recency(run) } }, isShown && content);
  }

  #at(line) {
    let [low, high] = [0, this.#runs.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#runs[middle].line <= line) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    const run = this.#runs[low - 1];
    return run && line < run.line + run.lines ? run : null;
  }

  /** Returns 1 for the newest lines of the file, 0 for the oldest, and values between for other lines. */
  #recency(run) {
    if (!run.time || this.#newest === this.#oldest) {
      return 1;
    }
    return (Date.parse(run.time) - this.#oldest) / (this.#newest - this.#oldest);
  }
}
