import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import type { LogEntry } from '../../../src/sandbox/serve.ts';
import { readFaults } from '../../../src/sandbox/faults.ts';
import { emptyHome, openSandbox, runAlone } from '../../helpers/run.ts';
import { needs } from '../../helpers/needs.ts';

const umask = process.umask(0o022);
afterAll(() => void process.umask(umask));

const linkTo = (path: string): string => `[file](/user_uploads/${path})`;

/** A sandbox whose topic `plans` links to these files, and an empty folder. */
async function withFiles(paths: readonly string[], options = {}) {
  const service = await openSandbox(options);
  for (const path of paths) service.sandbox.state.post({ channel: 'general', topic: 'plans', content: linkTo(path) });
  return { ...service, folder: join(emptyHome(), 'archive') };
}

interface FileLine {
  readonly path: string;
  readonly file?: string;
  readonly bytes?: number;
  readonly refused?: string;
  readonly why?: string;
}

function filesIn(folder: string): FileLine[] {
  const lines = readFileSync(join(folder, 'files.ndjson'), 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as FileLine);
}

const selection = '--channel general --topic plans';

test('without --files a pull counts attached files and says that they are not kept', async () => {
  const { run, folder } = await withFiles(['2/ab/x1/plan.pdf', '2/ab/x1/plan.pdf', '2/cd/y2/photo.png']);

  const { stdout, stderr } = await run(`archive pull ${folder} ${selection} -o json`);
  const again = await run(`archive pull ${folder} -o json`);

  expect(JSON.parse(stdout)).toMatchObject({ files: 2, files_kept: 0 });
  expect(stderr).toBe('attached files that are not archived without --files: 2\n');
  expect(again.stderr).toBe(stderr);
  expect(existsSync(join(folder, 'files.ndjson'))).toBe(false);
});

test('--all-channels counts the attached files of all channels in one line, at the end', async () => {
  const { run, sandbox, folder } = await withFiles(['2/ab/x1/plan.pdf', '2/cd/y2/photo.png']);
  sandbox.state.post({ channel: 'firmware', topic: 'plans', content: linkTo('2/ef/z3/trace.txt') });

  const { stdout, stderr } = await run(`archive pull ${folder} --all-channels --topic plans -o json`);

  const files = (JSON.parse(stdout) as { files: number }[]).map((row) => row.files);
  const sum = files.reduce((total, count) => total + count, 0);
  expect(files.filter((count) => count > 0).length).toBeGreaterThan(1);
  expect(stderr.match(/attached files.*/g)).toEqual([`attached files that are not archived without --files: ${sum}`]);
});

