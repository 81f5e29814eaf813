// What the host sees of this script: one object, whose functions take JSON, answer JSON, and never throw.
//
// The script runs in an isolated world of each document: it shares the DOM with the page but neither its globals nor its
// prototypes, so what a page patches isn't met here. What a page *writes* is met everywhere, and is never trusted: text
// becomes safe in text_safety.js, the DOM is read through dom.js, and all work is bounded by LIMITS.
//
// The host joins these files, in this order, inside one strict function; a file may use what any other declares, but
// only this order runs:
//
// ORDER: world.js dom.js text_safety.js refs.js visibility.js tree.js selectors.js generated.js roles.js names.js
// ORDER: states.js outline.js snapshot.js frames.js hit.js actionable.js typing.js rendered_text.js markdown.js html.js
// ORDER: read.js wait.js publish.js
//
// Not here: any decision about what a caller may do. Whoever reaches this object is the host.

/** Bounds on the work that one call may do for a page, whatever the page looks like. */
const LIMITS = Object.freeze({
  /** Elements that one walk visits. Ten times the largest pages met in practice; a walk of them takes about a second. */
  elements: 200_000,
  /** Nesting of the flattened tree that one walk follows. The parser stops at 512; scripts can nest deeper, and the
   *  walk is recursive: at this depth it uses less than half of the stack. */
  depth: 1_000,
  /** Elements that are asked for their share of a name, in one call: a page can point many names at much content. */
  shares: 1_000_000,
  /** Characters of a name. A longer one is no label: it is left out as a name and listed as text instead. Never cut,
   *  because a cut could leave half of a secret that the host would have taken out whole. */
  name: 500,
  /** Characters of the name that a plain clickable box takes from its content: a label, not an article. */
  clickableName: 120,
  /** Characters of any one text. Above everything that the host hands on, so a cut here is never seen by a caller. */
  text: 1_000_000,
  /** Options that a closed drop-down shows in a snapshot; longer lists are counted instead. */
  options: 12,
  /** Frames inside frames. */
  frames: 12,
  /** Shadow roots and frames that one selector is tried in. */
  roots: 2_000,
});

/** A set of words, written as one text. */
const words = (list) => new Set(list.trim().split(/\s+/));

/** The object that the host calls; publish.js puts it in place once it is whole. */
const T = {};

/** Why a call could not do what it was asked: `reason` is one of the contract's, `by` names what stood in the way. */
class Refusal extends Error {
  constructor(reason, message, by) {
    super(message);
    this.reason = reason;
    this.by = by;
  }
}

function refuse(reason, message, by) {
  throw new Refusal(reason, message, by);
}

/**
 * What one synchronous piece of work has found out about elements. It never outlives that work: the page can change
 * whatever it likes before the next.
 */
let pass = null;

function freshPass() {
  pass = {
    looks: new Map(), // element -> what visibility.js saw
    roles: new Map(), // element -> role
    names: new Map(), // element -> name
    contents: new Map(), // element -> its share of a name
    generated: new Map(), // tree scope -> whether its style sheets add text
    owners: new Map(), // tree scope -> what aria-owns moves
    disabled: new Map(), // element -> whether aria-disabled holds for it
    pruned: new Map(), // element -> whether ARIA or inertness takes it out of the tree
    labels: new Map(), // tree scope -> control -> its labels
    modals: new Map(), // document -> its modal dialog
    sections: new Map(), // element -> whether it is in a part of the page with headers of its own
    asides: new Map(), // element -> whether it is in a part other than the main one
    elements: 0,
    cut: false, // whether a limit kept the work from seeing everything
    shares: 0,
    shareDepth: 0,
  };
  return pass;
}

/** May a walk enter one more element, at this depth? Where not, what it finds is incomplete, and its answer says so. */
function mayEnter(depth) {
  if (depth <= LIMITS.depth && ++pass.elements <= LIMITS.elements) return true;
  pass.cut = true;
  return false;
}

function answerFor(error) {
  if (error instanceof Refusal) {
    const answer = { reason: error.reason, message: error.message };
    if (error.by !== undefined) answer.by = error.by;
    return { error: answer };
  }
  return { error: { reason: 'script', message: `the page script failed: ${oneLine(String(error)).slice(0, 200)}` } };
}

/** Offers `work(args)` to the host: `{ok: result}`, or `{error: {reason, message, by?}}`; for a promise, a promise of it. */
function offer(name, work) {
  T[name] = (args) => {
    freshPass();
    try {
      const result = work(args ?? {});
      if (result instanceof Promise) return result.then((ok) => ({ ok }), answerFor);
      return { ok: result };
    } catch (error) {
      return answerFor(error);
    } finally {
      pass = null;
    }
  };
}
