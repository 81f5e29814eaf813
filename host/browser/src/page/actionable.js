// Whether an element can be acted on right now, where to press it, and waiting until it can.
//
// The checks, in the order in which a person would notice: it exists, it is shown, it isn't disabled or read-only, it holds
// still, it is in view, and nothing lies over it. The common case answers at once, in the call's own turn; only when
// a check fails is there any waiting, and the reason that held last is the one that is told.
//
// Not here: what typing needs beyond an editable element (typing.js).

/** Animations without an end would keep an element moving for ever; after this long it is aimed at where it is. */
const STILL_MS = 1_000;
/** The longest pause between two tries: a page in the background gets no animation frames. */
const RETRY_MS = 100;

/** The element that `locate` found last: the host's next call works on it. */
let located = null;

/** The located element itself, for commands of the protocol that take an object. */
T.take = () => located;

offer('locate', (args) => {
  const { target, purpose = 'click', deadline_ms = 5_000 } = args;
  const started = performance.now();
  try {
    const first = tryLocate(target, purpose, true);
    if (!first.moving) return finished(first, false);
  } catch (error) {
    if (!canHelpToWait(error)) throw error;
    if (deadline_ms <= 0) throw error;
  }
  return keepTrying(target, purpose, started, deadline_ms);
});

const finished = ({ moving, ...found }, waited) => ({ ...found, waited });

/** Time may bring these about; a stale ref never comes back, and a wrong selector stays wrong. */
const WAITABLE = new Set(['not_found', 'not_visible', 'covered', 'disabled', 'read_only', 'not_editable']);
const canHelpToWait = (error) => error instanceof Refusal && WAITABLE.has(error.reason);

async function keepTrying(target, purpose, started, deadline_ms) {
  let before = null;
  for (;;) {
    await nextFrame();
    const waited_ms = performance.now() - started;
    freshPass();
    try {
      const found = tryLocate(target, purpose, false);
      const still = before !== null && Math.abs(before.x - found.x) < 1 && Math.abs(before.y - found.y) < 1;
      if (!found.moving || still || waited_ms > Math.min(STILL_MS, deadline_ms)) return finished(found, true);
      before = found;
    } catch (error) {
      if (!canHelpToWait(error) || waited_ms >= deadline_ms) throw error;
      before = null;
    } finally {
      pass = null;
    }
  }
}

/** The next animation frame, or a little later where the page gets none. */
function nextFrame() {
  return new Promise((done) => {
    const timer = setTimeout(done, RETRY_MS);
    requestAnimationFrame(() => {
      clearTimeout(timer);
      done();
    });
  });
}

/** `first`: the first try of a call, which may scroll in search of a place where nothing lies over the element. */
function tryLocate(target, purpose, first) {
  located = null;
  if (typeof target.x === 'number') return locatePoint(target, purpose);
  const element = target.focused ? focusedElement() : resolve(target);
  const found = locateElement(retarget(element, purpose), purpose, first);
  located = found.element;
  delete found.element;
  return found;
}

/** A label stands for its control where the control is what can be acted on. */
function retarget(element, purpose) {
  if (purpose !== 'type' && purpose !== 'file') return element;
  const label = closest(element, 'label');
  const control = label && isHtml(label) && !isEditable(element) ? labelControlOf(label) : null;
  if (!control) return element;
  return purpose === 'type' || (isTag(control, 'input') && inputTypeOf(control) === 'file') ? control : element;
}

function locateElement(element, purpose, first) {
  const facts = factsOf(element);
  if (purpose === 'read') return { ...facts, ...boxFacts(element), element };
  if (purpose === 'file' && facts.type === 'file') {
    // The input itself is usually hidden behind something nicer; files are set on it without a click.
    if (isDisabled(element)) refuse('disabled', `${describe(element)} is disabled`);
    return { ...facts, ...boxFacts(element), element };
  }
  const shown = shownBoxOf(element) ?? refuse('not_visible', `${describe(element)} is not visible`);
  if (purpose === 'scroll') {
    if (!isWhollyInView(shown)) scrollIntoView(shown, { block: 'center', inline: 'nearest', behavior: 'instant' });
    const rect = rectInTop(shown);
    return { ...facts, ...boxFacts(element), x: rect.x + rect.width / 2, y: rect.y + rect.height / 2, element };
  }
  if (purpose !== 'hover' && isSwitchedOff(element)) refuse('disabled', `${describe(element)} is disabled`);
  if (purpose === 'type') assertEditable(element);
  const moving = isMoving(shown);
  const point = pointOf(element, shown, purpose !== 'type', first);
  return { ...facts, ...boxFacts(element), ...point, moving, element };
}

