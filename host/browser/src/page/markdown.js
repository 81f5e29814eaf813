// A part of the page as Markdown: headings, links, lists, tables, code, quotes, emphasis; nothing that isn't shown.
//
// Not here: plain text (rendered_text.js), markup (html.js).

/** Blocks of Markdown, joined by an empty line; inline text grows in `line` until a block ends it. */
class MarkdownWriter {
  constructor(max) {
    this.max = max;
    this.blocks = [];
    this.length = 0;
    this.line = '';
  }

  get isFull() {
    return this.length > this.max;
  }

  inline(text) {
    this.line += text;
  }

  /** Ends the current paragraph. */
  endBlock() {
    const text = tidyInline(this.line);
    this.line = '';
    if (text) this.block(text);
  }

  block(text) {
    this.blocks.push(text);
    this.length += text.length + 2;
  }

  done() {
    this.endBlock();
    return this.blocks.join('\n\n');
  }
}

/** Blanks of one paragraph, with the breaks that were asked for (a hard break ends a line with a backslash). */
const tidyInline = (text) =>
  text
    .replace(/[ \t\r\f]*\n[ \t\r\f]*/g, ' ')
    .replace(/[ \t\r\f]+/g, ' ')
    .replace(/ ?\u0000 ?/g, '\\\n')
    .replace(/^(\\\n)+|(\\\n)+$/g, '')
    .trim();

/** Stands for a hard break until the paragraph is done; no text of a page holds it. */
const HARD_BREAK = '\u0000';

const escapeMarkdown = (text) =>
  text
    .replace(/\u0000/g, '')
    .replace(/[\\`*_[\]<>]/g, '\\$&')
    .replace(/^(\s*)([-+#>]|\d+[.)])(?=\s)/gm, '$1\\$2');

const MARKS = { strong: '**', b: '**', em: '_', i: '_', del: '~~', s: '~~' };

function markdownOf(element, max) {
  const out = new MarkdownWriter(max);
  writeMarkdown(element, out, 0);
  const text = out.done();
  return { text: cut(text, max), truncated: text.length > max };
}

function writeMarkdown(element, out, depth) {
  if (out.isFull || !mayEnter(depth)) return;
  const seen = look(element);
  if (!seen.rendered) return;
  const tag = isHtml(element) ? tagOf(element) : '';
  if (Object.hasOwn(HEADINGS, tag))
    return asBlock(element, out, depth, (text) => `${'#'.repeat(HEADINGS[tag])} ${text.replace(/\\?\n/g, ' ')}`);
  switch (tag) {
    case 'br':
      return out.inline(HARD_BREAK);
    case 'hr':
      out.endBlock();
      return out.block('---');
    case 'a':
      return writeLink(element, out, depth);
    case 'img':
      return writeImage(element, out);
    case 'code':
    case 'kbd':
    case 'samp':
      return writeCode(element, out);
    case 'pre':
      return writePre(element, out);
    case 'ul':
    case 'ol':
    case 'menu':
      out.endBlock();
      return writeBlockOf(out, listMarkdown(element, out, depth, tag === 'ol'));
    case 'table':
      if (isDataTable(element)) {
        out.endBlock();
        return writeBlockOf(out, tableMarkdown(element, out, depth));
      }
      break;
    case 'blockquote':
      out.endBlock();
      return writeBlockOf(out, inner(element, out, depth).replace(/^/gm, '> ').replace(/^> $/gm, '>'));
    case 'select':
      return out.inline(escapeMarkdown(chosenText(element, 'combobox')));
    case 'textarea':
    case 'canvas':
    case 'video':
    case 'audio':
    case 'object':
    case 'input':
      return;
    case 'strong':
    case 'b':
    case 'em':
    case 'i':
    case 'del':
    case 's': {
      const text = tidyInline(inner(element, out, depth, true));
      if (text)
        out.inline(`${edgeBlank(element, 'start')}${MARKS[tag]}${text}${MARKS[tag]}${edgeBlank(element, 'end')}`);
      return;
    }
  }
  if (isFrame(element)) {
    const body = frameDocumentOf(element) && rootElementOf(frameDocumentOf(element));
    if (body) {
      out.endBlock();
      writeMarkdown(body, out, depth + 1);
      out.endBlock();
    }
    return;
  }
  if (seen.block) out.endBlock();
  writeMarkdownChildren(element, seen, out, depth);
  if (seen.block) out.endBlock();
}

function writeMarkdownChildren(element, seen, out, depth) {
  let textToo = null;
  for (const child of flatChildrenOf(element)) {
    if (out.isFull) return;
    if (nodeTypeOf(child) === TEXT) {
      if (!seen.visible) continue;
      const data = cut(dataOf(child), LIMITS.text);
      if (textToo === null && data.trim() !== '') textToo = !skipsContent(element);
      if (textToo !== false) out.inline(escapeMarkdown(data));
    } else {
      writeMarkdown(child, out, depth + 1);
    }
  }
}

/** The Markdown below an element by itself; `line`: as one paragraph. */
function inner(element, out, depth, line = false) {
  const own = new MarkdownWriter(out.max);
  writeMarkdownChildren(element, look(element), own, depth + 1);
  if (line) {
    own.endBlock();
    return own.blocks.join(' ');
  }
  return own.done();
}

function asBlock(element, out, depth, wrap) {
  out.endBlock();
  const text = inner(element, out, depth, true);
  if (text) out.block(wrap(text));
}

function writeBlockOf(out, text) {
  if (text.trim()) out.block(text);
}

/** Emphasis can't start or end with a blank, so a blank at its edge moves outside. */
function edgeBlank(element, edge) {
  const text = textContentOf(element);
  return (edge === 'start' ? /^\s/ : /\s$/).test(text) ? ' ' : '';
}

function writeLink(element, out, depth) {
  const text = inner(element, out, depth, true).replace(/^#+ /, '') || escapeMarkdown(nameOf(element));
  if (!text) return;
  const address = addressOf(element, 'href');
  out.inline(address === null ? text : `[${text}](${address})`);
}

function writeImage(element, out) {
  const alt = oneLine(attr(element, 'alt') ?? '');
  if (!alt) return;
  const address = addressOf(element, 'src');
  out.inline(address === null ? `![${escapeMarkdown(alt)}]` : `![${escapeMarkdown(alt)}](${address})`);
}

/** The address that an attribute gives, resolved; null for scripts and data, which say nothing to a reader. */
function addressOf(element, name) {
  const value = attr(element, name);
  if (value === null) return null;
  let url;
  try {
    url = new URL(value, baseUriOf(element));
  } catch {
    return null;
  }
  if (!/^(https?|mailto|tel|ftp|file|about):$/.test(url.protocol)) return null;
  return url.href.replace(/[()\s<>]/g, (char) => `%${char.charCodeAt(0).toString(16).padStart(2, '0')}`);
}

function writeCode(element, out) {
  const text = oneLine(textContentOf(element));
  if (!text) return;
  const fence = fenceFor(text, 1);
  out.inline(`${fence}${text.startsWith('`') ? ' ' : ''}${text}${text.endsWith('`') ? ' ' : ''}${fence}`);
}

function writePre(element, out) {
  out.endBlock();
  const { text } = renderedText(element, out.max);
  if (!text.trim()) return;
  const language = /(?:^|\s)lang(?:uage)?-([\w+#-]{1,30})/.exec(
    `${attr(element, 'class') ?? ''} ${attr(querySelector(element, 'code') ?? element, 'class') ?? ''}`,
  );
  const fence = fenceFor(text, 3);
  out.block(`${fence}${language ? language[1] : ''}\n${text.replace(/\n+$/, '')}\n${fence}`);
}

/** More backticks than any run in the text. */
function fenceFor(text, least) {
  let longest = least - 1;
  for (const run of text.match(/`+/g) ?? []) longest = Math.max(longest, run.length);
  return '`'.repeat(longest + 1);
}

