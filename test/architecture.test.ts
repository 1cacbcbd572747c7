import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, posix } from 'node:path';
import type TypeScript from 'typescript-6';
import { expect, test } from 'vitest';
import { namesIn } from '../src/core/table-names.ts';

/** Required: an import would read its 9 MB twice, to find out which kind of module they are. */
const ts = createRequire(import.meta.url)('typescript-6') as typeof TypeScript;

/** The doors of the house (CONTRIBUTING.md): imports go down a floor, never sideways or up. */
const floors: Readonly<Record<string, number>> = {
  core: 0,
  schema: 1,
  api: 2,
  store: 2,
  output: 2,
  sandbox: 2,
  jobs: 3,
  commands: 4,
  cli: 5,
};

/**
 * The one file that each package is loaded by; yaml writes and reads, and has one for each, as csv has with two
 * packages.
 */
const homes: Readonly<Record<string, string | readonly string[]>> = {
  '@fastify/busboy': 'sandbox/multipart.ts',
  chalk: 'output/paint.ts',
  'cli-table3': 'output/grid.ts',
  commander: 'cli/program.ts',
  conf: 'store/account/conf.ts',
  'csv-parse/sync': 'store/roster/csv.ts',
  'csv-stringify/sync': 'output/csv.ts',
  'fast-string-width': 'output/width.ts',
  'html-to-text': 'output/messages/html-text.ts',
  htmlparser2: 'store/roster/xml.ts',
  pg: 'store/ledger/postgres.ts',
  'sanitize-html': 'output/messages/sanitize.ts',
  undici: 'api/http/route.ts',
  'fast-wrap-ansi': 'output/wrap.ts',
  yaml: 'output/yaml.ts',
};

/** Where a secret becomes text: to be sent, to be kept, to be printed on request. */
const revealing = [
  'api/http/request.ts',
  'commands/auth/token.ts',
  'store/account/profiles.ts',
  'store/ledger/postgres.ts',
];

/** Casts that TypeScript cannot do without, by their reason; this list only gets shorter. */
const casts: readonly string[] = [
  // The compiler does not follow Object.keys, Object.fromEntries and a loop over the rows of a generic table.
  'core/table-names.ts: (keyof T & string)[]',
  'schema/field.ts: Ruled<T, R>',
  'schema/field.ts: Values<T>',
  'cli/values.ts: GlobalValues',
  'sandbox/chat/parameters.ts: Read<S>',
  // The sandbox plays back its own log.
  'sandbox/state.ts: T',
  // What a program text evaluates to, which the build wrote.
  'cli/launch/launch.ts: Program',
  'cli/launch/launch.ts: PackedChunks',
  'cli/launch/launch.ts: Chunk',
  // Types are erased where a command of any shape is called.
  'commands/command.ts: NamelessCommand',
];

const sources = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .map((name) => name.replaceAll('\\', '/'))
  .filter((name) => name.endsWith('.ts'))
  .sort()
  .map((name) => {
    const text = readFileSync(join('src', name), 'utf8');
    return { name, text, tree: ts.createSourceFile(name, text, ts.ScriptTarget.ES2023, true) };
  });

type Source = (typeof sources)[number];

/** Each file is walked once, not once a test. */
const nodesOf = new WeakMap<TypeScript.Node, readonly TypeScript.Node[]>();

const imports = importsOf(sources);

/** Imports of our own modules, by file. */
const ours = imports
  .filter(({ target }) => target.startsWith('.'))
  .map(({ source, target }) => ({ from: source.name, to: posix.join(posix.dirname(source.name), target) }));
const importedBy = new Map<string, string[]>();
for (const { from, to } of ours) importedBy.set(from, [...(importedBy.get(from) ?? []), to]);

/** The most lines of each (docs/internals/architecture.md, Budgets). */
const budgets = [
  { what: 'src without the sandbox', lines: 32_000, folder: 'src', counts: /^(?!sandbox\/).*\.(ts|cjs)$/ },
  { what: 'the sandbox', lines: 4_500, folder: 'src/sandbox', counts: /\.ts$/ },
  { what: 'the tests', lines: 62_000, folder: 'test', counts: /\.(ts|js|cjs|mjs)$/ },
];

/** The most bytes of README.md, docs and man together. */
const pageBytes = 163_750;

test.each(budgets)('$what keep their budget of $lines lines', ({ lines, folder, counts }) => {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => name.replaceAll('\\', '/'));
  const texts = names.filter((name) => counts.test(name)).map((name) => readFileSync(join(folder, name), 'utf8'));
  expect(texts.reduce((sum, text) => sum + text.split('\n').length - 1, 0)).toBeLessThanOrEqual(lines);
});

