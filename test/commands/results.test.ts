import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { expect, onTestFinished, test } from 'vitest';
import { realClock } from '../../src/cli/clock.ts';
import { commandTable } from '../../src/commands/index.ts';
import { Failure } from '../../src/core/failure.ts';
import { needs } from '../helpers/needs.ts';
import { startPostgres } from '../helpers/postgres.ts';
import { openSandbox, runAlone, emptyHome } from '../helpers/run.ts';

/**
 * The JSON Schema of each command's result (`commands -o json`), held to what the command prints against the sandbox.
 */

interface Described {
  readonly name: string;
  readonly result: { readonly type: 'array' | 'object'; readonly items?: object } | null;
}
const ajv = new Ajv({ allErrors: true, strict: true, allowUnionTypes: true, strictRequired: false });

/** Lines of each command, whose results together have every shape; each begins with the command. */
const lines = [
  'license create --remote-user ada --size-allowance 4',
  'license list',
  'license view --remote-user physio-7731',
  'license view CD3AE-2B80E-1662B-2FCA2',
  'license edit CD3AE-2B80E-1662B-2FCA2 --size-allowance 5',
  'license rename physio-7731 physio-7800',
  'license retire 0191A-86552-95939-DF69B --yes',
  'license ensure --remote-user grace --size-allowance 2',
  'license apply HOME/roster.csv --yes',
  'license history',
  'license undo --dry-run',
  'license audit --roster HOME/roster.csv',
  'first-activation D4:22:CD:00:03:01 00:00:00:00:00:01',
  'first-activation audit HOME/sensors.csv',
  'settings set color_scheme=dark',
  'settings list',
  'settings describe color_scheme',
  'messages fetch --channel general',
  'archive pull HOME/kitchen --channel general --both --recheck',
  'archive list HOME',
  'archive verify HOME/kitchen',
  'settings get color_scheme',
  'channel list',
  'topic list general',
  "topic delete general 'who has dock 4?' --confirm 'who has dock 4?'",
  'topic history',
  'topic delete general nothing --missing-ok --confirm nothing',
  'view list',
  'view pin inbox',
  'view hide inbox',
  'snippet list',
  'snippet rm 1',
  'view rename narrow/is/alerted Words',
  'auth import HOME/zuliprc --name team --no-check',
  'auth login licensing --base-url https://licenses.example.com --app-code 1 --name prod --api-key-file HOME/key --no-check',
  'auth use team',
  'auth list',
  'auth token team',
  'auth logout prod --yes',
  'auth status',
  'commands',
  'doctor',
  'doctor --probe',
  'sandbox reset',
];

test('every result that has a schema is one of it', async () => {
  const schemas = await schemasOfCommands();
  const sandbox = await openSandbox();
  const home = emptyHome();
  writeFileSync(join(home, 'roster.csv'), 'remote_user,size_allowance\nlin,4\nphysio-7731,6\n');
  writeFileSync(
    join(home, 'sensors.csv'),
    'mac_address,remote_user\nD4:22:CD:00:03:01,clinic-north/ward-3\nD4:22:CD:00:03:02,physio-7740\n',
  );
  writeFileSync(
    join(home, 'zuliprc'),
    '[api]\nemail=mara@harbour.example\nkey=SandboxKeyOfMara0000000000000000\nsite=https://chat.example.com\n',
    { mode: 0o600 },
  );
  writeFileSync(join(home, 'key'), 'a-key\n', { mode: 0o600 });
  const seen = new Set<string>();
  for (const line of lines) {
    const name =
      commandTable
        .map((command) => command.name)
        .filter((each) => line.startsWith(each))
        .sort((a, b) => b.length - a.length)[0] ?? '';
    const { stdout, stderr } = await sandbox.run(`${line.replaceAll('HOME', home)} -o json`, { home });
    seen.add(name);
    expect.soft(faultsIn(stdout, schemas.get(name)) ?? stderr, `${line}\n${stdout.slice(0, 400)}`).toEqual([]);
  }
  const unseen = [...schemas].filter(([name, schema]) => schema !== null && !seen.has(name));
  // The tests below run these.
  expect(unseen.map(([name]) => name)).toEqual(['ledger init', 'ledger status', 'sandbox serve']);
});

test('what sandbox serve prints is of its schema', async () => {
  const end = new AbortController();
  const written = (): void => end.abort(new Failure('cancelled', 'interrupted'));
  const { stdout } = await runAlone('sandbox serve -o json', { interrupt: end.signal, written });
  expect(faultsIn(stdout, (await schemasOfCommands()).get('sandbox serve')), stdout).toEqual([]);
});

test('the results of a ledger are of their schemas', needs('postgresql'), async () => {
  const cluster = await startPostgres();
  onTestFinished(() => cluster.stop());
  const schemas = await schemasOfCommands();
  const env = { CHATELAINE_LEDGER: cluster.url };
  for (const name of ['ledger init', 'ledger init', 'ledger status']) {
    const { stdout, stderr } = await runAlone(`${name} -o json`, { env, clock: realClock });
    expect(faultsIn(stdout, schemas.get(name)) ?? stderr, stdout).toEqual([]);
  }
});

async function schemasOfCommands(): Promise<ReadonlyMap<string, Described['result']>> {
  const { commands } = JSON.parse((await runAlone('commands -o json')).stdout) as {
    readonly commands: readonly Described[];
  };
  return new Map(commands.map(({ name, result }) => [name, result]));
}

/** What in a result is not of its schema; undefined where there is no result. */
function faultsIn(stdout: string, schema: Described['result'] | undefined): readonly unknown[] | undefined {
  if (stdout === '' || !schema) return undefined;
  return ajv.validate(schema, JSON.parse(stdout)) ? [] : (ajv.errors ?? []);
}
