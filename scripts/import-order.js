// A rule of oxlint: imports are in the order of `groups`. Small enough to be ours: the plugins that sort imports bring
// a resolver and a dozen packages.

const groups = [/^node:/, /^[^.]/, /^\.\.\//, /^\.\//];

/**
 * @typedef {{ readonly type: string, readonly range: readonly [number, number], readonly source: { readonly value:
 * string } }} Statement
 */
/** @typedef {{ replaceTextRange(range: readonly [number, number], text: string): unknown }} Fixer */
/**
 * What the rule uses of ESLint's context.
 * @typedef {object} Context
 * @property {{ getText(node: Statement): string, getAllComments(): readonly { readonly range: readonly [number, number]
 * }[] }} sourceCode
 * @property {(problem: { node: Statement, messageId: string, fix: (fixer: Fixer) => unknown }) => void} report
 */

const importOrder = {
  meta: {
    type: 'layout',
    fixable: 'code',
    schema: [],
    messages: { order: 'Imports are in this order: node, packages, other folders, this folder.' },
  },
  /** @param {Context} context */
  create: (context) => ({
    /** @param {{ readonly body: readonly Statement[] }} program */
    Program({ body }) {
      const imports = body.filter(({ type }) => type === 'ImportDeclaration');
      const wrong = imports.find((node, index) => {
        const before = imports[index - 1];
        return before !== undefined && rank(node) < rank(before);
      });
      const [first, last] = [imports[0], imports.at(-1)];
      if (!wrong || !first || !last) return;
      const isBlock = body.slice(0, imports.length).every(({ type }) => type === 'ImportDeclaration');
      /** @type {readonly [number, number]} */
      const range = [first.range[0], last.range[1]];
      const hasComment = context.sourceCode.getAllComments().some(({ range: [at] }) => at > range[0] && at < range[1]);
      const sorted = imports.toSorted((one, other) => rank(one) - rank(other));
      const text = sorted.map((node) => context.sourceCode.getText(node)).join('\n');
      /** @param {Fixer} fixer */
      const fix = (fixer) => (isBlock && !hasComment ? fixer.replaceTextRange(range, text) : null);
      context.report({ node: wrong, messageId: 'order', fix });
    },
  }),
};

/** @param {Statement} node */
function rank({ source }) {
  return groups.findIndex((group) => group.test(source.value));
}

export default { meta: { name: 'house' }, rules: { 'import-order': importOrder } };
