// A snapshot: the outline as lines that a model reads, `- role "name" [state=…] [ref=e1]: "value"`.
//
// Everything that a page wrote stands in quotes; what is outside quotes (roles, states, refs) is written here. Lines are
// never cut: a snapshot that grows too long ends after a whole line, and the host, which takes out secrets first, cuts
// further if it has to.
//
// The answer is a list of segments, since frames of other origins are read by their own script: text as it stands, or
// {frame, indent} where the host puts that frame's lines, each indented by `indent` levels more.
//
// Not here: what is in the outline (outline.js).

/** Characters of a snapshot unless the call says otherwise; the host asks for more, to cut after redaction. */
const SNAPSHOT_CHARS = 40_000;

/** Characters that a walk may gather for each that is shown: what a name says is gathered again below it, then left out. */
const WALKED_PER_CHAR = 3;

offer('snapshot', (args) => {
  const {
    scope,
    interactive = false,
    viewport = false,
    query = '',
    depth = Infinity,
    maxChars = SNAPSHOT_CHARS,
  } = args;
  const refs = new RefGiver(args);
  const words = oneLine(String(query ?? ''))
    .toLowerCase()
    .split(' ')
    .filter(Boolean);
  // Only a plain snapshot can stop early: a query or a depth may leave out any amount of what is walked.
  const budget = words.length > 0 || Number.isFinite(depth ?? Infinity) ? Infinity : WALKED_PER_CHAR * maxChars;
  const outliner = new Outliner({ viewport, interactive, budget });
  const items = scope ? outlineOf(outliner, scope) : outliner.ofDocument(document, 0, viewport ? windowClip() : null);
  const writer = new Writer({ refs, interactive, words, depth: depth ?? Infinity, maxChars });
  writer.write(items, 0);
  const result = {
    segments: writer.segments(),
    next: refs.next,
    truncated: writer.full || outliner.stopped || pass.cut,
    title: oneLine(titleOf(document)),
    url: urlOf(document),
  };
  if (words.length > 0) result.matches = writer.n_matches;
  return result;
});

function outlineOf(outliner, scope) {
  const element = resolve(scope);
  if (!isShown(element) && look(element).rendered === false)
    refuse('not_visible', `${describe(element)} is not shown, so there is nothing to read in it`);
  return outliner.ofElement(element);
}

/** About what a ref takes in a line; whether a line still fits is asked before its ref is given away. */
const REF_CHARS = ' [ref=f1e1234]'.length;

class Writer {
  constructor({ refs, interactive, words, depth, maxChars }) {
    this.refs = refs;
    this.interactive = interactive;
    this.words = words;
    this.depth = depth;
    this.maxChars = maxChars;
    this.parts = [];
    this.text = '';
    this.n_chars = 0;
    this.n_matches = 0;
    this.full = false;
  }

  write(items, level) {
    for (const item of items) {
      if (this.full) return;
      if (item.frame !== undefined) this.writeFrame(item.frame, level);
      else if (level >= this.depth) continue;
      else if (item.text !== undefined) this.line(level, 'text', `- text: ${quoted(item.text)}`, null);
      else this.writeNode(item, level);
    }
  }

  writeNode(node, level) {
    if (this.interactive && !node.ref) {
      this.write(node.children, level);
      return;
    }
    const only = node.children.length === 1 ? node.children[0].text : undefined;
    const inline = node.value !== null ? node.value : !this.interactive && only !== undefined ? only : null;
    const head = `- ${node.role}${node.name ? ` ${quoted(node.name)}` : ''}${node.states}`;
    this.line(level, head, inline === null ? '' : `: ${quoted(inline)}`, node.ref ? node.element : null);
    if (inline !== null && node.value === null) return;
    this.write(node.children, level + 1);
  }

  /** One line; a ref is only given to an element whose line is really written. */
  line(level, head, tail, element) {
    if (head === 'text') {
      head = tail;
      tail = '';
      if (this.interactive) return;
    }
    if (this.words.length > 0) {
      const text = (head + tail).toLowerCase();
      if (!this.words.every((word) => text.includes(word))) return;
      this.n_matches++;
      level = 0;
    }
    if (this.full) return;
    const indent = '  '.repeat(level);
    const n_chars = indent.length + head.length + tail.length + (element ? REF_CHARS : 0) + 1;
    if (this.n_chars > 0 && this.n_chars + n_chars > this.maxChars) {
      this.full = true;
      return;
    }
    const line = `${indent}${head}${element ? ` [ref=${this.refs.refFor(element)}]` : ''}${tail}\n`;
    this.text += line;
    this.n_chars += line.length;
  }

  writeFrame(frame, level) {
    if (this.text) this.parts.push(this.text);
    this.text = '';
    this.parts.push({ frame, indent: this.words.length > 0 ? 0 : level });
  }

  segments() {
    if (this.text) this.parts.push(this.text);
    this.text = '';
    return this.parts;
  }
}