test('README, man and docs keep their budget of bytes', () => {
  const pages = ['docs', 'man'].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
  );
  const texts = ['README.md', ...pages].filter((name) => name.endsWith('.md')).map((name) => readFileSync(name));
  expect(texts.reduce((sum, { length }) => sum + length, 0)).toBeLessThanOrEqual(pageBytes);
});

test('whoever follows topic delete enters at most 25 files of its rooms', () => {
  const values = imports.filter(({ target, typeOnly, dynamic }) => target.startsWith('.') && !typeOnly && !dynamic);
  const entered = new Set(['commands/topic/delete-topic.ts']);
  for (const name of entered)
    for (const { source, target } of values)
      if (source.name === name) entered.add(posix.join(posix.dirname(name), target));
  const rooms = /^(jobs\/(topic|archive|messages)|store\/archive|output\/messages|commands\/topic)\//;
  const found = [...entered].filter((name) => rooms.test(name)).sort();
  expect(found.length, found.join('\n')).toBeLessThanOrEqual(25);
});

test('imports go down a floor or stay in their room', () => {
  const wrong = imports.filter(({ source, target }) => {
    if (!target.startsWith('.')) return false;
    const from = roomOf(source.name);
    const to = roomOf(posix.join(posix.dirname(source.name), target));
    return from !== to && floorOf(to) >= floorOf(from);
  });
  const found = wrong.map(({ at, target }) => `${at} imports ${target}`);
  expect(found, 'move what is imported down to a floor that both may use').toEqual([]);
});

test('each package is loaded by one file, its home', () => {
  const loaded = imports
    .filter(({ target, typeOnly }) => !typeOnly && !target.startsWith('.') && !target.startsWith('node:'))
    .map(({ source, target }) => `${target}: ${source.name}`);
  const known = Object.entries(homes).flatMap(([name, files]) => [files].flat().map((file) => `${name}: ${file}`));
  expect(sorted(loaded), 'use the package through its home, or name a new home in the table above').toEqual(
    sorted(known),
  );
});

test('programs that tests await are started by one helper, which stands on execa', () => {
  const files = readdirSync('test', { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
  const importing = files.filter((name) => /^import .* from 'execa'/m.test(readFileSync(join('test', name), 'utf8')));
  expect(importing, 'start it by `launch` of test/helpers/launch.ts').toEqual([join('helpers', 'launch.ts')]);
});

test('commands are loaded only when they are reached', () => {
  const eager = imports
    .filter(({ source }) => roomOf(source.name) === 'cli' || source.name === 'commands/index.ts')
    .filter(({ dynamic, typeOnly }) => !dynamic && !typeOnly)
    .map(({ source, target }) => posix.join(posix.dirname(source.name), target));
  const commands = eager.filter((target) => target.startsWith('commands/'));
  const tables = ['commands/environment.ts', 'commands/index.ts'];
  expect(sorted([...new Set(commands)]), 'load the command by its row in commands/index.ts').toEqual(tables);
});

test('functions take the parts of the context that they use: only the type of a command and the program name the whole', () => {
  const whole = sources.filter(({ tree }) => find(tree, (node) => isTypeNamed(node, 'Context')).length > 0);
  const found = whole.map(({ name }) => name);
  expect(found, 'take the parts that you use').toEqual(['cli/session.ts', 'commands/command.ts']);
});

test('nobody below src/cli names process', () => {
  const below = sources.filter((source) => roomOf(source.name) !== 'cli');
  const found = places(below, (node) => isGlobal(node, 'process'));
  expect(found, 'take it from the host or the system that cli hands down').toEqual([]);
});

test('the process is ended in one file, which has waited for all output', () => {
  // The text of each node is cut out of its file, so files without the word are passed over.
  const naming = sources.filter(({ text }) => /process\s*\.\s*exit/.test(text));
  const ending = naming.filter(({ tree }) => find(tree, (node) => node.getText() === 'process.exit').length > 0);
  expect(
    ending.map(({ name }) => name),
    'throw a Failure: main makes the exit code of it',
  ).toEqual(['cli/process.ts']);
});

test('timers are set in src/cli/clock.ts, in which a span of any length is right, and given to everybody else', () => {
  // The third pauses for milliseconds until Windows lets go of a file: who writes a file need not be given a clock for
  // that.
  const homesOfTimers = ['cli/clock.ts', 'cli/process.ts', 'store/disk/files.ts'];
  const elsewhere = sources.filter(({ name }) => !homesOfTimers.includes(name));
  expect(places(elsewhere, setsTimer), 'take the clock or the alarm as a parameter').toEqual([]);
});

test('files, random names and turns of the event loop are taken through core/outside.ts, behind which a test can put another computer', () => {
  // The launcher and TAB are programs of their own. The third pauses on Windows alone.
  const apart = /^cli\/(launch|completion)\/|^core\/outside\.ts$/;
  const isOutside = (target: string): boolean => /^(node:)?(fs|timers)(\/promises)?$/.test(target);
  const inside = sources.filter(({ name }) => !apart.test(name));
  const found = imports.filter(({ source, target }) => {
    const isTimerOfWindows = source.name === 'store/disk/files.ts' && target === 'node:timers/promises';
    return isOutside(target) && !apart.test(source.name) && !isTimerOfWindows;
  });
  expect(
    found.map(({ at, target }) => `${at} imports ${target}`),
    'import it from core/outside.ts',
  ).toEqual([]);
  const drawing = inside.filter(({ text }) => /import \{[^}]*\brandom\w+\b[^}]*\} from 'node:crypto'/.test(text));
  expect(
    drawing.map(({ name }) => name),
    'take randomBytes from core/outside.ts',
  ).toEqual([]);
  expect(
    places(inside, (node) => isGlobal(node, 'setImmediate')),
    'take nextTurn from core/outside.ts',
  ).toEqual([]);
});

