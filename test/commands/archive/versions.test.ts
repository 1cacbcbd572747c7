import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { emptyHome, fakeService, run } from '../../helpers/run.ts';

/**
 * A copy of an archive of version 1 as it was before archive.json had organization, level, options and history_limited.
 */
function oldArchive(): string {
  const folder = join(emptyHome(), 'archive');
  cpSync('test/fixtures/archive-1', folder, { recursive: true });
  return folder;
}

const content = readFileSync('test/fixtures/archive-1/rendered-000001.ndjson', 'utf8');

test('an archive without the later members of archive.json is verified and exported', async () => {
  const folder = oldArchive();

  const verified = await run(fakeService(), `archive verify ${folder}`);
  const lines = await run(fakeService(), `archive export ${folder} -o ndjson`);
  const page = await run(fakeService(), `archive export ${folder} -o html`);

  expect({ ...verified, home: '' }).toMatchObject({ exitCode: 0, stderr: 'messages: 3, parts: 1; no problem\n' });
  expect(lines.stdout).toBe(content);
  expect(page.exitCode).toBe(0);
  expect(page.stdout).toContain('Messages of chat.test');
  expect(page.stdout).not.toContain('class="warning"');
});

test('it is continued, and learns of a limited history', async () => {
  const folder = oldArchive();
  const service = fakeService();
  const query = {
    ...{ narrow: '[{"operator":"channel","operand":5}]', num_before: '0', num_after: '1000' },
    anchor: 'oldest',
  };
  const message = { ...(JSON.parse(content.split('\n')[0] ?? '') as object), id: 9 };
  const body = { result: 'success', msg: '', messages: [message], found_newest: true, history_limited: true };
  service.expect('GET /api/v1/users/me').reply(404, '');
  service.expect({ method: 'GET', path: '/api/v1/messages', query }).reply(200, body);
  const shown = { ...query, anchor: '1', include_anchor: 'true' };
  service
    .expect({ method: 'GET', path: '/api/v1/messages', query: shown })
    .reply(200, { ...body, history_limited: false });

  const { exitCode, stdout } = await run(service, `archive pull ${folder} -o json`);

  expect(exitCode).toBe(0);
  expect(JSON.parse(stdout)).toEqual({ folder, messages: 4, added: 1, repaired: 0, files: 0, files_kept: 0 });
  expect(JSON.parse(readFileSync(join(folder, 'archive.json'), 'utf8'))).toMatchObject({ history_limited: true });
  service.done();
});

test('a later version is refused, and nothing is written', async () => {
  const folder = oldArchive();
  const head = JSON.stringify({
    ...(JSON.parse(readFileSync(join(folder, 'archive.json'), 'utf8')) as object),
    archive: 3,
  });
  writeFileSync(join(folder, 'archive.json'), head);

  for (const command of ['pull', 'verify', 'export -o html']) {
    const service = fakeService();
    service.expect('GET /api/v1/users/me').reply(404, '');
    const { exitCode, stdout, stderr } = await run(service, `archive ${command} ${folder}`);

    expect({ exitCode, stdout }).toEqual({ exitCode: 3, stdout: '' });
    expect(stderr).toContain('archive.json is of version 3 of the format; this program reads 2');
    expect(stderr).toContain('Upgrade chatelaine');
  }
  expect(readFileSync(join(folder, 'archive.json'), 'utf8')).toBe(head);
});

test('an archive.json without a selection is exit 3, and no message is asked for', async () => {
  const folder = oldArchive();
  const { selection: _, ...head } = JSON.parse(readFileSync(join(folder, 'archive.json'), 'utf8')) as {
    selection: unknown;
  };
  writeFileSync(join(folder, 'archive.json'), JSON.stringify(head));

  const service = fakeService();
  service.expect('GET /api/v1/users/me').reply(404, '');
  const { exitCode, stderr } = await run(service, `archive pull ${folder}`);

  expect(exitCode).toBe(3);
  service.done();
  expect(stderr).toContain('archive.json holds no selection');
});

test('a line of changes.ndjson that is not a change is exit 10 with its number, and export warns of it', async () => {
  const folder = oldArchive();
  const seen = '2026-03-01T12:00:00.000Z';
  const lines = [
    { id: 2, change: 'lost', seen },
    { id: 3, change: 'gone', why: 'unknown', seen },
  ];
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  writeFileSync(join(folder, 'changes.ndjson'), text);

  const { exitCode, stdout } = await run(fakeService(), `archive verify ${folder} -o json`);
  const page = await run(fakeService(), `archive export ${folder} -o html`);

  expect(exitCode).toBe(10);
  expect(JSON.parse(stdout)).toEqual([
    { part: null, file: 'changes.ndjson', problem: 'line 1 is not a change of an archived message', ids: null },
  ]);
  expect(page.stderr).toContain('changes.ndjson: line 1 is not a change of an archived message; archive verify says');
  expect(page.stdout).toContain('1 no longer visible to the account');
});
