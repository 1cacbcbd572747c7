import { expect, test } from 'vitest';
import { fakeService, run } from '../../helpers/run.ts';
import type { FakeService } from '../../helpers/service.ts';

const done = { result: 'success', msg: '' };
const gone = { result: 'error', code: 'BAD_REQUEST', msg: 'Saved snippet does not exist.' };

function remove(service: FakeService, id: number) {
  return service.expect({ method: 'DELETE', path: `/api/v1/saved_snippets/${id}` });
}

test('each id is a row; one that is given twice is deleted once', async () => {
  const service = fakeService();
  remove(service, 2).reply(200, done);
  remove(service, 3).reply(200, done);

  const { exitCode, stdout } = await run(service, 'snippet rm 2 - 2 -o json', { stdin: '3\n\n2\n' });

  service.done();
  expect(exitCode).toBe(0);
  expect(JSON.parse(stdout)).toEqual([
    { saved_snippet_id: 2, status: 'deleted' },
    { saved_snippet_id: 3, status: 'deleted' },
  ]);
});

test.each([
  ['', 404, 8, []],
  [' --missing-ok', 404, 0, [{ saved_snippet_id: 2, status: 'missing' }]],
  [' --missing-ok', 400, 0, [{ saved_snippet_id: 2, status: 'missing' }]],
])('one that is gone does not stop the others:%s (%d) is exit %d', async (option, status, exit, rows) => {
  const service = fakeService();
  remove(service, 2).reply(status, gone);
  remove(service, 3).reply(200, done);

  const { exitCode, stdout, error } = await run(service, `snippet rm 2 3${option} -o json`);

  service.done();
  expect(exitCode).toBe(exit);
  expect(JSON.parse(stdout)).toEqual([...rows, { saved_snippet_id: 3, status: 'deleted' }]);
  if (exit === 8) expect(error?.message).toContain('1 of 2 failed (2):\n  ');
});

test.each(['2', 'standup'])('--missing-ok does not excuse a server without snippets: %s', async (word) => {
  const service = fakeService();
  if (word === '2') remove(service, 2).reply(404, '<h1>Not Found</h1>');
  else service.expect('GET /api/v1/saved_snippets').reply(404, '<h1>Not Found</h1>');
  service.expect('GET /api/v1/server_settings').reply(200, { ...done, zulip_feature_level: 200 });

  const { exitCode, error } = await run(service, `snippet rm ${word} --missing-ok -o json`);

  service.done();
  expect(exitCode).toBe(6);
  expect(error?.message).toContain('saved snippets need level 297');
});

test.each(['2 -1', '-1', "''"])('%s is refused, and nothing is deleted', async (words) => {
  const service = fakeService();

  const { exitCode } = await run(service, `snippet rm -o json -- ${words}`);

  expect({ exitCode, sent: service.seen }).toEqual({ exitCode: 2, sent: [] });
});

const saved_snippets = ['Standup', 'Release', 'twin', 'Twin'].map((title, at) => ({ id: at + 2, title, content: '' }));

test.each([
  ['standup 3', 'y\n', 0, "Delete 2 'Standup', 3 'Release'? [y/N]"],
  ['standup 3', 'n\n', 130, "Delete 2 'Standup', 3 'Release'? [y/N]"],
  ['TWIN', '', 2, "'TWIN' is the title of snippets 4, 5"],
  ['standip', '', 5, "no snippet 'standip'; Standup is snippet rm 2"],
  ['standip standup 3 --missing-ok', 'y\n', 0, "no snippet 'standip'; Standup is snippet rm 2"],
  ['twin --missing-ok', '', 2, "'twin' is the title of snippets 4, 5"],
])('on a terminal the titles of %s are shown: %j is exit %i', async (words, stdin, exit, said) => {
  const service = fakeService();
  service.expect('GET /api/v1/saved_snippets').reply(200, { ...done, saved_snippets });
  if (exit === 0) for (const id of [2, 3]) remove(service, id).reply(200, done);

  const { exitCode, stderr } = await run(service, `snippet rm ${words}`, { tty: true, stdin });

  service.done();
  expect([exitCode, stderr]).toEqual([exit, expect.stringContaining(said)]);
});

test.each([
  ['the one with a doubled backslash', ['a\\\\b'], 0],
  ['the one that snippet list prints so', ['a\\b'], 0],
  ['both', ['a\\\\b', 'a\\b'], 2],
])('a title of a list that has two readings means the one that is there: %s', async (_which, titles, exit) => {
  const service = fakeService();
  const saved_snippets = titles.map((title, id) => ({ id, title, content: '', date_created: 1 }));
  service.expect('GET /api/v1/saved_snippets').reply(200, { ...done, saved_snippets });
  if (exit === 0) remove(service, 0).reply(200, done);

  expect((await run(service, 'snippet rm -', { stdin: 'a\\\\b\n' })).exitCode).toBe(exit);
  service.done();
});
