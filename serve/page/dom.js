// Creates elements. The content of an index is not trusted, so it enters the page only as text, never as markup.

import { visible } from "./text.js";

const SVG = "http://www.w3.org/2000/svg";

/**
 * Creates an element with properties and children. Children that are not nodes become text in which every character is
 * visible; null and false are omitted.
 *
 * `class` is a list of classes, `on…` is a listener, `data` is an object of data attributes, and `variables` is an
 * object of custom CSS properties. `hidden`, `open`, `checked` and the like are set if true. All other properties are
 * attributes.
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

/** Returns a message that replaces content. It explains the reason and how to solve the problem. */
export function message(text, help = null) {
  return element("div", { class: "message", role: "status" }, element("p", {}, sentence(text)), help && element("p", { class: "faint" }, help));
}

/** Returns a message about a failed request. An error that is not a `Problem` means that the server is unreachable, or that the page has a bug. */
export function failure(error) {
  const isAnswer = error.name === "Problem";
  return element(
    "div",
    { class: "message", role: "alert" },
    element("p", {}, isAnswer ? sentence(error.message) : "The server does not answer."),
    element("p", { class: "faint" }, isAnswer ? (error.help ?? "") : error.message),
  );
}

/** Matches a word without characters that are typical of names: dots, slashes, underscores, digits, inner capital letters. */
const PLAIN_WORD = /^\p{L}[\p{Ll}'’-]*[,:;]?$/u;

/** Capitalises a text, unless it begins with a name, such as a file name. */
function sentence(text) {
  return PLAIN_WORD.test(text.split(/\s/, 1)[0]) ? text.charAt(0).toUpperCase() + text.slice(1) : text;
}