test('files are read through three doors, which a FIFO does not hold; the rest reads what the build or the system wrote', () => {
  const reading =
    /import \{[^}]*\b(?:readFile|readFileSync|createReadStream)\b[^}]*\} from '(?:node:fs|[./]+(?:core\/)?outside\.ts)/;
  const files = sources.filter(({ text }) => reading.test(text)).map(({ name }) => name);
  expect(files, 'read files of users with core/read.ts or store/disk').toEqual([
    'cli/completion/complete.ts',
    'cli/launch/launch.ts',
    'cli/process.ts',
    'core/read.ts',
    'store/disk/owner.ts',
  ]);
});

test("folders are made one by one: mkdir's own recursion never ends below a parent that takes none, as /proc", () => {
  const making = sources.filter(({ text }) => /\bmkdir(Sync)?\([^)]*\brecursive\b/.test(text));
  expect(
    making.map(({ name }) => name),
    'take makeFolder of store/disk/private.ts',
  ).toEqual([]);
});

test('the clock and chance are read in src/cli and given to everybody else', () => {
  const below = sources.filter((source) => roomOf(source.name) !== 'cli');
  expect(places(below, readsClockOrChance), 'take the clock as a parameter').toEqual([]);
});

test('secrets are revealed in four files', () => {
  const files = sources.filter(({ tree }) => find(tree, isReveal).length > 0).map(({ name }) => name);
  expect(files, 'pass the Secret on; whoever sends or keeps it reveals it').toEqual(revealing);
});

test('no module imports itself through others, types included', () => {
  const circles = sources.filter(({ name }) => reached(name).has(name)).map(({ name }) => name);
  expect(circles, 'move what both need into a module of its own').toEqual([]);
});

test('two folders do not import each other; a folder and those inside it count as one', () => {
  const pairs = new Set(
    ours.flatMap(({ from, to }) => {
      const [one, other] = [posix.dirname(from), posix.dirname(to)];
      return isInside(one, other) || isInside(other, one) ? [] : [`${one} imports ${other}`];
    }),
  );
  const turned = (pair: string): string => pair.split(' imports ').toReversed().join(' imports ');
  const mutual = [...pairs].filter((pair) => pairs.has(turned(pair)));
  expect(mutual, 'move what both need into one of the two, or down a floor').toEqual([]);
});

test('the name of a type is unique', () => {
  const declared = new Map<string, string[]>();
  for (const source of sources) {
    for (const node of find(source.tree, isTypeDeclaration)) {
      const name = functionName(node);
      declared.set(name, [...(declared.get(name) ?? []), placeOf(source, node)]);
    }
  }
  const twice = [...declared].filter(([, declarations]) => declarations.length > 1);
  expect(twice, 'rename one, or use the other').toEqual([]);
});

test('what a command is given, and what it says of its looks, fit on a page', () => {
  const count = (name: string): number => membersOf(name).length;
  expect(count('Context'), 'put it into the part of the context that it belongs to').toBeLessThanOrEqual(25);
  expect(count('Show'), 'say it of the column, or write it into the command that uses it').toBeLessThanOrEqual(8);
});

