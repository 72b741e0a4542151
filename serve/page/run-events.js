// Receives events about the index runs of the current root. All views share one connection, because a browser opens at
// most six connections to a server for all tabs. For the same reason, a hidden tab has no connection.

import { here } from "./address.js";
import { events } from "./api.js";

/** Delay before a closed connection is opened again, in milliseconds. */
const RETRY_DELAY = 2_000;

const listeners = new Set();
/** The root that the connection reports about: empty for the first root, null if there is no connection. */
let followed = null;
let request = null;
/** The last status that the server has sent, or null. */
let last = null;

/**
 * Calls `listener` with the current status of the index runs and with each later status, or with null if there is no
 * connection. Views call this function again after each navigation, because the URL may name another root.
 *
 * If all roots are searched, only runs of the first root are reported. Runs of other processes are not reported.
 */
export function listen(listener) {
  const isNew = !listeners.has(listener);
  listeners.add(listener);
  connect();
  if (isNew && last !== null) {
    listener(last);
  }
}

/** Stops calling `listener`. */
export function stopListening(listener) {
  listeners.delete(listener);
  // The connection is checked later, because the next view may start to listen and then still needs the connection.
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
      // The server is unreachable, but may become reachable again.
    }
    if (!signal.aborted) {
      tell(null);
      await new Promise((resolve) => setTimeout(resolve, RETRY_DELAY));
    }
  }
}
