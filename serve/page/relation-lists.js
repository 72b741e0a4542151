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

/** Returns lists of the definitions that a change may affect. */
export function impactLists({ changed, affected, tests, complete }) {
  const change = changed.map(({ name, file, line_start }) => element("li", {}, name, " ", place(file, line_start, line_start)));
  return element(
    "div",
    { class: "graph-lists" },
    section("Changed", change),
    section("Affected", affected.map(affectedEntry)),
    section("Affected tests", tests.map(affectedEntry)),
    incomplete(complete),
  );
}

function affectedEntry(one) {
  const chain = one.chain.map(({ relation, name }) => `${relation} ${name}`).join(", which ");
  return definitionEntry(one, `${chain}, ${percent(one.confidence)}`, "impact");
}

/** Returns the list of unused definitions. */
export function unusedList({ unused, complete }) {
  const entries = unused.map((one) => definitionEntry(one, `${one.reason} ${percent(one.confidence)}`, null));
  return element("div", { class: "graph-lists" }, section("Unused definitions", entries), incomplete(complete));
}

/** Returns a list of imports for each importing file. */
export function importLists({ importing, complete }) {
  const target = ({ external, files, definitions }) => {
    if (external) {
      return element("span", { class: "faint" }, " outside the repository");
    }
    const places = definitions.length > 0 ? definitions : files.map((file) => ({ file, line_start: 1, line_end: 1 }));
    return places.map(({ file, line_start, line_end }) => [" ", place(file, line_start, line_end)]);
  };
  const entry = (one) => element("li", {}, one.path, target(one));
  const lists = importing.filter(({ imports }) => imports.length > 0).map(({ file, imports }) => section(file, imports.map(entry)));
  const none = element("p", { class: "faint" }, "None found.");
  return element("div", { class: "graph-lists" }, lists.length > 0 ? lists : none, incomplete(complete));
}

function section(title, entries) {
  const content = entries.length > 0 ? element("ul", {}, entries) : element("p", { class: "faint" }, "None found.");
  return element("section", {}, element("h2", {}, title), content);
}

function definitionEntry(one, reason, relation) {
  return element(
    "li",
    {},
    element("a", { href: link("graph", { name: one.id, relation }) }, one.name),
    " ",
    place(one.file, one.line_start, one.line_end),
    " ",
    element("span", { class: "reason" }, reason),
  );
}

function place(file, first, last) {
  return element("a", { class: "faint", href: fileLink(file, first, last) }, `${file}:${first}`);
}

function incomplete(isComplete) {
  return isComplete ? null : element("p", { class: "faint" }, "There are more than can be shown.");
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
