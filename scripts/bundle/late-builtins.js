/**
 * Loads each module of Node where a chunk first reads a member of it, not where the chunk begins: crypto or tls alone
 * cost milliseconds, and most commands need neither.
 * @returns {import('rolldown').Plugin}
 */
export function lateBuiltins() {
  return { name: 'late-builtins', renderChunk: (code) => ({ code: withLateBuiltins(code) }) };
}

/** @param {string} code of a chunk, with the bundler's declarations of builtins */
function withLateBuiltins(code) {
  const declaration = /^let (node_\w+) = (require\("node:[\w/]+"\));$/gm;
  let late = code;
  for (const [whole, name = '', load = ''] of code.matchAll(declaration)) {
    const rest = late.replace(whole, '');
    const uses = rest.match(new RegExp(`\\b${name}\\b`, 'g')) ?? [];
    const members = rest.match(new RegExp(`\\b${name}\\.`, 'g')) ?? [];
    if (uses.length === members.length)
      late = late.replace(whole, `let ${name};`).replaceAll(new RegExp(`\\b${name}\\.`, 'g'), `(${name} ??= ${load}).`);
  }
  return late;
}