/** Also by a control that the element is only a part of. */
function isSwitchedOff(element) {
  if (isDisabled(element)) return true;
  const control = closest(element, 'button, select, input, textarea, option');
  return control !== null && control !== element && isDisabled(control);
}

function factsOf(element) {
  const html = isHtml(element);
  const tag = tagOf(element);
  return {
    tag,
    type: html && tag === 'input' ? inputTypeOf(element) : null,
    editable: isEditable(element),
    multiple: html && (tag === 'select' || tag === 'input') && hasAttr(element, 'multiple'),
    in_frame: ownerDocumentOf(element) !== document,
    describe: describe(element),
  };
}

function boxFacts(element) {
  const { x, y, width, height } = rectInTop(element);
  return { x: x + width / 2, y: y + height / 2, rect: { x, y, width, height } };
}

// --- Shown, still, in view ---

/** The element itself, or the first thing inside it that is drawn, when its own box is empty; null when nothing is. */
function shownBoxOf(element) {
  if (hasVisibleBox(element)) return element;
  if (isTag(element, 'area')) return imageOfArea(element);
  const label = labelInstead(element);
  if (label) return label;
  if (!look(element).rendered) return null;
  let left = 200; // a box with nothing drawn among its first elements is nothing that a person could press
  const search = (parent) => {
    for (const child of flatChildrenOf(parent)) {
      if (nodeTypeOf(child) !== ELEMENT) continue;
      if (left-- <= 0) return null;
      if (hasVisibleBox(child)) return child;
      const inside = look(child).rendered ? search(child) : null;
      if (inside) return inside;
    }
    return null;
  };
  const tag = tagOf(element);
  return CHILDLESS.has(tag) || tag === 'select' ? null : search(element);
}

/** An <area> is drawn, and pressed, as a part of its map's image. */
function imageOfArea(area) {
  const map = closest(area, 'map');
  const name = map === null ? null : attr(map, 'name');
  if (!name) return null;
  const image = querySelector(scopeOf(area), `img[usemap="#${CSS.escape(name)}"]`);
  return image !== null && hasVisibleBox(image) ? image : null;
}

/** The middle of an <area> on its image, in the image's window. */
function spotOfArea(area, image) {
  const rect = rectOf(image);
  const numbers = (attr(area, 'coords') ?? '').split(',').map(Number).filter(Number.isFinite);
  const shape = (attr(area, 'shape') ?? 'rect').toLowerCase();
  if (shape === 'default' || numbers.length < 2)
    return { x: rect.left + rect.width / 2, y: rect.top + rect.height / 2 };
  const isCircle = shape.startsWith('circ');
  const middle = (values) => (Math.min(...values) + Math.max(...values)) / 2;
  const x = isCircle ? numbers[0] : middle(numbers.filter((_, i) => i % 2 === 0));
  const y = isCircle ? numbers[1] : middle(numbers.filter((_, i) => i % 2 === 1));
  return { x: rect.left + clientLeftOf(image) + x, y: rect.top + clientTopOf(image) + y };
}

function hasVisibleBox(element) {
  if (!isShown(element)) return false;
  const rect = rectOf(element);
  return rect.width > 0 && rect.height > 0;
}

/** Checkboxes and radios are often hidden behind a drawn label: then the label is what a person presses. */
function labelInstead(element) {
  if (!isTag(element, 'input')) return null;
  const type = inputTypeOf(element);
  if (type !== 'checkbox' && type !== 'radio') return null;
  for (const label of labelsOf(element)) if (hasVisibleBox(label)) return label;
  return null;
}

