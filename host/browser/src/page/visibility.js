// What a person can see of an element, and how it sits in its line.
//
// Boxes: `display: none` and skipped content (a closed <details>, `content-visibility: hidden`) have none, and neither has
// anything inside. `visibility: hidden` hides the element's own box and text, yet a child may be visible again, so it
// never ends a walk. Opacity, size, clipping and position hide nothing from assistive technology, nor here.
//
// Not here: what ARIA hides (tree.js), whether something lies on top (hit.js).

/** Displays that stay in the line of text around them: words on either side of their edges are not apart. */
const INLINE = words(`
  inline contents inline-block inline-flex inline-grid inline-table ruby ruby-text ruby-base math none
`);

/** Elements that never draw, though some have a `display` of their own, and the UA's rule for them can be overridden. */
const NEVER_DRAWN = words(`
  script style template noscript head meta link title base param source track datalist noembed noframes rp
`);
const NEVER_DRAWN_SVG = words(`
  script style title desc metadata defs symbol clippath clipPath mask marker pattern lineargradient linearGradient
  radialgradient radialGradient filter animate animateTransform set
`);

/** What one look at an element's style tells: `rendered` has a box (or passes its children's on), `visible` shows it. */
function look(element) {
  let seen = pass.looks.get(element);
  if (seen) return seen;
  const tag = tagOf(element);
  const html = isHtml(element);
  if (html ? NEVER_DRAWN.has(tag) : NEVER_DRAWN_SVG.has(tag)) {
    seen = NOTHING;
  } else {
    const style = getComputedStyle(element);
    const display = style.display;
    // An <area> has no box of its own: its image's is drawn instead.
    const rendered =
      display === 'contents' ||
      (html && tag === 'area') ||
      (display !== 'none' && display !== '' && isRendered(element));
    seen = rendered
      ? {
          rendered,
          visible: style.visibility === 'visible',
          display,
          block: !INLINE.has(display),
          pointer: style.cursor === 'pointer',
        }
      : NOTHING;
  }
  pass.looks.set(element, seen);
  return seen;
}

const NOTHING = Object.freeze({ rendered: false, visible: false, display: 'none', block: false, pointer: false });

/** Does the element keep its own children from being drawn, though it is drawn itself? */
function skipsContent(element) {
  return getComputedStyle(element).contentVisibility === 'hidden';
}

/** Is the element drawn, judged with everything around it? For an element that no walk has led to. */
function isShown(element) {
  const seen = look(element);
  if (!seen.rendered || !seen.visible) return false;
  if (seen.display === 'contents' || isTag(element, 'area')) {
    const parent = flatParentOf(element);
    return !parent || nodeTypeOf(parent) !== ELEMENT || look(parent).rendered;
  }
  return true;
}
