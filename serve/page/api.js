// Requests to the server that the page comes from.

import { here } from "./address.js";
import * as token from "./token.js";

const API = new URL("../api/v1/", import.meta.url);

/** Why a request has no other answer. */
export class Problem extends Error {
  name = "Problem";

  constructor(status, { error, help, candidates }) {
    super(error ?? `the server answers with status ${status}`);
    this.status = status;
    this.help = help ?? null;
    this.candidates = candidates ?? [];
  }
}

/** The answer to a question, in the root that is shown. */
export async function get(resource, parameters = {}, signal = null) {
  return (await request(address(resource, parameters), { signal })).json();
}

/** The objects that a resource sends as server-sent events about the root that is shown, until the server ends. */
export async function* events(resource, signal) {
  const response = await request(address(resource, {}), { signal });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    const whole = (text + part.value).split("\n\n");
    text = whole.pop();
    for (const event of whole) {
      const data = event.split("\n").find((line) => line.startsWith("data:"));
      if (data) {
        yield JSON.parse(data.slice("data:".length));
      }
    }
  }
}

function address(resource, parameters) {
  const url = new URL(resource, API);
  const root = here().get("root");
  for (const [name, value] of Object.entries(root ? { root, ...parameters } : parameters)) {
    url.searchParams.set(name, value);
  }
  return url;
}

/** The answer to a question that is too large for a URL. */
export async function post(resource, body, signal = null) {
  const root = here().get("root");
  const response = await request(new URL(resource, API), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(root ? { root, ...body } : body),
    signal,
  });
  return response.json();
}

/** The response to a request, which has succeeded. */

async function request(url, options) {
  const shown = token.current();
  const headers = shown ? { ...options.headers, authorization: `Bearer ${shown}` } : options.headers;
  const response = await fetch(url, { ...options, headers, cache: "no-store" });
  if (response.status === 401) {
    await token.ask(shown);
    options.signal?.throwIfAborted();
    return request(url, options);
  }
  if (!response.ok) {
    throw new Problem(response.status, await response.json().catch(() => ({})));
  }
  return response;
}

/** Whether a request was given up on because something else is asked now. */
export function isAbort(error) {
  return error.name === "AbortError";
}
