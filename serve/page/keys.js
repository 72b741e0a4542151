// Keyboard shortcuts. Single keys have no effect while the reader types a text, or if the reader has switched them off.

import { element } from "./dom.js";

const SETTING = "aurora.keys";

const HELP = [
  ["Everywhere", [["/", "Search"], ["Esc", "Return"], ["?", "These keys"]]],
  ["Results", [["j ↓", "Next result"], ["k ↑", "Previous result"], ["Enter", "Open"], ["e", "Score of the result"], ["g", "Callers and callees"]]],
  ["File", [["j", "Next definition"], ["k", "Previous definition"], ["b", "Blame"], ["g", "Callers and callees"]]],
  ["Graph", [["← → ↑ ↓", "Next definition"], ["Enter", "Its relations"], ["f", "Its file"]]],
];

/** Whether single-key shortcuts are on. Users of speech input switch them off. */
let isOn = localStorage.getItem(SETTING) !== "off";

/** Listens to keys. `handle` receives the name of a key, and returns whether it has used the key. */
export function connect(button, handle) {
  button.addEventListener("click", open);
  document.addEventListener("keydown", (event) => {
    const hasModifier = event.ctrlKey || event.metaKey || event.altKey;
    if (hasModifier || event.defaultPrevented || document.querySelector("dialog[open]")) {
      return;
    }
    if (takesKey(event.target, event.key) || (event.key.length === 1 && !isOn)) {
      return;
    }
    if (event.key === "?") {
      open();
    } else if (!handle(event.key)) {
      return;
    }
    event.preventDefault();
  });
}

/** Returns whether the focused element needs the key itself. */
function takesKey(target, key) {
  if (target.matches("select, textarea") || target.isContentEditable) {
    return key !== "Escape";
  }
  // On the start page, the empty search field has the focus. No query begins with these keys.
  if (target.matches("input[type=search]") && target.value === "" && ["/", "?"].includes(key)) {
    return false;
  }
  if (target.matches("input")) {
    return !["Escape", "ArrowDown", "Enter"].includes(key) || !["search", "text"].includes(target.type);
  }
  return key === "Enter";
}

function open() {
  const group = ([title, keys]) => [
    element("h3", {}, title),
    element(
      "dl",
      { class: "keys" },
      keys.map(([key, what]) => [
        element("dt", {}, key.split(" ").map((one) => element("kbd", {}, one))),
        element("dd", {}, what),
      ]),
    ),
  ];
  const toggle = element("input", { type: "checkbox", checked: isOn, onchange: () => set(toggle.checked) });
  const dialog = element(
    "dialog",
    { "aria-labelledby": "keys-title", class: "keys-dialog" },
    element("h2", { id: "keys-title" }, "Keys"),
    element("div", { class: "keys-groups" }, HELP.map((one) => element("section", {}, group(one)))),
    element("label", { class: "choice" }, toggle, "Single-key shortcuts are switched on"),
    element("form", { method: "dialog", class: "actions" }, element("button", { class: "main" }, "Close")),
  );
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

function set(value) {
  isOn = value;
  localStorage.setItem(SETTING, value ? "on" : "off");
}
