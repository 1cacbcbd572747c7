// Changes the program at seeded places, one at a time, and runs the tests of the changed file's room: a change that no test sees is
// printed. `npm run mutate -- --count 10 --seed 7 --room store`
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import ts from 'typescript';

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '50' },
    seed: { type: 'string', default: '1' },
    room: { type: 'string', default: '' },
  },
});
const count = Number(values.count);
const { SyntaxKind } = ts;

/** A comparison and the one that differs from it at the border. */
const borders = new Map([
  [SyntaxKind.LessThanToken, '<='],
  [SyntaxKind.LessThanEqualsToken, '<'],
  [SyntaxKind.GreaterThanToken, '>='],
  [SyntaxKind.GreaterThanEqualsToken, '>'],
  [SyntaxKind.EqualsEqualsEqualsToken, '!=='],
  [SyntaxKind.ExclamationEqualsEqualsToken, '==='],
  [SyntaxKind.AmpersandAmpersandToken, '||'],
  [SyntaxKind.BarBarToken, '&&'],
]);

/**
 * @typedef {{ file: string, start: number, end: number, text: string, what: string }} Mutant
 * @param {string} file
 * @returns {Mutant[]}
 */
function mutantsOf(file) {
  const tree = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.ES2023, true);
  /** @type {Mutant[]} */
  const found = [];
  /** @type {(node: ts.Node, text: string, what: string) => void} */
  const add = (node, text, what) => {
    found.push({ file, start: node.getStart(), end: node.getEnd(), text, what });
  };
  /** @param {ts.Node} node */
  const visit = (node) => {
    if (ts.isTypeNode(node) || ts.isInterfaceDeclaration(node) || ts.isImportDeclaration(node)) return;
    if (ts.isIfStatement(node)) add(node.expression, `!(${node.expression.getText()})`, 'negated condition');
    if (ts.isConditionalExpression(node)) add(node.condition, `!(${node.condition.getText()})`, 'negated condition');
    if (ts.isBinaryExpression(node)) {
      const other = borders.get(node.operatorToken.kind);
      if (other) add(node.operatorToken, other, 'other comparison');
    }
    if (ts.isExpressionStatement(node)) add(node, ';', 'dropped statement');
    if (ts.isNumericLiteral(node)) add(node, `(${node.text} + 1)`, 'other number');
    if (node.kind === SyntaxKind.TrueKeyword) add(node, 'false', 'other literal');
    if (node.kind === SyntaxKind.FalseKeyword) add(node, 'true', 'other literal');
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return found;
}

/** The nearest folder of tests that mirrors a file's folder, or the test of the file itself. @param {string} file */
function testsOf(file) {
  const own = file.replace(/^src/, 'test').replace(/\.ts$/, '.test.ts');
  if (existsSync(own)) return own;
  let folder = dirname(file).replace(/^src/, 'test');
  while (!existsSync(folder)) folder = dirname(folder);
  return folder;
}

/** Not synchronous: a signal must reach this process while tests run, or the changed file would stay. @param {string} tests */
async function isGreen(tests) {
  const words = ['vitest', 'run', '--project', 'source', '--bail', '1', tests];
  const child = spawn('npx', words, { stdio: 'ignore', timeout: 300_000 });
  return new Promise((resolve) => child.once('close', (code) => resolve(code === 0)));
}

/** Park and Miller, so that a seed gives the same sample everywhere. @param {number} seed */
function numbers(seed) {
  let state = seed;
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
}

const files = readdirSync(join('src', values.room), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => join('src', values.room, name))
  .sort();
const all = files.flatMap(mutantsOf);
const next = numbers(Number(values.seed));
const sample = Array.from({ length: Math.min(count, all.length) }, () =>
  all.splice(Math.floor(next() * all.length), 1),
).flat();

let survived = 0;
for (const { file, start, end, text, what } of sample) {
  const before = readFileSync(file, 'utf8');
  const line = before.slice(0, start).split('\n').length;
  const restore = () => writeFileSync(file, before);
  const interrupted = () => {
    restore();
    process.exit(130);
  };
  process.once('SIGINT', interrupted).once('SIGTERM', interrupted);
  writeFileSync(file, before.slice(0, start) + text + before.slice(end));
  try {
    if (await isGreen(testsOf(file))) {
      survived += 1;
      console.log(`survived: ${file}:${line}: ${what}: ${before.slice(start, end).split('\n')[0]}`);
    }
  } finally {
    restore();
    process.off('SIGINT', interrupted).off('SIGTERM', interrupted);
  }
}
console.log(`${sample.length - survived} of ${sample.length} mutants were seen by a test (seed ${values.seed})`);
