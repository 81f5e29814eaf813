// What an element is: its ARIA role, by its `role` attribute (WAI-ARIA 1.2) or by what HTML makes of it (HTML-AAM).
//
// 'generic' is an element without a meaning of its own, 'none' one whose meaning was taken away. Where HTML-AAM knows no
// role but a person sees a control (a file input, a colour well, an editor), the role is that of the control it looks like.
//
// Not here: names (names.js), although whether a <section> is a landmark depends on having one.

const ARIA_ROLES = words(`
  alert alertdialog application article banner blockquote button caption cell checkbox code columnheader combobox
  complementary contentinfo definition deletion dialog directory document emphasis feed figure form generic grid
  gridcell group heading img insertion link list listbox listitem log main mark marquee math menu menubar menuitem
  menuitemcheckbox menuitemradio meter navigation none note option paragraph presentation progressbar radio
  radiogroup region row rowgroup rowheader scrollbar search searchbox separator slider spinbutton status strong
  subscript suggestion superscript switch tab table tablist tabpanel term textbox time timer toolbar tooltip tree
  treegrid treeitem
`);

/** Other names for a role, and what they are called here. */
const ROLE_SYNONYMS = { image: 'img', presentation: 'none', directory: 'list' };

/** Roles that a person operates: these always get a ref. */
const CONTROLS = words(`
  button checkbox combobox link listbox menuitem menuitemcheckbox menuitemradio option radio searchbox slider
  spinbutton switch tab textbox treeitem
`);

/** Roles whose content is no structure of its own: only what can be operated inside is listed. */
const LEAVES = words(`
  button checkbox img math menuitemcheckbox menuitemradio meter option progressbar radio scrollbar separator
  slider switch tab
`);

const HEADINGS = { h1: 1, h2: 2, h3: 3, h4: 4, h5: 5, h6: 6 };

const INPUT_ROLES = {
  button: 'button',
  submit: 'button',
  reset: 'button',
  image: 'button',
  file: 'button',
  checkbox: 'checkbox',
  radio: 'radio',
  range: 'slider',
  number: 'spinbutton',
  search: 'searchbox',
  hidden: 'none',
};
/** Input types that become a combobox when a <datalist> offers values. */
const LISTED_INPUTS = new Set(['text', 'email', 'tel', 'url', 'search']);

const PLAIN_ROLES = {
  address: 'group',
  article: 'article',
  blockquote: 'blockquote',
  button: 'button',
  caption: 'caption',
  code: 'code',
  dd: 'definition',
  del: 'deletion',
  details: 'group',
  dfn: 'term',
  dialog: 'dialog',
  dt: 'term',
  em: 'emphasis',
  fieldset: 'group',
  figure: 'figure',
  form: 'form',
  hr: 'separator',
  ins: 'insertion',
  main: 'main',
  mark: 'mark',
  math: 'math',
  menu: 'list',
  meter: 'meter',
  nav: 'navigation',
  ol: 'list',
  optgroup: 'group',
  option: 'option',
  output: 'status',
  p: 'paragraph',
  progress: 'progressbar',
  s: 'deletion',
  search: 'search',
  strong: 'strong',
  sub: 'subscript',
  sup: 'superscript',
  summary: 'button',
  table: 'table',
  tbody: 'rowgroup',
  textarea: 'textbox',
  tfoot: 'rowgroup',
  thead: 'rowgroup',
  time: 'time',
  ul: 'list',
  iframe: 'iframe',
  frame: 'iframe',
  video: 'video',
  audio: 'audio',
  html: 'document',
};

/** Attributes that mean something on every role, and so keep an element from being only decoration. */
const GLOBAL_ARIA = [
  'aria-atomic',
  'aria-busy',
  'aria-controls',
  'aria-current',
  'aria-describedby',
  'aria-details',
  'aria-dropeffect',
  'aria-flowto',
  'aria-grabbed',
  'aria-keyshortcuts',
  'aria-label',
  'aria-labelledby',
  'aria-live',
  'aria-owns',
  'aria-relevant',
  'aria-roledescription',
];

function roleOf(element) {
  let role = pass.roles.get(element);
  if (role === undefined) {
    pass.roles.set(element, 'generic'); // what a role that depends on itself, through a name, is taken for
    role = findRole(element);
    pass.roles.set(element, role);
  }
  return role;
}

function findRole(element) {
  const given = explicitRole(element);
  if (given === null) return implicitRole(element);
  if (given !== 'none') return given;
  // Presentational conflict: what can be operated, or says something about itself, is not decoration.
  return isFocusable(element) || GLOBAL_ARIA.some((name) => hasAttr(element, name)) ? implicitRole(element) : 'none';
}

