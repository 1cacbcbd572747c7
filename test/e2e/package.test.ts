import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { Ajv } from 'ajv';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { replacedModules } from '../../rolldown.config.js';
import { manualPages } from '../../scripts/manual.js';
import { isWhole, testOfAll } from '../helpers/extent.ts';
import { launch } from '../helpers/launch.ts';
import { needs } from '../helpers/needs.ts';

/** What `npm install chatelaine` gives somebody, from the tarball on. */

interface Packed {
  readonly filename: string;
  /** Bytes. */
  readonly unpackedSize: number;
  readonly files: readonly { readonly path: string; readonly mode: number }[];
}
interface Licence {
  readonly expression: string;
}
interface Bill {
  readonly components: readonly {
    readonly name: string;
    readonly version: string;
    readonly hashes: readonly { readonly alg: string; readonly content: string }[];
    readonly licenses: readonly Licence[];
    /** What is compiled into it. */
    readonly components?: readonly {
      readonly name: string;
      readonly version?: string;
      readonly purl: string;
      readonly licenses: readonly Licence[];
    }[];
    readonly pedigree?: { readonly notes: string };
  }[];
}
interface Lock {
  readonly packages: Readonly<Record<string, { readonly integrity?: string }>>;
}
interface Manifest {
  readonly version: string;
  readonly man?: readonly string[];
}

function dependenciesOf(name: string): string[] {
  const path = resolve('node_modules', name, 'package.json');
  if (!existsSync(path)) return [];
  const { dependencies = {} } = JSON.parse(readFileSync(path, 'utf8')) as { readonly dependencies?: object };
  return Object.keys(dependencies);
}

const folder = mkdtempSync(join(tmpdir(), 'chatelaine-package-'));
const copy = join(folder, 'copy');
let packed: Packed;
afterAll(() => rmSync(folder, { recursive: true }));

