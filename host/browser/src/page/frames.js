// Where frames are, and which of them the host knows by which id.
//
// A frame of our own origin is entered like any other element; its points are turned into those of our window by adding up
// the boxes around it. A frame of another origin is a closed box: the host marks it with its frame id, reads it with the
// script inside it, and asks here where it lies and whether a point of it can be reached.
//
// Not here: what lies over a point (hit.js).

const frameIdOf = new WeakMap();
const frameOfId = new Map();

/** The host's id of a foreign frame's element; null while it has not marked it. */
const markOf = (element) => frameIdOf.get(element) ?? null;

/** Called with the frame's owner element, as an object and not as JSON: `T.markFrame(element, id)`. */
T.markFrame = (element, id) => {
  frameIdOf.set(element, id);
  frameOfId.set(id, new WeakRef(element));
  return { ok: {} };
};

function frameWithId(id) {
  const element = frameOfId.get(id)?.deref();
  if (!element || !isAlive(element)) {
    frameOfId.delete(id);
    refuse('stale_ref', 'the frame is no longer on the page');
  }
  return element;
}

/**
 * The content box of a frame element in its own document's window: its corner, its size in the inner document's pixels,
 * and how many pixels of the outer one make one of the inner (transforms that rotate are taken as none).
 */
function contentBoxOf(element) {
  const rect = rectOf(element);
  const scale = offsetWidthOf(element) > 0 ? rect.width / offsetWidthOf(element) : 1;
  const style = getComputedStyle(element);
  const px = (length) => parseFloat(length) || 0;
  const left = clientLeftOf(element) + px(style.paddingLeft);
  const top = clientTopOf(element) + px(style.paddingTop);
  const right = px(style.borderRightWidth) + px(style.paddingRight);
  const bottom = px(style.borderBottomWidth) + px(style.paddingBottom);
  return {
    x: rect.left + left * scale,
    y: rect.top + top * scale,
    scale: scale || 1,
    width: rect.width / (scale || 1) - left - right,
    height: rect.height / (scale || 1) - top - bottom,
  };
}

/** Where the origin of a document's window lies in ours, and its scale there. */
function originOf(inner) {
  let x = 0;
  let y = 0;
  let scale = 1;
  for (let at = inner, n = 0; at !== document && n <= LIMITS.frames; n++) {
    const frame = frameElementOf(at);
    if (!frame) break;
    const box = contentBoxOf(frame);
    x = box.x + x * box.scale;
    y = box.y + y * box.scale;
    scale *= box.scale;
    at = ownerDocumentOf(frame);
  }
  return { x, y, scale };
}

const toTop = (origin, point) => ({ x: origin.x + point.x * origin.scale, y: origin.y + point.y * origin.scale });

/** A rectangle of an element's own window in ours. */
function rectInTop(element, rect = rectOf(element)) {
  const origin = originOf(ownerDocumentOf(element));
  const corner = toTop(origin, { x: rect.left, y: rect.top });
  return { x: corner.x, y: corner.y, width: rect.width * origin.scale, height: rect.height * origin.scale };
}

/** The content box of a marked frame in our window: `{x, y, scale, width, height}`, the size in the frame's own pixels. */
function boxInTop(element) {
  const box = contentBoxOf(element);
  const origin = originOf(ownerDocumentOf(element));
  const corner = toTop(origin, box);
  return { x: corner.x, y: corner.y, scale: box.scale * origin.scale, width: box.width, height: box.height };
}

offer('frameRect', ({ frame }) => boxInTop(frameWithId(frame)));

/** Is the point (in our window) really in the frame? Refuses with `covered` where something lies on top. */
offer('frameHit', ({ frame, x, y }) => {
  const element = frameWithId(frame);
  return { x, y, ...assertHit(element, { x, y }) };
});

/**
 * Brings a point of the frame (in the frame's own window) into view, and says where it is in ours.
 * Refuses with `not_visible` where it can't be brought into view, `covered` where something lies on top.
 */
offer('frameShow', ({ frame, x, y }) => {
  const element = frameWithId(frame);
  let point = pointOfFrame(element, x, y);
  if (!isInWindow(point)) {
    bringPointIntoView(element, x, y);
    point = pointOfFrame(element, x, y);
  }
  if (!isInWindow(point)) refuse('not_visible', 'the point of the frame cannot be scrolled into view');
  return { ...point, ...assertHit(element, point) };
});

/** What frame lies at a point of our window: `{frame, left, top, scale}`, `frame` null for none or an unmarked one. */
offer('hitFrame', ({ x, y }) => {
  const hit = hitAt(x, y);
  if (!hit || !isFrame(hit)) return { frame: null, is_frame: false, left: 0, top: 0, scale: 1 };
  const box = boxInTop(hit);
  return { frame: markOf(hit), is_frame: true, left: box.x, top: box.y, scale: box.scale };
});

function pointOfFrame(element, x, y) {
  const box = boxInTop(element);
  return { x: box.x + x * box.scale, y: box.y + y * box.scale };
}

function isInWindow({ x, y }) {
  const view = viewOf(document);
  return x >= 0 && y >= 0 && x < view.innerWidth && y < view.innerHeight;
}

/** Scrolls every box around a frame so that one point of it shows; a frame can be larger than the window. */
function bringPointIntoView(element, x, y) {
  scrollIntoView(element, { block: 'nearest', inline: 'nearest', behavior: 'instant' });
  for (let at = element, n = 0; at && n < LIMITS.depth; at = flatParentOf(at), n++) {
    const inner = nodeTypeOf(at) === DOCUMENT ? at : null;
    const box = inner ? scrollingElementOf(inner) : at;
    if (!box || nodeTypeOf(box) !== ELEMENT || at === element) continue;
    const origin = inner ? originOf(inner) : null;
    const view = inner ? viewOf(inner) : null;
    const frame = inner
      ? {
          left: origin.x,
          top: origin.y,
          right: origin.x + view.innerWidth * origin.scale,
          bottom: origin.y + view.innerHeight * origin.scale,
        }
      : edgesOf(rectInTop(at));
    const point = pointOfFrame(element, x, y);
    if (point.x < frame.left || point.x >= frame.right)
      setScrollLeft(box, scrollLeftOf(box) + point.x - (frame.left + frame.right) / 2);
    if (point.y < frame.top || point.y >= frame.bottom)
      setScrollTop(box, scrollTopOf(box) + point.y - (frame.top + frame.bottom) / 2);
  }
}

const edgesOf = ({ x, y, width, height }) => ({ left: x, top: y, right: x + width, bottom: y + height });
