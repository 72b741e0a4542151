// Shows facets, which are common properties of the matching chunks with counts, and the active filters.

import { go, here } from "./address.js";
import { element, replace } from "./dom.js";
import { count } from "./format.js";

/** URL parameters that narrow a search. */
export const FILTERS = ["type", "lang", "path", "mode"];

/** Number of values of a facet that are shown before the reader asks for all values. */
const SHOWN = 8;

/** Filters that have at most one value. */
const ONE_OF = ["root"];

/** Descriptions of the types of chunks. */
const TYPES = {
  function: "Functions outside of types",
  method: "Functions of a type",
  class: "Classes",
  interface: "Interfaces, protocols and traits",
  type: "Type aliases and other named types",
  struct: "Structs and records",
  enum: "Enumerations",
  code: "Source code outside of definitions. The filter “code” means every type of source code, so this one cannot be chosen.",
  kb: "Sections of Markdown (“knowledge base”)",
  doc: "Sections of other documents, such as PDF, Word and plain text",
  reasoning: "Stored reasoning patterns",
  knowledge: "Phases of conversation logs",
};

/** The filter `code` means every type of source code, but the facet `code` means code without a definition. So this value of the facet cannot be chosen as a filter. */
const NO_FILTER = { type: ["code"] };

const MODES = { "": "Words and meaning", sparse: "Words only", dense: "Meaning only" };

/** Facets, filters and the mode of the search. */
export class FacetPanel {
  node;
  #counts = element("div", { class: "facet-groups" });
  #mode = element("select", { id: "mode" }, Object.entries(MODES).map(([value, name]) => element("option", { value }, name)));
  #path = element("input", { id: "path", type: "text", placeholder: "src/**/*.py", spellcheck: "false", autocomplete: "off" });
  #clear = element("button", { type: "button", class: "plain", onclick: () => clear() }, "Clear all filters");
  /** Facets whose values are all shown. */
  #whole = new Set();
  #facets = null;

  constructor() {
    this.#mode.addEventListener("change", () => change((address) => set(address, "mode", this.#mode.value)));
    this.#path.addEventListener("change", () => {
      const directories = here().getAll("path").filter(isDirectory);
      change((address) => set(address, "path", [...directories, this.#path.value.trim()]));
    });
    const body = element(
      "div",
      { class: "facet-body" },
      this.#clear,
      this.#counts,
      element("div", { class: "field" }, element("label", { for: "path" }, "Path pattern"), this.#path),
      element("div", { class: "field" }, element("label", { for: "mode" }, "Ranked by"), this.#mode),
    );
    const summary = element("summary", {}, element("h2", {}, "Filters"));
    this.node = element("details", { class: "facets", open: matchMedia("(min-width: 48rem)").matches }, summary, body);
  }

  /** Shows the filters of an address. */
  showFilters(address) {
    this.#mode.value = address.get("mode") ?? "";
    this.#path.value = address.getAll("path").find((path) => !isDirectory(path)) ?? "";
    this.#clear.hidden = !FILTERS.some((name) => address.has(name));
  }

  /** Shows counts, or only the filters if there are no counts. */
  showCounts(facets) {
    this.#facets = facets;
    replace(
      this.#counts,
      this.#group("Project", "root", facets?.roots ?? []),
      this.#group("Type", "type", facets?.types ?? []),
      this.#group("Language", "lang", facets?.languages ?? []),
      this.#group("Directory", "path", facets?.directories ?? []),
    );
  }

  #group(title, name, counts) {
    const chosen = here().getAll(name).filter((value) => name !== "path" || isDirectory(value));
    const missing = chosen.filter((value) => !counts.some((one) => pattern(name, one.value) === value));
    const all = [...missing.map((value) => ({ value, chunks: null })), ...counts];
    if (all.length === 0) {
      return null;
    }
    const most = Math.max(...counts.map((one) => one.chunks), 1);
    const shown = this.#whole.has(name) ? all : all.slice(0, SHOWN);
    const whole = () => {
      this.#whole.add(name);
      this.showCounts(this.#facets);
    };
    const id = `facet-${name}`;
    return element(
      "section",
      { "aria-labelledby": id },
      element("h3", { id }, title),
      element("ul", {}, shown.map((one) => element("li", {}, value(name, one, chosen, most)))),
      all.length > shown.length &&
        element(
          "button",
          { type: "button", class: "plain", data: { key: `more ${name}` }, onclick: whole },
          `${count(all.length - shown.length)} more`,
        ),
    );
  }
}

/** Returns a value of a facet as a toggle for its filter. Chosen values without matches have no count. */
function value(name, { value, chunks }, chosen, most) {
  const filter = chunks === null ? value : pattern(name, value);
  const variables = { share: (chunks ?? 0) / most };
  const content = [
    element("span", { class: "facet-name" }, name === "path" ? shortened(value) : value),
    element("span", { class: "facet-count" }, chunks === null ? "" : count(chunks)),
  ];
  const title = (name === "type" && TYPES[value]) || value;
  if (NO_FILTER[name]?.includes(value)) {
    return element("span", { class: "facet fixed", title }, content);
  }
  const isOn = chosen.includes(filter);
  const others = chosen.filter((one) => one !== filter && !filter.startsWith(`${one}/`));
  const chosenNext = ONE_OF.includes(name) ? [filter] : [...others, filter];
  const onclick = () => change((address) => set(address, name, isOn ? others : chosenNext));
  const data = { key: `${name} ${filter}` };
  return element("button", { type: "button", class: "facet", "aria-pressed": String(isOn), title, data, variables, onclick }, content);
}

/** Returns the filter for a value. For a directory, this is a pattern that matches exactly that directory. */
function pattern(name, value) {
  return name === "path" ? `/${value.replace(/[*?[\]{}\\]/g, "\\$&")}` : value;
}

function shortened(path) {
  const parts = path.replace(/^\//, "").split("/");
  return parts.length > 2 ? `…/${parts.slice(-2).join("/")}` : parts.join("/");
}

/** Returns whether a pattern comes from the directory facet. Such patterns begin with a slash, unlike typed patterns. */
function isDirectory(path) {
  return path.startsWith("/");
}

function set(address, name, values) {
  address.delete(name);
  for (const value of [values].flat().filter((value) => value !== "")) {
    address.append(name, value);
  }
}

function clear() {
  change((address) => FILTERS.forEach((name) => address.delete(name)));
}

function change(edit) {
  const address = here();
  edit(address);
  address.delete("limit");
  go(`?${address}`);
}
