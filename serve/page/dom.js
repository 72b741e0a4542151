// Elements. All content of an index is untrusted: it enters the page only as text, never as markup.

import { visible } from "./text.js";

const SVG = "http://www.w3.org/2000/svg";

/**
 * An element with properties and children. Children other than nodes become text in which every character is visible;
 * null
 * and false are omitted.
 *
 * `class` is a list of classes, `on…` a listener, `data` and `variables` are objects of data attributes and of custom
 * properties of the style; `hidden`, `open`, `checked` and the like are set if true. Everything else is an attribute.
 */
export function element(name, properties = {}, ...children) {
  return filled(document.createElement(name), properties, children);
}

/** Like `element`, for elements of an SVG drawing. */
export function drawn(name, properties = {}, ...children) {
  return filled(document.createElementNS(SVG, name), properties, children);
}

function filled(node, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) {
      continue;
    }
    if (name === "data") {
      Object.assign(node.dataset, value);
    } else if (name === "variables") {
      Object.entries(value).forEach(([variable, text]) => node.style.setProperty(`--${variable}`, text));
    } else if (name.startsWith("on")) {
      node.addEventListener(name.slice(2), value);
    } else {
      const isText = name === "title" || name === "aria-label";
      node.setAttribute(name, value === true ? "" : isText ? visible(value) : value);
    }
  }
  node.append(...shown(children));
  return node;
}

/** Replaces the children of a node. */
export function replace(node, ...children) {
  node.replaceChildren(...shown(children));
}

/** Changes the content of a node. The focus stays on the element with the same `data-key`, if it still exists. */
export function keepingFocus(node, change) {
  const key = node.contains(document.activeElement) ? document.activeElement.dataset.key : undefined;
  change();
  if (key !== undefined) {
    [...node.querySelectorAll("[data-key]")].find((one) => one.dataset.key === key)?.focus({ preventScroll: true });
  }
}

function shown(children) {
  const present = children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false);
  return present.map((child) => (child instanceof Node ? child : visible(String(child))));
}

/** A message in place of content: a reason, and a remedy. */
export function message(text, help = null) {
  return element("div", { class: "message", role: "status" }, element("p", {}, sentence(text)), help && element("p", { class: "faint" }, help));
}

/** A message about a failed request. An error other than a `Problem` is a bug, or the server is unreachable. */
export function failure(error) {
  const isAnswer = error.name === "Problem";
  return element(
    "div",
    { class: "message", role: "alert" },
    element("p", {}, isAnswer ? sentence(error.message) : "The server does not answer."),
    element("p", { class: "faint" }, isAnswer ? (error.help ?? "") : error.message),
  );
}

/** A word without the characters of names: dots, slashes, underscores, digits, inner capital letters. */
const PLAIN_WORD = /^\p{L}[\p{Ll}'’-]*[,:;]?$/u;

/** A text as a sentence. A name at its beginning, such as a file name, is not capitalised. */
function sentence(text) {
  return PLAIN_WORD.test(text.split(/\s/, 1)[0]) ? text.charAt(0).toUpperCase() + text.slice(1) : text;
}
