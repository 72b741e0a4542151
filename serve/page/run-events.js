// What the server tells about the index runs of the root that is shown. All views share one connection: a browser opens six to a server
// at most, for all of its tabs together. For the same reason a tab that nobody sees has none.

import { here } from "./address.js";
import { events } from "./api.js";

/** Milliseconds until a connection that has ended is made again. */
const RETRY = 2_000;

const listeners = new Set();
/** The root that the connection is about, empty for the first one; null without a connection. */
let followed = null;
let request = null;
/** What the server has told last; null where that is not known. */
let last = null;

/**
 * Calls `listener` with the present status of the index runs and with each later one; with null while there is no connection. Views
 * call it again when they move: the URL may name another root.
 *
 * Where all projects are searched, the runs are those of the first one. What another process publishes is never told.
 */
export function listen(listener) {
  const isNew = !listeners.has(listener);
  listeners.add(listener);
  connect();
  if (isNew && last !== null) {
    listener(last);
  }
}

/** Calls `listener` no more. */
export function stopListening(listener) {
  listeners.delete(listener);
  // The view that comes next keeps the connection if it listens too.
  queueMicrotask(connect);
}

document.addEventListener("visibilitychange", connect);

function connect() {
  const wanted = listeners.size > 0 && !document.hidden ? (here().get("root") ?? "") : null;
  if (wanted === followed) {
    return;
  }
  request?.abort();
  followed = wanted;
  tell(null);
  if (wanted !== null) {
    request = new AbortController();
    read(request.signal);
  }
}

function tell(status) {
  last = status;
  listeners.forEach((listener) => listener(status));
}

async function read(signal) {
  while (!signal.aborted) {
    try {
      for await (const status of events("index/events", signal)) {
        signal.throwIfAborted();
        tell(status);
      }
    } catch (error) {
      if (error.status === 404) {
        // There is no such root.
        return;
      }
      // The server has gone, and may come back.
    }
    if (!signal.aborted) {
      tell(null);
      await new Promise((resolve) => setTimeout(resolve, RETRY));
    }
  }
}
