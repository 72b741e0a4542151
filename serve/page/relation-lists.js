// Shows the relations of a definition as lists, and how each relation was found.

import { fileLink, link } from "./address.js";
import { element } from "./dom.js";

const TITLES = { callers: "Callers", callees: "Callees", implementers: "Implementers" };

/** Explanations of how relations were found, by reason. */
const REASONS = {
  scope: "It is in an enclosing scope, in the same file, or a member of the same type.",
  receiver: "It is a member of the type that the receiver is declared with or created from.",
  inherited: "It is a member that the type inherits.",
  import: "The file imports it.",
  package: "It is in the same package.",
  methods: "The type has every method of the interface; parameters are not compared.",
  global: "It has this name, in a language without imports of names.",
  "only-member": "It is the only member of this name; the type of the receiver is unknown.",
  namesakes: "It is one of several members of this name; the type of the receiver is unknown.",
};

const ENDS = { cycle: "calls itself", repeated: "see above" };

/** Returns lists of the relations in the answers of the server. */
export function relationLists(reports) {
  return element("div", { class: "graph-lists" }, reports.map(list), reports.map(undefinedNames), reasons(reports));
}

function list({ relation, root }) {
  const children = root.children ?? [];
  return element(
    "section",
    {},
    element("h2", {}, TITLES[relation]),
    children.length > 0 ? tree(children) : element("p", { class: "faint" }, "None found."),
  );
}

function tree(children) {
  return element("ul", {}, children.map(entry));
}

function entry(chunk) {
  return element(
    "li",
    {},
    element("a", { href: link("graph", { name: chunk.id }) }, chunk.name),
    " ",
    element("a", { class: "faint", href: fileLink(chunk.file, chunk.line_start, chunk.line_end) }, `${chunk.file}:${chunk.line_start}`),
    " ",
    element("span", { class: "reason", title: REASONS[chunk.reason] }, `${chunk.reason} ${percent(chunk.confidence)}`),
    chunk.end && element("span", { class: "faint" }, ` ${ENDS[chunk.end] ?? chunk.end}`),
    chunk.children?.length > 0 && tree(chunk.children),
  );
}

function percent(confidence) {
  return `${Math.round(confidence * 100)} %`;
}

function undefinedNames({ relation, external }) {
  if (relation !== "callees" || external.length === 0) {
    return null;
  }
  return element(
    "section",
    {},
    element("h2", {}, "Calls to names not defined here"),
    element("p", { class: "faint" }, "It also calls these, which the project does not define: ", external.join(", ")),
  );
}

/** Returns explanations of the reasons in the lists. Readers without a mouse see no other explanation. */
function reasons(reports) {
  const of = (chunk) => [chunk.reason, ...(chunk.children ?? []).flatMap(of)];
  const found = new Set(reports.flatMap(({ root }) => of(root)));
  const known = Object.entries(REASONS).filter(([reason]) => found.has(reason));
  if (known.length === 0) {
    return null;
  }
  return element(
    "section",
    {},
    element("h2", {}, "How the relations were found"),
    element("dl", { class: "reasons" }, known.map(([reason, text]) => [element("dt", {}, reason), element("dd", {}, text)])),
    element("p", { class: "faint" }, "The percentage is the confidence: how often a relation found in this way is correct."),
  );
}
