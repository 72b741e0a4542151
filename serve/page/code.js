// Displays lines of source code with tokens and matches. The server counts offsets in bytes of UTF-8.

import { element } from "./dom.js";

/** Maximum number of characters shown of a line, around the first match. Lines can have any length. */
const MAX_LINE_CHARS = 400;
const BEFORE_MATCH = 60;

/** Returns the nodes of a line, without the first `skip` characters. `tokens` are `[start, end, class]`, `matches` are `[start, end]`. */
export function line(text, { tokens = [], matches = [], skip = 0, longest = MAX_LINE_CHARS } = {}) {
  const place = places(text);
  const found = matches.map(([start, end]) => [place(start), place(end)]);
  const classes = tokens.map(([start, end, name]) => [place(start), place(end), name]);
  const [from, to] = shownPart(text.length, skip, found[0], longest);
  const edges = [...found, ...classes].flatMap(([start, end]) => [start, end]);
  const cuts = [...new Set([from, to, ...edges.filter((at) => at > from && at < to)])].sort((a, b) => a - b);
  const nodes = cuts.slice(0, -1).map((start, at) => {
    const shown = text.slice(start, cuts[at + 1]);
    const name = nameAt(classes, start);
    const node = name ? element("span", { class: `token-${name}` }, shown) : shown;
    return isIn(found, start) ? element("mark", {}, node) : node;
  });
  const gap = () => element("span", { class: "faint" }, "…");
  return [from > skip ? gap() : "", ...nodes, to < text.length ? gap() : ""];
}

/** Returns the length of the white space with which all lines begin. */
export function indentation(texts) {
  const written = texts.filter((text) => text.trim() !== "");
  const widths = written.map((text) => /^[ \t]*/.exec(text)[0]);
  let shared = widths[0] ?? "";
  for (const width of widths) {
    while (!width.startsWith(shared)) {
      shared = shared.slice(0, -1);
    }
  }
  return shared.length;
}

/** Returns the width of a line in columns. Characters of East Asian scripts take two columns. */
export function columns(text) {
  let sum = 0;
  for (const character of text) {
    const code = character.codePointAt(0);
    sum += character === "\t" ? 4 : code >= 0x1100 && code !== 0xfffd ? 2 : 1;
  }
  return sum;
}

/** Returns a function that converts byte offsets in a text to offsets in a JavaScript string. */
function places(text) {
  if (/^[\x00-\x7f]*$/.test(text)) {
    return (byte) => byte;
  }
  const at = new Map();
  let byte = 0;
  let place = 0;
  for (const character of text) {
    at.set(byte, place);
    const code = character.codePointAt(0);
    byte += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    place += character.length;
  }
  return (wanted) => at.get(wanted) ?? text.length;
}

function shownPart(length, skip, match, longest) {
  if (length - skip <= longest) {
    return [Math.min(skip, length), length];
  }
  const from = match && match[1] > skip + longest ? Math.max(skip, match[0] - BEFORE_MATCH) : skip;
  return [from, Math.min(length, from + longest)];
}

function nameAt(classes, at) {
  return classes.find(([start, end]) => start <= at && at < end)?.[2] ?? null;
}

function isIn(ranges, at) {
  return ranges.some(([start, end]) => start <= at && at < end);
}
