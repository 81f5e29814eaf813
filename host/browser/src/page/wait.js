// Waiting until the page shows a text or an element, or shows a text no longer.
//
// The page's changes wake it, and a slow clock besides: a style sheet that arrives, or a value that a person types, changes
// no node. However fast a page changes, it is looked at no more often than the clock allows.
//
// Not here: waiting for a load, a URL or a time (the host sees those).

/** The least time between two looks at the page. */
const LOOK_MS = 100;

offer('wait', async ({ text, textGone, selector, timeoutMs = 5_000 }) => {
  const holds = conditionOf({ text, textGone, selector });
  const started = performance.now();
  if (check(holds)) return { waited_ms: 0 };
  const changes = new Changes();
  try {
    for (;;) {
      const left = timeoutMs - (performance.now() - started);
      if (left <= 0) break;
      await changes.next(Math.min(LOOK_MS, left));
      if (check(holds)) return { waited_ms: Math.round(performance.now() - started) };
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

/** Wakes on changes of any scope that can be reached, no sooner than a look's time after the last. */
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

  /** Resolves on the next change, or after `ms`. A look that comes too early for a change waits for its turn. */
  next(ms) {
    return new Promise((done) => {
      const finish = () => {
        this.wake = null;
        clearTimeout(timer);
        this.last = performance.now();
        this.changed = false;
        done();
      };
      const timer = setTimeout(finish, ms);
      const soon = () => {
        if (performance.now() - this.last >= MIN_GAP_MS) finish();
      };
      this.wake = soon;
      if (this.changed) soon();
    });
  }

  stop() {
    this.observer.disconnect();
  }
}

/** A change may be looked at this soon after the last look. */
const MIN_GAP_MS = 20;
