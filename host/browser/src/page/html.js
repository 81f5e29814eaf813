// A part of the page as markup, without what runs or only looks: scripts, styles, event handlers.
//
// Written by a walk and not by copying nodes, since a copied custom element runs the page's code. Open shadow roots are
// written as declarative ones, so that what a person sees is in the text.
//
// Not here: rendered text (rendered_text.js); hidden parts are markup too, and stay.

const LEFT_OUT = words('script style noscript template link meta base');
const VOID = words('area base br col embed hr img input link meta source track wbr');
const ADDRESSES = words('href src action formaction poster cite data xlink:href');

const escapeText = (text) =>
  text.replace(/[&<>\u00a0]/g, (char) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '\u00a0': '&nbsp;' })[char]);
const escapeValue = (text) =>
  text.replace(/[&"\u00a0]/g, (char) => ({ '&': '&amp;', '"': '&quot;', '\u00a0': '&nbsp;' })[char]);

function htmlOf(element, max) {
  const out = { parts: [], length: 0, max };
  writeHtml(element, out, 0);
  const text = out.parts.join('');
  return { text: cut(text, max), truncated: text.length > max };
}

function put(out, text) {
  out.parts.push(text);
  out.length += text.length;
}

function writeHtml(element, out, depth) {
  if (out.length > out.max || !mayEnter(depth)) return;
  const tag = tagOf(element);
  if (LEFT_OUT.has(tag)) return;
  put(out, `<${tag}${attributesOf(element, tag)}>`);
  if (VOID.has(tag) && isHtml(element)) return;
  const shadow = shadowRootOf(element);
  if (shadow) {
    put(out, '<template shadowrootmode="open">');
    writeHtmlChildren(shadow, out, depth);
    put(out, '</template>');
  }
  writeHtmlChildren(element, out, depth);
  put(out, `</${tag}>`);
}

function writeHtmlChildren(parent, out, depth) {
  for (let child = firstChildOf(parent); child; child = nextSiblingOf(child)) {
    if (out.length > out.max) return;
    const type = nodeTypeOf(child);
    if (type === TEXT) put(out, escapeText(dataOf(child)));
    else if (type === ELEMENT) writeHtml(child, out, depth + 1);
  }
}

function attributesOf(element, tag) {
  let text = '';
  for (const name of attrNamesOf(element)) {
    const lower = name.toLowerCase();
    if (lower.startsWith('on') || lower === 'style' || lower === 'nonce' || lower === 'srcdoc' || lower === 'integrity')
      continue;
    const value = attr(element, name) ?? '';
    if (ADDRESSES.has(lower) && /^[\s\u0000-\u001f]*(javascript|data|vbscript):/i.test(value)) continue;
    if (lower === 'value' && tag === 'input' && isHtml(element) && inputTypeOf(element) === 'password') continue;
    text += value === '' ? ` ${name}` : ` ${name}="${escapeValue(value)}"`;
  }
  return text;
}
