import { resolve } from 'node:path';
import type { LicensingApi } from '../../api/licensing/licensing.ts';
import { formatDuration } from '../../core/duration.ts';
import { Failure, orWarn, usage } from '../../core/failure.ts';
import { RunState, type GivePorts } from '../../jobs/license/give-ports.ts';
import { formerUsers, type LicenseHistory } from '../../jobs/license/history.ts';
import { Lookups } from '../../jobs/license/lookups.ts';
import { Places } from '../../jobs/license/places.ts';
import type { Rules } from '../../jobs/license/case.ts';
import { flagField, textField, type Fields, type Values } from '../../schema/field.ts';
import { defaultRetries } from '../environment.ts';
import type { LicenseFields } from '../../schema/license.ts';
import type { LicensingCredential } from '../../store/account/credentials.ts';
import type { LicenseWrites } from '../../store/record/joined-writes.ts';
import type { Accounts, Disk, Invocation, Ledgers, Services, Terminal, Time } from '../context.ts';

/** How long a POST may still be processed, unless `--settle` says otherwise. */
const defaultSettle = 5000;

export const settleOptions = {
  settle: {
    kind: 'duration',
    placeholder: 'DURATION',
    rare: 'never-two',
    help: `How long to wait after a lost response before checking whether the license was created; set it to the longest time your server may take, as chatelaine-never-two(7) explains (default: ${formatDuration(defaultSettle)})`,
  },
} as const satisfies Fields;

/** An option of commands that check whether a user, whose name a filter may misread, has another license. */
export const trustOption = {
  trust_list: {
    ...flagField(
      'Treat the list as complete although the server reports no total (needed where it cannot filter by user)',
    ),
    rare: 'never-two',
  },
} as const satisfies Fields;

export const ensuringOptions = {
  ...settleOptions,
  allow_similar: {
    ...flagField('Create a license even if the server lists a similar name, as Ada for ada'),
    rare: 'never-two',
  },
  ...trustOption,
  send_again: {
    ...textField(
      'USER',
      "Request USER's license again, even though an earlier request succeeded but its license never appeared",
    ),
    many: true,
    rare: 'never-two',
  },
} as const satisfies Fields;

type GivingParts = Invocation & Services & Accounts & Terminal & Disk & Ledgers & Time;
type GivenValues = Omit<LicenseFields, 'app_code'> & EnsuringValues & { readonly app_code?: number | undefined };
type AllowedValues = Values<typeof ensuringOptions>;
type EnsuringValues = { readonly [K in keyof AllowedValues]?: AllowedValues[K] | undefined };

/** The rules of those options. @throws Failure usage where `--send-again` names a user of no row */
export function allowedBy(
  { allow_similar, send_again = [] }: EnsuringValues,
  users: readonly string[],
): Pick<Rules, 'similar' | 'sendAgain'> {
  const unknown = send_again.find((user) => !users.includes(user));
  if (unknown !== undefined) throw usage(`--send-again: this command is not about the user '${unknown}'`);
  return { similar: allow_similar ? 'allow' : 'refuse', sendAgain: new Set(send_again) };
}

/** @throws Failure usage where the file that `option` writes is the roster, whose rows would be lost */
export function refuseRoster(option: string, written: string | undefined, roster: string | undefined): void {
  if (written === undefined || roster === undefined || resolve(written) !== resolve(roster)) return;
  throw usage(`${option} names the roster itself`, 'Name another file.');
}

