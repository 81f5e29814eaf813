// Reading a part of the page as text, Markdown or markup.
//
// Without a target: the article where there is one, else the main part, else the body. The answer may be cut at `maxChars`:
// the host asks for all that it could hand on, takes out secrets, and cuts again.
//
// Not here: how each format is written (rendered_text.js, markdown.js, html.js).

const FORMATS = { text: renderedText, markdown: markdownOf, html: htmlOf };
/** What draws nothing is no part of what a person reads; in markup it is. */
const READ_BY_EYE = new Set(['text', 'markdown']);

offer('read', ({ target, format = 'text', maxChars = SNAPSHOT_CHARS }) => {
  const element = target?.located === true ? located : target ? resolve(target) : readablePart();
  if (!Object.hasOwn(FORMATS, format))
    refuse('invalid_input', `${quoted(oneLine(String(format)).slice(0, 40))} is no format to read in`);
  if (!element) return { text: '', truncated: false };
  const { text, truncated } = FORMATS[format](element, Math.min(maxChars, LIMITS.text));
  return { text: READ_BY_EYE.has(format) ? withoutInvisible(text) : text, truncated: truncated || pass.cut };
});

/** What a person came to read: the first article that is shown, else the main part, else the whole body. */
function readablePart() {
  for (const selector of ['article', 'main, [role="main"]']) {
    for (const candidate of querySelectorAll(document, selector)) {
      if (isShown(candidate) && isReadable(renderedText(candidate, 200).text)) return candidate;
    }
  }
  return bodyOf(document) ?? rootElementOf(document);
}
