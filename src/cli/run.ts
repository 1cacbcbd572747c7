import type { AnyCommand } from '../commands/command.ts';
import { usage } from '../core/failure.ts';
import type { JsonFilter } from '../output/show.ts';
import type { Options } from './accounts.ts';
import { openSession, type Running } from './context.ts';
import { asksForCurl, planColumns, printDry } from './dry-run.ts';
import { fieldCheck } from './fields.ts';
import { print } from './print.ts';

/** Runs a command and prints its result, or the requests of its dry run; the exit code. */
export async function runCommand(
  command: AnyCommand,
  values: Readonly<Record<string, unknown>>,
  given: Running,
): Promise<number> {
  const { world, messages } = given;
  const { jq: _jq, ...others } = given.options;
  const jq = filterFor(command, given.options);
  const asked = jq === undefined ? others : { ...others, jq, output: 'json' as const };
  const options = command.show?.alwaysQuiet ? keyAlone(command.name, asked) : asked;
  const wantsCurl = asksForCurl(options);
  const printsPlan = options.dry_run && (!command.plans || wantsCurl);
  const checkFields = fieldCheck(command, options, printsPlan ? planColumns : []);
  const running = { ...given, options, filter: await filterOf(options) };
  if (options.sandbox && world.machine.env['CHATELAINE_SANDBOX'])
    messages.warn('CHATELAINE_SANDBOX is set: running against the embedded sandbox');
  if (options.sandbox && options.profileTyped) throw usage('--sandbox and --profile exclude each other');
  if (command.fieldsFromFile === undefined || values[command.fieldsFromFile] !== true) checkFields([]);
  const session = openSession(running, checkFields);
  try {
    const outcome = command.run(values, session.context);
    await (printsPlan ? printDry(outcome, command, session.planned, running) : print(outcome, command, running));
    return 0;
  } finally {
    for (const line of session.conclusions) messages.note(line);
    await session.close();
  }
}

/**
 * The expression of --jq. A text that is not JSON has none: one in the environment, which holds for all commands, is ignored.
 * @throws Failure usage where it was typed
 */
function filterFor({ name, show }: AnyCommand, { jq, typedLooks }: Options): string | undefined {
  if (!show?.text || show.filterable) return jq;
  if (typedLooks.includes('jq')) throw usage(`${name} prints a text as it is: --jq does not apply`, 'Leave it out.');
  return undefined;
}

/** @throws Failure usage for an expression that jq cannot compile */
async function filterOf({ jq }: Options): Promise<JsonFilter | undefined> {
  if (jq === undefined) return undefined;
  const { openFilter } = await import('../output/jq.ts');
  return openFilter(jq);
}

/**
 * A command that prints its key alone has no columns: they are ignored where the environment asks for them.
 * @throws Failure usage where they were typed
 */
function keyAlone(name: string, options: Options): Options {
  const isWhole = ['json', 'ndjson', 'yaml', 'curl'].includes(options.output ?? '');
  const typed = options.typedLooks.find((look) => look === 'fields' || !isWhole);
  if (typed !== undefined)
    throw usage(
      `${name} prints the key alone: --${typed} ${(typed === 'fields' ? options.fields : options.output) ?? ''} does not apply`,
      'Leave it out, or choose -o json, ndjson or yaml for the whole license.',
    );
  const { fields: _ignored, ...others } = options;
  return others;
}
