// The search view: searches while the reader types. Shows results, facets and the explanation of a result's rank.

import { go, here, link, rootOf, viewOf } from "./address.js";
import { get, isAbort, post } from "./api.js";
import { element, failure, keepingFocus, message, replace } from "./dom.js";
import { ExplanationPanel } from "./explanation.js";
import { FacetPanel, FILTERS } from "./facets.js";
import { ago, counted, duration } from "./format.js";
import { ResultList } from "./results.js";
import { listen, stopListening } from "./run-events.js";

/** Delay after the last key before a search is sent, in milliseconds. */
const PAUSE = 120;
/** Number of results of a search. The button for more results adds the same number. */
const RESULTS = 30;
/** Maximum number of results. */
const MAX_RESULTS = 300;
/** Maximum number of lines of code for each result. */
const SNIPPET_LINES = 5;

/** Shows the results of the search in the URL. */
export class SearchView {
  #input;
  #count = element("span", { role: "status" });
  #facts = element("span");
  #notes = element("ul", { class: "notes", hidden: true });
  #facets = new FacetPanel();
  #explanation = new ExplanationPanel();
  #results = new ResultList((hit) => this.#explanation.show(hit));
  #more = element("div", { class: "more" });
  #found;
  #request = null;
  #timer = null;
  /** The last text that was typed and put into the URL. Another text in the URL was not typed, but comes from a link. */
  #typed = "";
  /** The URL parameters of the search whose results are shown or requested. */
  #shown = null;
  /** The data from which the list was created. */
  #listed = "";
  /** The generation of the shown answer; null if several roots are searched. */
  #answered = null;
  /** The last generation that an index run has published. */
  #published = null;
  /** Whether the shown answer may be outdated. */
  #isOld = false;
  #listener = (status) => this.#onRun(status);

  constructor(section, input) {
    this.#input = input;
    this.#found = element("div", { class: "found" }, this.#results.node, this.#more);
    section.append(
      element("h1", { class: "unseen" }, "Search"),
      this.#facets.node,
      element("div", { class: "answer" }, element("p", { class: "status" }, this.#count, this.#facts), this.#notes, this.#found),
      this.#explanation.node,
    );
    input.addEventListener("input", () => this.#wait());
    input.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && !event.isComposing && this.#send()) {
        event.preventDefault();
      }
    });
    // A reader who returns from an editor may have changed files. The server does not report generations that other
    // processes publish, so the answer is requested again.
    addEventListener("focus", () => {
      if (!section.hidden && this.#request === null) {
        this.#isOld = true;
        this.#refresh();
      }
    });
  }

