// The frame of the page: shows the header and the view that the URL names, and handles keys.

import { back, follow, go, here, link, viewOf } from "./address.js";
import { get } from "./api.js";
import { ContentsView } from "./contents.js";
import { element } from "./dom.js";
import { FileView } from "./file.js";
import { GraphView } from "./graph.js";
import * as keys from "./keys.js";
import { RunsView } from "./runs.js";
import { SearchView } from "./search.js";
import * as theme from "./theme.js";

const VIEWS = { search: SearchView, file: FileView, graph: GraphView, contents: ContentsView, runs: RunsView };

const main = document.querySelector("#main");
const query = document.querySelector("#query");

/** The views shown so far, by name. They are hidden, not removed, so that they keep their state. */
const opened = new Map();
let current = null;

function show() {
  const address = here();
  const name = viewOf(address) in VIEWS ? viewOf(address) : "search";
  const isOther = current?.name !== name;
  if (isOther) {
    leave();
    current = opened.get(name) ?? open(name);
    current.section.hidden = false;
    scrollTo(0, current.scroll);
  }
  for (const anchor of document.querySelectorAll(".bar nav a")) {
    anchor.href = link(anchor.dataset.view);
    anchor.toggleAttribute("aria-current", anchor.dataset.view === name);
  }
  document.querySelector(".brand").href = link("search");
  document.title = current.view.show(address) ?? "Aurora";
  if (isOther) {
    current.view.focus?.();
  }
}

function open(name) {
  const section = element("section", { class: `view view-${name}`, hidden: true });
  main.append(section);
  const view = { name, section, view: new VIEWS[name](section, query), scroll: 0 };
  opened.set(name, view);
  return view;
}

function leave() {
  if (current) {
    current.scroll = scrollY;
    current.section.hidden = true;
    current.view.leave?.();
  }
}

function handleKey(key) {
  if (key === "/") {
    query.focus();
    query.select();
    return true;
  }
  if (current.view.key?.(key)) {
    return true;
  }
  if (key === "Escape" && current.name !== "search") {
    back();
    return true;
  }
  return false;
}

/** Shows a choice between roots if there are several. */
async function offerRoots() {
  const roots = await get("roots");
  if (roots.length < 2) {
    return;
  }
  const choice = document.querySelector("#root");
  // Only the search view can show all roots.
  const all = element("option", { value: "" }, "All projects");
  choice.append(all, ...roots.map((root) => element("option", { value: root.name, title: root.path }, root.name)));
  const select = () => {
    all.disabled = viewOf(here()) !== "search";
    choice.value = here().get("root") ?? (all.disabled ? roots[0].name : "");
  };
  choice.addEventListener("change", () => {
    const address = here();
    // A file or a definition in the URL belongs to the previous root.
    const view = ["file", "graph"].includes(viewOf(address)) ? "search" : viewOf(address);
    go(link(view, { root: choice.value, q: view === "search" ? query.value : null }));
  });
  addEventListener("navigate", select);
  addEventListener("popstate", select);
  select();
  document.querySelector("#root-choice").hidden = false;
}

// Each view restores its own scroll position.
history.scrollRestoration = "manual";
theme.connect(document.querySelector("#theme"));
keys.connect(document.querySelector("#keys"), handleKey);
follow(show);
offerRoots().catch((error) => console.error(error));
