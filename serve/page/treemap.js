// Draws treemaps, in which the size of each area is proportional to a value (squarified treemaps: Bruls, Huizing and van
// Wijk, 2000).

import { element, replace } from "./dom.js";
import { hue } from "./format.js";

/** Height of the title of a divided area, in pixels. */
const TITLE = 20;
/** Minimum size of an area that is drawn, in pixels. */
const MIN_SIZE = 3;
/** Minimum size of an area that is divided further, in pixels. */
const DIVIDED = { width: 46, height: 44 };
/** Minimum size of an area that shows its name, in pixels. */
const NAMED = { width: 34, height: 17 };
const GAP = 2;

/**
 * A treemap that fills a node. It is drawn again when the size of the node changes.
 *
 * An item has a `value`, a `name`, a `label` in words, an `href`, `children`, and an optional `kind` that determines the
 * colour.
 */
export class Treemap {
  node = element("div", { class: "treemap", role: "group" });
  #items = [];

  constructor() {
    new ResizeObserver(() => this.#draw()).observe(this.node);
  }

  /** Shows items, with a label for the whole map. */
  show(items, label) {
    this.#items = items;
    this.node.setAttribute("aria-label", label);
    this.#draw();
  }

  #draw() {
    const { clientWidth: width, clientHeight: height } = this.node;
    if (width > 0) {
      const focused = this.#items.length > 0 && document.activeElement?.dataset?.name;
      replace(this.node, areas(this.#items, { x: 0, y: 0, width, height }));
      if (focused) {
        [...this.node.children].find((area) => area.dataset.name === focused)?.focus();
      }
    }
  }
}

function areas(items, frame) {
  return squarified(items, frame).flatMap(({ item, x, y, width, height }) => {
    const inner = { x, y, width: width - GAP, height: height - GAP };
    if (inner.width < MIN_SIZE || inner.height < MIN_SIZE) {
      return [];
    }
    const isDivided = item.children?.length > 0 && inner.width >= DIVIDED.width && inner.height >= DIVIDED.height;
    const below = { x: x + GAP, y: y + TITLE, width: inner.width - GAP, height: inner.height - TITLE };
    return [area(item, inner, isDivided), ...(isDivided ? areas(item.children, below) : [])];
  });
}

function area(item, { x, y, width, height }, isDivided) {
  const isNamed = width >= NAMED.width && height >= NAMED.height;
  const kind = item.kind ? hue(item.kind) : null;
  return element(
    item.href ? "a" : "div",
    {
      class: `area${isDivided ? " divided" : ""}${kind === null ? " plain" : ""}`,
      href: item.href,
      title: item.label,
      "aria-label": item.href ? item.label : null,
      data: { name: item.label },
      variables: { x: `${x}px`, y: `${y}px`, width: `${width}px`, height: `${height}px`, hue: kind ?? 0 },
    },
    isNamed && element("span", {}, item.name),
  );
}

/** Returns the positions of items within a frame, largest item first. */
export function squarified(items, frame) {
  const known = items.filter((item) => item.value > 0).sort((a, b) => b.value - a.value);
  const total = known.reduce((sum, item) => sum + item.value, 0);
  const scale = (frame.width * frame.height) / total;
  const rest = known.map((item) => ({ item, size: item.value * scale }));
  const placed = [];
  let free = { ...frame };
  while (rest.length > 0 && free.width > 0 && free.height > 0) {
    const side = Math.min(free.width, free.height);
    const row = [rest.shift()];
    while (rest.length > 0 && worst([...row, rest[0]], side) <= worst(row, side)) {
      row.push(rest.shift());
    }
    free = place(row, free, placed);
  }
  return placed;
}

/** Returns the worst aspect ratio of the areas if they form a row along a side. */
function worst(row, side) {
  const sum = row.reduce((total, one) => total + one.size, 0);
  const sizes = row.map((one) => one.size);
  const [most, least] = [Math.max(...sizes), Math.min(...sizes)];
  return Math.max((side * side * most) / (sum * sum), (sum * sum) / (side * side * least));
}

/** Places a row along the shorter side of the free area, and returns the remaining free area. */
function place(row, free, placed) {
  const sum = row.reduce((total, one) => total + one.size, 0);
  const isWide = free.width >= free.height;
  const side = isWide ? free.height : free.width;
  const depth = sum / side;
  let at = 0;
  for (const { item, size } of row) {
    const length = size / depth;
    const box = isWide
      ? { x: free.x, y: free.y + at, width: depth, height: length }
      : { x: free.x + at, y: free.y, width: length, height: depth };
    placed.push({ item, ...box });
    at += length;
  }
  return isWide
    ? { ...free, x: free.x + depth, width: free.width - depth }
    : { ...free, y: free.y + depth, height: free.height - depth };
}
