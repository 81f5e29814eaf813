// Text that style sheets add before and after an element: it is read out, so it belongs to names and text.
//
// Asking the style of `::before` and `::after` costs more than all else that a walk asks of an element, and few pages add
// words this way. So each scope's sheets are searched once for a rule that could, and only then is each element asked.
// Icon fonts, bullets and clearfixes add nothing that can be read, and don't count.
//
// Not here: the text of the page itself.

/** Rules looked at in one scope before assuming that it does add text. */
const RULES_SEARCHED = 20_000;

/** Sheet -> {rules, adds}: searched again only when its number of rules changes. */
const searchedSheets = new WeakMap();

const propertyOf = method(CSSStyleDeclaration.prototype, 'getPropertyValue');

function addsText(scope) {
  let adds = pass.generated.get(scope);
  if (adds === undefined) {
    adds = [...styleSheetsOf(scope), ...adoptedStyleSheetsOf(scope)].some(sheetAddsText);
    pass.generated.set(scope, adds);
  }
  return adds;
}

function sheetAddsText(sheet) {
  let rules;
  try {
    rules = sheet.cssRules;
  } catch {
    return true; // a sheet of another origin: it can't be read, so each element is asked
  }
  const known = searchedSheets.get(sheet);
  if (known && known.rules === rules.length) return known.adds;
  const adds = rulesAddText(rules, { rules: RULES_SEARCHED });
  searchedSheets.set(sheet, { rules: rules.length, adds });
  return adds;
}

function rulesAddText(rules, left) {
  for (const rule of rules) {
    if (left.rules-- <= 0) return true;
    if (rule.styleSheet) {
      if (sheetAddsText(rule.styleSheet)) return true;
      continue;
    }
    if (rule.style && rule.selectorText !== undefined && contentAddsText(propertyOf(rule.style, 'content'))) return true;
    if (rule.cssRules && rule.cssRules.length > 0 && rulesAddText(rule.cssRules, left)) return true;
  }
  return false;
}

const contentAddsText = (content) =>
  content !== '' && content !== 'none' && content !== 'normal' && (/attr\(|counter|var\(/.test(content) || isReadable(oneLine(contentStrings(content))));

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
  if (!addsText(scopeOf(element))) return '';
  const style = getComputedStyle(element, which);
  const content = style.content;
  if (content === 'none' || content === 'normal' || content === '' || style.display === 'none' || style.visibility !== 'visible') return '';
  const text = contentStrings(content);
  if (!isReadable(text)) return '';
  return INLINE.has(style.display) ? text : ` ${text} `;
}
