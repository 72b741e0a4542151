// Displays untrusted texts safely.

/** Matches control characters, and characters that hide or reorder text. Joiners do not match, because scripts and emoji need them. */
const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** Returns a text of the same length in which every character is visible and appears in its original position. */
export function visible(text) {
  return text.replace(UNSEEN, (character) => {
    const code = character.charCodeAt(0);
    return code < 0x20 ? String.fromCharCode(0x2400 + code) : code === 0x7f ? "\u2421" : "\ufffd";
  });
}
