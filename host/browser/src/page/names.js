// What an element is called: the accessible name (accname 1.2, with what HTML-AAM and SVG-AAM add).
//
// The order: `aria-labelledby`, `aria-label`, what the language offers (labels, alt, value, caption, legend, title
// element), the content for roles that are named by it, the tooltip. Hidden content doesn't count, unless
// `aria-labelledby` points at something hidden. Words of different blocks are apart, words of one line are not, as
// they are drawn.
//
// Each element's share of a name is computed once in a pass and bounded, so names cost no more than the walk does.
//
// Not here: shortening or quoting (snapshot.js, text_safety.js).

const NAMED_BY_CONTENT = words(`
  button cell checkbox columnheader gridcell heading link menuitem menuitemcheckbox menuitemradio option radio
  rowheader switch tab term tooltip treeitem
`);

/** A share of a name stops growing here: a name this long is dropped anyway. */
const SHARE = 4 * LIMITS.name;

/** The name on one line; '' for none. May be longer than a line should show. */
function nameOf(element) {
  let name = pass.names.get(element);
  if (name === undefined) {
    pass.names.set(element, ''); // what a name that depends on itself is taken for
    name = findName(element);
    pass.names.set(element, name);
  }
  return name;
}

function findName(element) {
  const given = givenName(element);
  if (given) return given;
  const role = roleOf(element);
  if (role !== 'none' || isFrame(element)) {
    const native = nativeName(element);
    if (native) return native;
  }
  if (NAMED_BY_CONTENT.has(role)) {
    const content = oneLine(contentShare(element));
    if (content) return content;
  }
  return role === 'generic' || role === 'none' ? '' : tooltip(element);
}

/** By `aria-labelledby` or `aria-label`. */
function givenName(element) {
  if (!hasAttrs(element)) return '';
  const byOthers = labelledBy(element);
  if (byOthers) return byOthers;
  const label = attr(element, 'aria-label');
  return label === null ? '' : oneLine(label);
}

function labelledBy(element) {
  if (!hasAttr(element, 'aria-labelledby')) return '';
  const parts = [];
  for (const other of referenced(element, 'aria-labelledby', 'ariaLabelledByElements')) {
    const walk = { from: element, hidden: !isShown(other), references: false, seen: new Set() };
    const part = oneLine(share(other, walk, true));
    if (part) parts.push(part);
  }
  return parts.join(' ');
}

/** The elements that an attribute of ids, or its property, points at. */
function referenced(element, attribute, property) {
  const reflected = element[property];
  if (Array.isArray(reflected)) return reflected;
  const scope = scopeOf(element);
  return nodeTypeOf(scope) === ELEMENT
    ? []
    : idsIn(attr(element, attribute))
        .map((id) => getElementById(scope, id))
        .filter(Boolean);
}

function tooltip(element) {
  const title = isHtml(element) ? attr(element, 'title') : null;
  return title === null ? '' : oneLine(title);
}

/** What the language itself offers as a name. */
function nativeName(element) {
  const tag = tagOf(element);
  if (!isHtml(element)) return svgName(element, tag);
  switch (tag) {
    case 'input':
      return inputName(element);
    case 'textarea':
      return labelText(element) || tooltip(element) || placeholder(element);
    case 'select':
    case 'meter':
    case 'progress':
    case 'output':
    case 'button':
      return labelText(element);
    case 'img':
    case 'area':
      return oneLine(attr(element, 'alt') ?? '');
    case 'fieldset':
      return childText(element, 'legend');
    case 'table':
      return childText(element, 'caption');
    case 'optgroup':
      return oneLine(attr(element, 'label') ?? '');
    case 'option':
      return oneLine(optionLabelOf(element));
    case 'iframe':
    case 'frame':
      return tooltip(element);
    case 'summary':
      return roleOf(element) === 'button' ? oneLine(contentShare(element)) : '';
    default:
      return isEditingHost(element) ? placeholder(element) : '';
  }
}

