import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readCommandLine } from '../../src/cli/program.ts';
import { typedLine } from '../../src/cli/values.ts';
import { globalOptions, ownFormats } from '../../src/commands/environment.ts';
import { commandTable } from '../../src/commands/index.ts';
import { Failure } from '../../src/core/failure.ts';
import { flagOf, isNegatable, type Field } from '../../src/schema/field.ts';
import { emptyHome, openSandbox, words } from '../helpers/run.ts';
import { place } from '../store/place.ts';

const ofOneRun = new Set(['yes', 'confirm', 'send-again', 'adopt']);

/** The words that give an option a value. */
function wordsOf(name: string, field: Field): string[] {
  const flag = `--${flagOf(name, field)}`;
  if (field.kind === 'boolean') return [flag];
  const choices = 'choices' in field ? field.choices : undefined;
  if ('bare' in field) return [`${flag}=${choices?.[0] ?? 'x'}`];
  const values = { integer: '4', duration: '30s', string: choices?.[0] ?? "it's -x", json: '{}', secret: 'x' };
  const value = name === 'output' ? 'ndjson' : values[field.kind];
  return field.many ? [flag, value, `${flag}=-second`] : [flag, value];
}

const read = (argv: readonly string[]) => {
  const { system } = place();
  return readCommandLine(argv, { system, version: '1', stdout: process.stdout });
};

describe('a line that repeats what was typed has every option', () => {
  test.each(commandTable)('$name', async ({ name, load }) => {
    const command = await load();
    const own: Record<string, Field> = { ...globalOptions, ...command.options };
    const args = Object.entries(command.args ?? {}).flatMap(([, { many }]) => (many ? ['-a', 'b c'] : ['x']));
    const options = Object.entries(own).flatMap(([option, field]) => wordsOf(option, field));
    expect(ownFormats(command)).toEqual(expect.any(Array));

    const request = await read([...name.split(' '), ...options, '--', ...args]);
    if (!('command' in request)) throw new Error('help');
    const line = typedLine(name, request);
    const again = await read(words(line.replaceAll(String.raw`'\''`, `'"'"'`)).slice(1));
    if (!('command' in again)) throw new Error('help');

    expect(again.words).toEqual(request.words);
    expect(again.typed).toEqual(request.typed.filter(({ flag }) => !ofOneRun.has(flag)));
    expect(again.typed.length).toBeGreaterThan(Object.keys(globalOptions).length - 2);
  });

  test('and the other way round of those that have one', async () => {
    const negated = Object.entries<Field>(globalOptions).flatMap(([name, field]) =>
      isNegatable(field) && name !== 'yes' ? [`--no-${flagOf(name, field)}`] : [],
    );
    const request = await read(['license', 'apply', 'x', ...negated]);
    if (!('command' in request)) throw new Error('help');
    expect(typedLine('license apply', request)).toBe(`chatelaine license apply x ${negated.join(' ')}`);
  });
});

describe('the places that print one', () => {
  test('license apply, before anything was sent and after', async () => {
    for (const after of ['GET', 'POST']) {
      const stop = new AbortController();
      const { run } = await openSandbox({
        log: ({ method }) => method === after && stop.abort(new Failure('cancelled', 'interrupted')),
      });
      const home = emptyHome();
      const roster = join(home, 'roster.csv');
      writeFileSync(roster, 'remark\nLogin,size_allowance\nada,4\neva,4\n');
      const options =
        '--header-line 2 --column remote_user=Login --max-create 250 --settle 3s --concurrency 1 --trust-list --allow-similar --keep-columns --timeout 7s --retries 3 --changed';
      const ran = await run(`license apply ${roster} -y ${options}`, { home, interrupt: stop.signal });
      expect([ran.exitCode, ran.stderr]).toEqual([
        130,
        expect.stringContaining(`chatelaine license apply ${roster} ${options}\n`),
      ]);
    }
  });

  test('license apply --write-plan: what the plan does not hold', async () => {
    const { run } = await openSandbox();
    const plan = join(emptyHome(), 'plan.ndjson');
    const options = '--concurrency 2 --settle 3s --timeout 7s';
    const dry = `--header-line 1 --app-code 4711 -n --exit-code -o json --write-plan ${plan}`;
    const ran = await run(`license apply - ${options} ${dry}`, { stdin: 'remote_user,size_allowance\nada,4\n' });
    expect(ran.stderr).toContain(`chatelaine license apply ${options} --plan ${plan}\n`);
  });
});
