// The contents view: shows the contents of the index by directory and by language, and omitted files, as treemaps and tables.

import { fileLink, go, here, link } from "./address.js";
import { get, isAbort } from "./api.js";
import { element, failure, replace } from "./dom.js";
import { ago, brief, bytes, count, counted, hue, moment, split } from "./format.js";
import { Treemap } from "./treemap.js";

const MEASURES = { bytes: "Size", lines: "Lines", chunks: "Chunks", files: "Files" };
const VIEWS = [[null, "By directory"], ["language", "By language"], ["reason", "Not indexed"]];
/** Maximum number of rows of a table. */
const MAX_ROWS = 500;
/** The label of files whose language was not recognised. */
const NO_LANGUAGE = "no language";

/** Shows the contents of the index of the root. */
export class ContentsView {
  #figures = element("dl", { class: "figures" });
  #by = element("nav", { class: "switch", "aria-label": "Divided" });
  #measure = element("select", { id: "measure" }, Object.entries(MEASURES).map(([value, name]) => element("option", { value }, name)));
  #measureField;
  #trail = element("p", { class: "trail" });
  #treemap = new Treemap();
  #table = element("div", { class: "table", role: "region", tabindex: "0", "aria-label": "Table" });
  #body;
  #request = null;
  #shown = null;

  constructor(section) {
    this.#measure.addEventListener("change", () => {
      const address = here();
      address.set("measure", this.#measure.value);
      go(`?${address}`, { replaces: true });
    });
    this.#measureField = element("span", { class: "choice" }, element("label", { for: "measure" }, "Area"), this.#measure);
    this.#body = element("div", { class: "contents-body" });
    section.append(
      element(
        "header",
        { class: "page-head" },
        element("h1", {}, "Contents of the index"),
        element("div", { class: "tools" }, this.#measureField, this.#by),
      ),
      this.#figures,
      this.#body,
    );
  }

