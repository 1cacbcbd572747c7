import { Failure } from '../../core/failure.ts';
import { isObject } from '../../core/json.ts';
import { lockSpace, queueSql } from './ledger-queue-sql.ts';
import { ledgerSql } from './ledger-sql.ts';

/** One step of the schema: it brings a ledger of the version before it to its own. */
export interface LedgerStep {
  readonly version: number;
  readonly what: string;
  readonly sql: string;
}

/** All steps from 1 on; a change is a new one at the end, since ledgers exist that a published one created. */
export const ledgerSteps: readonly LedgerStep[] = [
  { version: 1, what: 'sessions, claims, open answers, the history, and the functions that runs call', sql: ledgerSql },
  { version: 2, what: 'the requests that a server may still carry out', sql: queueSql },
];

/** The version that this program works with. */
export const ledgerVersion = ledgerSteps.length;

export type SendStatement = (text: string, values?: readonly unknown[]) => Promise<readonly Record<string, unknown>[]>;

/** The steps that a ledger of that version lacks; 0: there is no ledger. @throws Failure config where it is newer */
function missingSteps(version: number, steps: readonly LedgerStep[]): readonly LedgerStep[] {
  const last = steps.at(-1)?.version ?? 0;
  if (version <= last) return steps.filter((step) => step.version > version);
  throw new Failure('config', `the ledger has version ${version}, and this chatelaine knows version ${last} at most`, {
    hint: 'Upgrade chatelaine on this machine.',
  });
}

/** The version in a database, 0 for none; USAGE is enough. @throws Failure config where a part or the salt is lost */
export async function versionIn(rows: SendStatement): Promise<number> {
  const found = await rows(
    `SELECT relname AS name FROM pg_class WHERE relnamespace = to_regnamespace('chatelaine')
      UNION SELECT proname FROM pg_proc WHERE pronamespace = to_regnamespace('chatelaine')`,
  );
  const there = new Set(found.map(({ name }) => name));
  const hasVersion = there.has('about') && there.has('ledger');
  const version = hasVersion ? Number((await about(rows))['version']) : 0;
  const sql = ledgerSteps.slice(0, Math.max(version, 1)).map((step) => step.sql);
  const created = sql.join('\n').matchAll(/CREATE (?:TABLE|FUNCTION) chatelaine\.(\w+)/g);
  const parts = [...created].map(([, name = '']) => name);
  const missing = parts.filter((name) => !there.has(name));
  if (missing.length === 0 || missing.length === parts.length || version > ledgerVersion) return version;
  throw new Failure('config', `the schema chatelaine was restored in part: it lacks ${missing.join(', ')}`, {
    hint: `Restore the whole schema from a backup. ${withoutBackup}`,
  });
}

const withoutBackup =
  'Without one, and only when no run has been working for --settle and the time limit of a request: ' +
  'DROP SCHEMA chatelaine CASCADE, then chatelaine ledger init.';

async function about(rows: SendStatement): Promise<Readonly<Record<string, unknown>>> {
  const [row] = await rows('SELECT chatelaine.about() AS about');
  if (isObject(row?.['about'])) return row['about'];
  throw new Failure('config', 'the table chatelaine.ledger has lost its only row, and with it the salt of all claims', {
    hint: `Restore that row from a backup. ${withoutBackup}`,
  });
}

/** What users are hashed with. @throws Failure config where there is no ledger, a part of one, or another version */
export async function refuseOtherVersion(rows: SendStatement) {
  await versionIn(rows);
  const { version, salt, targets } = await about(rows);
  if (missingSteps(Number(version), ledgerSteps).length === 0)
    return { salt: Buffer.from(String(salt), 'hex'), targets: Array.isArray(targets) ? targets.map(String) : [] };
  throw new Failure('config', `the ledger has version ${String(version)}, and this chatelaine needs ${ledgerVersion}`, {
    hint: 'Upgrade it, once chatelaine is upgraded on all machines: chatelaine ledger init',
  });
}

/** Brings the ledger to the last step in one transaction; two at once wait for one another. @throws Failure config */
export async function upgradeLedger(
  rows: SendStatement,
  steps: readonly LedgerStep[] = ledgerSteps,
): Promise<'created' | 'upgraded' | 'unchanged'> {
  await rows('BEGIN');
  try {
    await rows(lockSql);
    const version = await versionIn(rows);
    const missing = missingSteps(version, steps);
    for (const step of missing) await rows(sqlOf(step));
    await rows('COMMIT');
    return missing.length === 0 ? 'unchanged' : version === 0 ? 'created' : 'upgraded';
  } catch (cause) {
    if (cause instanceof Failure && !cause.isInterruption) await rows('ROLLBACK').catch(() => undefined);
    throw cause;
  }
}

/** The same as a script to run by hand; it changes nothing where the ledger has another version by then. */
export function upgradeScript(version: number, steps: readonly LedgerStep[] = ledgerSteps): string {
  const missing = missingSteps(version, steps);
  if (missing.length === 0) return `-- The ledger has version ${version}: nothing is to be done.\n`;
  return ['BEGIN;', `${lockSql};`, unchangedSql(version), ...missing.map(sqlOf), 'COMMIT;', ''].join('\n');
}

const lockSql = `SELECT pg_advisory_xact_lock(${lockSpace}, 0)`;

function unchangedSql(version: number): string {
  const isOther =
    version === 0
      ? `to_regclass('chatelaine.ledger') IS NOT NULL`
      : `(SELECT l.version FROM chatelaine.ledger l) <> ${version}`;
  return `DO $$ BEGIN
  IF ${isOther} THEN RAISE EXCEPTION 'the ledger is no longer as it was when this script was written'; END IF;
END $$;`;
}

function sqlOf({ version, what, sql }: LedgerStep): string {
  return `-- The ledger of chatelaine, version ${version}: ${what}.
${sql.trim()}
INSERT INTO chatelaine.ledger (version) VALUES (${version}) ON CONFLICT (only_row) DO UPDATE SET version = excluded.version;`;
}
