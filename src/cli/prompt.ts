import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import password from '@inquirer/password';
import { Failure, usage } from '../core/failure.ts';
import { Secret } from '../core/secret.ts';
import { fit, plain } from '../output/plain.ts';
import { lockFolder, withLock } from '../store/lock/lock.ts';
import type { Host, Input } from './host.ts';

/** Asks on standard error and reads the process's terminal: stdout stays data, and so may stdin. */
export function openPrompt(host: Host, interactive: () => boolean, signal: AbortSignal) {
  const line = async (question: string, hint = 'Give it as an option: see --help.'): Promise<string> => {
    if (!interactive()) throw usage(`a question needs an answer, but there is no terminal: ${question}`, hint);
    // The answer begins on the same line.
    const columns = Math.max(0, (host.stderr.columns ?? 0) - 2);
    // The question has a line of its own, below what it is about.
    const shown = fit(plain(question).replace(/\. (?=[^.?]*\?[^.?]*$)/, '.\n'), columns);
    return atTerminal(host, signal, (input) => readLine(input, host, shown, signal));
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
      return atTerminal(host, signal, (input) => readHidden(input, host, plain(question), signal));
    },
  };
}

/** One question at a time, also among the processes of a pipeline: of two that wait for a line, either may get it. */
async function atTerminal<T>(host: Host, signal: AbortSignal, ask: (input: Input) => Promise<T>): Promise<T> {
  const lock = join(await lockFolder(host.system), `terminal-${host.terminal.group}.lock`);
  const askOnce = async (): Promise<T> => {
    const input = host.terminal.open();
    // Windows has standard input itself here.
    return ask(input).finally(() => input !== host.stdin && input.destroy());
  };
  return withLock(lock, host, askOnce, { wait: Infinity, signal, what: 'the terminal' });
}

/** readline's question never settles when its input closes: the closing ends it here. */
async function readLine(input: Input, host: Host, question: string, signal: AbortSignal): Promise<string> {
  const lines = createInterface({ input, output: host.stderr });
  const closed = new AbortController();
  lines.once('close', () => closed.abort(new Failure('cancelled', 'cancelled: no answer')));
  lines.once('SIGINT', () => closed.abort(new Failure('cancelled', 'cancelled by Ctrl-C')));
  const either = AbortSignal.any([signal, closed.signal]);
  try {
    return await lines.question(`${question} `, { signal: either });
  } catch (cause) {
    if (either.aborted) throw either.reason;
    throw cause;
  } finally {
    lines.close();
  }
}

/** The package rejects with an error named …Prompt… on Ctrl-C and on a closed input. */
async function readHidden(input: Input, host: Host, question: string, signal: AbortSignal): Promise<Secret> {
  try {
    const streams = { input, output: host.stderr, signal, clearPromptOnDone: false };
    // The mark of success that it has by default is left out: nobody has looked at the text yet.
    return new Secret(await password({ message: question, mask: false, theme: { prefix: '' } }, streams));
  } catch (cause) {
    if (signal.aborted) throw signal.reason;
    if (cause instanceof Error && /Prompt/.test(cause.name))
      throw new Failure('cancelled', 'cancelled: no answer', { cause });
    throw cause;
  }
}
