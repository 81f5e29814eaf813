// What a ref (`e12`) names, and when it stops naming it.
//
// One element of one document. The element's ref is remembered with the element, so a second snapshot gives it again,
// wherever the element has moved to; a look-alike gets its own. A ref whose element has left the page is stale, and
// stays so. Numbers come from the host, which never repeats one in a run: a ref of an earlier document can't be met here.
//
// Not here: finding an element by a selector (selectors.js).

const refOfElement = new WeakMap();
const elementOfRef = new Map();

/** Entries above which refs of collected elements are swept out. */
const REFS_BEFORE_SWEEP = 20_000;
let sweepAt = REFS_BEFORE_SWEEP;

/** Hands out refs for one call: `${tag}e${n}`, `n` counted from `start`. */
class RefGiver {
  constructor({ tag = '', start = 1 }) {
    this.tag = tag;
    this.next = start;
  }

  refFor(element) {
    const known = refOfElement.get(element);
    if (known !== undefined) return known;
    const ref = `${this.tag}e${this.next++}`;
    refOfElement.set(element, ref);
    elementOfRef.set(ref, new WeakRef(element));
    if (elementOfRef.size > sweepAt) sweepRefs();
    return ref;
  }
}

function sweepRefs() {
  for (const [ref, weak] of elementOfRef) if (!weak.deref()) elementOfRef.delete(ref);
  sweepAt = elementOfRef.size + REFS_BEFORE_SWEEP;
}

/** The element of a ref; refuses with `stale_ref` when there is none any more. */
function elementOf(ref) {
  const element = elementOfRef.get(ref)?.deref();
  if (!element || !isAlive(element))
    refuse('stale_ref', `${oneLine(String(ref)).slice(0, 40)} is no longer on the page`);
  return element;
}
