// The page as an outline of what matters: one node for what has a role, a name or a use, text between them, the rest left out.
//
// Boxes without a meaning pass their children on to the node around them. Text of one block becomes one text item,
// however many inline elements it is made of. What a node's name already says is not said again below it, unless it can
// be operated there.
//
// A node: {element, role, name, states, value, ref: bool, children}. Text: {text}. Foreign frame: {frame}.
//
// Not here: lines and refs (snapshot.js).

/** Roles that say nothing to a reader beyond the text inside: inline marks, and boxes of tables. */
const TRANSPARENT = words(`
  generic none rowgroup emphasis strong code deletion insertion mark subscript superscript time term definition
  suggestion document
`);

/** Roles that are worth a line even when nothing is inside and nothing names them. */
const WORTH_A_LINE = words(`
  cell gridcell columnheader rowheader separator img progressbar meter alert alertdialog dialog iframe video audio
`);

/** Builds the outline of a page or a part of it. Every item that it makes is counted, roughly, against `budget`. */
class Outliner {
  /** `viewport`: only what meets the window. `budget`: stop after so many characters, since no more will be shown. */
  constructor({ viewport, budget, interactive }) {
    this.viewport = viewport;
    this.budget = budget;
    this.interactive = interactive;
    this.used = 0;
    this.stopped = false;
  }

  /** The outline below a document's root, or of one element. */
  ofDocument(inner, depth = 0, clip = null) {
    const items = new Items(this);
    const root = rootElementOf(inner);
    const top = modalOf(inner) ?? root;
    if (top) this.visit(top, { items, depth, clip, parent: null, pointer: false, muted: false });
    return items.done();
  }

  ofElement(element) {
    const items = new Items(this);
    const clip = this.viewport ? windowClip() : null;
    this.visit(element, { items, depth: 0, clip, parent: null, pointer: false, muted: false });
    return items.done();
  }

  visit(element, at) {
    if (this.stopped) return;
    if (!mayEnter(at.depth)) return;
    const seen = look(element);
    if (!seen.rendered || isPruned(element)) return;
    const tag = tagOf(element);
    if (tag === 'br') {
      at.items.text(' ');
      return;
    }
    const role = roleOf(element);
    const inView = this.viewport ? meets(element, seen, at.clip) : true;
    const operable = seen.visible && inView && canOperate(element, role, tag, seen, at);
    const node = this.nodeFor(element, role, seen, operable);
    const inside = {
      items: node ? new Items(this) : at.items,
      depth: at.depth + 1,
      clip: at.clip && !isFrame(element) ? clipInside(element, seen, at.clip) : at.clip,
      parent: element,
      pointer: seen.pointer,
      // Text that is listed as a name; a control inside has text of its own.
      muted: !CONTROLS.has(role) && (at.muted || namesAnother(element, tag)),
    };
    const block = !node && seen.block;
    if (block) at.items.endLine();
    if (!isChildless(element, tag, role)) this.visitChildren(element, seen, inside, inView);
    if (block) at.items.endLine();
    if (node) this.place(node, inside.items.done(), at.items, inView);
  }

  visitChildren(element, seen, inside, inView) {
    if (isFrame(element)) {
      this.visitFrame(element, inside);
      return;
    }
    if (isTag(element, 'select') && roleOf(element) === 'combobox') {
      for (const option of optionsOf(element))
        inside.items.push(newNode(option, 'option', shortName(option), statesOf(option, 'option'), null, false));
      return;
    }
    const shown = seen.visible && inView;
    let textToo = seen.visible && !inside.muted;
    let asked = false;
    if (shown && textToo) inside.items.text(generatedText(element, '::before'));
    for (const child of flatChildrenOf(element)) {
      if (this.stopped) return;
      if (nodeTypeOf(child) === TEXT) {
        if (!textToo) continue;
        const data = dataOf(child);
        if (data.length === 0) continue;
        if (!asked && isReadable(data)) {
          asked = true;
          if (skipsContent(element)) {
            textToo = false;
            continue;
          }
        }
        if (inside.clip && !textMeets(child, inside.clip)) continue;
        inside.items.text(data);
      } else {
        this.visit(child, inside);
      }
    }
    if (shown && textToo) inside.items.text(generatedText(element, '::after'));
  }

  visitFrame(element, inside) {
    const inner = frameDocumentOf(element);
    if (!inner) {
      inside.items.push({ frame: markOf(element) });
      return;
    }
    if (inside.depth > LIMITS.depth) return;
    const clip = inside.clip ? clipInFrame(element, inside.clip) : null;
    for (const item of this.ofDocument(inner, inside.depth, clip)) inside.items.push(item);
  }

