// Reading the DOM so that a page can't answer in its place.
//
// Forms and documents resolve the names of their elements before their own properties, in every world: with
// `<input name="parentNode">` a form's `parentNode` is that input, and `<img name="body">` is the document's `body`.
// Everything here goes through the accessors of the prototypes, which no page can reach in this world.
//
// Not here: the flattened tree (tree.js), or what is shown (visibility.js).

function getter(prototype, name) {
  const { get } = Object.getOwnPropertyDescriptor(prototype, name);
  return (object) => get.call(object);
}

function setter(prototype, name) {
  const { set } = Object.getOwnPropertyDescriptor(prototype, name);
  return (object, value) => set.call(object, value);
}

function method(prototype, name) {
  const run = prototype[name];
  return (object, ...args) => run.apply(object, args);
}

const ELEMENT = 1;
const TEXT = 3;
const DOCUMENT = 9;
const FRAGMENT = 11;

const HTML = 'http://www.w3.org/1999/xhtml';
const SVG = 'http://www.w3.org/2000/svg';

const nodeTypeOf = getter(Node.prototype, 'nodeType');
const parentNodeOf = getter(Node.prototype, 'parentNode');
const firstChildOf = getter(Node.prototype, 'firstChild');
const nextSiblingOf = getter(Node.prototype, 'nextSibling');
const textContentOf = getter(Node.prototype, 'textContent');
const ownerDocumentOf = getter(Node.prototype, 'ownerDocument');
const isConnectedOf = getter(Node.prototype, 'isConnected');
const rootOf = method(Node.prototype, 'getRootNode');
const precedes = method(Node.prototype, 'compareDocumentPosition');
const dataOf = getter(CharacterData.prototype, 'data');

const tagOf = getter(Element.prototype, 'localName');
const namespaceOf = getter(Element.prototype, 'namespaceURI');
const idOf = getter(Element.prototype, 'id');
const classNamesOf = getter(Element.prototype, 'classList');
const shadowRootOf = getter(Element.prototype, 'shadowRoot');
const assignedSlotOf = getter(Element.prototype, 'assignedSlot');
const firstElementOf = getter(Element.prototype, 'firstElementChild');
const nextElementOf = getter(Element.prototype, 'nextElementSibling');
const textSlotOf = getter(Text.prototype, 'assignedSlot');
const assignedNodesOf = method(HTMLSlotElement.prototype, 'assignedNodes');
const hostOf = getter(ShadowRoot.prototype, 'host');

const runGetAttribute = Element.prototype.getAttribute;
const attr = (element, name) => runGetAttribute.call(element, name);
const runHasAttribute = Element.prototype.hasAttribute;
const hasAttr = (element, name) => runHasAttribute.call(element, name);
const hasAttrs = method(Element.prototype, 'hasAttributes');
const attrNamesOf = method(Element.prototype, 'getAttributeNames');
const runMatches = Element.prototype.matches;
const matches = (element, selector) => runMatches.call(element, selector);
const closest = method(Element.prototype, 'closest');
const rectOf = method(Element.prototype, 'getBoundingClientRect');
const rectsOf = method(Element.prototype, 'getClientRects');
const scrollIntoView = method(Element.prototype, 'scrollIntoView');
const isRendered = method(Element.prototype, 'checkVisibility');
const scrollLeftOf = getter(Element.prototype, 'scrollLeft');
const scrollTopOf = getter(Element.prototype, 'scrollTop');
const setScrollLeft = setter(Element.prototype, 'scrollLeft');
const setScrollTop = setter(Element.prototype, 'scrollTop');
const clientLeftOf = getter(Element.prototype, 'clientLeft');
const clientTopOf = getter(Element.prototype, 'clientTop');
const offsetWidthOf = getter(HTMLElement.prototype, 'offsetWidth');
const isEditableOf = getter(HTMLElement.prototype, 'isContentEditable');
const tabIndexOf = getter(HTMLElement.prototype, 'tabIndex');
const focusOn = method(HTMLElement.prototype, 'focus');

const viewOf = getter(Document.prototype, 'defaultView');
const urlOf = getter(Document.prototype, 'URL');
const baseUriOf = getter(Node.prototype, 'baseURI');
const scrollingElementOf = getter(Document.prototype, 'scrollingElement');
const designModeOf = getter(Document.prototype, 'designMode');
const createRange = method(Document.prototype, 'createRange');
const titleOf = getter(Document.prototype, 'title');
const bodyOf = getter(Document.prototype, 'body');
const rootElementOf = getter(Document.prototype, 'documentElement');
const dispatch = method(EventTarget.prototype, 'dispatchEvent');
const animationsOf = method(Document.prototype, 'getAnimations');