/** The license that a user is to get, and all parts that give it. @throws Failure config as `appCodeOf`; of a ledger */
export async function openGiving(
  { remote_user, size_allowance, app_code: typed, settle, ...allowed }: GivenValues,
  wants: Rules['wants'],
  context: GivingParts,
) {
  const { options, terminal, signal } = context;
  const app_code = await appCodeOf(context, typed);
  const account = await context.licensingAccount({ app_code: typed });
  const asks = wants === 'another license' && terminal.canAsk() && !options.yes;
  const rules: Rules = { ...spansOf(context, settle), ...allowedBy(allowed, [remote_user]), wants, asks };
  const api = context.licensing({ app_code: typed });
  const lookups = openLookups(() => api, { app_code: typed, ...allowed }, context);
  const writing = await openWriting([{ app_code, account }], { rules, lookups, concurrency: 1 }, context);
  const creations = context.ledgers.creations(() => account);
  const origin = context.accounts.identityOf(account);
  const warnOfFormer = async (asked: LicenseFields): Promise<void> => {
    const found = (await orWarn(formerUsers([{ ...asked, origin }], context.record), context.warn)) ?? [];
    for (const text of found) context.warn(`${text}; this creates another license`);
  };
  const one = { rules, concurrency: 1, several: new Map(), state: new RunState(signal) } as const;
  const ports = { ...one, licensing: () => api, lookups, creations, warnOfFormer };
  const giving: GivePorts = { ...context, ...context.clock, ...writing, ...ports };
  return { api, fields: { remote_user, app_code, size_allowance }, giving };
}

/** @param typed the `--app-code` of the run, and `--trust-list` */
export function openLookups(
  licensing: (app_code: number) => LicensingApi,
  {
    app_code: typed,
    trust_list = false,
  }: { readonly app_code?: number | undefined; readonly trust_list?: boolean | undefined },
  { accounts, licensingAccount, clock }: Accounts & Time,
): Lookups {
  const { identityOf, licensingApps } = accounts;
  const isOneOfSeveral = async (app_code: number): Promise<boolean> => {
    const origin = identityOf(await licensingAccount({ app_code: typed, row_app_code: app_code }));
    return (await licensingApps()).some((app) => app.app_code !== app_code && identityOf(app) === origin);
  };
  return new Lookups({ licensing, elapsed: clock.elapsed, trustList: trust_list, isOneOfSeveral });
}

interface WritingHow {
  readonly rules: Pick<Rules, 'settle' | 'retries'>;
  readonly lookups: Lookups;
  readonly concurrency: number;
}

type WritingParts = Disk & Ledgers & Time & Terminal;

/** Opens the record in which the writes to each application's server are settled, and the history of changes. */
export async function openWriting(
  targets: readonly { readonly app_code: number; readonly account: LicensingCredential }[],
  { rules, lookups, concurrency }: WritingHow,
  { ledgers, clock, record, say, warn }: WritingParts,
) {
  const ofServer = new Map<LicenseWrites, Places>();
  const apps = new Map<number, { places: Places; recorder: ReturnType<WritingParts['record']['recorder']> }>();
  for (const { app_code, account } of targets) {
    const store = await ledgers.writes(account, rules.settle);
    const world = { ...clock, ...rules, say, warn, concurrency, isByList: () => lookups.of(app_code).isByList };
    const places = ofServer.get(store) ?? new Places(store, world);
    ofServer.set(store, places);
    apps.set(app_code, { places, recorder: record.recorder(account) });
  }
  const [first] = apps.values();
  const history: LicenseHistory = {
    record: async (event, run) =>
      (await (apps.get(event.app_code ?? NaN) ?? first)?.recorder.record(event, run)) ?? true,
    past: (kind, holding) => record.past(kind, holding),
  };
  return {
    history,
    run: first?.recorder.run ?? '',
    placesOf(app_code: number): Places {
      const own = apps.get(app_code);
      if (own) return own.places;
      throw new Error(`application ${app_code} is not part of this run`);
    },
  };
}

export function spansOf({ options }: Invocation, settle = defaultSettle): Pick<Rules, 'settle' | 'retries'> {
  return { settle, retries: options.retries ?? defaultRetries };
}

/** The code of the application: explicit, else the credential's. @throws Failure config where neither names it */
export async function appCodeOf({ licensingAccount }: Accounts, explicit: number | undefined): Promise<number> {
  const code = explicit ?? (await licensingAccount({ app_code: explicit })).app_code;
  if (code !== undefined) return code;
  throw new Failure('config', 'the code of the application is not known', {
    hint: 'Give --app-code C, or set CHATELAINE_APP_CODE.',
  });
}
