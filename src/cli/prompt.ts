import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { PassThrough } from 'node:stream';
import { Failure, orAborted, usage } from '../core/failure.ts';
import { Secret } from '../core/secret.ts';
import { fit, plain } from '../output/plain.ts';
import { lockFolder, withLock } from '../store/lock/lock.ts';
import type { Host, Input, Output } from './host.ts';

/** Asks on standard error and reads the process's terminal: stdout stays data, and so may stdin. */
export function openPrompt(host: Host, interactive: () => boolean, signal: AbortSignal) {
  const line = async (question: string, hint = 'Give it as an option: see --help.'): Promise<string> => {
    if (!interactive()) throw usage(`a question needs an answer, but there is no terminal: ${question}`, hint);
    // Two columns are left for the answer, which begins on the same line.
    const columns = Math.max(0, (host.stderr.columns ?? 0) - 2);
    // The question gets a line of its own, below the sentences before it.
    const shown = fit(plain(question).replace(/\. (?=[^.?]*\?[^.?]*$)/, '.\n'), columns);
    return atTerminal(host, signal, (input, ended) => readLine(input, host.stderr, shown, ended));
  };
  return {
    line,
    /** @throws Failure cancelled on anything but yes */
    async confirm(question: string): Promise<void> {
      const answer = await line(`${question} [y/N]`, 'To agree, add --yes.');
      if (!/^y(es)?$/i.test(answer.trim())) throw new Failure('cancelled', 'cancelled: nothing was changed');
    },
    async hidden(question: string): Promise<Secret> {
      if (!interactive())
        throw usage(
          `the ${question.replace(/:$/, '')} is needed, but there is no terminal to ask for it`,
          'Give a key with --api-key-stdin or --api-key-file, a password of settings set with --from FILE.',
        );
      return atTerminal(host, signal, async (input, ended) => {
        const typed = readLine(input, new PassThrough().resume(), '', ended);
        host.stderr.write(`${plain(question)} `);
        return new Secret(await typed.finally(() => host.stderr.write('\n')));
      });
    },
  };
}

/** Reads an answer until the signal aborts. */
type ReadAnswer<T> = (input: Input, ended: AbortSignal) => Promise<T>;

/** Asks one question at a time, also among the processes of a pipeline: of two readers, either may get the line. */
async function atTerminal<T>(host: Host, signal: AbortSignal, ask: ReadAnswer<T>): Promise<T> {
  const lock = join(await lockFolder(host.system), `terminal-${host.terminal.group}.lock`);
  const askOnce = async (): Promise<T> => {
    const stopped = new AbortController();
    const input = host.terminal.open(() => stopped.abort());
    try {
      return await ask(input, AbortSignal.any([signal, stopped.signal]));
    } catch (cause) {
      if (signal.aborted || !stopped.signal.aborted) throw cause;
    } finally {
      // On Windows the input is standard input itself, which stays open.
      if (input !== host.stdin) input.destroy();
    }
    // After a stop readline reads nothing, and the shell has changed the terminal's modes: the question is repeated.
    return askOnce();
  };
  return withLock(lock, host, askOnce, { wait: Infinity, signal, what: 'the terminal' });
}

/** Ends the question when the input closes: the promise of readline would never settle. */
async function readLine(input: Input, output: Output, question: string, signal: AbortSignal): Promise<string> {
  const lines = createInterface({ input, output, terminal: true });
  const closed = new AbortController();
  lines.once('close', () => closed.abort(new Failure('cancelled', 'cancelled: no answer')));
  lines.once('SIGINT', () => closed.abort(new Failure('cancelled', 'cancelled by Ctrl-C')));
  const either = AbortSignal.any([signal, closed.signal]);
  const answer = lines.question(`${question} `, { signal: either });
  return orAborted(answer, either).finally(() => lines.close());
}