/** The first known role of the attribute; null for none. */
function explicitRole(element) {
  const value = attr(element, 'role');
  if (value === null) return null;
  for (const token of value.toLowerCase().split(/\s+/)) {
    const role = Object.hasOwn(ROLE_SYNONYMS, token) ? ROLE_SYNONYMS[token] : token;
    if (!ARIA_ROLES.has(role) && role !== 'none') continue;
    // A region is a landmark by its name alone.
    if (role === 'region' && !hasGivenName(element)) continue;
    return role;
  }
  return null;
}

function implicitRole(element) {
  const tag = tagOf(element);
  if (!isHtml(element)) return svgRole(element, tag);
  if (Object.hasOwn(HEADINGS, tag)) return 'heading';
  switch (tag) {
    case 'div':
    case 'span':
      return isEditingHost(element) ? 'textbox' : 'generic';
    case 'a':
    case 'area':
      return hasAttr(element, 'href') ? 'link' : 'generic';
    case 'input':
      return inputRole(element);
    case 'select':
      return isMultipleOf(element) || Number(attr(element, 'size')) > 1 ? 'listbox' : 'combobox';
    case 'img':
      return attr(element, 'alt') === '' && !saysSomething(element) ? 'none' : 'img';
    case 'header':
      return isInSection(element) ? 'generic' : 'banner';
    case 'footer':
      return isInSection(element) ? 'generic' : 'contentinfo';
    case 'aside':
      return isInAside(element) && !hasGivenName(element) ? 'generic' : 'complementary';
    case 'section':
      return hasGivenName(element) ? 'region' : 'generic';
    case 'summary': {
      const parent = parentNodeOf(element);
      return parent && nodeTypeOf(parent) === ELEMENT && isTag(parent, 'details') && firstSummaryOf(parent) === element
        ? 'button'
        : 'generic';
    }
    case 'li':
      return listItemRole(element);
    case 'tr':
    case 'td':
    case 'th':
    case 'tbody':
    case 'thead':
    case 'tfoot':
      return tablePartRole(element, tag);
    case 'table':
      return isDataTable(element) ? 'table' : 'none';
    case 'body':
      return 'generic';
  }
  if (Object.hasOwn(PLAIN_ROLES, tag)) {
    const role = PLAIN_ROLES[tag];
    return role === 'paragraph' && isEditingHost(element) ? 'textbox' : role;
  }
  return isEditingHost(element) ? 'textbox' : 'generic';
}

function inputRole(element) {
  const type = inputTypeOf(element);
  if (type === 'checkbox' && hasAttr(element, 'switch') && 'switch' in HTMLInputElement.prototype) return 'switch';
  if (LISTED_INPUTS.has(type) && hasAttr(element, 'list')) return 'combobox';
  return Object.hasOwn(INPUT_ROLES, type) ? INPUT_ROLES[type] : 'textbox';
}

function svgRole(element, tag) {
  if (!isSvg(element)) return tag === 'math' ? 'math' : 'generic';
  if (tag === 'a') return hasAttr(element, 'href') || hasAttr(element, 'xlink:href') ? 'link' : 'generic';
  if (tag === 'svg' || tag === 'image') return saysSomething(element) || svgTitleOf(element) ? 'img' : 'generic';
  return 'generic';
}

/** The `<title>` child that names a picture. */
function svgTitleOf(element) {
  for (let child = firstElementOf(element); child; child = nextElementOf(child)) {
    if (tagOf(child) === 'title') return child;
  }
  return null;
}

function firstSummaryOf(details) {
  for (let child = firstElementOf(details); child; child = nextElementOf(child))
    if (isTag(child, 'summary')) return child;
  return null;
}

const saysSomething = (element) => hasAttr(element, 'aria-label') || hasAttr(element, 'aria-labelledby');
const hasGivenName = (element) =>
  (saysSomething(element) || (hasAttr(element, 'title') && isHtml(element))) && nameOf(element) !== '';

const SECTIONS = new Set(['article', 'aside', 'main', 'nav', 'section']);
const ASIDE_PARTS = new Set(['article', 'aside', 'nav', 'section']);
const SECTION_ROLES = new Set(['article', 'complementary', 'main', 'navigation', 'region']);

/** Is a <header> or <footer> that of a part, and not of the page? */
function isInSection(element) {
  return inherited(pass.sections, flatParentOf(element), (at) => {
    const given = attr(at, 'role');
    return (given === null ? SECTIONS.has(tagOf(at)) : SECTION_ROLES.has(explicitRole(at))) || undefined;
  });
}

