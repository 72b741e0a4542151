// Paths where there is little room.

/** For each of some paths the shortest ending, in whole names, that no other one of them has. */
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

/** A path of at most `length` characters: what is too much is left out in the middle of its directories, or at its beginning. */
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