  /** The node of an element that gets one of its own, before its children are known; null for what passes them on. */
  nodeFor(element, role, seen, operable) {
    if (!seen.visible && !operable) {
      // A hidden box still holds visible children together as a list, a table or a dialog.
      if (TRANSPARENT.has(role) || CONTROLS.has(role) || NAMED_BY_CONTENT.has(role)) return null;
      return { ...newNode(element, role, '', '', null, false), hidden: true };
    }
    if (TRANSPARENT.has(role) && !operable) {
      if (!hasAttrs(element) || !saysSomething(element) || role !== 'generic') return null;
      const name = shortName(element);
      return name ? newNode(element, role, name, '', null, false) : null;
    }
    const shownRole = TRANSPARENT.has(role) ? 'generic' : role;
    const node = newNode(
      element,
      shownRole,
      nameForLine(element, shownRole, operable),
      statesOf(element, role),
      valueOf(element, role),
      operable,
    );
    node.byContent =
      (shownRole === 'generic' || shownRole === 'cell' || shownRole === 'gridcell') && !givenName(element);
    return node;
  }

  /** Puts a finished node among its siblings, without what its name has said already. */
  place(node, children, items, inView) {
    const { role, element } = node;
    // A box or a cell around controls isn't called by their names.
    if (node.byContent && children.some(holdsRef)) {
      node.name = '';
      node.byContent = false;
    }
    const { name } = node;
    node.children =
      (name && (NAMED_BY_CONTENT.has(role) || node.byContent)) || LEAVES.has(role)
        ? withoutRepeats(children, name, role)
        : children;
    if (role === 'textbox' || role === 'searchbox' || role === 'combobox' || role === 'listbox') settleField(node);
    if (!node.ref && !node.name && !node.states && node.value === null) {
      if (
        node.children.length === 0 &&
        (node.hidden || !WORTH_A_LINE.has(role) || !inView || (role === 'img' && !this.keepsImage(element)))
      )
        return;
      if (role === 'group' || role === 'figure') {
        items.endLine();
        for (const child of node.children) items.push(child);
        return;
      }
    }
    if (node.children.length === 0 && (!inView || (role === 'heading' && !name && !node.ref))) return;
    items.push(node);
    if (!this.interactive || node.ref)
      this.spend(role.length + name.length + node.states.length + (node.value?.length ?? 0) + 4);
  }

  /** A picture without a name is listed only when it could matter: not the spacers and tracking pixels. */
  keepsImage(element) {
    const rect = rectOf(element);
    return rect.width >= 24 && rect.height >= 24;
  }

  spend(characters) {
    this.used += characters;
    if (this.used > this.budget) this.stopped = true;
  }
}

const holdsRef = (item) => item.ref || (item.children !== undefined && item.children.some(holdsRef));

function newNode(element, role, name, states, value, ref) {
  return { element, role, name, states, value, ref, byContent: false, children: [] };
}

/** The children of one node while they are found: text runs are joined until something ends the line. */
class Items {
  constructor(outliner) {
    this.outliner = outliner;
    this.list = [];
    this.run = '';
  }

  text(data) {
    if (this.run.length < LIMITS.text) this.run += cut(data, LIMITS.text);
  }

  endLine() {
    if (this.run === '') return;
    const text = oneLine(this.run);
    this.run = '';
    if (text === '') return;
    this.list.push({ text });
    if (!this.outliner.interactive) this.outliner.spend(text.length);
  }

  push(item) {
    this.endLine();
    this.list.push(item);
  }

  done() {
    this.endLine();
    return this.list;
  }
}

/** Is the element something to operate, and so to be given a ref? */
function canOperate(element, role, tag, seen, at) {
  if (role === 'option' && isHtml(element)) return hasOwnBox(element, tag);
  if (CONTROLS.has(role) || role === 'iframe' || role === 'video' || role === 'audio') return true;
  if (hasAttrs(element)) {
    const tabindex = attr(element, 'tabindex');
    if (tabindex !== null && parseInt(tabindex, 10) >= 0) return true;
    if (hasAttr(element, 'onclick') && tag !== 'body' && tag !== 'html') return true;
    if (attr(element, 'draggable') === 'true') return true;
    if (tag === 'label' && isHtml(element)) {
      // The drawn stand-in of a hidden control is what a person presses; beside a shown one it is only its name.
      if (labelControlOf(element) !== null) return !labelsShownControl(element);
      return seen.pointer && !at.pointer;
    }
  }
  // The pointer turns into a hand over the whole of what can be clicked: its outermost element is the one.
  return seen.pointer && !at.pointer && tag !== 'body' && tag !== 'html' && !(at.parent && isTag(at.parent, 'label'));
}

/** Options of a closed drop-down have no box to be pressed in; those of a list box have. */
function hasOwnBox(element, tag) {
  if (tag !== 'option') return true;
  const select = closest(element, 'select');
  return !select || roleOf(select) === 'listbox';
}