function listMarkdown(list, out, depth, ordered) {
  const lines = [];
  let number = parseInt(attr(list, 'start') ?? '1', 10) || 1;
  for (const item of flatChildrenOf(list)) {
    if (nodeTypeOf(item) !== ELEMENT || !look(item).rendered) continue;
    const nested = isTag(item, 'ul') || isTag(item, 'ol');
    const text = nested ? listMarkdown(item, out, depth + 1, isTag(item, 'ol')) : inner(item, out, depth);
    if (!text.trim()) continue;
    const bullet = ordered ? `${number++}. ` : '- ';
    const tight = text.replace(/\n\n(?=\s*(?:[-+*]|\d+\.) )/g, '\n');
    const indent = ' '.repeat(bullet.length);
    lines.push(nested ? text.replace(/^/gm, indent) : bullet + tight.replace(/\n(?=[^\n])/g, `\n${indent}`));
  }
  return lines.join('\n');
}

function tableMarkdown(table, out, depth) {
  const rows = [];
  let caption = '';
  const collect = (parent) => {
    for (const child of flatChildrenOf(parent)) {
      if (nodeTypeOf(child) !== ELEMENT || !look(child).rendered) continue;
      const tag = tagOf(child);
      if (tag === 'caption') caption = inner(child, out, depth, true);
      else if (tag === 'tr') rows.push(cellsOf(child, out, depth));
      else if (tag === 'thead' || tag === 'tbody' || tag === 'tfoot') collect(child);
    }
  };
  collect(table);
  if (rows.length === 0) return caption;
  const width = Math.min(100, Math.max(...rows.map((row) => row.length)));
  const line = (cells) => `| ${Array.from({ length: width }, (_, i) => cells[i] ?? '').join(' | ')} |`;
  const lines = [line(rows[0]), `|${' --- |'.repeat(width)}`, ...rows.slice(1).map(line)];
  return `${caption ? `${caption}\n\n` : ''}${lines.join('\n')}`;
}

function cellsOf(row, out, depth) {
  const cells = [];
  for (const cell of flatChildrenOf(row)) {
    if (nodeTypeOf(cell) !== ELEMENT || !look(cell).rendered) continue;
    cells.push(inner(cell, out, depth, true).replace(/\\?\n/g, ' ').replace(/\|/g, '\\|'));
    const span = Math.min(20, parseInt(attr(cell, 'colspan') ?? '1', 10) || 1);
    for (let n = 1; n < span; n++) cells.push('');
  }
  return cells;
}
