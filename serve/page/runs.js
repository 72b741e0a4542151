// The runs view: shows the last index runs, and a timeline of one run.

import { link } from "./address.js";
import { get, isAbort } from "./api.js";
import { element, failure, message, replace } from "./dom.js";
import { ago, bytes, count, counted, duration, moment } from "./format.js";
import { RunProgress } from "./progress.js";
import { timeline } from "./timeline.js";

/** Shows the index runs of the root. */
export class RunsView {
  #list = element("ol", { class: "run-list" });
  #run = element("div", { class: "run" });
  #body;
  #progress = new RunProgress(() => this.#open());
  #chosen = null;
  #request = null;

  constructor(section) {
    this.#body = element("div", { class: "runs-body" });
    section.append(element("header", { class: "page-head" }, element("h1", {}, "Index runs")), this.#progress.node, this.#body);
  }

  /** Shows the run that an address names, or the last run, and returns the title of the page. */
  show(address) {
    // Requested each time, because a run may have ended while another view was shown.
    this.#chosen = address.get("run");
    this.#open();
    this.#progress.follow();
    return "Runs · Aurora";
  }

  /** Called when another view is shown. */
  leave() {
    this.#progress.end();
  }

  async #open() {
    this.#request?.abort();
    const { signal } = (this.#request = new AbortController());
    try {
      const { runs } = await get("runs", {}, signal);
      signal.throwIfAborted();
      if (runs.length === 0) {
        replace(this.#body, message("There are no runs yet.", "Every index run that changes the index is listed here."));
        return;
      }
      const run = runs.find((run) => key(run) === this.#chosen) ?? runs[0];
      replace(this.#list, runs.map((one) => entry(one, one === run)));
      replace(this.#run, head(run), timeline(run));
      replace(this.#body, element("nav", { "aria-label": "Runs" }, this.#list), this.#run);
    } catch (error) {
      if (!signal.aborted && !isAbort(error)) {
        replace(this.#body, failure(error));
      }
    }
  }
}

function key(run) {
  // Runs of a job that changed nothing have the same generation.
  return `${run.generation}-${run.ended}`;
}

function ended(run) {
  return new Date(run.ended * 1000).toISOString();
}

function entry(run, isShown) {
  return element(
    "li",
    {},
    element(
      "a",
      { href: link("runs", { run: key(run) }), "aria-current": isShown ? "true" : null, title: moment(ended(run)) },
      element("span", {}, ago(ended(run))),
      element("span", { class: "faint" }, duration(run.elapsed_ms)),
      element("span", { class: "faint" }, `${counted(run.indexed, "file")} indexed, ${count(run.deleted)} removed`),
      run.error ? element("span", { class: "badge warn" }, "failed") : !run.completed && element("span", { class: "badge warn" }, "stopped"),
      run.violations?.length > 0 && element("span", { class: "badge warn", title: run.violations.join("\n") }, counted(run.violations.length, "violation")),
    ),
  );
}

function head(run) {
  const figures = [
    ["Ended", moment(ended(run))],
    ["Took", duration(run.elapsed_ms)],
    ["Generation", count(run.generation)],
    ["Files indexed", count(run.indexed)],
    ["Unchanged", count(run.unchanged)],
    ["Removed", count(run.deleted)],
    ["Chunks created", count(run.changed_chunks)],
    ["Lines parsed", count(run.lines)],
    ["Peak memory", run.peak_memory_bytes === null ? "" : bytes(run.peak_memory_bytes)],
    ["Errors", count(run.errors)],
    ["Warnings", count(run.warnings)],
    ["Error", run.error ?? ""],
    ["Violations", (run.violations ?? []).join("; ")],
  ].filter(([, value]) => value !== "");
  return element("dl", { class: "figures" }, figures.map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, value))));
}
