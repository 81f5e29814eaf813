// Finding elements by a CSS selector in everything that a page is made of.
//
// A selector is matched in the document, in each open shadow root and in each frame of our own origin; the first match in
// document order wins, where what is inside a host or a frame comes right after it. A selector never spans two scopes.
//
// Not here: refs (refs.js).

/** Every scope below `scope`, itself first, in document order. */
function* scopesIn(scope) {
  const left = { roots: LIMITS.roots };
  yield* scopesBelow(scope, left, 0);
}

function* scopesBelow(scope, left, depth) {
  yield scope;
  if (depth > LIMITS.frames * 4) return;
  for (const element of querySelectorAll(scope, '*')) {
    const inner = shadowRootOf(element) ?? frameDocumentOf(element);
    if (inner && left.roots-- > 0) yield* scopesBelow(inner, left, depth + 1);
  }
}

/** A document and the open shadow roots in it, without frames. */
function* shadowScopesIn(scope, depth = 0) {
  yield scope;
  for (const element of querySelectorAll(scope, '*')) {
    const shadow = shadowRootOf(element);
    if (shadow && depth < LIMITS.frames * 4) yield* shadowScopesIn(shadow, depth + 1);
  }
}

/** The first match in document order, or null. Refuses a selector that is none. */
function findFirst(selector, scope = document) {
  checkSelector(selector);
  return firstIn(scope, selector, { roots: LIMITS.roots }, 0);
}

function firstIn(scope, selector, left, depth) {
  const match = querySelector(scope, selector);
  if (depth > LIMITS.frames * 4) return match;
  for (const element of querySelectorAll(scope, '*')) {
    if (element === match) return match;
    const inner = shadowRootOf(element) ?? frameDocumentOf(element);
    if (inner && left.roots-- > 0) {
      const found = firstIn(inner, selector, left, depth + 1);
      if (found) return found;
    }
  }
  return match;
}

function checkSelector(selector) {
  try {
    querySelector(document, selector);
  } catch {
    // Not one of the contract's reasons: the host turns it into `computer_use_invalid_input`.
    refuse('invalid_input', `${quoted(oneLine(String(selector)).slice(0, 200))} is not a CSS selector`);
  }
}

const nothingMatches = (selector) => `nothing matches the selector ${quoted(oneLine(selector).slice(0, 200))}`;

/** The element that a `{ref}` or `{selector}` names now; refuses with `stale_ref` or `not_found`. */
function resolve(target) {
  if (typeof target.ref === 'string') return elementOf(target.ref);
  const element = findFirst(String(target.selector));
  if (!element) refuse('not_found', nothingMatches(String(target.selector)));
  return element;
}
