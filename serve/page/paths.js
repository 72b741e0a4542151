// Shortens paths.

/** Returns, for each path, the shortest ending of whole components that no other path has. */
export function endings(paths) {
  const all = [...new Set(paths)].map((path) => path.split("/"));
  const ending = (parts, length) => parts.slice(-length).join("/");
  const isShared = (parts, length) => all.some((other) => other !== parts && ending(other, length) === ending(parts, length));
  const found = all.map((parts) => {
    let length = 1;
    while (length < parts.length && isShared(parts, length)) {
      length += 1;
    }
    return [parts.join("/"), ending(parts, length)];
  });
  return new Map(found);
}

/** Shortens a path to at most `length` characters. Omits directories in the middle, or characters at the beginning. */
export function shortened(path, length) {
  const characters = [...path];
  if (characters.length <= length) {
    return path;
  }
  const name = characters.length - characters.lastIndexOf("/");
  const room = length - 1 - name;
  const before = Math.max(0, Math.ceil(room / 2));
  return [...characters.slice(0, before), "…", ...characters.slice(before + 1 - length)].join("");
}