  /** Shows the results of an address, and returns the title of the page. */
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
      this.#ask(address);
    }
    listen(this.#listener);
    return query ? `${query} · Aurora` : "Aurora";
  }

  /** Called when another view is shown. */
  leave() {
    stopListening(this.#listener);
  }

  /** Focuses the selected result, or the input. */
  focus() {
    if (!this.#results.focusSelected()) {
      this.#input.focus();
    }
  }

  /** Handles a key, and returns whether it was used. */
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

  /** Puts the typed text into the URL, so that its results are shown. Returns whether results are being requested. */
  #send() {
    clearTimeout(this.#timer);
    this.#timer = null;
    const typed = this.#input.value.trim();
    const isHere = viewOf(here()) === "search";
    if (typed === this.#typed && isHere) {
      this.#refresh();
      return this.#request !== null;
    }
    this.#typed = typed;
    const filters = isHere ? Object.fromEntries(FILTERS.map((name) => [name, here().getAll(name)])) : {};
    go(link("search", { q: typed, ...filters }), { replaces: isHere && here().has("q") });
    return true;
  }

  #onRun(status) {
    const published = status?.record?.generation ?? null;
    if (published !== null && published !== this.#published) {
      this.#published = published;
      this.#isOld = published !== this.#answered;
      this.#refresh();
    }
  }

  /** Requests an outdated answer again. Does nothing if a request or typed text is pending, because these lead to a new answer. */
  #refresh() {
    if (this.#isOld && this.#request === null && this.#timer === null) {
      this.#ask(new URLSearchParams(this.#shown), { isQuiet: true });
    }
  }

  /**
   * Requests results. Answers to earlier requests are ignored. A quiet request was not caused by the reader. So nothing
   * moves, and the shown results stay if the request fails.
   */
  async #ask(address, { isQuiet = false } = {}) {
    this.#request?.abort();
    const { signal } = (this.#request = new AbortController());
    this.#isOld = false;
    if (!isQuiet) {
      this.#found.setAttribute("aria-busy", "true");
    }
    try {
      const query = address.get("q") ?? "";
      const limit = Math.min(Number(address.get("limit")) || RESULTS, MAX_RESULTS);
      // Filters without a query list all matching chunks.
      const isEmpty = query === "" && FILTERS.every((name) => name === "mode" || !address.has(name));
      const answer = isEmpty ? await get("stats", {}, signal) : await post("search", this.#body(address, query, limit), signal);
      signal.throwIfAborted();
      if (isEmpty) {
        this.#welcome(answer);
      } else {
        this.#showAnswer(answer, limit, isQuiet);
      }
      this.#isOld &&= this.#answered !== this.#published;
    } catch (error) {
      if (signal.aborted || isAbort(error)) {
        return;
      }
      if (isQuiet) {
        this.#request = null;
        this.#isOld = true;
        return;
      }
      this.#clear();
      replace(this.#more, failure(error));
    }
    this.#found.removeAttribute("aria-busy");
    this.#request = null;
    this.#refresh();
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
      // Results that appear while the reader types do not count as accessed.
      record: false,
    };
  }

  #showAnswer(found, limit, isQuiet) {
    const { results, stages, facets, index } = found;
    const distant = found.close === false && results.length > 0 ? ["Nothing close was found; the nearest are:"] : [];
    // The line introduces the results, so it is the last of the notes.
    const notes = [...found.notes, ...distant];
    this.#answered = index?.generation ?? null;
    const files = new Set(results.map((hit) => `${hit.root}/${hit.file}`)).size;
    const age = index ? ` · index published ${ago(index.updated)}` : "";
    const what = results.length === 0 ? "Nothing was found" : `${counted(results.length, "result")} in ${counted(files, "file")}`;
    const words = facets && found.query ? ` · ${counted(facets.chunks, "chunk")} with words of the query` : "";
    if (this.#count.textContent !== what) {
      replace(this.#count, what);
    }
    replace(this.#facts, `${words} · ${duration(found.took_ms)}${age}`);
    // Most runs do not change the results. Replacing elements would lose the reader's text selection.
    const listed = JSON.stringify([this.#shown, results, facets, notes]);
    if (isQuiet && listed === this.#listed) {
      return;
    }
    this.#listed = listed;
    // If the reader moved to the results before the answer arrived, the first new result gets the focus.
    const isAhead = !isQuiet && this.#results.node.contains(document.activeElement);
    const mayBeMore = results.length === limit && limit < MAX_RESULTS && (found.query ? stages.ranked : stages.eligible) > results.length;
    keepingFocus(this.#found.closest("section"), () => {
      this.#showNotes(notes);
      this.#facets.showCounts(facets);
      this.#results.show(results, isQuiet ? this.#results.selected() : null);
      this.#explanation.show(this.#results.selected());
      replace(this.#more, mayBeMore && this.#moreButton(limit));
    });
    if (isAhead) {
      this.#results.focusFirst();
    }
  }

  #showNotes(notes) {
    replace(this.#notes, notes.map((note) => element("li", {}, note)));
    this.#notes.hidden = notes.length === 0;
  }

  #moreButton(limit) {
    const more = () => {
      const next = here();
      next.set("limit", Math.min(limit + RESULTS, MAX_RESULTS));
      go(`?${next}`, { replaces: true });
    };
    return element("button", { type: "button", data: { key: "more results" }, onclick: more }, "More results");
  }

  #clear() {
    this.#answered = null;
    this.#listed = "";
    replace(this.#count);
    replace(this.#facts);
    this.#notes.hidden = true;
    this.#facets.showCounts(null);
    this.#results.show([]);
    this.#explanation.show(null);
    replace(this.#more);
  }

  /** Shows the size of the index. */
  #welcome(contents) {
    this.#clear();
    this.#answered = contents.generation;
    const languages = contents.languages.slice(0, 4).map((share) => share.name);
    const text = `${counted(contents.chunks, "chunk")} of ${counted(contents.files, "file")} can be searched`;
    const help = "Ask in words, such as “where is the cache written”, or by the name of a function or a class.";
    replace(this.#more, message(languages.length ? `${text}, most in ${languages.join(", ")}.` : `${text}.`, help));
  }
}
