// Puts the finished object in place, once in a document.
//
// The script may be run again in a world that has it: the first object stays, with all its refs. An element with that id
// is a property of every window too, but never one of its own.
//
// Not here: anything that a function does.

if (!Object.hasOwn(globalThis, '__transom')) {
  Object.defineProperty(globalThis, '__transom', { value: Object.freeze(T) });
}
