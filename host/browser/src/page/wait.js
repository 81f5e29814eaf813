// Waiting until the page shows a text or an element, or shows a text no longer.
//
// The page's changes wake it, and a slow clock besides: a style sheet that arrives, or a value that a person types, changes
// no node. However fast a page changes, looking at it takes only a part of the time.
//
// Not here: waiting for a load, a URL or a time (the host sees those).

/** The longest time between two looks at the page. */
const LOOK_MS = 100;
/** A change may be looked at this soon after the last look. */
const GAP_MS = 20;
/** A page that takes long to look at is looked at less often: for at most one part of the time in so many. */
const SHARE_OF_TIME = 4;

offer('wait', async ({ text, textGone, selector, timeoutMs = 5_000 }) => {
  const holds = conditionOf({ text, textGone, selector });
  const started = performance.now();
  if (check(holds)) return { waited_ms: 0 };
  const changes = new Changes();
  let gap = GAP_MS;
  try {
    for (;;) {
      const left = timeoutMs - (performance.now() - started);
      if (left <= 0) break;
      await changes.next(Math.min(Math.max(LOOK_MS, gap), left), gap);
      const looked = performance.now();
      if (check(holds)) return { waited_ms: Math.round(performance.now() - started) };
      gap = Math.max(GAP_MS, SHARE_OF_TIME * (performance.now() - looked));
    }
  } finally {
    changes.stop();
  }
  refuse('timeout', `${sayCondition({ text, textGone, selector })} within ${Math.round(timeoutMs)} ms`);
});

function check(holds) {
  freshPass();
  try {
    return holds();
  } finally {
    pass = null;
  }
}

function conditionOf({ text, textGone, selector }) {
  if (selector !== undefined) {
    checkSelector(selector);
    return () => isAnyShown(selector);
  }
  if (text !== undefined) return () => showsText(text);
  if (textGone !== undefined) return () => !showsText(textGone);
  refuse('invalid_input', 'wait needs one of text, textGone and selector');
}

function sayCondition({ text, textGone, selector }) {
  const say = (value) => quoted(oneLine(String(value)).slice(0, 200));
  if (selector !== undefined) return `no visible element matched ${say(selector)}`;
  return text !== undefined ? `the text ${say(text)} did not appear` : `the text ${say(textGone)} did not go away`;
}

function isAnyShown(selector) {
  for (const scope of scopesIn(document)) {
    for (const element of querySelectorAll(scope, selector)) if (isShown(element)) return true;
  }
  return false;
}

/** Case and the kind of blank make no difference: style sheets change both. */
const comparable = (text) => oneLine(text).toLowerCase();

function showsText(text) {
  const wanted = comparable(String(text));
  const root = rootElementOf(document);
  return root !== null && comparable(renderedText(root, LIMITS.text).text).includes(wanted);
}

/** Wakes on changes in any scope that could be reached when the waiting began; the clock sees those that came later. */
class Changes {
  constructor() {
    this.last = performance.now();
    this.wake = null;
    this.changed = false;
    this.observer = new MutationObserver(() => {
      this.changed = true;
      this.wake?.();
    });
    for (const scope of scopesIn(document)) {
      this.observer.observe(scope, { subtree: true, childList: true, characterData: true, attributes: true });
    }
  }

  /** Resolves on the next change, or after `ms`; never sooner than `gap` after the last look. */
  next(ms, gap) {
    return new Promise((done) => {
      const finish = () => {
        this.wake = null;
        clearTimeout(timer);
        this.last = performance.now();
        this.changed = false;
        done();
      };
      let timer = setTimeout(finish, ms);
      this.wake = () => {
        this.wake = null;
        clearTimeout(timer);
        timer = setTimeout(finish, Math.min(ms, Math.max(0, gap - (performance.now() - this.last))));
      };
      if (this.changed) this.wake();
    });
  }

  stop() {
    this.observer.disconnect();
  }
}