test('names and comments that readers stumble on become fewer', () => {
  const named = (pattern: RegExp, isWanted: (node: TypeScript.Node) => boolean): number =>
    sources.flatMap(({ tree }) => find(tree, isWanted)).filter((node) => pattern.test(functionName(node))).length;
  const comments = sources.flatMap(({ text }) => text.match(/(?<=^\s*(?:\/\*\*|\/\/) )\w+/gm) ?? []);
  const beginning = (words: RegExp): number => comments.filter((word) => words.test(word)).length;
  const found = {
    participles: named(
      /^[a-z]+ed$|^(said|told|found|known|shown|seen|kept|left|held|written|read)$/,
      ts.isFunctionDeclaration,
    ),
    gerunds: named(/ing$/, isTypeDeclaration),
    what: beginning(/^What$/),
    whether: beginning(/^Whether$/),
    prepositions: beginning(/^(Of|In|With|Without|For|By|Beside|Behind|From|At|On|To)$/),
  };
  // These only fall: whoever takes some out lowers the number.
  const most = { participles: 31, gerunds: 12, what: 44, whether: 52, prepositions: 48 };
  const more = namesIn(most).filter((name) => found[name] > most[name]);
  expect(more, 'name functions by verbs and types by what they hold; a comment has a subject and a verb').toEqual([]);
});

test('a cast is in the list of those that have a reason', () => {
  const found = sources.flatMap(({ name, tree }) => find(tree, isCast).map((node) => `${name}: ${castTo(node)}`));
  const added = found.filter((cast) => !casts.includes(cast));
  expect(added, 'write a guard, or a type that needs no cast').toEqual([]);
  const gone = casts.filter((cast) => !found.includes(cast));
  expect(gone, 'take it out of the list').toEqual([]);
});

test('no parameter is a boolean: a caller would read true or false and not its meaning', () => {
  const found = sources.flatMap(({ name, tree }) => find(tree, isFlag).map((node) => `${name}: ${functionName(node)}`));
  expect(found, 'take a word or an object whose field has a name').toEqual([]);
});

test('a literal is not spread into a literal: it stands as it is formatted, or under a comment for the formatter', () => {
  const isPacked = (node: TypeScript.Node): boolean =>
    (ts.isSpreadAssignment(node) && ts.isObjectLiteralExpression(node.expression)) ||
    (ts.isSpreadElement(node) &&
      ts.isArrayLiteralExpression(node.expression) &&
      ts.isArrayLiteralExpression(node.parent));
  expect(places(sources, isPacked), 'take its members out, or write // prettier-ignore above the whole').toEqual([]);
});

interface Import {
  readonly source: Source;
  /** File and line. */
  readonly at: string;
  readonly target: string;
  readonly typeOnly: boolean;
  readonly dynamic: boolean;
}

function importsOf(files: readonly Source[]): Import[] {
  return files.flatMap((source) =>
    find(source.tree, (node) => targetOf(node) !== undefined).map((node) => ({
      source,
      at: placeOf(source, node),
      target: targetOf(node) ?? '',
      typeOnly: isTypeOnly(node),
      dynamic: ts.isCallExpression(node),
    })),
  );
}

function targetOf(node: TypeScript.Node): string | undefined {
  const isStatic = ts.isImportDeclaration(node) || ts.isExportDeclaration(node);
  const isDynamic = ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword;
  const named = isStatic ? node.moduleSpecifier : isDynamic ? node.arguments[0] : undefined;
  if (!named) return undefined;
  return ts.isStringLiteral(named) ? named.text : named.getText();
}

function isTypeOnly(node: TypeScript.Node): boolean {
  if (ts.isExportDeclaration(node)) return node.isTypeOnly;
  return ts.isImportDeclaration(node) && node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword;
}

/** The name itself, not a property or a part of a type that is called the same. */
function isGlobal(node: TypeScript.Node, name: string): boolean {
  if (!ts.isIdentifier(node) || node.text !== name) return false;
  const { parent } = node;
  return !(ts.isPropertyAccessExpression(parent) && parent.name === node) && !ts.isPropertyAssignment(parent);
}

function isTypeNamed(node: TypeScript.Node, name: string): boolean {
  return ts.isTypeReferenceNode(node) && node.typeName.getText() === name;
}

function setsTimer(node: TypeScript.Node): boolean {
  const isNamed = ['setTimeout', 'setInterval'].some((name) => isGlobal(node, name));
  return isNamed || (ts.isPropertyAccessExpression(node) && node.getText() === 'AbortSignal.timeout');
}

function readsClockOrChance(node: TypeScript.Node): boolean {
  if (ts.isNewExpression(node)) return node.expression.getText() === 'Date' && !node.arguments?.length;
  return ts.isPropertyAccessExpression(node) && ['Date.now', 'Math.random'].includes(node.getText());
}

