// Puts the finished object in place, once in a document.
//
// The script may be run again in a world that has it: the first object stays, with all its refs.
//
// Not here: anything that a function does.

if (!globalThis.__transom) {
  Object.defineProperty(globalThis, '__transom', { value: Object.freeze(T) });
}
