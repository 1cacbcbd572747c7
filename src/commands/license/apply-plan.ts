import { Failure, usage } from '../../core/failure.ts';
import { isOpen, severalWarning } from '../../jobs/license/decide.ts';
import {
  changesIn,
  creationsIn,
  dryRow,
  planInWords,
  planRequests,
  twinsIn,
  type DryRow,
  type Plan,
  type Planning,
} from '../../jobs/license/plan-roster.ts';
import type { LicenseFields } from '../../schema/license.ts';
import type { CheckedRoster } from '../../store/roster/read-roster.ts';
import type { Invocation, Terminal } from '../context.ts';
import { inTargets, type Target } from './target.ts';

/** A roster, and how it is to be applied. What was answered before is known once it is planned. */
export interface Job extends Omit<Planning, 'answerOf'> {
  readonly roster: CheckedRoster<LicenseFields>;
  /** As it was typed; `-` is standard input. */
  readonly file: string;
  readonly targets: readonly Target[];
  readonly values: {
    readonly app_code?: number | undefined;
    readonly input_format?: string | undefined;
    readonly size_allowance?: number | undefined;
    readonly journal?: string | undefined;
    readonly settle?: number | undefined;
    readonly max_create?: number | undefined;
    readonly exit_code?: boolean | undefined;
  };
}

/** Where the roster came from, for errors. */
function placeOf({ file }: Pick<Job, 'file'>): string {
  return file === '-' ? 'standard input' : file;
}

/**
 * The rows of a dry run, with a warning for each user who has several licenses; with -o curl there are none, and its requests are noted.
 * @throws Failure incomplete where a row cannot be applied; differences where they were asked for
 */
export async function* planned(
  plan: Plan,
  job: Job,
  { conclude, warn, options }: Pick<Terminal, 'conclude' | 'warn'> & Pick<Invocation, 'options'>,
): AsyncGenerator<DryRow> {
  refusePlan(plan, job);
  if (options.output === 'curl') await planRequests(plan, job);
  else
    for (const one of plan.rows) {
      if ('license' in one.decision && one.decision.licenses.length > 1) warn(severalWarning(one.row));
      yield dryRow(one);
    }
  conclude(`${planInWords(plan)} on ${inTargets(job.targets)}`);
  const refused = plan.rows.flatMap(({ decision }) => (decision.step === 'refused' ? [decision] : []));
  if (refused.length > 0) {
    const { hint } = refused.find(isOpen)?.failure.details ?? {};
    throw new Failure('incomplete', `${refused.length} of ${plan.rows.length} rows cannot be applied`, { hint });
  }
  const changes = changesIn(plan);
  if (job.values.exit_code && changes > 0) throw new Failure('differences', `${changes} licenses would change`);
}

/**
 * Refuses a plan that is probably not meant: it creates more than `--max-create`, or a user whose name differs from another one of the
 * roster only by case, runs of blanks, Unicode form or leading zeros.
 * @throws Failure usage
 */
export function refusePlan(plan: Plan, job: Job): void {
  const { roster, values, similar } = job;
  const { max_create = Infinity } = values;
  const creations = creationsIn(plan);
  if (creations > max_create)
    throw usage(`${creations} licenses would be created, and --max-create is ${max_create}; nothing was changed`);
  const twins = similar === 'allow' ? [] : twinsIn(plan);
  if (twins.length === 0) return;
  const places = new Map(roster.rows.map((row, index) => [row, roster.lines[index] ?? 0]));
  const lines = twins.slice(0, maxTwins).map(([later, earlier]) => {
    const [line, first] = [places.get(later) ?? 0, places.get(earlier) ?? 0];
    return `${placeOf(job)}:${line}: user '${later.remote_user}' is like '${earlier.remote_user}' on line ${first}`;
  });
  const rest = twins.length - lines.length;
  throw usage(
    rest > 0 ? [...lines, `and ${rest} more`] : lines,
    'If these are two users each, repeat with --allow-similar. Nothing was changed.',
  );
}

const maxTwins = 20;
/** What spreadsheets make of long numbers, of what looks like a day and a month, and of a formula that fails; what stands below a list. */
const spreadsheetName =
  /^\d([.,]\d+)?E\+?\d+$|^\d{1,2}[-.][A-Z][a-z]{2}\.?$|^[A-Z][a-z]{2}-\d{2}$|^#[A-Z/0]+[!?]?$|^(Grand |Sub)?(Total|TOTAL|Summe|SUMME|Gesamt|GESAMT|Somme|SOMME)$/;
const maxNames = 3;

/** Warns of names that look as if a spreadsheet had written them. */
export function warnOfNames(job: Pick<Job, 'roster' | 'file'>, warn: (text: string) => void): void {
  const { rows, lines } = job.roster;
  const found = rows.flatMap(({ remote_user }, index) =>
    spreadsheetName.test(remote_user) ? [`'${remote_user}' (line ${lines[index] ?? '?'})`] : [],
  );
  if (found.length === 0) return;
  const rest = found.length > maxNames ? ` and ${found.length - maxNames} more` : '';
  warn(
    `${placeOf(job)}: ${found.slice(0, maxNames).join(', ')}${rest} may be no names of users: a spreadsheet writes such texts`,
  );
}
