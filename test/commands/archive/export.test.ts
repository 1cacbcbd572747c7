import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
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

  test('markdown has headings for topic and day, sender and time, and the source', async () => {
    const { run, folder } = await archived();

    const { stdout } = await run(`archive export ${folder} -o markdown`);

    expect(stdout.startsWith('# Messages of Harbour Motion\n\n364 messages from 127.0.0.1')).toBe(true);
    expect(stdout).toContain(
      '## \\#general \\> lunch\n\n### 2026-01-13\n\n**Ines Okafor** 10:45\n\nSoup place or the falafel truck?\n\n**Tomás Ferreira** 10:47\n\n',
    );
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

  test('--to a folder writes html as pages with links between them, and an index', needs('modes'), async () => {
    const messages = topicOf('lunch', idsBetween(1, 4500)).map((message) => ({ ...message, content: '<p>x</p>' }));
    const link = (id: number): string =>
      `<p><a href="#narrow/channel/5-kitchen/topic/lunch/near/${id}">to ${id}</a></p>`;
    for (const [from, to] of [
      [1, 4500],
      [2500, 2001],
      [4500, 1],
    ])
      Object.assign(messages[(from ?? 1) - 1] ?? {}, { content: link(to ?? 1), content_type: 'text/html' });
    const server = await openChatServer({ messages });
    const folder = join(emptyHome(), 'archive');
    await server.run(`archive pull ${folder} --channel 5`);
    const out = join(emptyHome(), 'pages/');

    const { exitCode, stdout, stderr } = await server.run(`archive export ${folder} -o html --to ${out}`);
    const files = readdirSync(out).sort();
    const [index = '', first = '', second = '', third = ''] = files.map((file) =>
      readFileSync(join(out, file), 'utf8'),
    );

    expect({ exitCode, stdout, stderr }).toEqual({
      ...{ exitCode: 0, stdout: '' },
      stderr: `${out} is written: index.html and 3 pages\n`,
    });
    expect(files).toEqual(['index.html', 'messages-0001.html', 'messages-0002.html', 'messages-0003.html']);
    const ids = [first, second, third].map((page) =>
      [...page.matchAll(/<article id="m(\d+)">/g)].map(([, id]) => Number(id)),
    );
    expect(ids).toEqual([idsBetween(1, 2000), idsBetween(2001, 4000), idsBetween(4001, 4500)]);
    expect(first).toContain('<a href="messages-0003.html#m4500">to 4500</a>');
    expect(second).toContain('<a href="#m2001">to 2001</a>');
    expect(third).toContain('<a href="messages-0001.html#m1">to 1</a>');
    expect([first, second, third].map((page) => [...page.matchAll(/<nav class="pages">(.*)<\/nav>/g)].length)).toEqual([
      2, 2, 2,
    ]);
    expect(second).toContain(
      '<a href="messages-0001.html">Older messages</a> <a href="index.html">All pages</a> <a href="messages-0003.html">Newer messages</a>',
    );
    expect(first).not.toContain('Older messages');
    expect(index.match(/href="messages-0002\.html[^"]*"/g)).toEqual([
      'href="messages-0002.html"',
      'href="messages-0002.html#m2001"',
    ]);
    expect(index).not.toContain('<script');
    expect(files.map((file) => statSync(join(out, file)).mode & 0o777)).toEqual([0o644, 0o644, 0o644, 0o644]);
    expect(statSync(out).mode & 0o777).toBe(0o755);
  });

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
    expect(stderr).toContain(`holds ${name}, which is not of an earlier export`);
    expect(readdirSync(out)).toEqual([name]);
    expect(readFileSync(join(out, name), 'utf8')).toBe(text);
  });

  test('--to the folder of an earlier, longer export removes its further pages', async () => {
    const server = await openChatServer({ messages: topicOf('lunch', idsBetween(1, 2500)) });
    const [long, short] = [join(emptyHome(), 'long'), join(emptyHome(), 'short')];
    await server.run(`archive pull ${long} --channel 5`);
    await server.run(`archive pull ${short} --channel 5 --limit 10`);
    const out = join(emptyHome(), 'pages/');
    await server.run(`archive export ${long} -o html --to ${out}`);
    const before = readdirSync(out).sort();

    const { exitCode } = await server.run(`archive export ${short} -o html --to ${out}`);

    expect(exitCode).toBe(0);
    expect(before).toEqual(['index.html', 'messages-0001.html', 'messages-0002.html']);
    expect(readdirSync(out).sort()).toEqual(['index.html', 'messages-0001.html']);
    expect(readFileSync(join(out, 'messages-0001.html'), 'utf8')).toContain('id="m2500"');
  });

  test('above 5,000 messages --to makes pages, unless --pages one; a file in the place of the folder is exit 2', async () => {
    const server = await openChatServer({ messages: topicOf('lunch', idsBetween(1, 5001)) });
    const home = emptyHome();
    const [folder, out, file] = ['archive', 'out.html', 'page.html'].map((name) => join(home, name));
    await server.run(`archive pull ${folder} --channel 5`);

    const several = await server.run(`archive export ${folder} -o html --to ${out}`);
    const one = await server.run(`archive export ${folder} -o html --to ${file} --pages one`);
    const refused = await server.run(`archive export ${folder} -o html --to ${file}`);
    const inside = await server.run(`archive export ${folder} -o html --to ${out} --pages one`);

    expect(several).toMatchObject({ exitCode: 0, stderr: `${out} is written: index.html and 3 pages\n` });
    expect(one).toMatchObject({ exitCode: 0, stderr: `${file} is written\n` });
    expect(refused.exitCode).toBe(2);
    expect(refused.stderr).toContain(`5001 messages become pages in a folder, and ${file} is a file`);
    expect(refused.stderr).toContain('--pages one');
    expect(inside.exitCode).toBe(2);
  });

  test('--to a folder is exit 2 for what is one file', async () => {
    const { run, folder } = await archived();

    const { exitCode, stderr } = await run(`archive export ${folder} -o csv --to ${emptyHome()}`);

    expect(exitCode).toBe(2);
    expect(stderr).toContain('is a folder: only html is written as several files');
  });

  test.each([
    ['', 'markdown', 'source'],
    ['--raw-content', 'html', 'rendered'],
    ['', 'csv --raw-content', 'source'],
  ])('an archive of "%s" as %s: exit 2 with the command that fetches the %s form', async (forms, output, missing) => {
    const { run, folder } = await archived(forms);

    const { exitCode, stdout, stderr } = await run(`archive export ${folder} -o ${output}`);

    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toContain(`needs the ${missing} form`);
    expect(stderr).toContain(`chatelaine archive pull ${folder} --both`);
  });

  test('a damaged part: exit 8, what comes before it is a whole document, and no file is left by --to', async () => {
    const server = await openChatServer({ messages: topicOf('lunch', idsBetween(1, 1500)) });
    const folder = join(emptyHome(), 'archive');
    await server.run(`archive pull ${folder} --channel 5`);
    rmSync(join(folder, 'rendered-000002.ndjson'));
    const out = join(emptyHome(), 'out');

    const page = await server.run(`archive export ${folder} -o html`);
    const file = await server.run(`archive export ${folder} -o ndjson --to ${out}`);

    expect(page.exitCode).toBe(8);
    expect(page.stdout).toContain('<article id="m1000">');
    expect(page.stdout.endsWith('</html>\n')).toBe(true);
    expect(page.stderr).toContain('the export ends before part 2');
    expect(file.exitCode).toBe(8);
    expect(file.error?.exit).toBe(8);
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
      const server = await openChatServer({ messages: topicOf('lunch', idsBetween(1, 3000)) });
      const folder = join(emptyHome(), 'archive');
      await server.run(`archive pull ${folder} --channel 5 --both`);
      return { server, folder };
    };

    test.each([
      ['ndjson', '}\n'],
      ['csv', '\n'],
      ['markdown', '\n'],
      ['html', '</html>\n'],
    ])('%s on standard output: exit 8, and what is there is a whole document', async (format, end) => {
      const { server, folder } = await archivedLunch();

      const whole = await server.run(`archive export ${folder} -o ${format}`);
      const cut = await server.run(
        `archive export ${folder} -o ${format} --deadline 1h`,
        deadline('after some output'),
      );

      expect(cut.exitCode).toBe(8);
      expect(cut.stderr).toContain('the export on standard output is not whole: the deadline of 1h was reached');
      expect(cut.stdout.length).toBeGreaterThan(1000);
      expect(cut.stdout.length).toBeLessThan(whole.stdout.length / 2);
      expect(cut.stdout.endsWith(end)).toBe(true);
    });

    test.each(['ndjson', 'csv', 'markdown', 'html'])(
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

  test('a limited history and recorded changes are warnings in the page', async () => {
    const messages = topicOf('lunch', idsBetween(1, 50));
    const server = await openChatServer({ messages, firstVisible: 11 });
    const folder = join(emptyHome(), 'archive');
    await server.run(`archive pull ${folder} --channel 5 --both`);
    server.messages.splice(20, 2);
    await server.run(`archive pull ${folder} --recheck`);

    const page = await server.run(`archive export ${folder} -o html`);
    const text = await server.run(`archive export ${folder} -o markdown`);

    for (const { stdout } of [page, text]) {
      expect(stdout).toContain('The history is cut by the plan of the organization');
      expect(stdout).toContain('Changed on the server since they were archived: 2 no longer visible to the account.');
    }
  });
});

test.each(['html', 'markdown'])('%s is not written to a terminal: the line with --to is named', async (output) => {
  const { run } = await openSandbox();
  const home = emptyHome();
  const folder = join(home, 'kept');
  await run(`archive pull ${folder} --channel general --both`, { home });
  const line = `archive export ${folder} -o ${output}`;

  const { exitCode, stdout, stderr } = await run(line, { home, tty: true, columns: 200, env: { NO_COLOR: '1' } });

  const file = output === 'html' ? 'messages.html' : 'messages.md';
  expect({ exitCode, stdout, stderr }).toEqual({
    exitCode: 2,
    stdout: '',
    stderr: `chatelaine: a terminal does not show ${output}\nGive --to FILE:\n  chatelaine archive export ${folder} --output ${output} --to ${file}\n`,
  });
  expect((await run(line, { home })).exitCode).toBe(0);
});
