// The state of the page is in the URL, so that users can share it and go back and forward.

/** Returns the parameters of the current URL. */
export function here() {
  return new URLSearchParams(location.search);
}

/** Returns the name of the view in a URL. */
export function viewOf(address) {
  return address.get("view") ?? "search";
}

/**
 * Returns a link to a view with parameters, in the current root. Null and empty values are omitted, and lists become
 * repeated parameters. The link begins with `?`, so that no text from an index can make it lead to another site.
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

/** Returns a link to a file, or to lines of the file. */
export function fileLink(path, first = null, last = first, parameters = {}) {
  const lines = first === null ? "" : first === last ? `${first}` : `${first}-${last}`;
  return link("file", { path, ...parameters }, lines);
}

/** Returns a link to the file of a result, or to lines of the file. */
export function resultLink(hit, first = null, last = first) {
  return fileLink(hit.file, first, last, rootOf(hit));
}

/** Returns the link parameter with the root of a result, if several roots are searched. */
export function rootOf(hit) {
  return hit.root ? { root: hit.root } : {};
}

/** Returns the lines in the fragment of a URL, as `[first, last]`, or null if there are none. */
export function linesOf(hash) {
  const found = /^#L(\d+)(?:-(\d+))?$/.exec(hash);
  return found && [Number(found[1]), Number(found[2] ?? found[1])];
}

/** Navigates to a link of this page. With `replaces`, the current history entry is replaced. */
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

/** Navigates to the previous page, or to the search if there is no previous page. */
export function back() {
  if (history.state?.isFirst === false) {
    history.back();
  } else {
    go(link("search"));
  }
}

/** Calls `show` now and after each navigation. Following a link does not load the page again. */
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
