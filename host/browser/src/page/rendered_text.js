// The text of a part of the page as a person sees it: lines, paragraphs, table cells apart by tabs.
//
// Like `innerText`, but through shadow roots, slots and frames of our own origin, which that leaves out.
//
// Not here: names (names.js); text for a snapshot (outline.js).

class TextWriter {
  constructor(max) {
    this.max = max;
    this.parts = [];
    this.length = 0;
    this.breaks = 0; // line breaks that the next text has to be preceded by
    this.blank = false; // a blank is due before the next text of the same line
    this.started = false;
    this.lineStart = false; // after a tab, where no blank is due
    this.isFull = false;
  }

  /** `keep`: blanks and line breaks of the text stand as they are. */
  text(data, keep) {
    if (keep) {
      this.emit(data);
      return;
    }
    const collapsed = data.replace(/[ \t\n\r\f]+/g, ' ');
    if (collapsed === '') return;
    if (collapsed === ' ') {
      this.blank = true;
      return;
    }
    if (collapsed.startsWith(' ')) this.blank = true;
    this.emit(collapsed.trim());
    this.blank = collapsed.endsWith(' ');
  }

  emit(text) {
    if (text === '') return;
    let before = '';
    if (this.breaks > 0 && this.started) before = '\n'.repeat(this.breaks);
    else if (this.blank && this.started && !this.lineStart) before = ' ';
    this.breaks = 0;
    this.blank = false;
    this.started = true;
    this.lineStart = false;
    this.put(before + text);
  }

  put(text) {
    const room = this.max - this.length;
    if (text.length > room) {
      this.isFull = true;
      text = cut(text, Math.max(0, room));
    }
    this.parts.push(text);
    this.length += text.length;
  }

  /** The next text starts a line; with 2, after an empty one. */
  break(n) {
    if (n > this.breaks) this.breaks = n;
    this.blank = false;
  }

  /** A break that stands, even several in a row. */
  newline() {
    this.breaks += 1;
    this.blank = false;
  }

  tab() {
    if (this.started && this.breaks === 0) {
      this.put('\t');
      this.blank = false;
      this.lineStart = true;
    }
  }

  done() {
    return this.parts.join('');
  }
}

const PRE = /^(pre|pre-wrap|break-spaces)$/;

/** Writes the text below an element. */
function writeText(element, out, depth = 0) {
  if (out.isFull || !mayEnter(depth)) return;
  const seen = look(element);
  if (!seen.rendered) return;
  const tag = tagOf(element);
  if (isHtml(element)) {
    if (tag === 'br') return out.newline();
    if (tag === 'textarea' || tag === 'canvas' || tag === 'video' || tag === 'audio' || tag === 'object') return;
    if (tag === 'select') return writeChosen(element, seen, out);
  }
  const inner = frameDocumentOf(element);
  if (isFrame(element) && !inner) return;
  const gap = seen.block && seen.display !== 'table-cell' ? (tag === 'p' ? 2 : 1) : 0;
  if (gap > 0) out.break(gap);
  if (inner) {
    if (rootElementOf(inner)) {
      out.break(1);
      writeText(rootElementOf(inner), out, depth + 1);
      out.break(1);
    }
  } else {
    writeChildren(element, seen, out, depth);
  }
  if (seen.display === 'table-cell' && nextElementOf(element)) out.tab();
  if (gap > 0) out.break(gap);
}

function writeChildren(element, seen, out, depth) {
  let keep = null;
  if (seen.visible) out.text(generatedText(element, '::before'), false);
  for (const child of flatChildrenOf(element)) {
    if (out.isFull) return;
    if (nodeTypeOf(child) === TEXT) {
      if (!seen.visible) continue;
      const data = cut(dataOf(child), LIMITS.text);
      if (keep === null && data.trim() !== '') {
        if (skipsContent(element)) return;
        keep = PRE.test(getComputedStyle(element).whiteSpace);
      }
      out.text(data, keep ?? false);
    } else {
      writeText(child, out, depth + 1);
    }
  }
  if (seen.visible) out.text(generatedText(element, '::after'), false);
}

/** A drop-down shows what is chosen, not all that could be. */
function writeChosen(element, seen, out) {
  if (seen.visible) out.text(chosenText(element, 'combobox'), false);
}

/** The rendered text of an element, at most `max` characters: `{text, truncated}`. */
function renderedText(element, max) {
  const out = new TextWriter(max);
  writeText(element, out);
  return { text: out.done(), truncated: out.isFull };
}
