// How far the current index run is.

import { element, replace } from "./dom.js";
import { count, counted, duration } from "./format.js";
import { listen, stopListening } from "./run-events.js";

/** Shows the index runs of the root that is shown. */
export class RunProgress {
  node = element("div", { class: "run-progress", hidden: true });
  #onEnd;
  #isRunning = false;
  #listener = (status) => this.#show(status);

  /** `onEnd` is called whenever a run has come to its end. */
  constructor(onEnd) {
    this.#onEnd = onEnd;
  }

  /** Shows the runs of the root that the URL names from now on. */
  follow() {
    listen(this.#listener);
  }

  /** Shows no runs any more. */
  end() {
    stopListening(this.#listener);
    this.#isRunning = false;
    this.node.hidden = true;
  }

  #show(status) {
    this.node.hidden = status?.phase !== "running";
    if (status === null) {
      return;
    }
    const wasRunning = this.#isRunning;
    this.#isRunning = status.phase === "running";
    if (this.#isRunning) {
      this.#showFigures(status);
    } else if (wasRunning) {
      this.#onEnd();
    }
  }

  #showFigures({ files_done: done, files_total: total, chunks, elapsed_ms: elapsed, ...status }) {
    const known = total === null ? {} : { value: done, max: Math.max(total, 1) };
    const files = total === null ? counted(done, "file") : `${count(done)} of ${counted(total, "file")}`;
    const commits = status.commits_total > 0 && `${count(status.commits_done)} of ${counted(status.commits_total, "commit")}`;
    const figures = [files, counted(chunks, "chunk"), commits, duration(elapsed)].filter(Boolean).join(" · ");
    replace(
      this.node,
      element("span", {}, "Indexing"),
      element("progress", { "aria-label": "Files of the current index run", ...known }),
      element("span", { class: "faint" }, figures),
    );
  }
}
