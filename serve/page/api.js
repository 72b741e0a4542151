// Sends requests to the server that serves the page.

import { here } from "./address.js";
import * as token from "./token.js";

const API = new URL("../api/v1/", import.meta.url);

/** An error that the server has returned as its answer. */
export class Problem extends Error {
  name = "Problem";

  constructor(status, { error, help, candidates }) {
    super(error ?? `the server answers with status ${status}`);
    this.status = status;
    this.help = help ?? null;
    this.candidates = candidates ?? [];
  }
}

/** Returns the answer to a GET request, in the current root. */
export async function get(resource, parameters = {}, signal = null) {
  return (await request(address(resource, parameters), { signal })).json();
}

/** Yields the objects in the server-sent events of a resource, in the current root, until the server closes the connection. */
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

/** Returns the answer to a POST request with a JSON body, in the current root. */
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

/** Returns the response if the request succeeds. Asks the reader for a token if the server requires one. */

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

/** Returns whether an error means that the request was aborted because a newer request replaces it. */
export function isAbort(error) {
  return error.name === "AbortError";
}
