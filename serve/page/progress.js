// How far the current index run is.

import { events } from "./api.js";
import { element, replace } from "./dom.js";
import { count, counted, duration } from "./format.js";

/** Milliseconds until a connection that has ended is made again. */
const RETRY = 2_000;

/** Follows the index runs of the root that is shown. */
export class RunProgress {
  node = element("div", { class: "run-progress", hidden: true });
  #onEnd;
  #request = null;

  /** `onEnd` is called whenever a run has come to its end. */
  constructor(onEnd) {
    this.#onEnd = onEnd;
  }

  /** Follows the root that the URL names from now on. */
  follow() {
    this.end();
    this.#request = new AbortController();
    this.#read(this.#request.signal);
  }

  /** Ends the connection. */
  end() {
    this.#request?.abort();
    this.node.hidden = true;
  }

  async #read(signal) {
    let isRunning = false;
    while (!signal.aborted) {
      try {
        for await (const status of events("index/events", signal)) {
          signal.throwIfAborted();
          const wasRunning = isRunning;
          isRunning = status.phase === "running";
          this.#show(status, isRunning);
          if (wasRunning && !isRunning) {
            this.#onEnd();
          }
        }
      } catch {
        // The server has gone, and may come back.
      }
      if (!signal.aborted) {
        this.node.hidden = true;
        await new Promise((resolve) => setTimeout(resolve, RETRY));
      }
    }
  }

  #show(status, isRunning) {
    this.node.hidden = !isRunning;
    if (!isRunning) {
      return;
    }
    const { files_done: done, files_total: total, chunks, elapsed_ms: elapsed } = status;
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
