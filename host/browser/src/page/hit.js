// What a click at a point would meet, through shadow roots and frames of our own origin, and what to call it.
//
// A point is an element's when the element itself, something inside it, its label, or the control that it is a part of
// would receive the event. Anything else there covers it, and is named so that a reader knows what to close first.
//
// Not here: choosing the point, or waiting (actionable.js).

/** The innermost element at a point of our window; null outside it. A foreign frame is its own element. */
function hitAt(x, y, scope = document) {
  let hit = elementFromPoint(scope, x, y);
  for (let n = 0; hit && n < LIMITS.depth; n++) {
    const shadow = shadowRootOf(hit);
    if (shadow) {
      const inside = elementFromPoint(shadow, x, y);
      if (!inside || inside === hit || scopeOf(inside) !== shadow) return hit;
      hit = inside;
      continue;
    }
    const inner = frameDocumentOf(hit);
    if (inner) {
      const box = contentBoxOf(hit);
      return hitAt((x - box.x) / box.scale, (y - box.y) / box.scale, inner) ?? hit;
    }
    return hit;
  }
  return hit;
}

const WIDER =
  'a[href], button, label, summary, [role="button"], [role="link"], [role="option"], [role="tab"], [role="menuitem"], [role="checkbox"], [role="radio"], [role="switch"]';

/** Would an event on `hit` be one on `target`? */
function receives(target, hit) {
  if (isAround(target, hit)) return true;
  // A label passes its clicks on to its control, and a part of a control is pressed with the whole of it.
  for (const label of labelsOf(target)) if (isAround(label, hit)) return true;
  const whole = closest(target, WIDER);
  return whole !== null && whole !== target && isAround(whole, hit);
}

/** `{}` when the point belongs to the element; refuses with `covered`, naming what is there instead. */
function assertHit(target, { x, y }) {
  const hit = hitAt(x, y);
  if (hit && receives(target, hit)) return {};
  refuseCovered(target, hit);
}

function refuseCovered(target, hit) {
  if (!hit) refuse('not_visible', `${describe(target)} is outside of the window and cannot be scrolled into it`);
  const cover = coverOf(target, hit);
  const by = cssLabel(cover);
  const what = cover === hit ? by : `${by} (there: ${cssLabel(hit)})`;
  if (isAround(hit, target)) {
    refuse('covered', `${describe(target)} lets clicks through to ${what} behind it`, by);
  }
  refuse('covered', `${describe(target)} is covered by ${what}`, by);
}

/**
 * The outermost element around what was hit that isn't around the target too: the overlay, not its close button's icon. One
 * that a style sheet could name is preferred to a bare box around it.
 */
function coverOf(target, hit) {
  let cover = hit;
  let named = false;
  for (let at = hit; at; at = flatParentOf(at)) {
    if (isAround(at, target)) break;
    if (nodeTypeOf(at) !== ELEMENT) continue;
    const hasName = cssLabel(at) !== tagOf(at);
    if (hasName || !named) cover = at;
    named ||= hasName;
  }
  return cover;
}

/** An element as a style sheet would name it: `div#promo-veil`, `section.hero.dark`. One line, whatever the page wrote. */
function cssLabel(element) {
  const safe = (word) =>
    oneLine(word)
      .replace(/[^\p{L}\p{N}_:.-]/gu, '')
      .slice(0, 60);
  const tag = safe(tagOf(element));
  const id = safe(idOf(element));
  if (id) return `${tag}#${id}`;
  const classes = [...classNamesOf(element)].slice(0, 3).map(safe).filter(Boolean);
  return classes.length > 0 ? `${tag}.${classes.join('.')}` : tag;
}

/** An element in a message: `button "Go"`, or as a style sheet would name it. */
function describe(element) {
  const role = roleOf(element);
  const name = nameOf(element);
  if (name && name.length <= LIMITS.clickableName)
    return `${role === 'generic' || role === 'none' ? tagOf(element) : role} ${quoted(name)}`;
  return cssLabel(element);
}

offer('describe', ({ ref }) => ({ describe: describe(elementOf(ref)) }));
