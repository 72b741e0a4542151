// Formats numbers, sizes and times for human readers.

const whole = new Intl.NumberFormat("en");
const short = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
/** Units for the time since an event, in seconds. The command line uses the same units (`relative_time`). */
const UNITS = [
  ["year", 31_557_600],
  ["month", 2_629_800],
  ["week", 604_800],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];

/** Formats a number as `12,345`. */
export function count(number) {
  return whole.format(number);
}

/** Formats a number of things as `1 file` or `12,345 files`. */
export function counted(number, one, several = `${one}s`) {
  return `${count(number)} ${number === 1 ? one : several}`;
}

/** Formats a number as `12.3K`. */
export function brief(number) {
  return short.format(number);
}

/** Formats a number of bytes as `12.3 MB`. */
export function bytes(number) {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let at = 0;
  let value = number;
  while (value >= 1000 && at + 1 < units.length) {
    value /= 1000;
    at += 1;
  }
  return `${at === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[at]}`;
}

/** Formats a duration as `12 ms`, `3.4 s` or `2 min 5 s`. */
export function duration(milliseconds) {
  if (milliseconds < 1000) {
    return `${milliseconds < 10 ? milliseconds.toFixed(1) : Math.round(milliseconds)} ms`;
  }
  const seconds = milliseconds / 1000;
  if (seconds < 100) {
    return `${seconds.toFixed(1)} s`;
  }
  return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
}

/** Formats a time such as `2025-12-29T08:00:00Z` as `just now` or `3 days ago`. */
export function ago(time) {
  const seconds = (Date.now() - Date.parse(time)) / 1000;
  if (Number.isNaN(seconds)) {
    return time;
  }
  const found = UNITS.find(([, length]) => seconds >= length);
  return found ? `${counted(Math.floor(seconds / found[1]), found[0])} ago` : "just now";
}

/** Formats a time as `2025-12-29`. */
export function date(time) {
  return time.slice(0, 10);
}

/** Formats a time as `2025-12-29 08:00`, in the time zone of the reader. */
export function moment(time) {
  const at = new Date(time);
  if (Number.isNaN(at.getTime())) {
    return time;
  }
  const two = (number) => String(number).padStart(2, "0");
  const day = [at.getFullYear(), two(at.getMonth() + 1), two(at.getDate())].join("-");
  return `${day} ${two(at.getHours())}:${two(at.getMinutes())}`;
}

/** Returns the directory of a path, with a trailing slash, and the name of the file. */
export function split(path) {
  const at = path.lastIndexOf("/") + 1;
  return [path.slice(0, at), path.slice(at)];
}

/** Returns a hue that depends only on the name. */
export function hue(name) {
  let hash = 2166136261;
  for (const byte of new TextEncoder().encode(name)) {
    hash = Math.imul(hash ^ byte, 16777619);
  }
  return (hash >>> 0) % 360;
}
