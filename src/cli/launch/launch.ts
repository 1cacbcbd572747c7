import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  type Stats,
} from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { compileFunction, Script } from 'node:vm';
import { crc32 } from 'node:zlib';
import { maybeTerminal } from './early.ts';

interface Program {
  start(version: string, launched: { keepCode: () => void }): Promise<void>;
}

/** Starts the program from `dist`: program.js with the code cache of an earlier run; other chunks are files. */
export function launch(dist: string): void {
  const source = readFileSync(join(dist, packedFile), 'latin1');
  // scripts/bundle/pack.js writes both: package.json would be one file more to find and parse.
  const [, version = '', hash = ''] = source.slice(0, maxFirstLine).split(' ');
  // A cache is valid for one build, since V8 compares only the length of the source, and for one V8 and processor.
  const engine = `v8-${process.versions.v8}-${process.arch}`;
  const cache = openCodeCache(process.env, `${version}-${hash.slice(0, 32)}.${engine}`);
  const script = compile(dist, source, cache.data);
  const chunks = openChunks(dist, script.runInThisContext() as PackedChunks);
  const program = chunks.load('main.cjs') as Program;
  const isUsed = cache.data !== undefined && script.cachedDataRejected !== true;
  const keepCode = (): void => {
    // A command that sent no request has compiled too little of the program to be worth keeping.
    if (!isUsed && chunks.isLoaded(sender)) cache.keep(() => script.createCachedData());
  };
  void program.start(version, { keepCode });
}

const packedFile = 'program.js';
const maxFirstLine = 200;
const sender = 'api-http-transport.cjs';

/** The exports of a chunk of the program; for the build. */
export function loadChunk(dist: string, name: string): object {
  const script = compile(dist, readFileSync(join(dist, packedFile), 'latin1'), undefined);
  return openChunks(dist, script.runInThisContext() as PackedChunks).load(name);
}

function compile(dist: string, source: string, cachedData: Buffer | undefined): Script {
  return new Script(source, { filename: join(dist, packedFile), ...(cachedData && { cachedData }) });
}

/** Called with exports, require, module, its file and its folder. */
type Chunk = (...parts: readonly unknown[]) => void;

type PackedChunks = Readonly<Record<string, Chunk>>;

/** Loads chunks as Node loads CommonJS: once each, and a circle gets what is exported so far. */
function openChunks(dist: string, packed: PackedChunks) {
  const modules = new Map<string, { exports: object }>();
  const load = (name: string): object => {
    const known = modules.get(name);
    if (known) return known.exports;
    const module = { exports: {} };
    modules.set(name, module);
    const file = `${dist}/${name}`;
    const chunk = packed[name] ?? chunkIn(file);
    chunk(module.exports, require, module, file, dist);
    return module.exports;
  };
  const require = (name: string): unknown =>
    name.startsWith('./') ? load(name.slice(2)) : process.getBuiltinModule(name);
  return { load, isLoaded: (name: string) => modules.has(name) };
}

function chunkIn(file: string): Chunk {
  const parameters = ['exports', 'require', 'module', '__filename', '__dirname'];
  return compileFunction(readFileSync(file, 'utf8'), parameters, { filename: file }) as Chunk;
}

/** The help that the build wrote (scripts/bundle/help.js); undefined for other lines, and on a narrow terminal. */
export function helpText(dist: string, argv: readonly string[]): string | undefined {
  const last = argv.at(-1) ?? '';
  const isGuide = argv[0] === 'help' && argv.length === 2;
  if (!isGuide && last !== '--help' && last !== '-h') return undefined;
  const columns = maybeTerminal(1) && process.stdout.isTTY ? process.stdout.columns : 80;
  if (!isGuide && columns < 80) return undefined;
  const texts = readFileSync(join(dist, 'help.txt'), 'utf8');
  const head = `\f${(isGuide ? argv : argv.slice(0, -1)).join(' ')}\n`;
  const begin = texts.indexOf(head);
  if (begin < 0) return undefined;
  const end = texts.indexOf('\f', begin + 1);
  const text = texts.slice(begin + head.length, end < 0 ? undefined : end);
  return columns < 80 ? reflow(text, columns) : text;
}

/** Wraps the paragraphs of a guide to another width; its commands, which are indented by four, stay. */
function reflow(guide: string, columns: number): string {
  return guide.replace(/^( {2}| {6}|)(\S.*(?:\n\1\S.*)*)/gm, (_, lead: string, words: string) => {
    const room = Math.max(20, columns - lead.length);
    const line = new RegExp(`(\\S{${room},}|.{1,${room}})(?: |$)`, 'g');
    return words.replace(/\s+/g, ' ').replace(line, `${lead}$1\n`).trimEnd();
  });
}

/**
 * V8's code cache of the program (docs/internals/architecture.md, Code cache). `data` is what an earlier run kept under
 * the name; `keep` writes what `make` returns. A cache that cannot be read or written counts as missing.
 */
export function openCodeCache(env: NodeJS.ProcessEnv, name: string) {
  const folder = cacheFolder(env);
  if (folder === undefined) return { data: undefined, keep: () => undefined };
  return {
    data: attempt(() => readCache(folder, name)),
    keep: (make: () => Buffer) => attempt(() => writeCache(folder, name, make())),
  };
}

/**
 * Undefined where the user wants no cache, where owners and modes say nothing (Windows), and where the folder around it
 * is missing or another user's, who would be locked out of it.
 */
function cacheFolder(env: NodeJS.ProcessEnv): string | undefined {
  const { CHATELAINE_NO_CACHE: unwanted, XDG_CACHE_HOME: caches = '', HOME: home = '' } = env;
  if (unwanted === '1' || process.getuid === undefined) return undefined;
  // The XDG specification: a relative path is ignored.
  const around = [caches, home].find((folder) => isAbsolute(folder));
  if (around === undefined || attempt(() => lstatSync(around).uid) !== process.getuid()) return undefined;
  return around === caches ? join(caches, 'chatelaine') : join(home, '.cache', 'chatelaine');
}

function attempt<T>(run: () => T): T | undefined {
  try {
    return run();
  } catch {
    return undefined;
  }
}

const headBytes = 4;

/** The cache is executed, so nobody else may have been able to write it. V8 does not notice damage, a sum does. */
function readCache(folder: string, name: string): Buffer | undefined {
  const file = join(folder, name);
  const found = lstatSync(file);
  if (!isPrivateFolder(folder) || !found.isFile() || !isPrivate(found)) return undefined;
  const bytes = readFileSync(file);
  const data = bytes.subarray(headBytes);
  return crc32(data) === bytes.readUInt32BE(0) ? data : undefined;
}

function isPrivateFolder(folder: string): boolean {
  const stats = lstatSync(folder);
  return stats.isDirectory() && isPrivate(stats);
}

function isPrivate({ uid, mode }: Stats): boolean {
  return uid === process.getuid?.() && (mode & 0o077) === 0;
}

/** Replaces the file at once, since a run must never read half of it, and removes the files of other builds. */
function writeCache(folder: string, name: string, data: Buffer): void {
  for (const one of [dirname(folder), folder]) if (!existsSync(one)) mkdirSync(one, { mode: 0o700 });
  if (!isPrivateFolder(folder)) return;
  const draft = `${process.pid}.draft`;
  const head = Buffer.allocUnsafe(headBytes);
  head.writeUInt32BE(crc32(data));
  for (const old of readdirSync(folder)) rmSync(join(folder, old), { force: true });
  writeFileSync(join(folder, draft), Buffer.concat([head, data]), { flag: 'wx', mode: 0o600 });
  renameSync(join(folder, draft), join(folder, name));
}
