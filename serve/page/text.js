// Texts of strangers as a reader may see them.

/** Control characters, and marks that hide or turn a text. Joiners stay: scripts and emoji need them. */
const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** A text of the same length in which every character can be seen, and stands where it is written. */
export function visible(text) {
  return text.replace(UNSEEN, (character) => {
    const code = character.charCodeAt(0);
    return code < 0x20 ? String.fromCharCode(0x2400 + code) : code === 0x7f ? "\u2421" : "\ufffd";
  });
}
