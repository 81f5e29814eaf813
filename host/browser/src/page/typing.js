// Putting text into a field: what can take it, where the caret goes, and whether the field kept it.
//
// The text itself is typed by the host as real input, so that the page sees what it would see from a person. Only fields
// whose parts no one can type as one string (dates, colours, ranges) are set here, through the element's own setter, with the
// events that a person's choice would send.
//
// Not here: finding the field (actionable.js).

/** Input types that a text can be typed into. */
const TYPED = words('text search url tel email password number');
/** Input types that are set as one value. */
const SET_WHOLE = words('date month week time datetime-local color range');

const setInputValue = setter(HTMLInputElement.prototype, 'value');
const selectInput = method(HTMLInputElement.prototype, 'select');
const selectTextarea = method(HTMLTextAreaElement.prototype, 'select');
const setInputCaret = method(HTMLInputElement.prototype, 'setSelectionRange');
const setTextareaCaret = method(HTMLTextAreaElement.prototype, 'setSelectionRange');
const innerTextOf = getter(HTMLElement.prototype, 'innerText');

function isEditable(element) {
  if (!isHtml(element)) return false;
  const tag = tagOf(element);
  if (tag === 'textarea') return true;
  if (tag === 'input') return TYPED.has(inputTypeOf(element)) || SET_WHOLE.has(inputTypeOf(element));
  return isEditableOf(element);
}

function assertEditable(element) {
  if (!isEditable(element)) refuse('not_editable', `${describe(element)} does not take text`);
  if (isReadOnly(element)) refuse('read_only', `${describe(element)} is read-only`);
}

/** What has the focus, through shadow roots and frames of our own origin; refuses when nothing has. */
function focusedElement() {
  let active = activeElementIn(document);
  for (let n = 0; active && n < LIMITS.depth; n++) {
    const inside = shadowRootOf(active) ?? frameDocumentOf(active);
    const next = inside ? activeElementIn(inside) : null;
    if (!next) break;
    active = next;
  }
  if (!active || (isTag(active, 'body') && !isEditableOf(active)) || isTag(active, 'html'))
    refuse('not_editable', 'nothing on the page has the focus');
  return active;
}

/** What the last `prepareType` found, for `afterType` to compare with. */
let typed = null;

/**
 * Focuses the located field and puts the selection where the text is to go: over everything (`replace`), at the end
 * (`append`), or where it is (`insert`). With a `text` and a field that is set whole, sets it: `{done: true}`.
 */
offer('prepareType', ({ mode = 'replace', text }) => {
  const element = located;
  if (!element || !isAlive(element)) refuse('stale_ref', 'the field is no longer on the page');
  assertEditable(element);
  const kind = kindOf(element);
  const before = currentText(element, kind);
  typed = { element: new WeakRef(element), before, kind };
  focusOn(hostOfEditing(element, kind), { preventScroll: true });
  if (kind === 'input' && SET_WHOLE.has(inputTypeOf(element)) && text !== undefined) {
    setWhole(element, String(text));
    return { kind, done: true, before: 0 };
  }
  if (!hasFocus(element, kind)) refuse('not_editable', `${describe(element)} did not take the focus`);
  if (mode === 'replace') selectAll(element, kind);
  else if (mode === 'append') moveToEnd(element, kind);
  return { kind, done: false, before: isSecretField(element) ? 0 : before.length, empty: before === '' };
});

const isSecretField = (element) => isTag(element, 'input') && inputTypeOf(element) === 'password';

function kindOf(element) {
  const tag = tagOf(element);
  return tag === 'input' || tag === 'textarea' ? tag : 'contenteditable';
}

function currentText(element, kind) {
  if (kind === 'input') return inputValueOf(element);
  if (kind === 'textarea') return textareaValueOf(element);
  return innerTextOf(element);
}

/** The focus goes to the host of an editable region, not to a paragraph inside it. */
function hostOfEditing(element, kind) {
  if (kind !== 'contenteditable') return element;
  let host = element;
  for (
    let at = parentNodeOf(element);
    at && nodeTypeOf(at) === ELEMENT && isHtml(at) && isEditableOf(at);
    at = parentNodeOf(at)
  )
    host = at;
  return host;
}

function hasFocus(element, kind) {
  const scope = scopeOf(element);
  const active = nodeTypeOf(scope) === ELEMENT ? null : activeElementIn(scope);
  if (kind === 'contenteditable' && inDesignMode(element)) return true;
  return (
    active !== null &&
    (active === element || (kind === 'contenteditable' && isAround(active, element)) || isAround(element, active))
  );
}