/** Is the element's text listed already, as the name of a control or a group? */
function namesAnother(element, tag) {
  if (tag === 'label')
    return isHtml(element) && labelsShownControl(element) && nameOf(labelControlOf(element)).length <= LIMITS.name;
  if (tag !== 'legend' && tag !== 'caption') return false;
  const parent = parentNodeOf(element);
  return (
    isHtml(element) &&
    parent !== null &&
    nodeTypeOf(parent) === ELEMENT &&
    nameOf(parent) !== '' &&
    nameOf(parent).length <= LIMITS.name &&
    saysAlready(nameOf(parent), oneLine(contentShare(element)))
  );
}

function labelsShownControl(label) {
  const control = labelControlOf(label);
  return control !== null && isShown(control) && !isPrunedFromOutside(control);
}

/** The name as a line shows it: none rather than a whole article. */
function shortName(element) {
  const name = nameOf(element);
  return name.length <= LIMITS.name ? name : '';
}

function nameForLine(element, role, operable) {
  if (role === 'generic' && operable) {
    const given = givenName(element) || oneLine(contentShare(element)) || tooltip(element);
    return given.length <= LIMITS.clickableName ? given : '';
  }
  if (role === 'row' && !operable) return givenName(element);
  return shortName(element);
}

const CHILDLESS = words('input textarea img area canvas progress meter hr video audio embed');

function isChildless(element, tag, role) {
  if (!isHtml(element)) return false;
  if (CHILDLESS.has(tag)) return true;
  if (tag === 'select') return role === 'combobox' ? optionsOf(element).length > LIMITS.options : false;
  return false;
}

/** Children that add nothing to the name above them are left out; what they hold that does is kept. */
function withoutRepeats(children, name, role) {
  const kept = [];
  for (const child of children) {
    if (child.text !== undefined) {
      if (!saysAlready(name, child.text) && (isReadable(child.text) || !LEAVES.has(role))) kept.push(child);
    } else if (child.frame !== undefined || child.ref) {
      kept.push(child);
    } else {
      child.children = withoutRepeats(child.children, name, role);
      if (
        LEAVES.has(role) ||
        ((!child.states || (child.role === 'heading' && LEAVES.has(role))) &&
          child.value === null &&
          saysAlready(name, child.name))
      )
        kept.push(...child.children);
      else kept.push(child);
    }
  }
  return kept;
}

/** Both on one line already; blocks inside a name are joined by blanks, so the name may hold more of them. */
const saysAlready = (name, text) =>
  text === '' || name.includes(text) || withoutBlanks(name).includes(withoutBlanks(text));
const withoutBlanks = (text) => text.replace(/ /g, '');

/** Text inside a field that a script made is its value; the rest stays below it. */
function settleField(node) {
  if (isHtml(node.element) && ['input', 'textarea', 'select'].includes(tagOf(node.element))) return;
  if (node.role === 'listbox') return;
  const texts = [];
  flattenTexts(node.children, texts);
  const value = texts.join(' ');
  node.children = node.children.flatMap(withoutText);
  if (value && node.value === null) node.value = value;
}

function flattenTexts(children, texts) {
  for (const child of children) {
    if (child.text !== undefined) texts.push(child.text);
    else if (!child.ref && child.children) flattenTexts(child.children, texts);
  }
}

function withoutText(child) {
  if (child.text !== undefined) return [];
  if (child.frame !== undefined || child.ref) return [child];
  return child.children.flatMap(withoutText);
}

// --- Only what meets the window ---

function windowClip() {
  const view = viewOf(document);
  return { left: 0, top: 0, right: view.innerWidth, bottom: view.innerHeight };
}

const overlaps = (rect, clip) =>
  rect.left < clip.right && rect.right > clip.left && rect.top < clip.bottom && rect.bottom > clip.top;

function meets(element, seen, clip) {
  if (!clip || seen.display === 'contents') return true;
  return overlaps(rectOf(isTag(element, 'area') ? (imageOfArea(element) ?? element) : element), clip);
}

function textMeets(text, clip) {
  const range = createRange(ownerDocumentOf(text));
  range.selectNode(text);
  return overlaps(range.getBoundingClientRect(), clip);
}

function clipInside(element, seen, clip) {
  if (seen.display === 'contents' || seen.display === 'inline') return clip;
  const style = getComputedStyle(element);
  if (style.overflowX === 'visible' && style.overflowY === 'visible') return clip;
  const rect = rectOf(element);
  return {
    left: Math.max(clip.left, rect.left),
    top: Math.max(clip.top, rect.top),
    right: Math.min(clip.right, rect.right),
    bottom: Math.min(clip.bottom, rect.bottom),
  };
}

function clipInFrame(element, clip) {
  const box = contentBoxOf(element);
  const into = (x, from) => (x - from) / box.scale;
  return {
    left: Math.max(0, into(clip.left, box.x)),
    top: Math.max(0, into(clip.top, box.y)),
    right: Math.min(box.width, into(clip.right, box.x)),
    bottom: Math.min(box.height, into(clip.bottom, box.y)),
  };
}
