// The search view: asks while the reader types, and shows results, facets and why a result is where it is.

import { go, here, link, rootOf, viewOf } from "./address.js";
import { get, isAbort, post } from "./api.js";
import { element, failure, message, replace } from "./dom.js";
import { ExplanationPanel } from "./explanation.js";
import { FacetPanel, FILTERS } from "./facets.js";
import { ago, counted, duration } from "./format.js";
import { ResultList } from "./results.js";

/** Time after the last key before a search is sent. */
const PAUSE = 120;
/** Results of a search, and how many more the button at their end asks for. */
const RESULTS = 30;
const MOST_RESULTS = 300;
/** Lines of code for each result. */
const SNIPPET_LINES = 5;

/** Shows the results of the search that the URL holds. */
export class SearchView {
  #input;
  #status = element("p", { class: "status", role: "status" });
  #notes = element("ul", { class: "notes", hidden: true });
  #facets = new FacetPanel();
  #explanation = new ExplanationPanel();
  #results = new ResultList((hit) => this.#explanation.show(hit));
  #more = element("div", { class: "more" });
  #found;
  #request = null;
  #timer = null;
  /** The text that the URL got from the input last: another one there has come from elsewhere. */
  #typed = "";
  /** The address whose results are shown or on their way. */
  #shown = null;

  constructor(section, input) {
    this.#input = input;
    this.#found = element("div", { class: "found" }, this.#results.node, this.#more);
    section.append(
      element("h1", { class: "unseen" }, "Search"),
      this.#facets.node,
      element("div", { class: "answer" }, this.#status, this.#notes, this.#found),
      this.#explanation.node,
    );
    input.addEventListener("input", () => this.#wait());
    input.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && !event.isComposing) {
        this.#send();
      }
    });
  }

  /** Shows the results of an address; the title of the page. */
  show(address) {
    const query = address.get("q") ?? "";
    if (query !== this.#typed) {
      this.#typed = query;
      this.#input.value = query;
    }
    const key = String(address);
    if (key !== this.#shown) {
      this.#shown = key;
      this.#facets.showFilters(address);
      this.#ask(address, query);
    }
    return query ? `${query} · Aurora` : "Aurora";
  }

  /** Returns to the result that was opened, or to the search. */
  focus() {
    if (!this.#results.focusSelected()) {
      this.#input.focus();
    }
  }

  /** Uses a key; whether it has. */
  key(key) {
    const isTyping = document.activeElement === this.#input;
    if (isTyping && key !== "ArrowDown" && key !== "Enter") {
      return false;
    }
    switch (key) {
      case "j":
      case "ArrowDown":
        return isTyping ? this.#results.focusFirst() : this.#results.move(1);
      case "k":
      case "ArrowUp":
        return this.#results.move(-1) || this.#focusInput();
      case "Enter":
        return isTyping && this.#results.focusFirst();
      case "e":
        return this.#explanation.toggle();
      case "g":
        return this.#openGraph();
      case "Escape":
        return this.#focusInput();
      default:
        return false;
    }
  }

  #focusInput() {
    this.#input.focus();
    return true;
  }

  #openGraph() {
    const hit = this.#results.selected();
    if (hit) {
      go(link("graph", { name: hit.id, ...rootOf(hit) }));
    }
    return Boolean(hit);
  }

  #wait() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#send(), PAUSE);
  }

  /** Puts what is typed into the URL, which shows its results. */
  #send() {
    clearTimeout(this.#timer);
    const typed = this.#input.value.trim();
    if (typed === this.#typed && viewOf(here()) === "search") {
      return;
    }
    this.#typed = typed;
    const isHere = viewOf(here()) === "search";
    const filters = isHere ? Object.fromEntries(FILTERS.map((name) => [name, here().getAll(name)])) : {};
    go(link("search", { q: typed, ...filters }), { replaces: isHere && here().has("q") });
  }

  /** Asks for results. An answer counts only while nothing else has been asked: older ones never replace newer ones. */
  async #ask(address, query) {
    this.#request?.abort();
    const { signal } = (this.#request = new AbortController());
    this.#found.setAttribute("aria-busy", "true");
    try {
      if (query === "") {
        await this.#welcome(signal);
      } else {
        const limit = Math.min(Number(address.get("limit")) || RESULTS, MOST_RESULTS);
        const found = await post("search", this.#body(address, query, limit), signal);
        signal.throwIfAborted();
        this.#showResults(found, limit);
      }
    } catch (error) {
      if (signal.aborted || isAbort(error)) {
        return;
      }
      this.#clear();
      replace(this.#more, failure(error));
    }
    this.#found.removeAttribute("aria-busy");
  }

  #body(address, query, limit) {
    const mode = address.get("mode");
    return {
      query,
      limit,
      ...(mode ? { mode } : {}),
      type: address.getAll("type"),
      lang: address.getAll("lang"),
      path: address.getAll("path"),
      snippets: SNIPPET_LINES,
      highlight: true,
      facets: true,
      // What is shown while somebody types was not looked for.
      record: false,
    };
  }

  #showResults(found, limit) {
    const { results, stages, facets, index } = found;
    const files = new Set(results.map((hit) => `${hit.root}/${hit.file}`)).size;
    const age = index ? ` · index of ${ago(index.updated)}` : "";
    const what = `${counted(results.length, "result")} in ${counted(files, "file")}`;
    const words = facets ? ` · ${counted(facets.chunks, "chunk")} with words of the query` : "";
    replace(this.#status, results.length === 0 ? "Nothing was found" : what, `${words} · ${duration(found.took_ms)}${age}`);
    replace(this.#notes, found.notes.map((note) => element("li", {}, note)));
    this.#notes.hidden = found.notes.length === 0;
    this.#facets.showCounts(facets);
    this.#results.show(results);
    this.#explanation.show(results[0] ?? null);
    const mayBeMore = results.length === limit && limit < MOST_RESULTS && stages.ranked > results.length;
    const more = () => {
      const next = here();
      next.set("limit", Math.min(limit + RESULTS, MOST_RESULTS));
      go(`?${next}`, { replaces: true });
    };
    replace(this.#more, mayBeMore && element("button", { type: "button", onclick: more }, "More results"));
  }

  #clear() {
    replace(this.#status, "");
    this.#notes.hidden = true;
    this.#facets.showCounts(null);
    this.#results.show([]);
    this.#explanation.show(null);
    replace(this.#more);
  }

  /** What there is to search. */
  async #welcome(signal) {
    const contents = await get("stats", {}, signal);
    signal.throwIfAborted();
    this.#clear();
    const languages = contents.languages.slice(0, 4).map((share) => share.name);
    const text = `${counted(contents.chunks, "chunk")} of ${counted(contents.files, "file")} can be searched`;
    const help = "Ask in words, such as “where is the cache written”, or by the name of a function or a class.";
    replace(this.#more, message(languages.length ? `${text}, most in ${languages.join(", ")}.` : `${text}.`, help));
  }
}
