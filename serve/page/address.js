// What the page shows is in its URL, so that it can be shared, and so that back and forward work.

/** Where the page is. */
export function here() {
  return new URLSearchParams(location.search);
}

/** The view that a URL names. */
export function viewOf(address) {
  return address.get("view") ?? "search";
}

/**
 * A link to a view with parameters, in the root that is shown. Values that are null or empty are left out, lists are given several
 * times. It begins with `?`, so that no text of an index can make it lead elsewhere.
 */
export function link(view, parameters = {}, lines = "") {
  const address = new URLSearchParams();
  if (view !== "search") {
    address.set("view", view);
  }
  const root = here().get("root");
  for (const [name, value] of Object.entries(root ? { root, ...parameters } : parameters)) {
    for (const one of [value].flat()) {
      if (one !== null && one !== undefined && one !== "") {
        address.append(name, one);
      }
    }
  }
  return `?${address}${lines && `#L${lines}`}`;
}

/** The link to a file, and to lines of it. */
export function fileLink(path, first = null, last = first, parameters = {}) {
  const lines = first === null ? "" : first === last ? `${first}` : `${first}-${last}`;
  return link("file", { path, ...parameters }, lines);
}

/** The link to the file of a result, and to lines of it. */
export function resultLink(hit, first = null, last = first) {
  return fileLink(hit.file, first, last, rootOf(hit));
}

/** The parameter of a link that names the root of a result, where several are searched. */
export function rootOf(hit) {
  return hit.root ? { root: hit.root } : {};
}

/** The lines that a URL names, as `[first, last]`; null where it names none. */
export function linesOf(hash) {
  const found = /^#L(\d+)(?:-(\d+))?$/.exec(hash);
  return found && [Number(found[1]), Number(found[2] ?? found[1])];
}

/** Moves to a link of this page. What is replaced cannot be returned to. */
export function go(to, { replaces = false } = {}) {
  const target = new URL(to, location.href);
  if (target.href === location.href) {
    return;
  }
  if (replaces) {
    history.replaceState({ isFirst: history.state?.isFirst ?? true }, "", target);
  } else {
    history.pushState({ isFirst: false }, "", target);
  }
  dispatchEvent(new Event("navigate"));
}

/** Returns to where the page was before; to the search where it was nowhere. */
export function back() {
  if (history.state?.isFirst === false) {
    history.back();
  } else {
    go(link("search"));
  }
}

/** Calls `show` now and whenever the page moves. Links of the page move it without loading it again. */
export function follow(show) {
  addEventListener("navigate", show);
  addEventListener("popstate", show);
  document.addEventListener("click", (event) => {
    const anchor = event.target.closest("a[href]");
    const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
    if (anchor && isPlain && !event.defaultPrevented && anchor.getAttribute("href").startsWith("?")) {
      event.preventDefault();
      go(anchor.getAttribute("href"));
    }
  });
  show();
}
