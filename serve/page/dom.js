// Elements. Everything that an index holds is text of strangers: it enters the page as text only, never as markup.

import { visible } from "./text.js";

const SVG = "http://www.w3.org/2000/svg";

/**
 * An element with properties and children. Children that are no nodes become text in which every character can be seen; those that are
 * null or false are left out.
 *
 * `class` is a list of classes, `on…` a listener, `data` and `variables` objects of data attributes and of custom properties of
 * the style; `hidden`, `open`, `checked` and the like are set where true. Everything else is an attribute.
 */
export function element(name, properties = {}, ...children) {
  return filled(document.createElement(name), properties, children);
}

/** The same for the elements of a drawing. */
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

/** Puts children in place of those that a node has. */
export function replace(node, ...children) {
  node.replaceChildren(...shown(children));
}

/** Changes what is in a node. The focus stays on the element with the same `data-key`, if there still is one. */
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

/** What is shown where there is nothing else: why, and what helps. */
export function message(text, help = null) {
  return element("div", { class: "message", role: "status" }, element("p", {}, sentence(text)), help && element("p", { class: "faint" }, help));
}

/** What a failed request says. Errors that are no answers of the server are bugs or a server that has gone. */
export function failure(error) {
  const isAnswer = error.name === "Problem";
  return element(
    "div",
    { class: "message", role: "alert" },
    element("p", {}, isAnswer ? sentence(error.message) : "The server does not answer."),
    element("p", { class: "faint" }, isAnswer ? (error.help ?? "") : error.message),
  );
}

/** A word without anything that only names have: dots, slashes, underscores, digits, capital letters further on. */
const PLAIN_WORD = /^\p{L}[\p{Ll}'’-]*[,:;]?$/u;

/** A text as a sentence. What begins with a name, such as that of a file, stays as it is. */
function sentence(text) {
  return PLAIN_WORD.test(text.split(/\s/, 1)[0]) ? text.charAt(0).toUpperCase() + text.slice(1) : text;
}
