import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { runAlone } from '../helpers/run.ts';

/** A command line with what surrounds it. */
export interface Invocation {
  readonly line: readonly string[];
  readonly stdin: string;
  readonly env: Readonly<Record<string, string>>;
  /** Texts that must not be in the output. */
  readonly secrets: readonly string[];
  /** The server repeats a secret in its answer: on stdout it is data. */
  readonly isEchoed: boolean;
}

interface Ended {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Longer than any run that obeys `--timeout` and `--deadline` takes on a machine that is ten times slower. */
const patience = 120_000;

const documented = [0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 130, 143];

/** Everything that is wrong with how the command line ended; nothing where all is well. */
export async function judge(invocation: Invocation): Promise<string[]> {
  const home = mkdtempSync(join(tmpdir(), 'chatelaine-fuzz-'));
  mkdirSync(join(home, 'tmp'));
  const late = new AbortController();
  try {
    const ended = await Promise.race([
      runAlone(invocation.line, { env: invocation.env, stdin: invocation.stdin, home }),
      sleep(patience, 'late' as const, { signal: late.signal }),
    ]);
    return ended === 'late' ? [`does not end within ${patience / 1000} s`] : wrongsIn(ended, invocation);
  } catch (cause) {
    return [`main rejects: ${cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)}`];
  } finally {
    late.abort();
    rmSync(home, { recursive: true, force: true });
  }
}

function wrongsIn({ exitCode, stdout, stderr }: Ended, { secrets, isEchoed }: Invocation): string[] {
  const wrongs = documented.includes(exitCode) ? [] : [`exit ${exitCode}: ${stderr.slice(0, 600)}`];
  for (const secret of secrets) {
    if (stderr.includes(secret)) wrongs.push(`a secret on stderr: ${around(stderr, secret)}`);
    if (stdout.includes(secret) && !isEchoed) wrongs.push(`a secret on stdout: ${around(stdout, secret)}`);
  }
  return wrongs;
}

function around(text: string, word: string): string {
  const at = text.indexOf(word);
  return text.slice(Math.max(0, at - 80), at + word.length + 40);
}
