import tseslint from 'typescript-eslint';

/** The order of imports: node, packages, modules of other folders, modules of this folder. */
const groups = [/^node:/, /^[^.]/, /^\.\.\//, /^\.\//];

/** Small enough to be ours: the plugins that sort imports bring a resolver and a dozen packages. */
const importOrder = {
  meta: {
    type: 'layout',
    fixable: 'code',
    schema: [],
    messages: { order: 'Imports are in this order: node, packages, other folders, this folder.' },
  },
  create: (context) => ({
    Program({ body }) {
      const imports = body.filter(({ type }) => type === 'ImportDeclaration');
      const rank = ({ source }) => groups.findIndex((group) => group.test(source.value));
      const wrong = imports.find((node, index) => index > 0 && rank(node) < rank(imports[index - 1]));
      if (!wrong) return;
      const isBlock = body.slice(0, imports.length).every(({ type }) => type === 'ImportDeclaration');
      const range = [imports[0].range[0], imports.at(-1).range[1]];
      const hasComment = context.sourceCode.getAllComments().some(({ range: [at] }) => at > range[0] && at < range[1]);
      const sorted = imports.toSorted((one, other) => rank(one) - rank(other));
      const text = sorted.map((node) => context.sourceCode.getText(node)).join('\n');
      const fix = (fixer) => (isBlock && !hasComment ? fixer.replaceTextRange(range, text) : null);
      context.report({ node: wrong, messageId: 'order', fix });
    },
  }),
};

const everywhere = {
  'house/import-order': 'error',
  'prefer-const': 'error',
  'no-var': 'error',
  'object-shorthand': 'error',
  eqeqeq: ['error', 'always'],
};

export default tseslint.config(
  { ignores: ['dist', 'coverage', 'node_modules'] },
  { plugins: { house: { rules: { 'import-order': importOrder } } } },
  {
    files: ['**/*.js', '**/*.cjs'],
    extends: [tseslint.configs.recommended],
    rules: { ...everywhere, '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_' }] },
  },
  {
    files: ['**/*.cjs'],
    // CommonJS that replaces modules of packages: it requires, and has no types.
    rules: { '@typescript-eslint/no-require-imports': 'off', '@typescript-eslint/ban-ts-comment': 'off' },
  },
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: { parserOptions: { projectService: true } },
    rules: {
      ...everywhere,
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/only-throw-error': 'error',
      // Parts of a context and an API are closures, made to be taken apart in a parameter list.
      '@typescript-eslint/unbound-method': 'off',
      // An async function without await is how a promise or a stream of a plain value is written.
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/no-unused-vars': ['error', { varsIgnorePattern: '^_', argsIgnorePattern: '^_' }],
      // There is no enum (erasableSyntaxOnly), and looking for one takes a seventh of the time.
      '@typescript-eslint/no-unsafe-enum-assignment': 'off',
      // The types compare the private fields of those classes that guard something; looking for others takes an eighth of the time.
      '@typescript-eslint/no-unsafe-class-instance-assignment': 'off',
      'no-console': 'error',
    },
  },
  {
    files: ['src/**/*.ts'],
    // A longer file may be two subjects, and a longer function two steps; a function counts those inside it.
    rules: { 'max-lines': ['error', 250], 'max-lines-per-function': ['error', 100] },
  },
  // Tables of the specification: rows, not code.
  { files: ['src/schema/{field,settings}.ts'], rules: { 'max-lines': 'off' } },
);