/** Is an animation that could move the element running on it or around it? */
function isMoving(element) {
  for (const animation of animationsOf(ownerDocumentOf(element))) {
    if (animation.playState !== 'running') continue;
    const moved = animation.effect?.target;
    if (moved && isAround(moved, element) && animation.effect.getKeyframes().some(movesBoxes)) return true;
  }
  return false;
}

/** Colours, shadows and opacity may animate for ever without moving anything. */
const STILL_PROPERTIES =
  /^(offset|computedOffset|easing|composite|opacity|.*[cC]olor|background.*|boxShadow|textShadow|filter|backdropFilter|fill|stroke.*|outline.*|visibility|cursor|caret.*)$/;
const movesBoxes = (keyframe) => Object.keys(keyframe).some((property) => !STILL_PROPERTIES.test(property));

function isWhollyInView(element) {
  const { x, y, width, height } = rectInTop(element);
  const view = viewOf(document);
  return x >= 0 && y >= 0 && x + width <= view.innerWidth && y + height <= view.innerHeight;
}

// --- The point to press ---

/** Where to press: the first spot, from the middle outwards, at which the element would receive the event. */
function pointOf(element, shown, mustHit, first) {
  let hit = null;
  for (const block of first ? [null, 'end', 'start', 'center'] : [null, 'center']) {
    if (block !== null) {
      // A page that is waited for isn't scrolled to and fro: only what isn't in the window is brought into it.
      if (!first && hit !== null) break;
      scrollIntoView(shown, { block, inline: 'nearest', behavior: 'instant' });
      hit = null;
    }
    const origin = originOf(ownerDocumentOf(shown));
    for (const spot of isTag(element, 'area') ? [spotOfArea(element, shown)] : spotsOf(shown)) {
      const point = toTop(origin, spot);
      if (!isInWindow(point)) continue;
      if (!mustHit) return point;
      const there = hitAt(point.x, point.y);
      if (
        there &&
        (receives(element, there) || (shown !== element && !isTag(element, 'area') && isAround(shown, there)))
      )
        return point;
      hit ??= there;
    }
  }
  const label = shown === element ? labelInstead(element) : null;
  if (label && label !== shown) return pointOf(element, label, mustHit, first);
  refuseCovered(element, hit);
}

/** Spots of an element in its own window: the middle of each line box, then of the quarters of the first. */
function* spotsOf(element) {
  const view = viewOf(ownerDocumentOf(element));
  const boxes = [];
  for (const rect of [...rectsOf(element)].slice(0, 8)) {
    const left = Math.max(0, rect.left);
    const top = Math.max(0, rect.top);
    const width = Math.min(view.innerWidth, rect.right) - left;
    const height = Math.min(view.innerHeight, rect.bottom) - top;
    if (width > 0 && height > 0) boxes.push({ left, top, width, height });
  }
  for (const box of boxes) yield { x: box.left + box.width / 2, y: box.top + box.height / 2 };
  const [first] = boxes;
  if (!first) return;
  for (const [x, y] of [
    [0.25, 0.5],
    [0.75, 0.5],
    [0.5, 0.25],
    [0.5, 0.75],
    [0.1, 0.1],
    [0.9, 0.1],
    [0.1, 0.9],
    [0.9, 0.9],
  ]) {
    yield { x: first.left + first.width * x, y: first.top + first.height * y };
  }
}

function locatePoint({ x, y }, purpose) {
  if (!isInWindow({ x, y })) {
    const view = viewOf(document);
    refuse('not_found', `(${x}, ${y}) is outside of the window, which is ${view.innerWidth} by ${view.innerHeight}`);
  }
  let hit = hitAt(x, y);
  if (!hit) refuse('not_found', `there is nothing at (${x}, ${y})`);
  if (purpose === 'type') {
    hit = retarget(hit, purpose);
    for (let at = hit; at && !isEditable(hit); at = flatParentOf(at))
      if (nodeTypeOf(at) === ELEMENT && isEditable(at)) hit = at;
    if (isSwitchedOff(hit)) refuse('disabled', `${describe(hit)} is disabled`);
    if (!isFrame(hit)) assertEditable(hit);
  }
  located = hit;
  const found = { ...factsOf(hit), ...boxFacts(hit), x, y, moving: false };
  if (isFrame(hit)) found.frame = markOf(hit);
  return found;
}
