// Shows the progress of the current index run.

import { element, replace } from "./dom.js";
import { count, counted, duration } from "./format.js";
import { listen, stopListening } from "./run-events.js";

/** Shows the index runs of the current root. */
export class RunProgress {
  node = element("div", { class: "run-progress", hidden: true });
  #onEnd;
  #isRunning = false;
  #listener = (status) => this.#show(status);

  /** `onEnd` is called at the end of each run. */
  constructor(onEnd) {
    this.#onEnd = onEnd;
  }

  /** Starts to show the runs of the root that the URL names. */
  follow() {
    listen(this.#listener);
  }

  /** Stops showing runs. */
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
