import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { sampleOf } from '../../helpers/extent.ts';
import { idsBetween, openChatServer, topicOf } from '../../helpers/chat-server.ts';
import { emptyHome, openSandbox } from '../../helpers/run.ts';
import { needs } from '../../helpers/needs.ts';

const umask = process.umask(0o022);
afterAll(() => void process.umask(umask));

async function archived(forms = '--both', options = {}) {
  const { run, sandbox } = await openSandbox(options);
  const folder = join(emptyHome(), 'archive');
  await run(`archive pull ${folder} --channel general ${forms}`);
  return { run, sandbox, folder };
}

describe('archive export', () => {
  test('ndjson is the messages byte for byte as they are in the parts, whatever CHATELAINE_OUTPUT says', async () => {
    const { run, folder } = await archived();
    const env = { CHATELAINE_OUTPUT: 'json' };

    const rendered = await run(`archive export ${folder} -o ndjson`, { env });
    const source = await run(`archive export ${folder} -o ndjson --raw-content`, { env });

    expect(rendered.stdout).toBe(readFileSync(join(folder, 'rendered-000001.ndjson'), 'utf8'));
    expect(source.stdout).toBe(readFileSync(join(folder, 'source-000001.ndjson'), 'utf8'));
  });

  test('a message that several archives of a folder hold is exported once, as the last one has it', async () => {
    const { run, sandbox } = await openSandbox();
    const folder = emptyHome();
    await run(`archive pull ${join(folder, '1')} --channel general`);
    sandbox.state.change((state) => {
      const row = state.messages.rows().find(({ subject }) => subject === 'calibration log');
      if (row) state.messages.put(row.id, { ...row, rendered: '<p>later</p>' });
    });
    await run(`archive pull ${join(folder, '2')} --channel general --topic 'calibration log'`);

    const { stdout } = await run(`archive export ${folder} -o ndjson`);
    const chosen = await run(`archive export ${folder} -o ndjson --topic 'calibration log'`);

    const ids = (text: string) => [...text.matchAll(/^\{"id":(\d+)/gm)].map(([, id]) => id);
    expect({ all: ids(stdout).length, each: new Set(ids(stdout)).size }).toEqual({ all: 364, each: 364 });
    expect(stdout).toContain('<p>later</p>');
    expect(ids(chosen.stdout)).toHaveLength(320);
  });

  test('csv has a header and the columns of a message, or those of --fields', async () => {
    const { run, folder } = await archived('--raw-content');

    const { stdout } = await run(`archive export ${folder} -o csv`);
    const picked = await run(`archive export ${folder} -o csv --fields id,subject --no-header`);

    expect(stdout.split('\n').slice(0, 2)).toEqual([
      'id,timestamp,sender_id,sender_full_name,display_recipient,subject,content',
      '1002,1768204920,8,Mara Lindqvist,general,onboarding,"Welcome to **Harbour Motion**! Sensors are in the blue cabinet, charging docks next to the window."',
    ]);
    expect(picked.stdout.split('\n')[0]).toBe('1002,onboarding');
  });

  test('html links to messages inside the page where it holds them, else to the server', async () => {
    const { run, sandbox, folder } = await archived();
    const [first, last] = [1002, 1451];
    const link = (id: number): string => `[there](#narrow/channel/1-general/topic/lunch/near/${id})`;
    sandbox.state.post({ channel: 'general', topic: 'lunch', content: `${link(first)} ${link(999_999)}` });
    await run(`archive pull ${folder}`);

    const { stdout, exitCode } = await run(`archive export ${folder} -o html`);

    expect(exitCode).toBe(0);
    expect(stdout).toContain(`<article id="m${last}">`);
    expect(stdout).toContain(`<a href="#m${first}">there</a>`);
    expect(stdout).toContain(`<a href="${sandbox.chat.site}/#narrow/channel/1-general/topic/lunch/near/999999"`);
    expect(stdout).toContain(`${sandbox.chat.site}/#narrow/channel/1-general/topic/onboarding/near/${first}"`);
    expect(stdout.endsWith('</html>\n')).toBe(true);
  });

  test(
    '--to writes a file that appears whole, and that others can read as the umask says',
    needs('modes'),
    async () => {
      const { run, folder } = await archived();
      const out = join(emptyHome(), 'page.html');

      const { stdout, stderr, exitCode } = await run(`archive export ${folder} -o html --to ${out}`);

      expect({ exitCode, stdout, stderr }).toEqual({ exitCode: 0, stdout: '', stderr: `${out} is written\n` });
      expect(readFileSync(out, 'utf8').endsWith('</html>\n')).toBe(true);
      expect(statSync(out).mode & 0o777).toBe(0o644);
      chmodSync(out, 0o600);
      await run(`archive export ${folder} -o html --to ${out}`);
      expect(statSync(out).mode & 0o777).toBe(0o600);
    },
  );

  test(
    'above 5,000 messages --to makes pages with links between them, and an index, unless --pages one; a file in the place of the folder is exit 2',
    needs('modes'),
    async () => {
      const messages = topicOf('lunch', idsBetween(1, 5001)).map((message) => ({ ...message, content: '<p>x</p>' }));
      const link = (id: number): string =>
        `<p><a href="#narrow/channel/5-kitchen/topic/lunch/near/${id}">to ${id}</a></p>`;
      for (const [from, to] of [
        [1, 5001],
        [2500, 2001],
        [5001, 1],
      ])
        Object.assign(messages[(from ?? 1) - 1] ?? {}, { content: link(to ?? 1), content_type: 'text/html' });
      const server = await openChatServer({ messages });
      const home = emptyHome();
      const [folder, out, file] = [join(home, 'archive'), join(home, 'out.html'), join(home, 'page.html')];
      await server.run(`archive pull ${folder} --channel 5`);

      const { exitCode, stdout, stderr } = await server.run(`archive export ${folder} -o html --to ${out}`);
      const files = readdirSync(out).sort();
      const [index = '', first = '', second = '', third = ''] = files.map((name) =>
        readFileSync(join(out, name), 'utf8'),
      );

      expect({ exitCode, stdout, stderr }).toEqual({
        ...{ exitCode: 0, stdout: '' },
        stderr: `${out} is written: index.html and 3 pages\n`,
      });
      expect(files).toEqual([...['index.html', 'messages-0001.html', 'messages-0002.html', 'messages-0003.html']]);
      const ids = [first, second, third].map((page) =>
        [...page.matchAll(/<article id="m(\d+)"/g)].map(([, id]) => Number(id)),
      );
      expect(ids).toEqual([idsBetween(1, 2000), idsBetween(2001, 4000), idsBetween(4001, 5001)]);
      expect(first).toContain('<a href="messages-0003.html#m5001">to 5001</a>');
      expect(second).toContain('<a href="#m2001">to 2001</a>');
      expect(third).toContain('<a href="messages-0001.html#m1">to 1</a>');
      expect(
        [first, second, third].map((page) => [...page.matchAll(/<nav class="pages">(.*)<\/nav>/g)].length),
      ).toEqual([2, 2, 2]);
      expect(second).toContain(
        '<a href="messages-0001.html">Older messages</a> <a href="index.html">All pages</a> <a href="messages-0003.html">Newer messages</a>',
      );
      expect(first).not.toContain('Older messages');
      expect(index.match(/href="messages[^"]*"/g)).toEqual(['href="messages-0001.html#m1"']);
      expect(index).not.toContain('<script');
      expect(new Set(files.map((file) => statSync(join(out, file)).mode & 0o777))).toEqual(new Set([0o644]));
      expect(statSync(out).mode & 0o777).toBe(0o755);

      const one = await server.run(`archive export ${folder} -o html --to ${file} --pages one`);
      const refused = await server.run(`archive export ${folder} -o html --to ${file}`);
      const inside = await server.run(`archive export ${folder} -o html --to ${out} --pages one`);

      expect(one).toMatchObject({ exitCode: 0, stderr: `${file} is written\n` });
      expect(refused.exitCode).toBe(2);
      expect(refused.stderr).toContain(`5001 messages become pages in a folder, and ${file} is a file`);
      expect(refused.stderr).toContain('--pages one');
      expect(inside.exitCode).toBe(2);
      expect((await server.run(`archive export ${folder} -o csv --to ${folder}/archive.json`)).exitCode).toBe(2);
    },
  );

  test.each([
    ['index.html', '<h1>Home</h1>'],
    ['notes.txt', 'mine'],
  ])('--to a folder that holds %s of somebody else is exit 2, and nothing is written', async (name, text) => {
    const { run, folder } = await archived();
    const out = join(emptyHome(), 'site');
    mkdirSync(out);
    writeFileSync(join(out, name), text);

    const { exitCode, stderr } = await run(`archive export ${folder} -o html --to ${out}`);

    expect(exitCode).toBe(2);
    expect(stderr).toContain(`contains ${name}, which is not from an earlier export`);
    expect(readdirSync(out)).toEqual([name]);
    expect(readFileSync(join(out, name), 'utf8')).toBe(text);
  });

  test('--to the folder of an earlier, longer export removes its further pages', async () => {
    const server = await openChatServer({ messages: topicOf('lunch', idsBetween(1, 2010)) });
    const since = new Date(Number(server.messages[2005]?.timestamp) * 1000).toISOString();
    const [long, short] = [join(emptyHome(), 'long'), join(emptyHome(), 'short')];
    await server.run(`archive pull ${long} --channel 5`);
    await server.run(`archive pull ${short} --channel 5 --since ${since}`);
    const out = join(emptyHome(), 'pages/');
    await server.run(`archive export ${long} -o html --to ${out}`);
    const before = readdirSync(out).sort();

    const { exitCode, stderr } = await server.run(`archive export ${short} -o html --to ${out}`);

    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: `${out} is written: index.html and 1 page\n` });
    expect(before).toEqual(['index.html', 'messages-0001.html', 'messages-0002.html']);
    expect(readdirSync(out).sort()).toEqual(['index.html', 'messages-0001.html']);
    expect(readFileSync(join(out, 'messages-0001.html'), 'utf8')).toContain('id="m2010"');
  });

  test('--to a folder is exit 2 for what is one file', async () => {
    const { run, folder } = await archived();

    const { exitCode, stderr } = await run(`archive export ${folder} -o csv --to ${emptyHome()}`);

    expect(exitCode).toBe(2);
    expect(stderr).toContain('is a folder: only html is written as several files');
  });

  test.each([
    ['', 'text --raw-content', 'source'],
    ['--raw-content', 'html', 'rendered'],
    ['', 'csv --raw-content', 'source'],
  ])('an archive of "%s" as %s: exit 2, since it lacks the %s form', async (forms, output, missing) => {
    const { run, folder } = await archived(forms);

    const { exitCode, stdout, stderr } = await run(`archive export ${folder} -o ${output}`);

    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toContain(`-o ${output} needs the ${missing} form, which the archive does not hold`);
    expect(stderr).toContain('Pull into another folder, with --both');
  });

  test('a damaged part: exit 8, what comes before it is a whole document, and no file is left by --to', async () => {
    const server = await openChatServer({ messages: topicOf('lunch', idsBetween(1, 1010)) });
    const folder = join(emptyHome(), 'archive');
    await server.run(`archive pull ${folder} --channel 5`);
    rmSync(join(folder, 'rendered-000002.ndjson'));
    const out = join(emptyHome(), 'out');

    const page = await server.run(`archive export ${folder} -o html`);
    const file = await server.run(`archive export ${folder} -o ndjson --to ${out}`);

    expect(page.exitCode).toBe(8);
    expect(page.stdout).toContain('<article id="m1000"');
    expect(page.stdout.endsWith('</html>\n')).toBe(true);
    expect(page.stderr).toContain('the export ends before part 2');
    expect([file.exitCode, file.error?.exit, file.error?.retryable]).toEqual([8, 8, false]);
    expect(existsSync(out)).toBe(false);
    expect(readdirSync(join(out, '..'))).toEqual(['tmp']);
  });

  describe('--deadline', () => {
    const deadline = (moment: 'at once' | 'after some output') => {
      let end = (): void => undefined;
      const alarm = (_span: number, reached: () => void): (() => void) => {
        end = reached;
        if (moment === 'at once') reached();
        return () => undefined;
      };
      return { alarm, written: () => end() };
    };
    const archivedLunch = async () => {
      const server = await openChatServer({ messages: topicOf('lunch', idsBetween(1, 2010)) });
      const folder = join(emptyHome(), 'archive');
      await server.run(`archive pull ${folder} --channel 5 --both`);
      return { server, folder };
    };

    test.each(
      sampleOf(1, [
        ['ndjson', '}\n'],
        ['csv', '\n'],
        ['html', '</html>\n'],
      ] as const),
    )('%s on standard output: exit 8, and what is there is a whole document', async (format, end) => {
      const { server, folder } = await archivedLunch();

      const whole = await server.run(`archive export ${folder} -o ${format}`);
      const cut = await server.run(
        `archive export ${folder} -o ${format} --deadline 1h`,
        deadline('after some output'),
      );

      expect(cut.exitCode).toBe(8);
      expect(cut.stderr).toContain('the export on standard output is incomplete: the deadline of 1h was reached');
      expect(cut.stdout.length).toBeGreaterThan(1000);
      expect(cut.stdout.length).toBeLessThan(whole.stdout.length / 2);
      expect(cut.stdout.endsWith(end)).toBe(true);
    });

    test.each(sampleOf(1, ['ndjson', 'csv', 'html']))(
      '%s before the first message: exit 7, and no output',
      async (format) => {
        const { server, folder } = await archivedLunch();

        const ran = await server.run(`archive export ${folder} -o ${format} --deadline 1h`, deadline('at once'));

        expect(ran).toMatchObject({ exitCode: 7, stdout: '' });
      },
    );

    test('pages: exit 8 after the first page, and the folder has no index yet', async () => {
      const { server, folder } = await archivedLunch();
      const out = join(emptyHome(), 'pages');
      const alarm = (_span: number, reached: () => void): (() => void) => {
        const look = (): void => {
          if (existsSync(join(out, 'messages-0001.html'))) reached();
          else setImmediate(look);
        };
        look();
        return () => undefined;
      };

      const { exitCode, stderr } = await server.run(`archive export ${folder} -o html --to ${out}/ --deadline 1h`, {
        alarm,
      });

      expect(exitCode).toBe(8);
      expect(stderr).toContain('1 of 2 pages are written: the deadline of 1h was reached');
      expect(readdirSync(out)).toEqual(['messages-0001.html']);
    });
  });

  describe('of a part', () => {
    const parts = async (line: string, archive = archived()) => {
      const { run, folder } = await archive;
      return run(`archive export ${folder} ${line}`);
    };
    const fetched = async (line: string): Promise<number[]> => {
      const { run } = await openSandbox();
      const { stdout } = await run(`messages fetch --all -o ndjson ${line}`);
      return idsIn(stdout);
    };
    const idsIn = (stdout: string): number[] =>
      stdout
        .split('\n')
        .slice(0, -1)
        .map((line) => (JSON.parse(line) as { id: number }).id);

    test.each(
      sampleOf(2, [
        '--topic LUNCH',
        '--sender 10',
        '--sender user10@harbour.example',
        '--topic lunch --sender 10',
        '--since 2026-01-13T00:00:00Z --until 2026-01-16T00:00:00Z',
        "--channel '#narrow/channel/1-general/topic/lunch'",
      ]),
    )('%s: the messages that messages fetch gives, byte for byte', async (line) => {
      const ids = await fetched(line.includes('narrow') ? line : `--channel general ${line}`);
      const { exitCode, stdout } = await parts(`-o ndjson ${line}`);
      const whole = (await parts('-o ndjson')).stdout;

      expect(exitCode).toBe(0);
      expect(ids.length).toBeGreaterThan(0);
      expect(ids.length).toBeLessThan(364);
      expect(idsIn(stdout)).toEqual(ids);
      expect(whole.split('\n')).toEqual(expect.arrayContaining(stdout.split('\n')));
    });

    test.each(["'Old Name'", 'old@harbour.example'])('--sender %s means all messages of its id', async (sender) => {
      const { run, sandbox } = await openSandbox();
      const folder = join(emptyHome(), 'archive');
      const user = sandbox.state.users().find(({ user_id }) => user_id === 10);
      if (!user) throw new Error('no user 10');
      const call = (full_name: string, email: string): void =>
        sandbox.state.change(({ users }) => {
          users.put(10, { ...user, full_name, email, settings: { ...user.settings, email_address_visibility: 1 } });
        });
      call('Old Name', 'old@harbour.example');
      await run(`archive pull ${folder} --channel general`);
      call('New Name', 'new@harbour.example');
      sandbox.state.change(({ messages }) => {
        const row = messages.rows().findLast(({ sender_id }) => sender_id === 10);
        if (row) messages.put(999_999, { ...row, id: 999_999 });
      });
      await run(`archive pull ${folder}`);

      const ids = idsIn((await run(`archive export ${folder} -o ndjson --sender ${sender}`)).stdout);

      expect(ids).toEqual(idsIn((await run(`archive export ${folder} -o ndjson --sender 10`)).stdout));
      expect(ids.at(-1)).toBe(999_999);
    });

    test('several of one option: any of them; a name and me mean a sender too', async () => {
      const archive = archived();
      const one = async (line: string): Promise<number[]> => idsIn((await parts(`-o ndjson ${line}`, archive)).stdout);
      const [lunch, onboarding] = [await one('--topic lunch'), await one('--topic onboarding')];
      expect(await one('--topic lunch --topic onboarding')).toEqual([...lunch, ...onboarding].sort((a, b) => a - b));
      expect(await one("--sender 'Ines Okafor'")).toEqual(await one('--sender 10'));
      const ines = await parts("-o ndjson --sender 'ines okafor'", archive);
      expect([idsIn(ines.stdout), ines.stderr]).toEqual([
        await one('--sender 10'),
        "note: 'ines okafor' is Ines Okafor (id 10)\n",
      ]);
      expect(await one('--sender me')).toEqual(await fetched('--channel general --sender me'));
      expect(await one('--sender mara@harbour.example')).toEqual(await one('--sender me'));
    });

    test('html says how many there are', async () => {
      const { stdout } = await parts(`-o html --topic lunch --sender 10 --since 2026-01-13T10:45:00Z`);
      const note = /\d+ messages from .*/.exec(stdout)?.[0].replace(/<.*|127.0.0.1:\d+/g, '');
      expect(note).toBe('2 messages from , as mara@harbour.example sees them.');
    });

    test('nothing chosen is an empty document and a warning', async () => {
      const { exitCode, stdout, stderr } = await parts('-o ndjson --sender 99');
      expect({ exitCode, stdout, stderr }).toEqual({
        exitCode: 0,
        stdout: '',
        stderr: '{"warning":"no archived message matches"}\n',
      });
    });

    test.each([
      ['--since 2026-02-01 --until 2026-01-01', 'is not before --until'],
      ["--channel '#narrow/dm/7,9'", "'dm' is none of them"],
      ["--channel 'https://elsewhere.test/#narrow/channel/1-general'", 'elsewhere.test'],
    ])('%s is exit 2, and nothing is written', async (line, problem) => {
      const { exitCode, stdout, stderr } = await parts(`-o ndjson ${line}`);
      expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
      expect(stderr).toContain(problem);
    });
  });

  test('text is the conversation that messages fetch shows', async () => {
    const { run, folder } = await archived();
    const { stdout } = await run(`archive export ${folder} -o text --topic lunch`);
    const fetched = await run('messages fetch --channel general --topic lunch --all -o text');
    expect(stdout).toContain('  Ines Okafor\n  Soup place or the falafel truck?\n');
    expect(stdout).toBe(fetched.stdout);
  });

  describe('of all channels', () => {
    const pulled = async () => {
      const service = await openSandbox();
      const folder = join(emptyHome(), 'all');
      await service.run(`archive pull ${folder} --all-channels --both`);
      const names = readdirSync(folder).sort((one, other) => parseInt(one) - parseInt(other));
      return { ...service, folder, names, out: join(folder, '..', 'site') };
    };

    test.each(sampleOf(1, ['ndjson', 'csv --no-header', 'text', 'csv --no-header --raw-content']))(
      '%s is that of each channel, one after the other',
      async (format) => {
        const { run, folder, names } = await pulled();
        const single: string[] = [];
        for (const name of names) single.push((await run(`archive export ${join(folder, name)} -o ${format}`)).stdout);

        const { exitCode, stdout } = await run(`archive export ${folder} -o ${format}`);

        expect(exitCode).toBe(0);
        expect(names.length).toBeGreaterThan(2);
        expect(stdout.replace(/\n+/g, '\n')).toBe(single.join('').replace(/\n+/g, '\n'));
      },
    );

    test('one html page has all messages under one head, and links from channel to channel', async () => {
      const { run, sandbox, folder, names } = await pulled();
      const random = names.find((name) => name.startsWith('3-')) ?? '';
      const first = JSON.parse(
        readFileSync(join(folder, random, 'rendered-000001.ndjson'), 'utf8').split('\n')[0] ?? '',
      ) as { id: number };
      sandbox.state.post({
        channel: 'general',
        topic: 'lunch',
        content: `[there](#narrow/channel/3-x/topic/x/near/${first.id})`,
      });
      await run(`archive pull ${folder} --all-channels`);
      const count = names.reduce(
        (sum, name) => sum + readFileSync(join(folder, name, 'rendered-000001.ndjson'), 'utf8').split('\n').length - 1,
        1,
      );

      const page = await run(`archive export ${folder} -o html`);

      expect(page.stdout.match(/<article /g)).toHaveLength(count);
      expect(page.stdout).toContain(`<a href="#m${first.id}">there</a>`);
      expect(page.stdout).toContain(`${count} messages from 127.0.0.1`);
      expect(page.stdout.match(/<h1>/g)).toHaveLength(1);
    });

    test('a site has an index of channels and topics with number and days, and every link in it leads to what is there', async () => {
      const { run, folder, names, out } = await pulled();

      const { exitCode, stderr } = await run(`archive export ${folder} -o html --to ${out}/`);
      const files = readdirSync(out);
      const index = readFileSync(join(out, 'index.html'), 'utf8');
      const topics = (await run('topic list general -o json')).stdout;

      expect(exitCode).toBe(0);
      expect(stderr).toContain(`index.html and ${names.length} pages`);
      const textsOf = (html: string, element: RegExp): string[] =>
        [...html.matchAll(element)].map(([, inside = '']) => inside.replace(/<[^>]*>/g, ''));
      expect(textsOf(index, /<h2[^>]*>(.*?)<\/h2>/g)).toEqual([
        ...names.map((name) => expect.stringContaining(name.replace(/^\d+-/, '')) as string),
      ]);
      const general = index.split('<tbody>')[1]?.split('</tbody>')[0] ?? '';
      const rows = general
        .split('</tr>')
        .slice(0, -1)
        .map((row) => textsOf(row, /<td[^>]*>(.*?)<\/td>/g));
      const days = (first: string, last: string): string => (first === last ? first : `${first} to ${last}`);
      const known = (
        JSON.parse(topics) as { topic_name: string; messages: number; first_time: string; last_time: string }[]
      ).map(({ topic_name, messages, first_time, last_time }) => [
        topic_name || 'general chat',
        String(messages),
        days(first_time.slice(0, 10), last_time.slice(0, 10)),
      ]);
      expect(rows.sort()).toEqual(known.sort());
      const links = [...index.matchAll(/href="([^"]*)"/g)].map(([, href = '']) => href);
      for (const link of links) {
        const [file = '', id = ''] = link.split('#');
        if (file !== '') expect(files).toContain(file);
        const at = readFileSync(join(out, file === '' ? 'index.html' : file), 'utf8');
        if (id !== '') expect(at).toContain(`id="${id}"`);
      }
      expect(links.length).toBeGreaterThan(10);
    });

    test('one channel of all is chosen as messages are', async () => {
      const { run, folder, names, out } = await pulled();
      await run(`archive export ${folder} -o html --to ${out}/ --channel 3`);
      const single = await run(
        `archive export ${join(folder, names.find((name) => name.startsWith('3-')) ?? '')} -o ndjson`,
      );
      const chosen = await run(`archive export ${folder} -o ndjson --channel 3`);
      expect(readdirSync(out).sort()).toEqual(['index.html', 'messages-0001.html']);
      expect(chosen.stdout).toBe(single.stdout);
    });

    test('a channel without the form is exit 2 with its folder; archives of two servers are exit 2', async () => {
      const { run, folder } = await pulled();
      const other = await openChatServer({ messages: topicOf('lunch', [1]) });
      await run(`archive pull ${join(folder, '100-source')} --channel general --raw-content`);

      const lacking = await run(`archive export ${folder} -o html`);
      await other.run(`archive pull ${join(folder, '101-other')} --channel 5`);
      const mixed = await run(`archive export ${folder} -o ndjson`);

      expect([lacking.exitCode, mixed.exitCode]).toEqual([2, 2]);
      expect(lacking.stderr).toContain('100-source does not hold');
      expect(mixed.stderr).toMatch(/contains archives of (http\S+) and of (?!\1)http/);
    });
  });

  test('a limited history and recorded changes are warnings in the page', async () => {
    const messages = topicOf('lunch', idsBetween(1, 50));
    const server = await openChatServer({ messages, firstVisible: 11 });
    const folder = join(emptyHome(), 'archive');
    await server.run(`archive pull ${folder} --channel 5 --both`);
    server.messages.splice(20, 2);
    await server.run(`archive pull ${folder} --recheck`);

    const page = await server.run(`archive export ${folder} -o html`);

    expect(page.stdout).toContain('The plan of the organization limits the history');
    expect(page.stdout).toContain(
      'Changed on the server since they were archived: 2 no longer visible to the account.',
    );
  });
});