function inputName(element) {
  const type = inputTypeOf(element);
  const label = labelText(element);
  if (label) return label;
  switch (type) {
    case 'button':
    case 'submit':
    case 'reset':
      return oneLine(inputValueOf(element)) || (hasAttr(element, 'value') ? '' : (BUTTON_TEXTS[type] ?? ''));
    case 'image':
      return (
        oneLine(attr(element, 'alt') ?? '') ||
        oneLine(attr(element, 'value') ?? '') ||
        tooltip(element) ||
        BUTTON_TEXTS.submit
      );
    case 'file':
      return tooltip(element) || BUTTON_TEXTS.file;
    case 'checkbox':
    case 'radio':
      return tooltip(element);
    default:
      return tooltip(element) || placeholder(element);
  }
}

const BUTTON_TEXTS = { submit: 'Submit', reset: 'Reset', file: 'Choose File' };

const placeholder = (element) =>
  oneLine(attr(element, 'placeholder') ?? '') || oneLine(attr(element, 'aria-placeholder') ?? '');

function svgName(element, tag) {
  const title = svgTitleOf(element);
  if (title) return oneLine(textContentOf(title));
  return tag === 'a' ? oneLine(attr(element, 'xlink:title') ?? '') : '';
}

function labelText(element) {
  const parts = [];
  for (const label of labelsOf(element)) {
    const walk = { from: element, hidden: false, references: true, seen: new Set() };
    const part = oneLine(share(label, walk, true));
    if (part) parts.push(part);
  }
  return parts.join(' ');
}

function childText(element, tag) {
  for (let child = firstElementOf(element); child; child = nextElementOf(child)) {
    if (isTag(child, tag)) return look(child).rendered ? oneLine(contentShare(child)) : '';
  }
  return '';
}

/** The share of an element's content in its own name, in the plain case that everyone asks for again. */
function contentShare(element) {
  let text = pass.contents.get(element);
  if (text === undefined) {
    pass.contents.set(element, ''); // nothing contains itself
    text = childShares(element, PLAIN_WALK);
    pass.contents.set(element, text);
  }
  return text;
}

/** `from`: whose name it is, if a label's; `hidden`: hidden content counts; `references`: follow aria-labelledby. */
const PLAIN_WALK = Object.freeze({ from: null, hidden: false, references: true, seen: null });

/** What an element adds to the name of one around it, or of one that points at it (`named`). */
function share(element, walk, named) {
  if (++pass.shares > LIMITS.shares || pass.shareDepth > LIMITS.depth) {
    pass.cut = true;
    return '';
  }
  pass.shareDepth++;
  const text = shareOf(element, walk, named);
  pass.shareDepth--;
  return text;
}

function shareOf(element, walk, named) {
  if (walk.seen) {
    if (walk.seen.has(element)) return '';
    walk.seen.add(element);
  }
  const seen = look(element);
  if (!walk.hidden) {
    if (!seen.rendered && !(named && walk.references)) return '';
    if (!named && isPruned(element)) return '';
  }
  const text = hasAttrs(element) || !isPlainTag(element) ? ownShare(element, walk, named) : null;
  const all = text ?? (walk === PLAIN_WALK ? contentShare(element) : childShares(element, walk));
  return standsApart(seen.display) ? ` ${all} ` : all;
}

/** Boxes of their own, in a line or not, are read apart from what is beside them. */
const standsApart = (display) => display !== 'inline' && display !== 'contents' && display !== 'none';

const PLAIN_TAGS = words('div span b i p strong em small');
const isPlainTag = (element) => PLAIN_TAGS.has(tagOf(element));

