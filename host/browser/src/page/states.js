// What a control is set to: its states, and the value of fields.
//
// A state is listed only where it says something: `checked` on what can be checked, `disabled` only when it is. A
// password's value is never read; that it has one is a state (`filled`).
//
// Not here: whether a control can be used right now (actionable.js).

const CHECKABLE = new Set(['checkbox', 'menuitemcheckbox', 'menuitemradio', 'radio', 'switch']);
const SELECTABLE = words('columnheader gridcell option row rowheader tab treeitem');
const FIELDS = new Set(['textbox', 'searchbox', 'combobox', 'spinbutton', 'slider', 'listbox']);
const RANGES = new Set(['meter', 'progressbar', 'scrollbar', 'slider', 'spinbutton']);
const CAN_BE_DISABLED = words('button input select textarea option optgroup fieldset');

/** The states of an element as they stand in its line, each with a blank before it: ` [checked=true] [level=2]`. */
function statesOf(element, role) {
  const tag = tagOf(element);
  const html = isHtml(element);
  let states = '';
  const add = (name, value) => {
    states += ` [${name}=${value}]`;
  };
  if (role === 'heading') add('level', headingLevel(element, tag));
  if (
    !hasAttrs(element) &&
    tag !== 'input' &&
    tag !== 'option' &&
    tag !== 'select' &&
    tag !== 'textarea' &&
    tag !== 'button' &&
    tag !== 'summary'
  )
    return states;
  if (CHECKABLE.has(role)) {
    const checked = checkedState(element, tag);
    if (checked !== null) add('checked', checked);
  }
  if (role === 'button') {
    const pressed = oneOf(attr(element, 'aria-pressed'), ['true', 'false', 'mixed']);
    if (pressed) add('pressed', pressed);
  }
  const expanded =
    tag === 'summary' && role === 'button'
      ? String(hasAttr(parentNodeOf(element), 'open'))
      : oneOf(attr(element, 'aria-expanded'), ['true', 'false']);
  if (expanded) add('expanded', expanded);
  if (SELECTABLE.has(role)) {
    const selected =
      html && tag === 'option'
        ? String(isOptionSelectedOf(element))
        : oneOf(attr(element, 'aria-selected'), ['true', 'false']);
    if (selected === 'true') add('selected', 'true');
  }
  if (isDisabled(element)) add('disabled', 'true');
  if (FIELDS.has(role) || CHECKABLE.has(role) || role === 'radiogroup') {
    if (isReadOnly(element)) add('readonly', 'true');
    if (isRequired(element, html)) add('required', 'true');
    const invalid = oneOf(attr(element, 'aria-invalid'), ['true', 'grammar', 'spelling']);
    if (invalid) add('invalid', invalid);
  }
  const current = oneOf(attr(element, 'aria-current'), ['page', 'step', 'location', 'date', 'time', 'true']);
  if (current) add('current', current);
  if (role === 'treeitem' || role === 'row') {
    const level = parseInt(attr(element, 'aria-level') ?? '', 10);
    if (level > 0) add('level', level);
  }
  if (html && tag === 'select' && role === 'combobox' && optionsOf(element).length > LIMITS.options)
    add('options', optionsOf(element).length);
  if (html && tag === 'input' && inputTypeOf(element) === 'password')
    add('filled', String(inputValueOf(element) !== ''));
  return states;
}

const oneOf = (value, allowed) => {
  const word = value === null ? '' : value.trim().toLowerCase();
  return allowed.includes(word) ? word : null;
};

function headingLevel(element, tag) {
  const given = parseInt(attr(element, 'aria-level') ?? '', 10);
  if (given > 0) return given;
  return Object.hasOwn(HEADINGS, tag) ? HEADINGS[tag] : 2;
}

function checkedState(element, tag) {
  if (tag === 'input' && isHtml(element)) {
    const type = inputTypeOf(element);
    if (type === 'checkbox' || type === 'radio')
      return isIndeterminateOf(element) && type === 'checkbox' ? 'mixed' : String(isCheckedOf(element));
  }
  return oneOf(attr(element, 'aria-checked'), ['true', 'false', 'mixed']) ?? 'false';
}

/** Is the element switched off, by itself, its fieldset, or an ancestor's `aria-disabled`? */
function isDisabled(element) {
  if (isHtml(element) && CAN_BE_DISABLED.has(tagOf(element)) && matches(element, ':disabled')) return true;
  return isAriaDisabled(element);
}

/** The nearest `aria-disabled` decides. */
function isAriaDisabled(node) {
  return inherited(pass.disabled, node, (element) => {
    const value = attr(element, 'aria-disabled');
    return value === null ? undefined : value.toLowerCase() === 'true';
  });
}

const READ_ONLY_TYPES = words('text search url tel email password date month week time datetime-local number');

function isReadOnly(element) {
  const tag = tagOf(element);
  if (
    isHtml(element) &&
    hasAttr(element, 'readonly') &&
    (tag === 'textarea' || (tag === 'input' && READ_ONLY_TYPES.has(inputTypeOf(element))))
  )
    return true;
  return (attr(element, 'aria-readonly') ?? '').toLowerCase() === 'true';
}

const isRequired = (element, html) =>
  (html && hasAttr(element, 'required') && matches(element, ':required')) ||
  (attr(element, 'aria-required') ?? '').toLowerCase() === 'true';

/** The value that a field's line shows after its colon, on one line; null for what has none to show. */
function valueOf(element, role) {
  const tag = tagOf(element);
  if (isHtml(element) && tag === 'input' && inputTypeOf(element) === 'file') {
    return [...filesOf(element)].map((file) => oneLine(file.name)).join(', ') || null;
  }
  switch (role) {
    case 'textbox':
    case 'searchbox':
      return isTag(element, 'input') || isTag(element, 'textarea') ? fieldText(element) || null : null;
    case 'combobox':
      return isTag(element, 'input') || isTag(element, 'select') ? chosenText(element, role) || null : null;
    default:
      return RANGES.has(role) ? rangeText(element) || null : null;
  }
}

/** What a text field holds; nothing for a password, or one that is drawn as dots. */
function fieldText(element) {
  const tag = tagOf(element);
  if (isTag(element, 'input')) {
    const type = inputTypeOf(element);
    if (type === 'password' || isMasked(element)) return '';
    return oneLine(cut(inputValueOf(element), LIMITS.text));
  }
  if (tag === 'textarea' && isHtml(element))
    return isMasked(element) ? '' : oneLine(cut(textareaValueOf(element), LIMITS.text));
  return oneLine(contentShare(element));
}

function isMasked(element) {
  const security = getComputedStyle(element).webkitTextSecurity;
  return security !== undefined && security !== '' && security !== 'none';
}

function chosenText(element, role) {
  if (isTag(element, 'select'))
    return [...selectedOptionsOf(element)].map((option) => oneLine(optionLabelOf(option))).join(', ');
  if (isTag(element, 'input')) return fieldText(element);
  if (role === 'combobox') return oneLine(contentShare(element));
  const chosen = [...querySelectorAll(element, '[role="option"][aria-selected="true"]')].slice(0, LIMITS.options);
  return chosen.map((option) => nameOf(option)).join(', ');
}

function rangeText(element) {
  const text = attr(element, 'aria-valuetext');
  if (text) return oneLine(text);
  const now = attr(element, 'aria-valuenow');
  if (now !== null) return oneLine(now);
  const tag = tagOf(element);
  if (isTag(element, 'input')) return oneLine(inputValueOf(element));
  if (tag === 'progress' || tag === 'meter') return oneLine(attr(element, 'value') ?? '');
  return '';
}