/** Is an <aside> one of a part? Only an aside of the page or its main part is a landmark without a name. */
function isInAside(element) {
  return inherited(pass.asides, flatParentOf(element), (at) => ASIDE_PARTS.has(tagOf(at)) || undefined);
}

/** A list item loses its meaning with the list's. */
function listItemRole(element) {
  let list = flatParentOf(element);
  while (list && nodeTypeOf(list) === ELEMENT && isTag(list, 'slot')) list = flatParentOf(list);
  return list && nodeTypeOf(list) === ELEMENT && hasAttr(list, 'role') && roleOf(list) === 'none' ? 'none' : 'listitem';
}

/** Rows and cells mean what their table means: nothing in one that only lays things out, a grid's in a grid. */
function tablePartRole(element, tag) {
  const table = tableOf(element);
  if (!table) return 'generic';
  const given = roleOf(table);
  if (given === 'none') return 'none';
  if (given !== 'table' && given !== 'grid' && given !== 'treegrid') return 'generic';
  if (tag === 'tr') return 'row';
  if (tag !== 'td' && tag !== 'th') return 'rowgroup';
  if (tag === 'td') return given === 'table' ? 'cell' : 'gridcell';
  const scope = (attr(element, 'scope') ?? '').toLowerCase();
  if (scope === 'row' || scope === 'rowgroup') return 'rowheader';
  if (scope === 'col' || scope === 'colgroup') return 'columnheader';
  return headerByPlace(element);
}

/** A <th> beside a <td> heads its row, among other <th> its column. */
function headerByPlace(element) {
  for (const step of [nextElementOf, getter(Element.prototype, 'previousElementSibling')]) {
    const sibling = step(element);
    if (sibling) return isTag(sibling, 'td') ? 'rowheader' : 'columnheader';
  }
  return 'columnheader';
}

function tableOf(element) {
  for (let at = parentNodeOf(element), n = 0; at && n < 4; at = parentNodeOf(at), n++) {
    if (nodeTypeOf(at) === ELEMENT && isTag(at, 'table')) return at;
  }
  return null;
}

/** Tables that hold data say so by a header, a caption, a border, or simply by having many rows of several cells. */
function isDataTable(table) {
  if (isEditableOf(table) || saysSomething(table) || hasAttr(table, 'summary')) return true;
  if (querySelector(table, ':scope > caption, :scope > thead, :scope > tfoot, :scope > colgroup, :scope > * > tr > th'))
    return true;
  if (querySelector(table, ':scope > * > tr > :is([headers], [scope], [abbr], [role])')) return true;
  if (querySelector(table, 'table')) return false;
  const rows = querySelectorAll(table, ':scope > * > tr');
  if (rows.length < 2) return false;
  let cells = 0;
  for (let cell = firstElementOf(rows[0]); cell; cell = nextElementOf(cell)) cells++;
  if (cells < 2) return false;
  if (cells >= 5 || rows.length >= 20) return true;
  const first = getComputedStyle(firstElementOf(rows[0]));
  if (first.borderTopStyle !== 'none' && first.borderTopWidth !== '0px') return true;
  return Number(attr(table, 'border')) > 0;
}

/** The outermost element of something that a person edits in place. */
function isEditingHost(element) {
  const value = attr(element, 'contenteditable');
  if (value === null) return false;
  const word = value.toLowerCase();
  if (word !== '' && word !== 'true' && word !== 'plaintext-only') return false;
  const parent = parentNodeOf(element);
  return !(parent && nodeTypeOf(parent) === ELEMENT && isHtml(parent) && isEditableOf(parent));
}

const FOCUSABLE_TAGS = new Set(['button', 'select', 'textarea', 'iframe', 'summary']);

/** Can the element take the focus, if it is enabled? By tag and attributes only, so that it costs no layout. */
function isFocusable(element) {
  const tag = tagOf(element);
  if (hasAttr(element, 'tabindex')) return !Number.isNaN(parseInt(attr(element, 'tabindex'), 10));
  if (!isHtml(element)) return tag === 'a' && hasAttr(element, 'href');
  if (tag === 'a' || tag === 'area') return hasAttr(element, 'href');
  if (tag === 'input') return inputTypeOf(element) !== 'hidden';
  if ((tag === 'video' || tag === 'audio') && hasAttr(element, 'controls')) return true;
  return FOCUSABLE_TAGS.has(tag) || isEditingHost(element);
}