function isFunction(node: TypeScript.Node): boolean {
  return ts.isFunctionLike(node) && 'body' in node && node.body !== undefined;
}

function functionName(node: TypeScript.Node): string {
  const named = 'name' in node ? (node.name as TypeScript.Node | undefined) : undefined;
  if (named) return named.getText();
  return ts.isVariableDeclaration(node.parent) || ts.isPropertyAssignment(node.parent)
    ? node.parent.name.getText()
    : '(unnamed)';
}

/** Every module that a module loads, directly or through others; itself only where there is a circle. */
function reached(name: string): ReadonlySet<string> {
  const found = new Set<string>();
  const next = [name];
  for (let at = next.pop(); at !== undefined; at = next.pop()) {
    const loaded = (importedBy.get(at) ?? []).filter((to) => !found.has(to));
    loaded.forEach((to) => found.add(to));
    next.push(...loaded);
  }
  return found;
}

/** The members of an interface, those of the interfaces that it extends included. */
function membersOf(name: string): readonly string[] {
  return sources.flatMap(({ tree }) =>
    find(tree, ts.isInterfaceDeclaration)
      .filter(ts.isInterfaceDeclaration)
      .filter((node) => node.name.text === name)
      .flatMap(({ members, heritageClauses = [] }) => [
        ...members.map((member) => member.name?.getText() ?? ''),
        ...heritageClauses.flatMap(({ types }) => types.flatMap((one) => membersOf(one.expression.getText()))),
      ]),
  );
}

function isInside(folder: string, outer: string): boolean {
  return folder === outer || folder.startsWith(`${outer}/`);
}

function isTypeDeclaration(node: TypeScript.Node): boolean {
  return ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node) || ts.isClassDeclaration(node);
}

/** `as const` checks nothing away, and `as unknown` only takes knowledge back. */
function isCast(node: TypeScript.Node): boolean {
  return ts.isAsExpression(node) && !/^(const|(readonly )?unknown(\[\])?)$/.test(castTo(node));
}

function castTo(node: TypeScript.Node): string {
  return ts.isAsExpression(node) ? node.type.getText().replace(/\s+/g, ' ') : '';
}

/** A parameter of the language, not of the type of a function. */
function isFlag(node: TypeScript.Node): boolean {
  if (!ts.isParameter(node) || !isFunction(node.parent)) return false;
  const isTold = [ts.SyntaxKind.TrueKeyword, ts.SyntaxKind.FalseKeyword].some(
    (kind) => node.initializer?.kind === kind,
  );
  return isTold || node.type?.kind === ts.SyntaxKind.BooleanKeyword;
}

function isReveal(node: TypeScript.Node): boolean {
  return ts.isCallExpression(node) && /\.reveal$/.test(node.expression.getText());
}

function find(tree: TypeScript.Node, wanted: (node: TypeScript.Node) => boolean): TypeScript.Node[] {
  const nodes = nodesOf.get(tree) ?? withDescendants(tree);
  nodesOf.set(tree, nodes);
  return nodes.filter(wanted);
}

function withDescendants(node: TypeScript.Node): TypeScript.Node[] {
  const found = [node];
  for (let at = 0; at < found.length; at += 1) found[at]?.forEachChild((child) => void found.push(child));
  return found;
}

function places(files: readonly Source[], wanted: (node: TypeScript.Node) => boolean): string[] {
  return files.flatMap((source) => find(source.tree, wanted).map((node) => placeOf(source, node)));
}

function placeOf({ name, tree }: Source, node: TypeScript.Node): string {
  return `${name}:${tree.getLineAndCharacterOfPosition(node.getStart()).line + 1}`;
}

function roomOf(name: string): string {
  return name.split('/')[0] ?? '';
}

function floorOf(room: string): number {
  const floor = floors[room];
  if (floor === undefined) throw new Error(`src/${room} is not a room of the house: add it to the table of floors`);
  return floor;
}

function sorted(texts: readonly string[]): string[] {
  return texts.toSorted();
}

test.each(['src', 'test', 'scripts', 'bench'])('comments of %s have at most 120 columns', (root) => {
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) => /\.(ts|c?js)$/.test(name));
  const wide = files.flatMap((name) => {
    const lines = readFileSync(join(root, name), 'utf8').split('\n');
    return lines.flatMap((line, index) =>
      line.length > 120 && /^\s*(\/\/|\*|\/\*)/.test(line) ? [`${root}/${name}:${index + 1}`] : [],
    );
  });
  expect(files.length).toBeGreaterThan(10);
  expect(wide).toEqual([]);
});
