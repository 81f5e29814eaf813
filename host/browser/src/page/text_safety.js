// How text that a page wrote becomes a part of one line.
//
// A caller reads lines such as `- button "Go" [ref=e3]`. A page must not be able to write something that reads as a ref,
// as a line of its own, or as something other than a person would see: so every page text is brought to one line, loses
// the characters that draw nothing or reorder what is drawn, and stands in quotes with `"` and `\` escaped.
//
// Not here: taking out secrets (the host does, on the whole text), and cutting to a length.

/** Anything outside plain printable ASCII, or a run of blanks: only then is there something to do. */
const NOT_PLAIN = /[^\x20-\x7e]|  |^ | $/;

/** Blanks of every kind, line and paragraph separators, and fillers that draw as a gap. */
const BLANKS = /[\s\u0085\u2028\u2029\u115f\u1160\u2800\u3164\uffa0]+/g;

/**
 * Characters that draw nothing: controls; soft hyphen; zero-width space, word joiner and BOM; bidirectional marks,
 * embeddings and isolates; deprecated format characters; variation selectors beyond those that emoji use; and the tag
 * characters, an alphabet that only a machine reads. Zero-width joiners stay: emoji and several scripts need them.
 * Private-use characters go too: they are glyphs of icon fonts, and mean nothing elsewhere.
 */
const INVISIBLE =
  /[\u0000-\u0008\u000e-\u001f\u007f-\u009f\u00ad\u034f\u061c\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ue000-\uf8ff\ufe00-\ufe0e\ufeff\ufff0-\ufffb]|[\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}\u{f0000}-\u{fffff}\u{100000}-\u{10ffff}]/gu;

const withoutInvisible = (text) => text.replace(INVISIBLE, '');

/** A page text on one line, without what draws nothing; not yet quoted. */
function oneLine(text) {
  if (!NOT_PLAIN.test(text)) return text;
  return withoutInvisible(text.toWellFormed()).replace(BLANKS, ' ').trim();
}

/** A page text, already on one line, as it stands in a line. */
function quoted(line) {
  return `"${line.replace(/["\\]/g, '\\$&')}"`;
}

/** Has the text anything that can be read? Bullets, arrows and rules have not. */
const READABLE = /[\p{L}\p{N}]/u;
const isReadable = (text) => READABLE.test(text);

/** At most `max` characters, without half of a character at the end. Only where nothing beyond `max` is ever handed on. */
function cut(text, max) {
  return text.length <= max ? text : text.slice(0, max).toWellFormed();
}
