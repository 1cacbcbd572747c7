import { parse as parseCsv } from 'csv-parse/sync';
import { parse as parseYaml } from 'yaml';
import { faultKinds, type FaultKind, readFaults } from '../../src/sandbox/faults.ts';
import { startSandbox, type Sandbox } from '../helpers/sandbox.ts';
import type { LogEntry } from '../../src/sandbox/serve.ts';
import { realAlarm } from '../../src/cli/clock.ts';
import type { Alarm } from '../../src/core/system.ts';
import { runAgainst, type Ran } from '../helpers/run.ts';
import { linkedClocks } from '../helpers/clock.ts';

export const allFaults = Object.keys(faultKinds) as FaultKind[];

/** A command line whose requests are disturbed. */
export interface Attempt {
  /** `{origin}` is replaced by the sandbox's own. */
  readonly line: string;
  readonly stdin?: string;
  /** As after `sandbox serve --fault`. */
  readonly faults: string;
  readonly seed?: number;
  readonly format?: string;
  readonly home: string;
}

export interface Came {
  readonly ran: Ran;
  readonly log: readonly LogEntry[];
  readonly slept: readonly number[];
  readonly sandbox: Sandbox;
  /** What no fault may ever bring about; empty when all is well. */
  readonly wrongs: readonly string[];
}

/** Runs a command against a sandbox of its own that shares its time. */
export async function attempt({ line, stdin, faults, seed = 1, format = 'json', home }: Attempt): Promise<Came> {
  const clock = linkedClocks();
  const log: LogEntry[] = [];
  const hanging = timeoutsOfHanging();
  const sandbox = await startSandbox({
    clock: clock.sandbox,
    faults: readFaults(faults, seed),
    log: (entry) => {
      log.push(entry);
      if (entry.fault?.startsWith('hang')) hanging.add();
    },
  });
  try {
    const timeout = /hang/.test(faults) ? ' --timeout 1h --retries 1' : '';
    const ran = await runAgainst(sandbox, `${line.replace('{origin}', sandbox.chat.site)} -o ${format}${timeout}`, {
      home,
      clock: clock.client,
      alarm: hanging.alarm,
      bodyLimit: 1_000_000,
      ...(stdin === undefined ? {} : { stdin }),
    });
    await sandbox.close();
    const wrongs = [...wrongOutput(ran, format), ...twins(sandbox)];
    return { ran, log, slept: clock.slept, sandbox, wrongs };
  } finally {
    await sandbox.close();
  }
}

/** Time-outs ring as soon as no request is open but those that hang, whatever the machine has to do beside. */
function timeoutsOfHanging(): { readonly alarm: Alarm; readonly add: () => void } {
  const open = new Set<() => void>();
  let hanging = 0;
  const ring = (): void => {
    if (hanging === 0 || open.size > hanging) return;
    hanging = 0;
    for (const each of [...open]) each();
  };
  return {
    alarm: (span, late) => {
      if (!timeouts.includes(span)) return realAlarm(span, late);
      open.add(late);
      return () => {
        open.delete(late);
        ring();
      };
    },
    add: () => {
      hanging += 1;
      ring();
    },
  };
}

/** That of attempts, and that of the question for the feature level. */
const timeouts: readonly number[] = [3_600_000, 3000];

/** stdout is empty or a whole document; stderr ends with one JSON error exactly when the exit code is that of one. */
function wrongOutput({ exitCode, stdout, lines, error }: Ran, format: string): string[] {
  const wrongs: string[] = [];
  if (exitCode === 1) wrongs.push(`a bug: ${lines.join(' | ')}`);
  if (stdout !== '' && !isDocument(stdout, format)) wrongs.push(`not ${format}: ${stdout}`);
  const system = format === 'json' || format === 'ndjson';
  if (system && !lines.every(isJsonOrNote)) wrongs.push(`stderr: ${lines.join(' | ')}`);
  const wanted = exitCode === 0 || exitCode === 10 ? undefined : exitCode;
  if (system && error?.exit !== wanted) wrongs.push(`exit ${exitCode}, and the error says ${String(error?.exit)}`);
  return wrongs;
}

function isJsonOrNote(line: string): boolean {
  return !line.startsWith('{') || isDocument(line, 'json');
}

function isDocument(text: string, format: string): boolean {
  try {
    if (format === 'json') return typeof JSON.parse(text) === 'object';
    if (format === 'ndjson')
      return text
        .trimEnd()
        .split('\n')
        .every((line) => isDocument(line, 'json'));
    if (format === 'csv') parseCsv(text);
    if (format === 'yaml') parseYaml(text);
    if (format === 'tsv')
      return (
        new Set(
          text
            .trimEnd()
            .split('\n')
            .map((line) => line.split('\t').length),
        ).size === 1
      );
    return text.endsWith('\n');
  } catch (cause) {
    if (cause instanceof Error) return false;
    throw cause;
  }
}

/** Users with more than one license of an application: the sample has none. */
export function twins({ state }: Pick<Sandbox, 'state'>): string[] {
  const seen = new Set<string>();
  return state.licenses().flatMap(({ remote_user, app_code }) => {
    const key = `${app_code} ${remote_user}`;
    if (seen.has(key)) return [`two licenses: ${key}`];
    seen.add(key);
    return [];
  });
}