test(
  '--files keeps each file under a name of its own, in the later pulls too, and fetches none twice',
  needs('modes'),
  async () => {
    const log: LogEntry[] = [];
    const options = { log: (entry: LogEntry) => void log.push(entry) };
    const { run, sandbox, folder } = await withFiles(['2/ab/x1/plan.pdf', '2/cd/y2/PLAN.pdf'], options);

    const first = await run(`archive pull ${folder} ${selection} --files -o json`);
    sandbox.state.post({ channel: 'general', topic: 'plans', content: linkTo('2/ef/z3/later.txt') });
    const before = log.length;
    const second = await run(`archive pull ${folder} -o json`);
    const asked = log.slice(before).filter(({ path }) => path.includes('user_uploads'));

    expect(first).toMatchObject({ exitCode: 0, stderr: '' });
    expect(JSON.parse(first.stdout)).toMatchObject({ files: 2, files_kept: 2 });
    expect(JSON.parse(second.stdout)).toMatchObject({ files: 3, files_kept: 3 });
    expect(asked).toHaveLength(2);
    const names = filesIn(folder).map(({ file = '' }) => file);
    expect(names.sort()).toEqual(readdirSync(join(folder, 'files')).map((name) => `files/${name}`));
    expect(names.every((name) => /^files\/[0-9a-f]{16}-[A-Za-z.]+$/.test(name))).toBe(true);
    expect(names.map((name) => statSync(join(folder, name)).mode & 0o777)).toEqual([0o600, 0o600, 0o600]);
    expect(readFileSync(join(folder, names[0] ?? ''), 'utf8')).toMatch(/^The sandbox made this up for 2\//);
    expect(await run(`archive verify ${folder}`)).toMatchObject({ exitCode: 0 });
  },
);

test.each<[string, (path: string) => void, string]>([
  ['missing', (path) => rmSync(path), 'the file is missing'],
  [
    'changed',
    (path) => writeFileSync(path, readFileSync(path, 'utf8').replace('sandbox', 'sandbux')),
    'the content changed: its SHA-256 is not that of files.ndjson',
  ],
])('verify names a %s file, and the pull that it advises fetches it again', async (_what, damage, problem) => {
  const { run, folder } = await withFiles(['2/ab/x1/plan.pdf']);
  await run(`archive pull ${folder} ${selection} --files`);
  const [{ file = '' } = {}] = filesIn(folder);
  damage(join(folder, file));

  const { exitCode, stdout, stderr } = await run(`archive verify ${folder} -o json`);
  await run(`archive pull ${folder}`);

  expect(exitCode).toBe(10);
  expect(JSON.parse(stdout)).toMatchObject([{ file, problem: expect.stringContaining(problem) as string }]);
  expect(stderr).toContain(`Run:\n  chatelaine archive pull ${folder}`);
  expect(await run(`archive verify ${folder}`)).toMatchObject({ exitCode: 0 });
});

test('names that would leave the folder, or are none, stay in it', async () => {
  const odd = [
    '2/x/..%2F..%2Fescape.txt',
    `2/x/.hidden${'x'.repeat(80)}`,
    '2/x/a%00b',
    '2/x/con.',
    '2/x/%D1%84%D0%BE%D1%82%D0%BE.png',
    '2/../../etc/passwd',
  ];
  const { run, folder } = await withFiles(odd);

  const { exitCode } = await run(`archive pull ${folder} ${selection} --files`);

  expect(exitCode).toBe(0);
  const names = readdirSync(join(folder, 'files'));
  expect(names.every((name) => /^[0-9a-f]{16}-(?!file)[A-Za-z0-9][A-Za-z0-9._-]{0,83}$/.test(name))).toBe(true);
  expect(readdirSync(join(folder, '..')).sort()).toEqual(['archive', 'tmp']);
  expect(await run(`archive verify ${folder}`)).toMatchObject({ exitCode: 0 });
});

test('a file that the server no longer has is recorded and named once, and is no failure', async () => {
  const { sandbox, run, folder } = await withFiles(['2/ab/x1/plan.pdf']);
  const [row] = sandbox.state.topic('general', 'plans');
  if (!row) throw new Error('no message');
  // Of another organization, in the text that the archive keeps: the sandbox does not find the link in what it renders.
  sandbox.state.change(({ messages }) =>
    messages.put(row.id, { ...row, rendered: `${row.rendered}<a href="/user_uploads/2/gone/away.pdf?x=1">away</a>` }),
  );
  await run(`archive pull ${folder} ${selection}`);
  sandbox.state.change(({ messages }) => messages.put(row.id, row));

  const { exitCode, stdout, stderr } = await run(`archive pull ${folder} --files -o json`);

  expect(exitCode).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ files: 2, files_kept: 1 });
  expect(stderr).toBe('{"warning":"attached files that the server no longer has: 1 (2/gone/away.pdf)"}\n');
  expect(filesIn(folder).find(({ refused }) => refused)).toMatchObject({
    path: '2/gone/away.pdf',
    refused: expect.stringContaining('404') as string,
  });
  expect(await run(`archive pull ${folder} -o json`)).toMatchObject({ exitCode: 0, stderr: '' });
  expect((await run(`archive verify ${folder}`)).stderr).toMatch(
    /^warning: attached files that the server did not give: 1$/m,
  );
});

