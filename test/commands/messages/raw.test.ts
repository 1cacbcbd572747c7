import { describe, expect, test } from 'vitest';
import { fakeService, run } from '../../helpers/run.ts';

/** Texts that a parser would rewrite. */
const texts = [
  '{"id":1,"subject":"\\u0041\\/é","float":1.0,"large":123456789012345678901,"b":1,"a":2}',
  '{"subject":"two\\nlines","id":2}',
];

const envelope = (elements: string): string =>
  `{"result":"success","msg":"","messages":[${elements}],"found_newest":true,"found_oldest":true}`;

function answering(body: string) {
  const service = fakeService();
  const query = { anchor: 'newest', num_before: '100', num_after: '0' };
  service.expect({ method: 'GET', path: '/api/v1/messages', query }).reply(200, body);
  return service;
}

describe('messages are written as the server sent them', () => {
  test.each([
    ['compact', texts.join(',')],
    ['with blanks', ` ${texts.join(' , ')} `],
    ['in another order', texts.toReversed().join(',')],
  ])('ndjson: %s', async (_what, elements) => {
    const { exitCode, stdout } = await run(answering(envelope(elements)), 'messages fetch -o ndjson');

    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: texts.map((text) => `${text}\n`).join('') });
  });

  test('ndjson: a message that came on several lines is one line', async () => {
    const pretty = JSON.stringify(JSON.parse('{"id":1,"content":"a  \\n b"}'), null, 2).replaceAll('\n', '\r\n');

    const { stdout } = await run(answering(envelope(pretty)), 'messages fetch -o ndjson');

    expect(stdout).toBe('{"id":1,"content":"a  \\n b"}\n');
  });

  test('json is one array, a message a line', async () => {
    const { stdout } = await run(answering(envelope(texts.join(','))), 'messages fetch -o json');

    expect(stdout).toBe(`[\n  ${texts.join(',\n  ')}\n]\n`);
  });

  test('json without messages is an empty array', async () => {
    expect((await run(answering(envelope('')), 'messages fetch -o json')).stdout).toBe('[]\n');
  });

  test.each([
    ['-o ndjson --fields subject', '{"subject":"A/é"}\n{"subject":"two\\nlines"}\n'],
    ['-o tsv --fields id,subject', 'id\tsubject\n1\tA/é\n2\ttwo\\nlines\n'],
    ['--jq .[].id', '1\n2\n'],
    ['-o ndjson --sort=-id --fields id', '{"id":2}\n{"id":1}\n'],
  ])('%s reads the same texts', async (options, stdout) => {
    const ran = await run(answering(envelope(texts.join(','))), `messages fetch ${options}`);

    expect(ran.stdout).toBe(stdout);
  });

  test('a terminal gets characters of control escaped', async () => {
    const service = answering(envelope('{"id":1,"subject":"\u009b31m"}'));

    const { stdout } = await run(service, 'messages fetch -o ndjson', { tty: true });

    expect(stdout.replaceAll('\r\n', '\n')).toBe('{"id":1,"subject":"\\u009b31m"}\n');
  });
});

describe('a page that is not JSON with messages', () => {
  test.each([
    ['a comma too many', envelope(`${texts[0]},`), 'something that is not JSON'],
    ['a cut message', envelope('{"id":1,"subject":"x').slice(0, 60), 'something that is not JSON'],
    ['a line break inside a string', envelope('{"id":1,"subject":"a\nb"}'), 'something that is not JSON'],
    ['a page of a proxy', '<html><title>Sign in</title></html>', 'an HTML page: Sign in'],
    ['a message without id', envelope('{"id":1},{"subject":"x"}'), 'message 2 of the response has no id'],
    [
      'an id that is no number',
      envelope('{"id":"1"}'),
      'message 1 of the response has an id that is not an integer: "1"',
    ],
    ['no messages', '{"result":"success","msg":""}', 'without a list of messages'],
    ['messages that are no objects', envelope('1,2'), 'without a list of messages'],
    ['too deep', envelope(`{"id":1,"x":${'['.repeat(600)}${']'.repeat(600)}}`), 'nested too deep'],
  ])('%s: exit 7, nothing on stdout, and the request is named', async (_what, body, message) => {
    const { exitCode, stdout, error } = await run(answering(body), 'messages fetch -o ndjson');

    expect({ exitCode, stdout }).toEqual({ exitCode: 7, stdout: '' });
    expect(error?.message).toContain(message);
    expect(error?.http?.url).toContain('anchor=newest');
  });

  test('an error of the server keeps its words', async () => {
    const service = answering('{"result":"error","msg":"No such thing","code":"BAD_REQUEST"}');

    expect((await run(service, 'messages fetch -o ndjson')).error?.message).toContain('No such thing');
  });
});