beforeAll(async () => {
  // A copy is packed: packing builds and rewrites package.json for a moment, which other tests must not see.
  const { stdout: tracked } = await launch('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard']);
  for (const file of tracked.split('\0').filter((name) => name !== '' && !/^(test|bench)\//.test(name)))
    if (existsSync(file)) cpSync(file, join(copy, file));
  const { stdout } = await launch('npm', await (isWhole ? built() : asBuilt()), { cwd: copy });
  packed = (JSON.parse(stdout.slice(stdout.indexOf('['))) as Packed[])[0] ?? {
    filename: '',
    unpackedSize: 0,
    files: [],
  };
}, 300_000);

const pack = ['pack', '--json', '--pack-destination', folder];

/** As a release does. */
function built(): readonly string[] {
  // What is bundled is in the copy with all that it imports, since the bundle names its modules by their place; the
  // tools are links.
  const bundled = new Set(components().map(({ name }) => name));
  for (const name of bundled) for (const other of dependenciesOf(name)) bundled.add(other);
  for (const name of installedPackages()) {
    const [from, to] = [resolve('node_modules', name), join(copy, 'node_modules', name)];
    if (bundled.has(name)) cpSync(from, to, { recursive: true });
    else {
      mkdirSync(dirname(to), { recursive: true });
      symlinkSync(from, to);
    }
  }
  return pack;
}

/** With the program that is tried, in place of another build. */
async function asBuilt(): Promise<readonly string[]> {
  cpSync('dist', join(copy, 'dist'), { recursive: true });
  mkdirSync(join(copy, 'man/pages'), { recursive: true });
  for (const { file, text } of await manualPages()) writeFileSync(join(copy, 'man/pages', file), text);
  await launch('node', ['scripts/release/packed.js', 'write'], { cwd: copy });
  return [...pack, '--ignore-scripts'];
}

test('asks an install for nothing: no dependency, no script, at most 4 MB', async () => {
  const { stdout } = await launch('tar', ['-xzOf', join(folder, packed.filename), 'package/package.json']);
  const manifest = JSON.parse(stdout) as Record<string, unknown>;
  for (const name of ['scripts', 'dependencies', 'devDependencies', 'optionalDependencies'])
    expect(manifest).not.toHaveProperty(name);
  expect(packed.unpackedSize).toBeLessThan(4 * 1024 * 1024);
});

test('holds the program, its manual and its papers, and no source or test', () => {
  const others = packed.files.map(({ path }) => path).filter((path) => !/^(dist|man)\//.test(path));
  expect(others.sort()).toEqual(
    ['CHANGELOG.md', 'LICENSE', 'README.md', 'bin/chatelaine.cjs', 'package.json'].filter((file) => existsSync(file)),
  );
  const built = packed.files.map(({ path }) => path).filter((path) => path.startsWith('dist/'));
  expect(built).toContain('dist/program.js');
  expect(built).toContain('dist/THIRD-PARTY-LICENSES');
  expect(built.filter((path) => !/\.cjs$|LICENSES$|\.cdx\.json$/.test(path)).sort()).toEqual([
    'dist/build/jq.wasm',
    'dist/commands.json',
    'dist/help.txt',
    'dist/llhttp.wasm',
    'dist/program.js',
  ]);
});

test('every page of the manual is in the tarball and named in its package.json, so that npm links it', async () => {
  const pages = (await manualPages()).map(({ file }) => `man/pages/${file}`);
  const { stdout } = await launch('tar', ['-xzOf', join(folder, packed.filename), 'package/package.json']);
  const { man = [] } = JSON.parse(stdout) as Manifest;
  expect(man.map((page) => page.replace(/^\.\//, '')).sort()).toEqual(pages.sort());
  expect(packed.files.map(({ path }) => path).filter((path) => path.startsWith('man/'))).toEqual(pages.sort());
});

testOfAll('two builds in two folders give the same bytes', async () => {
  const pages = new Map((await manualPages()).map(({ file, text }) => [`man/pages/${file}`, Buffer.from(text)]));
  const built = (read: (path: string) => Buffer): Record<string, string> =>
    Object.fromEntries(
      packed.files
        .filter(({ path }) => path !== 'package.json')
        .map(({ path }) => [path, createHash('sha256').update(read(path)).digest('hex')]),
    );
  const here = built((path) => pages.get(path) ?? readFileSync(path));
  expect(built((path) => readFileSync(join(copy, path)))).toEqual(here);
});

test('nothing in it names a path of the machine that built it', () => {
  const system = [copy, process.cwd(), process.env['HOME']].filter((path) => path !== undefined && path.length > 1);
  const telling = packed.files
    .filter(({ path }) => system.some((place) => readFileSync(join(copy, path), 'utf8').includes(`${place ?? ''}/`)))
    .map(({ path }) => path);
  expect(telling).toEqual([]);
});

test('licences and a bill of materials name each package that is bundled, with the hash of its tarball', () => {
  const text = readFileSync('dist/THIRD-PARTY-LICENSES', 'utf8');
  const shown = (name: string, [license]: readonly Licence[]): string =>
    `${name} (${license?.expression ?? 'no licence'})`;
  const listed = components().flatMap(({ name, version, licenses, components: parts = [] }) => [
    shown(`${name} ${version}`, licenses),
    ...parts.map((part) => shown(`${part.name}, in ${name} ${version}`, part.licenses)),
  ]);
  const headings = [...text.matchAll(/^[=-]{80}\n((?:\S+ .+ \(.+\)\n)+)\n(?=\S)/gm)];
  const named = headings.flatMap(([, names = '']) => names.trimEnd().split('\n'));
  expect(named.sort()).toEqual([...listed].sort());
  expect(listed).toEqual(expect.arrayContaining(['@fastify/busboy 3.2.6 (MIT)']));
  const compiled = listed.filter((line) => line.includes(', in ')).map((line) => line.replace(/, in (\S+) \S+/, ' $1'));
  expect(compiled).toEqual([
    'jq jq-wasm (MIT)',
    'dtoa jq-wasm (dtoa)',
    'decNumber jq-wasm (ICU)',
    'oniguruma jq-wasm (BSD-2-Clause)',
    'emscripten jq-wasm (MIT)',
    'musl jq-wasm (MIT)',
    'llhttp undici (MIT)',
  ]);
  expect(new Set(listed).size).toBe(listed.length);

  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as Lock;
  const published = new Set(Object.values(packages).map(({ integrity }) => integrity));
  for (const { name, hashes } of components()) {
    const sha512 = Buffer.from(hashes[0]?.content ?? '', 'hex').toString('base64');
    expect(hashes[0]?.alg).toBe('SHA-512');
    expect.soft(published.has(`sha512-${sha512}`), name).toBe(true);
  }
});

test('the bill of materials is valid CycloneDX, and names what is compiled in by version and address', () => {
  const ajv = new Ajv({ strict: false, validateFormats: false });
  const schema = (name: string) => {
    const file = `@cyclonedx/cyclonedx-library/res/schema/${name}.SNAPSHOT.schema.json`;
    return JSON.parse(readFileSync(join('node_modules', file), 'utf8')) as object;
  };
  for (const name of ['spdx', 'jsf-0.82', 'cryptography-defs'])
    ajv.addSchema(schema(name), `http://cyclonedx.org/schema/${name}.SNAPSHOT.schema.json`);
  const validate = ajv.compile(schema('bom-1.6'));
  const bill = JSON.parse(readFileSync('dist/bill-of-materials.cdx.json', 'utf8')) as Bill;

  expect(validate(bill), JSON.stringify(validate.errors)).toBe(true);
  expect(validate({ ...bill, components: [{ name: 'no type' }] })).toBe(false);
  const parts = components().flatMap((one) => (one.components ?? []).map((part) => ({ ...part, of: one.version })));
  expect(parts.filter(({ version, purl }) => !purl.endsWith(version ?? '') || !/^pkg:\w+\/\S+$/.test(purl))).toEqual(
    [],
  );
  const jq = parts.find(({ name }) => name === 'jq');
  expect(jq?.of, 'jq of another version: see scripts/bundle/licences.js').toMatch(
    new RegExp(`-jq-${jq?.version ?? '?'}$`),
  );
});

test('the bill of materials says of each package which of its modules got something else from the build', () => {
  const altered = components().flatMap(({ name, pedigree }) =>
    (pedigree?.notes.replace(/^.*?:\s/, '').match(/\S+: \S+(?=\.(?: |$))/g) ?? []).map((note) => {
      const [file = '', module = ''] = note.split(': ');
      return { file: `/node_modules/${name}/${file}`, module };
    }),
  );
  const ofPackages = replacedModules.filter(({ from }) => !from.source.includes('src\\/api'));
  const unnamed = ofPackages.filter(
    (row) => !altered.some(({ file, module }) => row.module.test(module) && row.from.test(file)),
  );
  expect(unnamed).toEqual([]);
  expect(altered).toContainEqual({ file: '/node_modules/conf/dist/source/index.js', module: 'ajv/dist/2020.js' });
});

test('a clone that was not built says what to run', async () => {
  const clone = join(folder, 'clone');
  cpSync('bin', join(clone, 'bin'), { recursive: true });
  cpSync('package.json', join(clone, 'package.json'));
  const result = await launch('node', [join(clone, 'bin', 'chatelaine.cjs'), 'license', 'list'], { reject: false });
  expect(result.exitCode).toBe(1);
  expect(result.stderr).toBe(`chatelaine: the program is not built. Run this first: npm ci --prefix ${clone}`);
  mkdirSync(join(clone, 'node_modules'));
  const installed = await launch('node', [join(clone, 'bin', 'chatelaine.cjs'), 'license', 'list'], { reject: false });
  expect(installed.stderr).toBe(
    `chatelaine: the program is not built. Run this first: npm run build --prefix ${clone}`,
  );
});

describe('installed into an empty folder, with an empty home and without a network', () => {
  const place = join(folder, 'installed');
  const home = join(folder, 'home');
  const program = join(place, 'bin', 'chatelaine');
  const env = { PATH: process.env['PATH'], HOME: home };
  const run = (line: string) => launch(program, line.split(' '), { cwd: place, env });
  beforeAll(async () => {
    mkdirSync(place);
    mkdirSync(home);
    const words = ['install', '--global', '--prefix', place, '--offline', '--registry', 'http://127.0.0.1:1'];
    await launch('npm', [...words, join(folder, packed.filename)], { cwd: place, env });
  });

  test('does its main job in the embedded sandbox', async () => {
    const { stdout, stderr } = await run('--sandbox license create --remote-user ada --size-allowance 4 -o json');
    expect(JSON.parse(stdout)).toMatchObject({ remote_user: 'ada', size_allowance: 4 });
    expect(stderr).toBe('');
  });

  test('has its manual where man looks, and completes words', needs('shell'), async () => {
    const linked = ['man1', 'man7'].flatMap((section) => readdirSync(join(place, 'share/man', section)));
    expect(linked.sort()).toEqual((await manualPages()).map(({ file }) => file).sort());
    expect(`${(await run('completion bash')).stdout}\n`).toBe(
      readFileSync('test/golden/completion/chatelaine.bash', 'utf8'),
    );
    expect((await run('__complete fish lic')).stdout).toContain('\nlicense\t');
  });
});

/** The bill of materials that lies beside the program. */
function components(): Bill['components'] {
  return (JSON.parse(readFileSync('dist/bill-of-materials.cdx.json', 'utf8')) as Bill).components;
}

/** The names of folders in node_modules: packages, scopes apart, and what npm keeps there for itself. */
function installedPackages(): string[] {
  return readdirSync('node_modules').flatMap((name) =>
    name.startsWith('@') ? readdirSync(join('node_modules', name)).map((inner) => `${name}/${inner}`) : [name],
  );
}