/** What stands for the element instead of its content; null if its content does. */
function ownShare(element, walk, named) {
  const shown = walk.hidden || look(element).visible;
  if (walk.references && hasAttr(element, 'aria-labelledby') && element !== walk.from) {
    const byOthers = labelledBy(element);
    if (byOthers) return shown ? byOthers : '';
  }
  const role = roleOf(element);
  if (element !== walk.from || !named) {
    // A control inside a name counts with its value, not with its own name.
    const value = embeddedValue(element, role, walk);
    if (value !== null && (value.trim() !== '' || element === walk.from)) return shown ? value : '';
  }
  const label = attr(element, 'aria-label');
  if (label !== null) {
    const text = oneLine(label);
    if (text) return shown ? text : '';
  }
  if (role !== 'none') {
    const native = nativeShare(element);
    if (native !== null) return shown ? native : '';
  }
  if (firstChildOf(element) === null && shadowRootOf(element) === null) return shown ? tooltip(element) || null : '';
  return null;
}

function nativeShare(element) {
  const tag = tagOf(element);
  if (!isHtml(element)) {
    if (tag !== 'svg' && tag !== 'image') return null;
    const name = svgName(element, tag);
    return name || null;
  }
  switch (tag) {
    case 'img':
      return ` ${oneLine(attr(element, 'alt') ?? '') || (hasAttr(element, 'alt') ? '' : tooltip(element))} `;
    case 'br':
      return ' ';
    case 'input':
      return inputTypeOf(element) === 'hidden' ? '' : ` ${inputName(element)} `;
    case 'table':
    case 'fieldset':
    case 'figure':
      return null;
    case 'iframe':
    case 'frame':
      return tooltip(element);
    default:
      return null;
  }
}

/** The value with which a text field, a choice or a range stands in someone else's name; null for anything else. */
function embeddedValue(element, role, walk) {
  switch (role) {
    case 'textbox':
    case 'searchbox':
      if (walk.from === element) return '';
      return ` ${fieldText(element)} `;
    case 'combobox':
    case 'listbox':
      if (walk.from === element) return '';
      return ` ${chosenText(element, role)} `;
    case 'slider':
    case 'spinbutton':
    case 'progressbar':
    case 'meter':
    case 'scrollbar':
      if (walk.from === element) return '';
      return ` ${rangeText(element)} `;
    case 'checkbox':
    case 'radio':
    case 'switch':
      return walk.from === element && isTag(element, 'input') ? '' : null;
    default:
      return null;
  }
}

/** The shares of all children, in the flattened tree, with what style sheets add around them. */
function childShares(element, walk) {
  if (skipsNames(element)) return '';
  let text = '';
  const seen = look(element);
  const shown = walk.hidden || seen.visible;
  const owned = movedIn(scopeOf(element))?.owned.get(element);
  const inTree = NESTED_ITEMS.has(attr(element, 'role') ?? '');
  if (shown && !walk.hidden) text += generatedText(element, '::before');
  for (const child of flatChildrenOf(element)) {
    if (nodeTypeOf(child) === TEXT) {
      if (shown) text += dataOf(child);
    } else if (owned?.includes(child)) {
      text += ` ${share(child, walk, false)} `;
    } else if (!(inTree && NESTED_GROUPS.has(roleOf(child)))) {
      text += share(child, walk, false);
    }
    if (text.length > SHARE) return text.slice(0, SHARE);
  }
  if (shown && !walk.hidden) text += generatedText(element, '::after');
  return text;
}

/** Items that hold other items, which have names of their own. */
const NESTED_ITEMS = new Set(['treeitem', 'menuitem']);
const NESTED_GROUPS = new Set(['group', 'tree', 'menu']);

/** Elements whose children are not text of the page. */
function skipsNames(element) {
  const tag = tagOf(element);
  if (!isHtml(element)) return NEVER_DRAWN_SVG.has(tag);
  return (
    NEVER_DRAWN.has(tag) ||
    tag === 'iframe' ||
    tag === 'textarea' ||
    tag === 'object' ||
    tag === 'video' ||
    tag === 'audio' ||
    tag === 'canvas'
  );
}
