// Text that style sheets add before and after an element: it is read out, so it belongs to names and text.
//
// Asking the style of `::before` and `::after` costs more than all else that a walk asks of an element, and few elements are
// given words this way. So each scope's sheets are searched once for rules that could, and only elements that match one
// are asked. Icon fonts, bullets and clearfixes add nothing that can be read, and don't count.
//
// Not here: the text of the page itself. A shadow root's own `:host::before` isn't found: the host is in another scope.

/** Rules looked at in one sheet before assuming that they add text anywhere. */
const RULES_SEARCHED = 20_000;
/** Rules that are worth matching one by one; with more, each element is asked. */
const RULES_MATCHED = 200;

/** Where a sheet, or a scope, adds text: at elements that match a selector, anywhere, or (null) nowhere. */
const ANYWHERE = '*';

/** Sheet -> {rules, where}: searched again only when its number of rules changes. */
const searchedSheets = new WeakMap();

const propertyOf = method(CSSStyleDeclaration.prototype, 'getPropertyValue');

function whereTextIsAdded(scope) {
  let where = pass.generated.get(scope);
  if (where === undefined) {
    where = joinedSelectors([...styleSheetsOf(scope), ...adoptedStyleSheetsOf(scope)].map(whereSheetAdds));
    pass.generated.set(scope, where);
  }
  return where;
}

function whereSheetAdds(sheet) {
  let rules;
  try {
    rules = sheet.cssRules;
  } catch {
    return ANYWHERE; // a sheet of another origin can't be read
  }
  const known = searchedSheets.get(sheet);
  if (known && known.rules === rules.length) return known.where;
  const found = [];
  const where = searchRules(rules, found, { rules: RULES_SEARCHED }, false) ? joinedSelectors(found) : ANYWHERE;
  searchedSheets.set(sheet, { rules: rules.length, where });
  return where;
}

/** Collects the selectors of elements that rules add text to; false where that can't be told. */
function searchRules(rules, found, left, nested) {
  for (const rule of rules) {
    if (left.rules-- <= 0 || found.length > RULES_MATCHED) return false;
    if (rule.styleSheet) {
      found.push(whereSheetAdds(rule.styleSheet));
      continue;
    }
    const isStyle = rule.selectorText !== undefined && rule.style;
    if ((isStyle || nested) && rule.style && contentAddsText(propertyOf(rule.style, 'content'))) {
      // A rule inside another's braces has a selector that only holds there.
      if (nested || !isStyle) return false;
      found.push(elementsOf(rule.selectorText));
    }
    if (rule.cssRules?.length > 0 && !searchRules(rule.cssRules, found, left, nested || Boolean(isStyle))) return false;
  }
  return true;
}

/** The selector of the elements whose `::before` or `::after` a selector is about. */
const elementsOf = (selector) =>
  selector.replace(/(^|[\s>+~,(])::?(?:before|after)/g, '$1*').replace(/::?(?:before|after)/g, '');

function joinedSelectors(selectors) {
  const all = selectors.filter((selector) => selector !== null);
  if (all.length === 0) return null;
  if (all.includes(ANYWHERE)) return ANYWHERE;
  const joined = all.join(',');
  try {
    querySelector(document, joined);
    return joined;
  } catch {
    return ANYWHERE;
  }
}

const contentAddsText = (content) =>
  content !== '' &&
  content !== 'none' &&
  content !== 'normal' &&
  (/attr\(|counter|var\(/.test(content) || isReadable(oneLine(contentStrings(content))));

/** The strings of a `content` value, with the alternative text after a `/` instead of them where there is one. */
function contentStrings(content) {
  let shown = '';
  let alternative = null;
  for (const [token, string] of content.matchAll(/"((?:[^"\\]|\\.)*)"|\//gs)) {
    if (token === '/') alternative = '';
    else {
      const text = string.replace(/\\([0-9a-f]{1,6})\s?|\\(.)/gis, (_, hex, char) => (hex ? codePoint(hex) : char));
      if (alternative === null) shown += text;
      else alternative += text;
    }
  }
  return alternative ?? shown;
}

function codePoint(hex) {
  const code = parseInt(hex, 16);
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : '\ufffd';
}

/** What the style adds at one end of an element (`::before` or `::after`); '' for most. */
function generatedText(element, which) {
  const where = whereTextIsAdded(scopeOf(element));
  if (where === null || (where !== ANYWHERE && !matches(element, where))) return '';
  const style = getComputedStyle(element, which);
  const content = style.content;
  if (
    content === 'none' ||
    content === 'normal' ||
    content === '' ||
    style.display === 'none' ||
    style.visibility !== 'visible'
  )
    return '';
  const text = contentStrings(content);
  if (!isReadable(text)) return '';
  return INLINE.has(style.display) ? text : ` ${text} `;
}
