// The token that the server may require. It is stored until the window is closed, but never in a URL.

import { element } from "./dom.js";

const KEY = "aurora.token";

let asking = null;

/** Returns the token for requests, or null if no token was entered. */
export function current() {
  return sessionStorage.getItem(KEY);
}

/** Asks the reader for the token, once for all waiting requests. `refused` is the token that the server has rejected. */
export function ask(refused) {
  if (current() !== refused) {
    return Promise.resolve();
  }
  asking ??= new Promise((resolve) => open(refused !== null, resolve)).finally(() => {
    asking = null;
  });
  return asking;
}

function open(isWrong, done) {
  const field = element("input", {
    type: "password",
    id: "token",
    autocomplete: "off",
    required: true,
    "aria-describedby": "token-help",
  });
  const help = isWrong ? "The server does not know this token." : "It is in the file that the server was started with.";
  const form = element(
    "form",
    { method: "dialog" },
    element("h2", { id: "token-title" }, "The server asks for its token"),
    element("label", { for: "token" }, "Token"),
    field,
    element("p", { class: "faint", id: "token-help", role: isWrong ? "alert" : null }, help),
    element("div", { class: "actions" }, element("button", { type: "submit", class: "main" }, "Continue")),
  );
  const dialog = element("dialog", { "aria-labelledby": "token-title" }, form);
  // Without a token, nothing can be shown, so Escape must not close the dialog.
  dialog.addEventListener("cancel", (event) => event.preventDefault());
  form.addEventListener("submit", () => {
    sessionStorage.setItem(KEY, field.value.trim());
    dialog.remove();
    done();
  });
  document.body.append(dialog);
  dialog.showModal();
}
