import { describe, expect, test } from 'vitest';
import type { LicensingApi } from '../../../src/api/licensing/licensing.ts';
import { Failure } from '../../../src/core/failure.ts';
import { applyRoster } from '../../../src/jobs/roster/apply-roster.ts';
import { rosterOf } from '../../../src/jobs/roster/roster.ts';
import { rosterJournal } from '../../../src/jobs/roster/roster-journal.ts';
import type { AppliedRow, Applying } from '../../../src/jobs/roster/roster-run.ts';

/** A journal whose disk is full after so many records, and a service that remembers. */
function world(room = Infinity, earlier: readonly unknown[] = []) {
  const records: unknown[] = [];
  const licenses: { license_code: string; remote_user: string; app_code: number; size_allowance: number }[] = [];
  const slept: number[] = [];
  const notes: string[] = [];
  const full = new Failure('unavailable', 'disk full: cannot write the journal');
  const journal = rosterJournal({
    records: earlier,
    append: async (record) => {
      if (records.length >= room) throw full;
      records.push(record);
    },
  });
  const unused = (): never => {
    throw new Error('not asked for');
  };
  const api: LicensingApi = {
    create: async (fields) => {
      const license = { license_code: `K-${licenses.length}`, ...fields };
      licenses.push(license);
      return { state: 'confirmed', license: { key: license.license_code, fields: license } };
    },
    async *list({ remote_user } = {}) {
      const found = licenses.filter((license) => remote_user === undefined || license.remote_user === remote_user);
      yield* found.map((fields) => ({ key: fields.license_code, fields }));
    },
    ofUser: unused,
    view: unused,
    replace: unused,
    update: unused,
    firstActivation: unused,
  };
  const applying: Applying = {
    licensing: () => api,
    journal,
    abandoned: false,
    concurrency: 4,
    settle: 5000,
    now: () => 1_000_000,
    sleep: async (span) => void slept.push(span),
    signal: new AbortController().signal,
    note: (text) => void notes.push(text),
    warn: (text) => void notes.push(text),
  };
  return { applying, records, licenses, slept, notes };
}

const rows = Array.from({ length: 40 }, (_, index) => ({
  remote_user: `user-${index}`,
  app_code: 7,
  size_allowance: 4,
}));

async function outcome(applying: Applying): Promise<{ rows: AppliedRow[]; failure: Failure | undefined }> {
  const done: AppliedRow[] = [];
  try {
    for await (const row of applyRoster(rosterOf(rows), applying)) done.push(row);
    return { rows: done, failure: undefined };
  } catch (cause) {
    if (cause instanceof Failure) return { rows: done, failure: cause };
    throw cause;
  }
}

describe('a full disk', () => {
  test.each([0, 1, 2, 7, 20, 41, 60])(
    'after %i records: what was made is told, the rest is not asked for',
    async (room) => {
      const { applying, records, licenses } = world(room);

      const { rows: told, failure } = await outcome(applying);

      expect(failure).toMatchObject({ kind: 'incomplete', message: expect.stringContaining('disk full') as string });
      expect(told.map(({ remote_user }) => remote_user)).toEqual(licenses.map(({ remote_user }) => remote_user));
      expect(told.every(({ status }) => status === 'created')).toBe(true);
      // A license is only asked for once that is on record.
      const asked = (records as { step?: string; remote_user: string }[]).filter(({ step }) => step === 'create');
      expect(asked.map(({ remote_user }) => remote_user)).toEqual(
        expect.arrayContaining(licenses.map(({ remote_user }) => remote_user)),
      );
    },
  );
});

describe('what an earlier run left', () => {
  const step = { remote_user: 'user-3', app_code: 7, step: 'create', time: 990_000 };

  test.each([
    ['nothing', [], []],
    ['a request whose end nobody saw: it may have been sent long after its record', [step], [5000]],
    [
      'a request that ended without an answer 3 s ago',
      [step, { ...step, step: undefined, status: 'unknown', time: 997_000 }],
      [2000],
    ],
    ['one that ended long ago', [step, { ...step, step: undefined, status: 'unknown', time: 1000 }], []],
    ['one that was refused', [step, { ...step, step: undefined, status: 'failed', time: 999_999 }], []],
  ])('%s', async (_what, earlier, waits) => {
    const { applying, slept, licenses } = world(Infinity, earlier);

    const { failure } = await outcome(applying);

    expect({ failure, slept, made: licenses.length }).toEqual({ failure: undefined, slept: waits, made: 40 });
  });

  test('another job that died at work on a row is waited for as well', async () => {
    const { applying, slept } = world();

    await outcome({ ...applying, abandoned: true });

    expect(slept).toEqual([5000]);
  });
});
