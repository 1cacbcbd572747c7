import { loadJq } from 'jq-wasm';
import { Failure, usage } from '../core/failure.ts';
import type { JsonFilter } from './presentation.ts';

/**
 * Compiles a jq expression without running it. The filter takes the text of a JSON document and gives each result on a line:
 * strings raw, anything else as compact JSON; numbers keep their digits.
 * @throws Failure usage for an expression that jq cannot compile; the filter throws Failure rejected where it fails on the document,
 * since the command has done its work by then
 */
export async function openFilter(expression: string): Promise<JsonFilter> {
  const jq = await loadJq();
  const run = (json: string): { stdout: string; stderr: string; exitCode: number } => jq.raw(json, expression, flags);
  // Without an input nothing is evaluated, so an expression that never ends does not end here.
  const compiled = run('');
  if (compiled.exitCode !== 0) throw usage(`--jq: ${problemsIn(compiled.stderr)}`, 'The language is that of jq 1.8.');
  return (json) => {
    const { stdout, stderr, exitCode } = run(json);
    if (exitCode === 0) return stdout === '' ? '' : stdout.split('\n').map(lineOf).join('');
    throw new Failure('rejected', `--jq: ${problemsIn(stderr)}`, {
      hint: 'What the command did stays done. Look at its result with -o json.',
      retryable: false,
    });
  };
}

/** The expression follows, and is no option even if it begins with a dash. Not raw: jq-wasm cuts blanks and empty lines off at both ends. */
const flags = ['-c', '--'];

function lineOf(json: string): string {
  const text: unknown = json.startsWith('"') ? JSON.parse(json) : json;
  return `${String(text)}\n`;
}

/** jq's own words, without the excerpts of the expression: it may hold what must not be repeated. */
function problemsIn(stderr: string): string {
  const problems = stderr.split('\n').flatMap((line) => /^jq: error(?: \(at [^)]*\))?: (.*?):?$/.exec(line)?.[1] ?? []);
  return problems.join('; ') || stderr;
}