const inDesignMode = (element) => designModeOf(ownerDocumentOf(element)) === 'on';

function selectAll(element, kind) {
  if (kind === 'input') return selectInput(element);
  if (kind === 'textarea') return selectTextarea(element);
  const selection = viewOf(ownerDocumentOf(element)).getSelection();
  selection.selectAllChildren(element);
}

function moveToEnd(element, kind) {
  if (kind === 'textarea')
    return setTextareaCaret(element, textareaValueOf(element).length, textareaValueOf(element).length);
  const selection = viewOf(ownerDocumentOf(element)).getSelection();
  if (kind === 'input') {
    const length = inputValueOf(element).length;
    try {
      return setInputCaret(element, length, length);
    } catch {
      // Email and number fields have no caret that a script could set; moving the window's own selection works.
      selectInput(element);
      return selection.modify('move', 'forward', 'documentboundary');
    }
  }
  selection.selectAllChildren(element);
  selection.collapseToEnd();
}

/** Sets a date, time, colour or range as one value; refuses with `value_refused` what the field can't hold. */
function setWhole(element, text) {
  const before = inputValueOf(element);
  setInputValue(element, text);
  const now = inputValueOf(element);
  if (!isSameValue(text, now)) {
    setInputValue(element, before);
    refuse(
      'value_refused',
      `${describe(element)} cannot hold this text; a ${inputTypeOf(element)} is written like ${EXAMPLES[inputTypeOf(element)]}`,
    );
  }
  if (now === before) return;
  dispatch(element, new Event('input', { bubbles: true, composed: true }));
  dispatch(element, new Event('change', { bubbles: true }));
  if (inputValueOf(element) !== now && !isSameValue(now, inputValueOf(element)))
    refuse('value_refused', `the page put another value into ${describe(element)}`);
}

const EXAMPLES = {
  date: '2027-03-14',
  month: '2027-03',
  week: '2027-W10',
  time: '09:30',
  'datetime-local': '2027-03-14T09:30',
  color: '#336699',
  range: '7',
};

function isSameValue(asked, kept) {
  if (asked === kept) return true;
  if (kept === '') return asked.trim() === '';
  if (Number(asked) === Number(kept)) return true;
  const canonical = (value) =>
    value
      .trim()
      .toLowerCase()
      .replace(' ', 'T')
      .replace(/(:\d\d):00(\.0+)?$/, '$1');
  return canonical(asked) === canonical(kept);
}

/**
 * Whether the field holds what was typed. `expected`: the text that was typed. Refuses with `value_refused` when a plain field
 * kept nothing of it, or only a part; a field that writes it in its own way (spaces, dashes, upper case) keeps it.
 */
offer('afterType', ({ expected, mode = 'replace' }) => {
  const element = typed?.element.deref();
  if (!element || !isAlive(element)) return { value_length: 0, kept: false, gone: true };
  const { before, kind } = typed;
  const now = currentText(element, kind);
  if (expected === undefined) return { value_length: now.length, kept: true };
  const kept = isKept(String(expected), before, now, mode, kind);
  if (!kept && kind !== 'contenteditable') {
    const how =
      now === before
        ? 'kept the value that it had'
        : now === ''
          ? 'is empty afterwards'
          : 'kept only a part of the text or changed it';
    refuse('value_refused', `${describe(element)} ${how}`);
  }
  return { value_length: now.length, kept };
});

function isKept(text, before, now, mode, kind) {
  const asked = mode === 'append' ? before + text : text;
  if (now === asked) return true;
  const plain = (value) => value.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
  if (text === '') return mode !== 'replace' || now.trim() === '';
  if (mode === 'insert') return plain(now).includes(plain(text));
  if (kind === 'contenteditable') return plain(now).includes(plain(text));
  if (asked.startsWith(now) && asked.trim() !== now.trim()) return false; // cut short
  if (plain(now) === plain(asked) && plain(asked) !== '') return true;
  if (isSameValue(asked, now)) return true;
  return isSubsequence(plain(asked), plain(now)) && plain(asked) !== '';
}

/** Are all of `part`'s characters in `whole`, in order? So a mask may add its own in between. */
function isSubsequence(part, whole) {
  let at = 0;
  for (const char of part) {
    at = whole.indexOf(char, at) + 1;
    if (at === 0) return false;
  }
  return true;
}
