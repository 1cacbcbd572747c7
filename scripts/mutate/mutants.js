import { readFileSync } from 'node:fs';
import ts from 'typescript-6';

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
 * A change of one place. `whole` is the expression around it: a probe is put before it, to see which tests evaluate it.
 * @typedef {{ start: number, end: number }} Span
 * @typedef {{ file: string, place: Span, whole: Span, text: string, what: string }} Mutant
 */

/**
 * Every mutant of a file.
 * @param {string} file
 * @returns {Mutant[]}
 */
export function mutantsOf(file) {
  const tree = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.ES2023, true);
  /** @type {Mutant[]} */
  const found = [];
  /** @type {(node: ts.Node, text: string, what: string, whole?: ts.Node) => void} */
  const add = (node, text, what, whole = node) => {
    found.push({ file, place: spanOf(node), whole: spanOf(whole), text, what });
  };
  /** @param {ts.Node} node */
  const visit = (node) => {
    if (ts.isTypeNode(node) || ts.isInterfaceDeclaration(node) || ts.isImportDeclaration(node)) return;
    if (ts.isIfStatement(node)) add(node.expression, `!(${node.expression.getText()})`, 'negated condition');
    if (ts.isConditionalExpression(node)) add(node.condition, `!(${node.condition.getText()})`, 'negated condition');
    if (ts.isBinaryExpression(node)) {
      const other = borders.get(node.operatorToken.kind);
      if (other) add(node.operatorToken, other, 'other comparison', node);
    }
    if (ts.isExpressionStatement(node)) add(node, ';', 'dropped statement', node.expression);
    if (ts.isNumericLiteral(node) && !isName(node)) add(node, `(${node.text} + 1)`, 'other number');
    if (node.kind === SyntaxKind.TrueKeyword) add(node, 'false', 'other literal');
    if (node.kind === SyntaxKind.FalseKeyword) add(node, 'true', 'other literal');
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return found;
}

/** @param {ts.Node} node */
function spanOf(node) {
  return { start: node.getStart(), end: node.getEnd() };
}

/** The 404 of `{ 404: 'not found' }`. @param {ts.NumericLiteral} node */
function isName(node) {
  return ts.isPropertyAssignment(node.parent) && node.parent.name === node;
}

/**
 * The text of a file with a mutant.
 * @param {string} text
 * @param {Mutant} mutant
 */
export function mutated(text, { place, text: replacement }) {
  return text.slice(0, place.start) + replacement + text.slice(place.end);
}

/**
 * The text of a file with a probe before each mutant: an expression `e` becomes `(globalThis.reached?.(7), e)`.
 * @param {string} text
 * @param {readonly { id: number, mutant: Mutant }[]} numbered
 */
export function probed(text, numbered) {
  const pieces = numbered.flatMap(({ id, mutant: { whole } }) => [
    { at: whole.start, order: -whole.end, text: `(globalThis.reached?.(${id}), ` },
    { at: whole.end, order: -Infinity, text: ')' },
  ]);
  // From the end; where two mutants begin at one place, the wider one is outside.
  pieces.sort((one, other) => other.at - one.at || other.order - one.order);
  return pieces.reduce((changed, piece) => changed.slice(0, piece.at) + piece.text + changed.slice(piece.at), text);
}
