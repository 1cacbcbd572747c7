/**
 * Exports the constants, functions and classes of a chunk as plain members; the bundler writes a getter for each, which only a variable
 * needs, and defining two hundred of them is part of every start.
 * @returns {import('rolldown').Plugin}
 */
export function plainExports() {
  return { name: 'plain-exports', renderChunk: (code) => ({ code: withPlainExports(code) }) };
}

/** @param {string} code of a chunk */
function withPlainExports(code) {
  const getter =
    /^Object\.defineProperty\(exports, "(\w+)", \{\s+enumerable: true,\s+get: function \(\) \{\s+return (\w+);\s+\}\s+\}\);$/gm;
  return code.replaceAll(getter, (whole, name, local) => {
    const isFixed = new RegExp(`^(?:const|(?:async )?function\\*?|class) ${local}\\b`, 'm').test(code);
    return isFixed ? `exports.${name} = ${local};` : whole;
  });
}