  /** Shows the contents that an address selects, and returns the title of the page. */
  show(address) {
    const by = address.get("by");
    replace(this.#by, VIEWS.map(([name, text]) => choice(text, name, by)));
    this.#measure.value = address.get("measure") in MEASURES ? address.get("measure") : "bytes";
    this.#measureField.hidden = by === "reason";
    if (String(address) !== this.#shown) {
      this.#shown = String(address);
      this.#open(address, by);
    }
    return "Contents · Aurora";
  }

  async #open(address, by) {
    this.#request?.abort();
    const { signal } = (this.#request = new AbortController());
    this.#body.setAttribute("aria-busy", "true");
    try {
      const [contents] = await Promise.all([get("stats", {}, signal), this.#openPart(address, by, signal)]);
      signal.throwIfAborted();
      this.#showFigures(contents);
    } catch (error) {
      if (signal.aborted || isAbort(error)) {
        return;
      }
      replace(this.#body, failure(error));
    }
    this.#body.removeAttribute("aria-busy");
  }

  async #openPart(address, by, signal) {
    if (by === "reason") {
      const report = await get("omissions", {}, signal);
      signal.throwIfAborted();
      this.#showReasons(report, address.get("reason"));
      return;
    }
    const path = by === "language" ? "" : (address.get("path") ?? "");
    const tree = await get("tree", { path, depth: 2 }, signal);
    signal.throwIfAborted();
    if (by === "language") {
      this.#showLanguages(tree);
    } else {
      this.#showDirectory(tree, address.get("lang"));
    }
  }

  #showFigures(contents) {
    const figures = [
      ["Files", count(contents.files)],
      ["Chunks", count(contents.chunks)],
      ["Terms", brief(contents.terms)],
      ["Size of the index", bytes(contents.index_bytes)],
      ["Published", ago(contents.updated), moment(contents.updated)],
      ["Commit", contents.head_commit?.slice(0, 8) ?? "none", contents.head_commit],
      ["Model", contents.model?.id ?? "none"],
    ];
    const figure = ([name, value, title]) =>
      element("div", {}, element("dt", {}, name), element("dd", { title: title ?? null }, value));
    replace(this.#figures, figures.map(figure));
  }

  #showBody(...parts) {
    replace(this.#body, parts);
    // The treemap is drawn only now, because its node has no size before it is inserted.
    this.#body.removeAttribute("aria-busy");
  }

  #showDirectory({ directory, files }, language) {
    const measure = this.#measure.value;
    const part = (one) => (language === null ? one : share(one, language));
    const item = (one) => {
      const inner = (one.directories ?? []).map(item);
      const kind = language ?? nameOf(one.languages[0]?.language);
      const value = part(one)[measure];
      return {
        value,
        name: lastOf(one.path),
        label: `${one.path}: ${sizes(part(one))}`,
        kind,
        href: this.#link({ path: one.path, lang: language }),
        children: withRest(inner, value, `Files directly in ${one.path}`, kind),
      };
    };
    const below = directory.directories ?? [];
    const indexed = files.filter((file) => file.skipped === null && (language === null || nameOf(file.language) === language));
    const items = [
      ...below.map(item),
      ...indexed.map((file) => this.#fileItem(file, measure)),
    ];
    replace(this.#trail, this.#trailTo(directory.path, language));
    this.#treemap.show(items, `${directory.path || "The root"} by ${MEASURES[measure].toLowerCase()}`);
    const rows = [
      ...below.map((one) => [linkTo(`${lastOf(one.path)}/`, this.#link({ path: one.path, lang: language })), one.languages[0]?.language ?? "", part(one)]),
      ...indexed.map((file) => [linkTo(lastOf(file.path), fileLink(file.path)), file.language, { ...file, files: 1 }]),
    ];
    this.#showTable("Name", "Main language", rows.filter(([, , one]) => one.files > 0).sort((a, b) => b[2][measure] - a[2][measure]));
    this.#showBody(this.#trail, this.#treemap.node, legend(directory.languages, (name) => this.#link({ path: directory.path, lang: name })), this.#table);
  }

  #fileItem(file, measure) {
    return {
      value: measure === "files" ? 1 : file[measure],
      name: lastOf(file.path),
      label: `${file.path}: ${sizes({ ...file, files: 1 })}`,
      kind: nameOf(file.language),
      href: fileLink(file.path),
    };
  }

  #showLanguages({ directory }) {
    const measure = this.#measure.value;
    const items = directory.languages.map((one) => {
      const name = nameOf(one.language);
      const inner = (below) => ({
        value: share(below, name)[measure],
        name: lastOf(below.path),
        label: `${name} in ${below.path}: ${sizes(share(below, name))}`,
        kind: name,
        href: this.#link({ path: below.path, lang: name }),
      });
      return {
        value: one[measure],
        name,
        label: `${name}: ${sizes(one)}`,
        kind: name,
        href: this.#link({ lang: name }),
        children: withRest(directory.directories.map(inner), one[measure], `${name} at the top`, name),
      };
    });
    replace(this.#trail, "Each language, divided by directory.");
    this.#treemap.show(items, `Languages by ${MEASURES[measure].toLowerCase()}`);
    const rows = directory.languages.map((one) => [linkTo(nameOf(one.language), this.#link({ lang: nameOf(one.language) })), "", one]);
    this.#showTable("Language", null, rows.sort((a, b) => b[2][measure] - a[2][measure]));
    this.#showBody(this.#trail, this.#treemap.node, this.#table);
  }

  #showReasons({ total, reasons, entries }, chosen) {
    const shown = Object.entries(reasons).filter(([reason]) => chosen === null || reason === chosen);
    const items = shown.map(([reason, files]) => ({
      value: files,
      name: reason,
      label: `${reason}: ${counted(files, "entry", "entries")}`,
      kind: reason,
      href: this.#link({ by: "reason", reason: chosen === null ? reason : null }),
      children: byDirectory(entries.filter((entry) => entry.reason === reason)).map(([directory, value]) => ({
        value,
        name: directory,
        label: `${reason} in ${directory}: ${counted(value, "entry", "entries")}`,
        kind: reason,
        href: this.#link({ by: "reason", reason }),
      })),
    }));
    const all = linkTo("All reasons", this.#link({ by: "reason" }));
    replace(this.#trail, chosen === null ? `${counted(total, "file or directory", "files and directories")} of the tree ${total === 1 ? "is" : "are"} not indexed.` : [all, ` / ${chosen}`]);
    this.#treemap.show(items, "What is not indexed by reason");
    const listed = entries.filter((entry) => chosen === null || entry.reason === chosen);
    const row = (entry) =>
      element("tr", {}, element("td", {}, entry.path), element("td", {}, entry.reason), element("td", {}, entry.stage), element("td", {}, entry.failed ? "could not be read" : ""));
    replace(this.#table, table(["Path", "Reason", "Stage", ""], listed.slice(0, MAX_ROWS).map(row)), more(listed.length));
    this.#showBody(this.#trail, this.#treemap.node, this.#table);
  }

  #showTable(first, second, rows) {
    const row = ([name, language, one]) =>
      element(
        "tr",
        {},
        element("td", {}, name),
        second !== null && element("td", {}, language),
        [count(one.files), count(one.lines), count(one.chunks), bytes(one.bytes)].map((text) => element("td", { class: "figure" }, text)),
      );
    const heads = [first, ...(second === null ? [] : [second]), ["Files"], ["Lines"], ["Chunks"], ["Size"]];
    replace(this.#table, table(heads, rows.slice(0, MAX_ROWS).map(row)), more(rows.length));
  }

  #link(parameters) {
    return link("contents", { measure: here().get("measure"), ...parameters });
  }

  #trailTo(path, language) {
    const parts = path === "" ? [] : path.split("/");
    const steps = parts.map((part, at) => {
      const directory = parts.slice(0, at + 1).join("/");
      return [" / ", at === parts.length - 1 ? part : linkTo(part, this.#link({ path: directory, lang: language }))];
    });
    const root = parts.length === 0 ? "The whole project" : linkTo("The whole project", this.#link({ lang: language }));
    return [root, steps, language && [" · only ", language, " · ", linkTo("all languages", this.#link({ path }))]];
  }
}

function choice(text, name, by) {
  const href = link("contents", { by: name, measure: here().get("measure") });
  return element("a", { href, "aria-current": by === name ? "true" : null }, text);
}

function linkTo(text, href) {
  return element("a", { href }, text);
}

function nameOf(language) {
  return language || NO_LANGUAGE;
}

function lastOf(path) {
  return split(path)[1];
}

/** Returns the statistics of one language in a directory. */
function share(directory, language) {
  const found = directory.languages.find((one) => nameOf(one.language) === language);
  return found ?? { files: 0, lines: 0, chunks: 0, bytes: 0 };
}

function sizes(one) {
  return `${counted(one.files, "file")}, ${counted(one.lines, "line")}, ${counted(one.chunks, "chunk")}, ${bytes(one.bytes)}`;
}

/** Returns the parts of an area, and one more part for files outside of these parts. An area without parts is not divided. */
function withRest(parts, whole, label, kind) {
  const rest = parts.reduce((left, part) => left - part.value, whole);
  return parts.length > 0 && rest > 0 ? [...parts, { value: rest, name: "files", label, kind }] : parts;
}

/** Returns the number of entries in each top-level directory. */
function byDirectory(entries) {
  const counts = new Map();
  for (const { path } of entries) {
    const top = path.includes("/") ? path.split("/")[0] : "at the top";
    counts.set(top, (counts.get(top) ?? 0) + 1);
  }
  return [...counts];
}

/** Returns the legend of the languages, with links. */
function legend(languages, href) {
  const entry = ({ language }) => {
    const name = nameOf(language);
    return element("li", {}, element("span", { class: "swatch", variables: { hue: hue(name) } }), linkTo(name, href(name)));
  };
  return element("ul", { class: "legend", "aria-label": "Languages" }, languages.slice(0, 12).map(entry));
}

function table(heads, rows) {
  const head = (name) => element("th", { scope: "col", class: Array.isArray(name) ? "figure" : null }, name);
  return element("table", {}, element("thead", {}, element("tr", {}, heads.map(head))), element("tbody", {}, rows));
}

function more(rows) {
  return rows > MAX_ROWS && element("p", { class: "faint" }, `${count(rows - MAX_ROWS)} more are not listed.`);
}
