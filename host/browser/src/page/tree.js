// The tree that assistive technology walks: what is drawn, in the order in which it is owned.
//
// Shadow roots stand in for their host's children, slots for what is assigned to them, frames of our own origin for the
// document inside, and `aria-owns` moves an element below its owner. A child that no slot takes is in no such tree.
//
// Not here: roles and names. Closed shadow roots look like childless elements to any script; the host asks the
// protocol about those.

/** The nodes below an element in the flattened tree, `aria-owns` applied. Text nodes included, comments not. */
function flatChildrenOf(element) {
  const children = [];
  const moved = movedIn(scopeOf(element));
  const push = (node) => {
    const type = nodeTypeOf(node);
    if (type === TEXT) children.push(node);
    else if (type === ELEMENT && !(moved && moved.owner.has(node))) children.push(node);
  };
  const root = shadowRootOf(element);
  if (root) {
    for (let node = firstChildOf(root); node; node = nextSiblingOf(node)) push(node);
  } else if (tagOf(element) === 'slot' && isHtml(element) && nodeTypeOf(scopeOf(element)) === FRAGMENT) {
    const assigned = assignedNodesOf(element);
    if (assigned.length > 0) for (const node of assigned) pushSlotted(node, children);
    else for (let node = firstChildOf(element); node; node = nextSiblingOf(node)) push(node);
  } else if (isTag(element, 'details') && !hasAttr(element, 'open')) {
    for (let node = firstElementOf(element); node; node = nextElementOf(node)) {
      if (isTag(node, 'summary')) {
        push(node);
        break;
      }
    }
  } else {
    for (let node = firstChildOf(element); node; node = nextSiblingOf(node)) push(node);
  }
  if (moved) {
    const owned = moved.owned.get(element);
    if (owned) children.push(...owned);
  }
  return children;
}

/** A slotted node comes from another scope, whose own `aria-owns` may have moved it away. */
function pushSlotted(node, children) {
  const type = nodeTypeOf(node);
  if (type !== TEXT && type !== ELEMENT) return;
  if (type === ELEMENT && movedIn(scopeOf(node))?.owner.has(node)) return;
  children.push(node);
}

/** The parent in the flattened tree, without `aria-owns`: what events pass and what boxes nest in. */
function flatParentOf(node) {
  const slot =
    nodeTypeOf(node) === TEXT ? textSlotOf(node) : nodeTypeOf(node) === ELEMENT ? assignedSlotOf(node) : null;
  if (slot) return slot;
  const parent = parentNodeOf(node);
  if (!parent) return nodeTypeOf(node) === DOCUMENT ? frameElementOf(node) : null;
  return nodeTypeOf(parent) === FRAGMENT ? shadowHostOf(parent) : parent;
}

function shadowHostOf(fragment) {
  try {
    return hostOf(fragment);
  } catch {
    return null; // a plain fragment has no host
  }
}

/** Is `outer` the node itself or around it, in the flattened tree or among the light-DOM parents that events also pass? */
function isAround(outer, node) {
  for (let at = node; at; at = flatParentOf(at)) {
    if (at === outer) return true;
  }
  for (let at = node; at; at = nodeTypeOf(at) === FRAGMENT ? shadowHostOf(at) : parentNodeOf(at)) {
    if (at === outer) return true;
  }
  return false;
}

/**
 * What the nearest of an element and its flat parents says (`ask` answers true, false, or undefined to ask the next); false
 * when none says anything. Each is asked once in a pass: `known` remembers.
 */
function inherited(known, node, ask) {
  const asked = [];
  let answer = false;
  for (let at = node; at; at = flatParentOf(at)) {
    if (nodeTypeOf(at) !== ELEMENT) continue;
    const before = known.get(at);
    if (before !== undefined) {
      answer = before;
      break;
    }
    asked.push(at);
    const said = ask(at);
    if (said !== undefined) {
      answer = said;
      break;
    }
  }
  for (const element of asked) known.set(element, answer);
  return answer;
}

