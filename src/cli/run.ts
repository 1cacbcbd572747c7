import type { AnyCommand } from '../commands/command.ts';
import { usage } from '../core/failure.ts';
import type { JsonFilter } from '../output/show.ts';
import type { Options } from './accounts.ts';
import { openSession, type Running } from './context.ts';
import { asksForCurl, planColumns, printDry } from './dry-run.ts';
import { fieldCheck } from './fields.ts';
import { looksFor } from './looks.ts';
import { print } from './print.ts';
import type { World } from './world.ts';

/** Runs a command and prints its result, or the requests of its dry run; the exit code. */
export async function runCommand(
  command: AnyCommand,
  values: Readonly<Record<string, unknown>>,
  given: Running,
): Promise<number> {
  const { world, messages } = given;
  const looks = looksFor(command, given.options);
  const options = looks.jq === undefined ? looks : { ...looks, output: 'json' as const };
  const wantsCurl = asksForCurl(options);
  const printsPlan = options.dry_run && (!command.plans || wantsCurl);
  const checkFields = fieldCheck(command, options, printsPlan ? planColumns : []);
  const running = { ...given, options, filter: await filterOf(options, world) };
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
 * The filter of --jq. It runs when the command has done its work, and its expression may never end: a signal ends it.
 * @throws Failure usage for an expression that jq cannot compile
 */
async function filterOf({ jq }: Options, { blocking }: World): Promise<JsonFilter | undefined> {
  if (jq === undefined) return undefined;
  const { openFilter } = await import('../output/jq.ts');
  const filter = await openFilter(jq);
  return (json) => blocking(() => filter(json));
}