test('a server that fails in the middle: what was fetched stays, and the same command continues', async () => {
  const paths = Array.from({ length: 30 }, (_, index) => `2/ab/x${index}/plan.pdf`);
  const log: LogEntry[] = [];
  const options = {
    faults: readFaults('GET /user_uploads/temporary/*=502#1+20', 1),
    log: (entry: LogEntry) => void log.push(entry),
  };
  const { run, folder } = await withFiles(paths, options);
  const fetched = (): number =>
    log.filter(({ path, status }) => path.startsWith('/user_uploads/') && status === 200).length;

  const cut = await run(`archive pull ${folder} ${selection} --files --retries 0`);
  const held = filesIn(folder).length;
  const verified = await run(`archive verify ${folder} -o json`);
  const last = await run(`archive pull ${folder} --retries 0 -o json`);

  expect([cut.exitCode, cut.stderr]).toEqual([8, expect.stringContaining('not all attached files are kept in ')]);
  expect(held).toBeGreaterThanOrEqual(20);
  expect(verified.exitCode).toBe(10);
  expect(JSON.parse(verified.stdout)).toMatchObject([
    { file: 'files.ndjson', problem: `attached files that were not fetched yet: ${30 - held}` },
  ]);
  expect(JSON.parse(last.stdout)).toMatchObject({ added: 0, files: 30, files_kept: 30 });
  expect(fetched()).toBe(30);
  expect(readdirSync(join(folder, 'files')).filter((name) => name.startsWith('.'))).toEqual([]);
});