/** What `aria-owns` moves in one scope: `owner` by element, `owned` by owner; null where nothing is moved. */
function movedIn(scope) {
  let moved = pass.owners.get(scope);
  if (moved === undefined) {
    moved = findMoved(scope);
    pass.owners.set(scope, moved);
  }
  return moved;
}

function findMoved(scope) {
  if (nodeTypeOf(scope) === ELEMENT) return null; // a tree that is not in the page
  const owners = querySelectorAll(scope, '[aria-owns]');
  if (owners.length === 0) return null;
  const owner = new Map();
  const owned = new Map();
  for (const candidate of owners) {
    const list = [];
    for (const id of idsIn(attr(candidate, 'aria-owns'))) {
      const element = getElementById(scope, id);
      // The first owner wins, and nobody owns what it is part of, at any remove.
      if (!element || owner.has(element) || isUnder(candidate, element, owner)) continue;
      owner.set(element, candidate);
      list.push(element);
    }
    if (list.length > 0) owned.set(candidate, list);
  }
  return owned.size > 0 ? { owner, owned } : null;
}

/** Is `element` below `outer`, or `outer` itself, with the moves so far applied? */
function isUnder(element, outer, owner) {
  for (let at = element, n = 0; at && n < LIMITS.depth; n++) {
    if (at === outer) return true;
    at = owner.get(at) ?? flatParentOf(at);
  }
  return false;
}

const idsIn = (list) => (list ?? '').split(/[\t\n\f\r ]+/).filter(Boolean);

/**
 * Does ARIA, inertness or an open modal dialog take the element and all below it out of the tree? Asked of an element
 * whose parents have been asked before.
 */
function isPruned(element) {
  if (!hasAttrs(element)) return false;
  const hidden = attr(element, 'aria-hidden');
  if (hidden !== null && hidden.toLowerCase() === 'true') return true;
  return hasAttr(element, 'inert') && isHtml(element);
}

/** The modal dialog that makes the rest of its document inert, if one is open. */
function modalOf(inner) {
  let modal = pass.modals.get(inner);
  if (modal === undefined) {
    const open = [...shadowScopesIn(inner)].flatMap((scope) => [...querySelectorAll(scope, 'dialog:modal')]);
    const active = activeElementIn(inner);
    // Of several the last one opened is on top; it was given the focus, and inside it the focus stays.
    modal =
      open.find(
        (dialog) =>
          active &&
          isAround(dialog, active) &&
          !open.some((other) => other !== dialog && isAround(dialog, other) && isAround(other, active)),
      ) ??
      open.at(-1) ??
      null;
    pass.modals.set(inner, modal);
  }
  return modal;
}

/** Does an ancestor take the element out of the tree? For an element that no walk has led to. */
function isPrunedFromOutside(element) {
  if (inherited(pass.pruned, element, (at) => isPruned(at) || undefined)) return true;
  const modal = modalOf(ownerDocumentOf(element));
  return modal !== null && !isAround(modal, element);
}

const LABELABLE = words('input button select textarea meter output progress');
const NO_LABELS = Object.freeze([]);

/**
 * The `<label>`s of a control, in document order. Found for a whole scope at once: a control's own `labels` searches the
 * document anew for each control, which is quadratic on a page of many.
 */
function labelsOf(element) {
  if (!LABELABLE.has(tagOf(element)) || !isHtml(element)) return NO_LABELS;
  const scope = scopeOf(element);
  let labels = pass.labels.get(scope);
  if (labels === undefined) {
    labels = new Map();
    for (const label of nodeTypeOf(scope) === ELEMENT ? NO_LABELS : querySelectorAll(scope, 'label')) {
      const control = isHtml(label) ? labelControlOf(label) : null;
      if (control === null) continue;
      const known = labels.get(control);
      if (known) known.push(label);
      else labels.set(control, [label]);
    }
    pass.labels.set(scope, labels);
  }
  return labels.get(element) ?? NO_LABELS;
}