/** Document and ShadowRoot answer the same questions through different prototypes. */
function inScope(name) {
  const ofDocument = method(Document.prototype, name);
  const ofShadow = method(ShadowRoot.prototype, name);
  return (scope, ...args) => (nodeTypeOf(scope) === DOCUMENT ? ofDocument(scope, ...args) : ofShadow(scope, ...args));
}
const elementFromPoint = inScope('elementFromPoint');
const getElementById = inScope('getElementById');

function getterInScope(name) {
  const ofDocument = getter(Document.prototype, name);
  const ofShadow = getter(ShadowRoot.prototype, name);
  return (scope) => (nodeTypeOf(scope) === DOCUMENT ? ofDocument(scope) : ofShadow(scope));
}
const activeElementIn = getterInScope('activeElement');
const styleSheetsOf = getterInScope('styleSheets');
const adoptedStyleSheetsOf = getterInScope('adoptedStyleSheets');

const queries = {
  [ELEMENT]: [method(Element.prototype, 'querySelector'), method(Element.prototype, 'querySelectorAll')],
  [DOCUMENT]: [method(Document.prototype, 'querySelector'), method(Document.prototype, 'querySelectorAll')],
  [FRAGMENT]: [
    method(DocumentFragment.prototype, 'querySelector'),
    method(DocumentFragment.prototype, 'querySelectorAll'),
  ],
};
const querySelector = (scope, selector) => queries[nodeTypeOf(scope)][0](scope, selector);
const querySelectorAll = (scope, selector) => queries[nodeTypeOf(scope)][1](scope, selector);

const inputTypeOf = getter(HTMLInputElement.prototype, 'type');
const inputValueOf = getter(HTMLInputElement.prototype, 'value');
const textareaValueOf = getter(HTMLTextAreaElement.prototype, 'value');
const isCheckedOf = getter(HTMLInputElement.prototype, 'checked');
const isIndeterminateOf = getter(HTMLInputElement.prototype, 'indeterminate');
const filesOf = getter(HTMLInputElement.prototype, 'files');
const optionsOf = getter(HTMLSelectElement.prototype, 'options');
const selectedOptionsOf = getter(HTMLSelectElement.prototype, 'selectedOptions');
const isMultipleOf = getter(HTMLSelectElement.prototype, 'multiple');
const optionLabelOf = getter(HTMLOptionElement.prototype, 'label');
const isOptionSelectedOf = getter(HTMLOptionElement.prototype, 'selected');
const labelControlOf = getter(HTMLLabelElement.prototype, 'control');

const frameDocumentGetters = {
  iframe: getter(HTMLIFrameElement.prototype, 'contentDocument'),
  frame: getter(HTMLFrameElement.prototype, 'contentDocument'),
  object: getter(HTMLObjectElement.prototype, 'contentDocument'),
};

const isHtml = (element) => namespaceOf(element) === HTML;
const isSvg = (element) => namespaceOf(element) === SVG;

/** Is this HTML element one of that name? SVG has an `a`, a `title` and a `style` too. */
const isTag = (element, tag) => tagOf(element) === tag && isHtml(element);

/** An element that holds another document, of whatever origin. */
function isFrame(element) {
  const tag = tagOf(element);
  return (tag === 'iframe' || tag === 'frame') && isHtml(element);
}

/** The document inside a frame element, where its origin is ours; else null. */
function frameDocumentOf(element) {
  if (!isFrame(element)) return null;
  return frameDocumentGetters[tagOf(element)](element);
}

/** The frame element around a document, where the outer document is of our origin; else null. */
function frameElementOf(inner) {
  const view = viewOf(inner);
  if (!view || view === globalThis.window) return null;
  try {
    return view.frameElement;
  } catch {
    return null;
  }
}

/** The scope (document or shadow root) that ids and selectors of an element resolve in. */
const scopeOf = (node) => rootOf(node);

/** Does the element live in the page as it stands: connected, in a document that every frame up to ours still shows? */
function isAlive(element) {
  let node = element;
  for (let n = 0; n <= LIMITS.frames; n++) {
    if (!isConnectedOf(node)) return false;
    const home = ownerDocumentOf(node);
    if (home === document) return true;
    if (!viewOf(home)) return false;
    const frame = frameElementOf(home);
    if (!frame || frameDocumentOf(frame) !== home) return false;
    node = frame;
  }
  return false;
}