/** A chat server with one message, whose files are answered by `reply`. */
async function serverWith(
  reply: (url: string) => { status?: number; body: string | Buffer; location?: string; type?: string },
  paths: readonly string[] = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map((name) => `2/${name}/f`),
) {
  const message = { id: 1, stream_id: 5, subject: 'x', display_recipient: 'kitchen', timestamp: 1_772_000_000 };
  const seen: { url: string; authorization: string | undefined }[] = [];
  let inFlight = 0;
  let most = 0;
  const server = createServer((incoming, outgoing) => {
    const url = incoming.url ?? '';
    seen.push({ url, authorization: incoming.headers.authorization });
    if (url.startsWith('/api/v1/server_settings')) {
      outgoing.end('{"result":"success","msg":"","zulip_feature_level":372}');
      return;
    }
    if (url.startsWith('/api/v1/messages')) {
      const links = paths.map((path) => `<a href="/user_uploads/${path}">f</a>`);
      const messages = url.includes('anchor=oldest') ? [{ ...message, content: links.join('') }] : [];
      outgoing.end(JSON.stringify({ result: 'success', msg: '', messages, found_newest: true }));
      return;
    }
    if (url.startsWith('/api/v1/users/me')) {
      outgoing.end('{"result":"success","msg":"","user_id":11}');
      return;
    }
    inFlight += 1;
    most = Math.max(most, inFlight);
    setImmediate(() => {
      const { status = 200, body, location, type } = reply(url);
      inFlight -= 1;
      if (type === 'no length') {
        outgoing.useChunkedEncodingByDefault = false;
        outgoing.removeHeader('content-length');
        outgoing.write(body);
        outgoing.end();
        return;
      }
      outgoing.writeHead(status, { ...(location && { location }), ...(type && { 'content-type': type }) });
      outgoing.end(body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const site = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const env = {
    CHATELAINE_CHAT_SITE: site,
    CHATELAINE_CHAT_EMAIL: 'ada@chat.test',
    CHATELAINE_CHAT_API_KEY: 'k'.repeat(32),
  };
  const folder = join(emptyHome(), 'archive');
  const run = (line: string) => runAlone(`archive pull ${folder} --channel 5 --files ${line}`, { env });
  return { seen, site, folder, run, most: () => most };
}

const success = (url: string): string => JSON.stringify({ result: 'success', msg: '', url });

test('at most four at a time, each whole; the key is not sent to the temporary address', async () => {
  const large = Buffer.alloc(2_000_000, Buffer.from([0, 255, 13, 10]));
  const { run, seen, folder, most } = await serverWith((url) =>
    url.startsWith('/api/')
      ? { body: success(`/temporary/${url.slice(-3)}`) }
      : { body: url.endsWith('a/f') ? large : '[1]', type: 'application/json' },
  );

  const { exitCode } = await run('-o json');

  expect(exitCode).toBe(0);
  expect(most()).toBeLessThanOrEqual(4);
  expect(seen.filter(({ url }) => url.startsWith('/temporary/')).map(({ authorization }) => authorization)).toEqual(
    Array.from({ length: 8 }, () => undefined),
  );
  expect(filesIn(folder)).toHaveLength(8);
  const kept = filesIn(folder).map(({ file = '' }) => readFileSync(join(folder, file), 'latin1'));
  expect(new Set(kept)).toEqual(new Set([large.toString('latin1'), '[1]']));
});

test.each([
  [
    'an address that begins like the site',
    () => ({ body: success('//127.0.0.1.evil.test/f') }),
    'its temporary URL is not on this server',
  ],
  ['an address that the server fails to make', () => ({ status: 500, body: '{"result":"error","msg":"no"}' }), 'no'],
  [
    'a file that the server fails to read',
    (url: string) => (url.startsWith('/api/') ? { body: success('/t/f') } : { status: 500, body: '' }),
    'the server answered 500',
  ],
  ['no address', () => ({ body: '{"result":"success","msg":""}' }), 'is not on this server'],
  ['an address that is broken', () => ({ body: success('/%zz/f') }), 'its temporary address is not a URL'],
  [
    'an empty file',
    (url: string) => ({ body: url.startsWith('/api/') ? success('/t/f') : '' }),
    'returned an empty file',
  ],
  [
    'a page to sign in',
    (url: string) =>
      url.startsWith('/api/')
        ? { body: success('/t/f') }
        : { body: '<title>Sign in</title>', type: 'text/html; charset=utf-8' },
    'returned an HTML page',
  ],
  [
    'an error in JSON',
    (url: string) =>
      url.startsWith('/api/')
        ? { body: success('/t/f') }
        : { body: '{"result":"error","msg":"no"}', type: 'application/json' },
    'returned an error',
  ],
  [
    'a body whose end nothing but the connection marks',
    (url: string) => (url.startsWith('/api/') ? { body: success('/t/f') } : { body: 'half', type: 'no length' }),
    'the response has no length: it may be cut',
  ],
  [
    'a redirect elsewhere',
    (url: string) =>
      url.startsWith('/api/') ? { body: success('/t/f') } : { status: 302, body: '', location: 'https://evil.test/' },
    'the server answered 302',
  ],
])('%s: the file is refused, the pull goes on, and ends with 8', async (_what, reply, why) => {
  const { run, folder } = await serverWith(reply);

  const { exitCode, stderr } = await run('');

  expect(exitCode).toBe(8);
  expect(stderr).toContain(why);
  expect(stderr).toContain('attached files that are not kept in ');
  expect(filesIn(folder).every(({ refused = '' }) => refused.includes(why))).toBe(true);
});

test('403 says that this account may not read the file: counted apart, named once, and no failure', async () => {
  const { run, folder } = await serverWith(() => ({ status: 403, body: '<p>You are not authorized.</p>' }));

  const [first, second] = [await run('-o json'), await run('-o json')];

  expect(first).toMatchObject({ exitCode: 0 });
  expect(JSON.parse(first.stdout)).toMatchObject({ files: 8, files_kept: 0 });
  expect(first.stderr).toContain('attached files that this account may not read: 8 (2/a/f in http://');
  expect(first.stderr).toContain('/#narrow/channel/5-kitchen/topic/x/near/1, 2/b/f in ');
  expect(second).toMatchObject({ exitCode: 0, stderr: '' });
  expect(filesIn(folder).every(({ why }) => why === 'unreadable')).toBe(true);
});

test.each(['text/html', 'application/json'])('a file whose name says that it is %s is kept', async (type) => {
  const name = type === 'text/html' ? 'page.html' : 'answer.json';
  const { run, folder } = await serverWith(
    (url) => (url.startsWith('/api/') ? { body: success('/t/f') } : { body: '{"result":"error"}', type }),
    [`2/a/${name}`],
  );

  expect(await run('')).toMatchObject({ exitCode: 0 });
  expect(filesIn(folder)).toMatchObject([{ path: `2/a/${name}`, bytes: 18 }]);
});

test('a file that an edited version alone names is kept', async () => {
  const { run, sandbox, folder } = await withFiles([]);
  const id = sandbox.state.post({ channel: 'general', topic: 'plans', content: 'no file yet' });
  await run(`archive pull ${folder} ${selection} --files`);
  sandbox.state.change(({ messages }) => {
    const row = messages.get(id);
    const content = linkTo('2/ab/x1/late.pdf');
    const rendered = '<p><a href="/user_uploads/2/ab/x1/late.pdf">file</a></p>';
    if (row) messages.put(id, { ...row, content, rendered, last_edit_timestamp: row.timestamp + 60 });
  });

  const { stdout } = await run(`archive pull ${folder} --recheck -o json`);

  expect(JSON.parse(stdout)).toMatchObject({ edited: 1, files: 1, files_kept: 1 });
  expect(filesIn(folder)).toMatchObject([{ path: '2/ab/x1/late.pdf', bytes: expect.any(Number) as number }]);
});

test.each([
  ['a page', 404, '<p>This file does not exist or has been deleted.</p>'],
  ['an error in JSON', 404, '{"result":"error","msg":"Not there","code":"BAD_REQUEST"}'],
])('404 as %s says that the server no longer has the file', async (_what, status, body) => {
  const { run } = await serverWith(() => ({ status, body }));

  const [first, second] = [await run('-o json'), await run('-o json')];

  expect(first).toMatchObject({ exitCode: 0 });
  expect(JSON.parse(first.stdout)).toMatchObject({ files: 8, files_kept: 0 });
  expect(first.stderr).toContain('attached files that the server no longer has: 8 (2/a/f, ');
  expect(second).toMatchObject({ exitCode: 0, stderr: '' });
});

test('the record of a kept file stays if it is lost, and the server no longer has it: exit 8', async () => {
  let reply = (url: string) => ({ status: 200, body: url.startsWith('/api/') ? success('/t/f') : 'x' });
  const { run, folder } = await serverWith((url) => reply(url), ['2/a/f']);
  await run('');
  const [{ file = '' } = {}] = filesIn(folder);
  rmSync(join(folder, file));
  reply = () => ({ status: 404, body: '<p>Gone.</p>' });

  const { exitCode, stdout, stderr } = await run('-o json');

  expect([exitCode, JSON.parse(stdout)]).toMatchObject([8, { files: 1, files_kept: 0 }]);
  expect(stderr).toContain(`2/a/f is not kept: Gone. (404); put ${file} back from a copy`);
  expect(filesIn(folder)).toMatchObject([{ file }]);
});

test('--max-file-size ends a file that is larger after as many bytes, and asks once', async () => {
  const { run, seen, folder } = await serverWith((url) =>
    url.startsWith('/api/') ? { body: success('/t/f') } : { body: Buffer.alloc(1_000_001) },
  );

  const { exitCode, stdout, stderr } = await run('--max-file-size 1mb -o json');

  expect(exitCode).toBe(8);
  expect(JSON.parse(stdout)).toMatchObject({ messages: 1, added: 1, files: 8, files_kept: 0 });
  expect(stderr).toContain('2/a/f is not kept: it is larger than 1000000 bytes');
  expect(seen.filter(({ url }) => url === '/t/f')).toHaveLength(8);
  expect(filesIn(folder)).toHaveLength(8);
  expect(readdirSync(join(folder, 'files'))).toEqual([]);
});

test.each(['1', '0KB', '5TB', '1.5MB', 'MB'])('--max-file-size %s is exit 2: a size has a unit', async (size) => {
  const { run } = await serverWith(() => ({ body: '' }));
  expect((await run(`--max-file-size ${size}`)).exitCode).toBe(2);
});

describe('--to a folder has the kept files that its pages link to', () => {
  const exported = async (options = '') => {
    const place = await withFiles(['2/ab/x1/plan.pdf', '2/cd/y2/photo.png']);
    const { run, folder } = place;
    await run(`archive pull ${folder} ${selection} --files`);
    const out = join(folder, '..', 'out');
    const line = `archive export ${folder} -o html --to ${out}/ ${options}`;
    return { ...place, ran: await run(line), again: () => run(line), out };
  };
  const pageIn = (out: string): string => readFileSync(join(out, 'messages-0001.html'), 'utf8');

  test('each under its name in the archive, readable as the umask says, and links to it', needs('modes'), async () => {
    const { ran, folder, out } = await exported();
    const [plan, photo] = filesIn(folder).map(({ file = '' }) => file);

    expect(ran).toMatchObject({
      exitCode: 0,
      stderr: `${out}/ is written: index.html and 1 page, attached files: 2\n`,
    });
    for (const file of [plan, photo]) {
      expect(pageIn(out)).toContain(`<a href="${file}">file</a>`);
      expect(readFileSync(join(out, String(file)))).toEqual(readFileSync(join(folder, String(file))));
      expect(statSync(join(out, String(file))).mode & 0o777).toBe(0o644);
    }
  });

  test('and none that only messages link to which are not chosen; a further export removes it', async () => {
    const { run, sandbox, ran, out, folder } = await exported();
    sandbox.state.post({ channel: 'general', topic: 'plans', content: 'no file' });
    await run(`archive pull ${folder}`);

    const { exitCode } = await run(`archive export ${folder} -o html --to ${out}/ --topic nowhere --since 1h`);

    expect([ran.exitCode, exitCode]).toEqual([0, 0]);
    expect(readdirSync(join(out, 'files'))).toEqual([]);
    expect(readdirSync(out).sort()).toEqual(['files', 'index.html']);
  });

  test('a damaged one is named, exit 8, and the site is whole all the same', async () => {
    const { again, folder, out } = await exported();
    const [, photo] = filesIn(folder).map(({ file = '' }) => file);
    const damaged = join(folder, String(photo));
    writeFileSync(damaged, 'x');

    const { exitCode, stderr } = await again();

    expect(exitCode).toBe(8);
    expect(existsSync(join(out, String(photo)))).toBe(false);
    expect(stderr).toContain(`${damaged}: the content changed: its SHA-256 is not that of files.ndjson`);
    expect(readdirSync(out).sort()).toEqual(['files', 'index.html', 'messages-0001.html']);
  });

  test('a file of somebody else in its folder stays; an export that fails leaves no index', async () => {
    const { again, out } = await exported();
    writeFileSync(join(out, 'files', 'mine.txt'), 'x');

    expect(await again()).toMatchObject({ exitCode: 0 });
    expect(readFileSync(join(out, 'files', 'mine.txt'), 'utf8')).toBe('x');
    rmSync(join(out, 'files'), { recursive: true });
    writeFileSync(join(out, 'files'), 'x');
    expect([(await again()).exitCode, existsSync(join(out, 'index.html'))]).toEqual([3, false]);
  });
});

test('html links to kept files, seen from the document, and to the server for the others', async () => {
  const { run, sandbox, folder } = await withFiles(['2/ab/x1/plan.pdf']);
  await run(`archive pull ${folder} ${selection} --files --both`);
  sandbox.state.post({ channel: 'general', topic: 'plans', content: linkTo('2/cd/y2/later.bin') });
  await run(`archive pull ${folder}`);
  const [first, second] = filesIn(folder);
  writeFileSync(join(folder, 'files.ndjson'), `${JSON.stringify(first)}\n`);
  const [home, kept] = [join(folder, '..'), first?.file ?? ''];

  const ran = [
    await run(`archive export ${folder} -o html --to ${join(home, 'page.html')}`),
    await run(`archive export ${folder} -o html --to ${join(home, 'out')} --no-files`),
  ];

  expect(second?.path).toBe('2/cd/y2/later.bin');
  expect(ran.map(({ exitCode }) => exitCode)).toEqual([0, 0]);
  const page = readFileSync(join(home, 'page.html'), 'utf8');
  expect(page).toContain(`<a href="archive/${kept}">file</a>`);
  expect(page).toMatch(
    /<a href="http:[^"]*\/user_uploads\/2\/cd\/y2\/later.bin" rel="noopener noreferrer" class="upload">file<\/a>/,
  );
  expect(readFileSync(join(home, 'out', 'messages-0001.html'), 'utf8')).toContain(`<a href="../archive/${kept}"`);
  expect(readdirSync(join(home, 'out'))).not.toContain('files');
});

describe('a file that a browser would run', () => {
  const paths = ['a/page.html', 'b/drawing.svg', 'c/x.XHTML', 'd/noname', 'e/PLAN.PDF', 'f/all.tar.gz', 'g/a.png'];
  const suffixes = ['.html.txt', '.svg.txt', '.XHTML.txt', 'noname.txt', '.PDF', '.tar.gz', '.png'];
  const hrefsOf = (html: string) =>
    [...html.matchAll(/<a href="([^"]*files\/[^"]*)"([^>]*)>/g)].map(([, href = '', more]) => ({ href, more }));

  test.each(['', ' --no-files'])('has .txt behind its name, and is downloaded: export%s', async (option) => {
    const { run, folder } = await withFiles(paths.map((path) => `2/${path}`));
    await run(`archive pull ${folder} ${selection} --files --both`);
    const out = join(folder, '..', 'out');

    await run(`archive export ${folder} -o html --to ${out}${option}`);

    const links = hrefsOf(readFileSync(join(out, 'messages-0001.html'), 'utf8'));
    expect(links.map(({ href }, at) => href.endsWith(suffixes[at] ?? '?'))).toEqual(suffixes.map(() => true));
    const downloaded = ['page.html', 'drawing.svg', 'x.XHTML', 'noname'].map((name) => ` download="${name}.txt"`);
    expect(links.map(({ more }) => more)).toEqual([...downloaded, '', '', '']);
    if (option !== '') return;
    expect(readdirSync(join(out, 'files')).filter((name) => !suffixes.some((end) => name.endsWith(end)))).toEqual([]);
  });
});

describe('files that stand in a message without a link', () => {
  const contents = [
    '![voice.mp3](/user_uploads/2/a1/voice.mp3)',
    '![plan.png](/user_uploads/2/a2/plan.png)',
    '![demo.mp4](/user_uploads/2/a3/demo.mp4)',
    'The second:\n\n[1]: /user_uploads/2/a4/plan.pdf "Plan"',
    '`x` /user_uploads/2/a5/notes.txt, and ![a.svg](/user_uploads/2/a6/a.svg "A")',
  ];
  const names = ['voice.mp3', 'plan.png', 'demo.mp4', 'plan.pdf', 'notes.txt', 'a.svg.txt'];
  const withContents = async (options = {}) => {
    const service = await openSandbox(options);
    for (const content of contents) service.sandbox.state.post({ channel: 'general', topic: 'plans', content });
    return { ...service, folder: join(emptyHome(), 'archive') };
  };
  const keptIn = (folder: string): string[] => filesIn(folder).map(({ file = '' }) => file.slice('files/'.length + 17));

  test.each(['', '--raw-content', '--both'])('a pull keeps all of them: %s', async (form) => {
    const { run, folder } = await withContents();

    const counted = await run(`archive pull ${folder} ${selection} ${form} -o json`);
    const { exitCode, stdout } = await run(`archive pull ${folder} --files -o json`);

    expect(JSON.parse(counted.stdout)).toMatchObject({ files: 6, files_kept: 0 });
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ files: 6, files_kept: 6 });
    expect(keptIn(folder).sort()).toEqual([...names].sort());
    expect(await run(`archive verify ${folder}`)).toMatchObject({ exitCode: 0 });
  });

  test('of both forms what one of them alone names is kept too, of one the files of that', async () => {
    const { run, sandbox, folder } = await withFiles([]);
    const content = '[a](/user_uploads/2/a/a.pdf)';
    const id = sandbox.state.post({ channel: 'general', topic: 'plans', content });
    sandbox.state.post({ channel: 'general', topic: 'other', content: '[b](/user_uploads/2/b/b.pdf)' });
    sandbox.state.change(({ messages }) => {
      const row = messages.get(id);
      if (row) messages.put(id, { ...row, content: '[b](/user_uploads/2/b/b.pdf)' });
    });
    await run(`archive pull ${folder} ${selection} --files`);
    expect(filesIn(folder).map(({ path }) => path)).toEqual(['2/a/a.pdf']);

    const both = join(folder, '..', 'both');
    await run(`archive pull ${both} ${selection} --files --both`);
    expect(
      filesIn(both)
        .map(({ path }) => path)
        .sort(),
    ).toEqual(['2/a/a.pdf', '2/b/b.pdf']);
  });

  test('exports lead to the kept ones: pictures are shown, the others are links', async () => {
    const { run, folder } = await withContents();
    await run(`archive pull ${folder} ${selection} --files --both`);
    const fileOf: Record<string, string> = Object.fromEntries(
      filesIn(folder).map(({ path, file = '' }) => [path.split('/').at(-1) ?? '', file] as const),
    );
    const out = join(folder, '..', 'out');

    const site = await run(`archive export ${folder} -o html --to ${out}/`);
    await run(`archive export ${folder} -o text --to ${join(folder, '..', 'text.txt')}`);

    expect(site.stderr).toContain('attached files: 6');
    const page = readFileSync(join(out, 'messages-0001.html'), 'utf8');
    expect(page).toContain(`<a href="${fileOf['voice.mp3']}">voice.mp3</a>`);
    expect(page).toContain(`<img src="${fileOf['plan.png']}" alt="plan.png" loading="lazy" />`);
    expect(page).toContain(`![demo.mp4](<a href="${fileOf['demo.mp4']}">/user_uploads/2/a3/demo.mp4</a>)`);
    const text = readFileSync(join(folder, '..', 'text.txt'), 'utf8');
    expect(text).toContain(`[audio: archive/${fileOf['voice.mp3']}]`);
    expect(text).toContain(`[image: archive/${fileOf['plan.png']}]`);
    expect(text).toContain(`![demo.mp4](archive/${fileOf['demo.mp4']})`);
    expect([page, text].map((one) => one.match(/user_uploads/g)?.length ?? 0)).toEqual([4, 0]);
  });

  test('--all-channels prints every row, and ends with 8 where one archive lacks a file', async () => {
    const { run, folder } = await withContents({ faults: readFaults('GET /api/v1/user_uploads/*=error-in-200#1', 1) });

    const { exitCode, stdout, stderr } = await run(`archive pull ${folder} --all-channels --files -o json`);

    const rows = JSON.parse(stdout) as { files: number; files_kept: number }[];
    expect(exitCode).toBe(8);
    expect(rows.reduce((sum, { files, files_kept: kept }) => sum + files - kept, 0)).toBe(1);
    expect(stderr).toMatch(/attached files that are not kept in [^:]*: 1/);
  });

  test('messages fetch names them in text', async () => {
    const { run, service } = await withContents().then((one) => ({ ...one, service: one.sandbox }));

    const { stdout } = await run('messages fetch --channel general --topic plans -o text');

    expect(service.state.topic('general', 'plans')).toHaveLength(5);
    expect(stdout).toMatch(/\[audio: http:[^\]]*\/user_uploads\/2\/a1\/voice\.mp3\]/);
    expect(stdout).toMatch(/\[image: http:[^\]]*\/user_uploads\/2\/a2\/plan\.png\]/);
  });
});
