import { createServer, type ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { Failure } from '../../src/core/failure.ts';
import { accountOn } from '../helpers/chat-server.ts';
import { runAlone } from '../helpers/run.ts';

const done = { result: 'success', msg: '' };
const account = { ...done, full_name: 'Ada', email: 'ada@chat.test', zulip_feature_level: 489, zulip_version: '12.0' };
const views = { ...done, navigation_views: [{ fragment: 'narrow/a', is_pinned: true, name: 'Old' }] };

/** Runs a line until its `last` request, which Ctrl-C ends while its answer is waited for. */
async function runUntil(line: string, last: string, answers: Readonly<Record<string, object | 'nothing'>> = {}) {
  const stop = new AbortController();
  const seen: string[] = [];
  const reply = (response: ServerResponse, body: object): void => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };
  const server = createServer((request, response) => {
    const call = `${request.method} ${request.url?.replace(/^\/api\/v1/, '').replace(/\?.*/, '')}`;
    const name = `${call} ${seen.push(call)}`;
    const body = answers[name] ?? (call.endsWith('views') ? views : account);
    if (name === last) stop.abort(new Failure('cancelled', 'interrupted'));
    else if (body === 'nothing') response.destroy();
    else reply(response, body);
  });
  const env = await accountOn(server);
  return { ...(await runAlone(`${line} -o json`, { env, interrupt: stop.signal })), seen };
}

const inDoubt = 'interrupted; the request may or may not have been processed';

test.each([
  ['settings set color_scheme=dark', 'PATCH /settings 2', 'interrupted', {}],
  ['settings set email=ines@chat.test', 'PATCH /settings 1', inDoubt, {}],
  ['settings set full_name=Ines email=ines@chat.test', 'PATCH /settings 2', 'interrupted', {}],
  ['view pin narrow/a', 'PATCH /navigation_views/narrow/a 1', 'interrupted', {}],
  ['view rename narrow/a New', 'PATCH /navigation_views/narrow/a 1', inDoubt, {}],
  [
    'view rename narrow/a New',
    'GET /navigation_views 2',
    'interrupted',
    { 'PATCH /navigation_views/narrow/a 1': 'nothing' },
  ],
] as const)('%s, ended by Ctrl-C in %s: 130', async (line, last, message, answers) => {
  const { exitCode, error, seen } = await runUntil(line, last, answers);
  expect(`${seen.at(-1)} ${seen.length}`).toBe(last);
  expect({ exitCode, message: error?.message }).toEqual({ exitCode: 130, message });
});
