import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { Failure, usage, orAborted } from '../core/failure.ts';
import { withoutKeys, type Alarm, type Environment } from '../core/system.ts';

interface FilterLimits {
  readonly signal: AbortSignal;
  readonly alarm: Alarm;
  readonly env: Environment;
}

/**
 * Compiles a jq expression. The filter, a thread, writes each result on a line: strings raw, the rest as compact JSON.
 * @throws Failure usage where it does not compile; the filter Failure rejected, or the signal's reason
 */
export async function openFilter(expression: string, ending: FilterLimits, mostBytes = 256 * 1024 * 1024) {
  // A line that gives the expression its environment, if it uses that, without our keys.
  const environment = () => `${JSON.stringify(withoutKeys(ending.env))} as $ENV | def env: $ENV;\n`;
  const preamble = /env\b/i.test(expression) ? environment() : '';
  const worker = new Worker(join(__dirname, 'jq-worker.cjs'), {
    workerData: { expression: preamble + expression, mostBytes },
    resourceLimits: { maxOldGenerationSizeMb },
    // Captures what WebAssembly prints when it aborts, which is no message for users.
    stderr: true,
  });
  // Nothing is evaluated without an input, so an endless expression does not hang here.
  const compiled = await answerOf(worker, '', ending);
  if (compiled.exitCode !== 0) {
    const problems = problemsIn(compiled.stderr).replace(/, line (\d+)/g, (place, line) =>
      preamble === '' ? place : `, line ${Number(line) - 1}`,
    );
    throw usage(`--jq: ${problems}`, 'It uses the syntax of jq 1.8.');
  }
  return async (json: string) => {
    const { stdout, stderr, exitCode } = await answerOf(worker, json, ending).catch(throwLate);
    const raw = (line: string): string => `${line.startsWith('"') ? String(JSON.parse(line)) : line}\n`;
    if (exitCode === 0) return stdout === '' ? '' : stdout.split('\n').map(raw).join('');
    await worker.terminate();
    throw filterFailure(problemsIn(stderr));
  };
}

const tooMuch = 'the expression needs too much memory';

/** Megabytes of results that the thread holds; jq itself has at most 256 MiB, a limit of its WebAssembly. */
const maxOldGenerationSizeMb = 512;

/** Milliseconds that an expression still gets where the command was ended before. */
const moment = 200;

type JqAnswer = Readonly<Record<'stdout' | 'stderr', string>> & { readonly exitCode: number };

async function answerOf(worker: Worker, json: string, { signal, alarm }: FilterLimits): Promise<JqAnswer> {
  const answer = new Promise<JqAnswer>((resolve, reject) => {
    worker.removeAllListeners().once('message', resolve);
    worker.once('error', (cause: NodeJS.ErrnoException) => {
      if (cause.code === 'ERR_WORKER_OUT_OF_MEMORY') resolve({ stdout: '', stderr: tooMuch, exitCode: 5 });
      else reject(cause);
    });
  });
  worker.ref();
  worker.postMessage(json);
  try {
    return await orAborted(answer, signal, (ring) => alarm(moment, ring));
  } catch (cause) {
    await worker.terminate();
    throw cause;
  } finally {
    // An idle thread does not keep the process alive.
    worker.unref();
  }
}

/** Makes a failure of the filter of a deadline that ends the expression: the command itself has its result. */
function throwLate(cause: unknown): never {
  if (!(cause instanceof Failure) || cause.isInterruption) throw cause;
  throw filterFailure(`the expression did not end: ${cause.message}`);
}

function filterFailure(problem: string): Failure {
  return new Failure('rejected', `--jq: ${problem}`, {
    hint: 'If the command makes changes, they are made: -o json shows its result. jq gets a list as one array.',
    retryable: false,
  });
}

/** jq's own words, without the excerpts of the expression: it may hold what must not be repeated. */
function problemsIn(stderr: string): string {
  const problems = stderr.split('\n').flatMap((line) => /^jq: error(?: \(at [^)]*\))?: (.*?):?$/.exec(line)?.[1] ?? []);
  return (problems.join('; ') || stderr).replace(/\("[^"]{20,}"\)|"[^"]{20,}"/g, '"…"');
}
