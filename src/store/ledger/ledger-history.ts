import type { Milliseconds } from '../../core/duration.ts';
import { isObject, writeJson } from '../../core/json.ts';
import type { Clock } from '../../core/system.ts';
import { isEntry, type HistoryEntry } from '../record/history.ts';
import type { OpenAnswer } from '../request-history.ts';

/** The part of the schema that tells what happened, for people: nobody decides by an event. */
export const historySql = `-- What runs did for licenses: a row for each name of the user, the new one and the old one.
CREATE TABLE chatelaine.event (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  who bytea NOT NULL,       -- as in claim
  entry json NOT NULL       -- an entry of the history, without names
);
CREATE INDEX event_who ON chatelaine.event (who);

-- Adds to the history: for each name of a user its hash in base64, the target, and the entry.
CREATE FUNCTION chatelaine.tell(asked_version integer, told json) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, chatelaine, pg_temp AS $$
BEGIN
  PERFORM refuse_other(asked_version);
  INSERT INTO target (name) SELECT DISTINCT e->>1 FROM json_array_elements(told) e
    WHERE NOT EXISTS (SELECT FROM target t WHERE t.name = e->>1) ORDER BY 1 ON CONFLICT DO NOTHING;
  INSERT INTO event (who, entry) SELECT decode(e->>0, 'base64'), e->2 FROM json_array_elements(told) e;
END $$;

-- What runs did for users, the oldest first.
CREATE FUNCTION chatelaine.history(users bytea[]) RETURNS json
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, chatelaine, pg_temp AS $$
  SELECT coalesce(json_agg(e.entry ORDER BY e.id), '[]') FROM event e WHERE e.who = ANY (users)
$$;

-- The open answers of users, whoever holds them; claims nothing.
CREATE FUNCTION chatelaine.open_answers(users bytea[]) RETURNS json
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, chatelaine, pg_temp AS $$
  SELECT coalesce(json_agg(json_build_array(encode(c.who, 'base64'), c.answer)), '[]') FROM claim c
    WHERE c.who = ANY (users) AND c.answer IS NOT NULL
$$;`;

/** Statements that are sent anyway take entries with them; without one, entries wait that long. */
const tellEvery: Milliseconds = 2000;

type WhoIs = (target: string, user: string) => Buffer;

export type ToldHistory = ReturnType<typeof toldHistory>;

/** Entries of this run's history that the ledger has not heard of. After a failure it hears of none. */
export function toldHistory({ elapsed }: Pick<Clock, 'elapsed'>) {
  const waiting = new Map<string, readonly [target: string, entry: HistoryEntry]>();
  let last = elapsed();
  let failure: { readonly cause: unknown } | undefined;
  const refuseUntold = (): void => {
    if (failure) throw failure.cause;
  };
  return {
    /** @throws what kept entries from the ledger */
    refuseUntold,
    /** @returns whether entries have waited for too long @throws as `refuseUntold` */
    add(target: string, entry: HistoryEntry): boolean {
      refuseUntold();
      const { event, time: _, ...change } = entry;
      // What a change came to takes the place of its beginning.
      const kind = event === 'changed' || event === 'refused' ? 'changing' : event;
      waiting.set(writeJson([target, kind, change]), [target, entry]);
      return elapsed() - last > tellEvery;
    },
    isWaiting: () => waiting.size > 0,
    /** `rowsFor`: what `chatelaine.tell` takes. @throws what `send` throws */
    async write(send: (rowsFor: (whoIs: WhoIs) => string) => Promise<unknown>): Promise<void> {
      const entries = [...waiting.values()];
      waiting.clear();
      last = elapsed();
      try {
        await send((whoIs) => writeJson(entries.flatMap(([target, entry]) => rowsOf(target, entry, whoIs))));
      } catch (cause) {
        if (entries.length > 0) failure ??= { cause };
        throw cause;
      }
    },
  };
}

/** A row for each name: null in the place of the name that the row is found by, and `?` in that of the other one. */
function rowsOf(target: string, entry: HistoryEntry, whoIs: WhoIs): readonly unknown[] {
  const { remote_user, remote_user_before: before, ...rest } = entry;
  const row = (name: string, names: object) => [whoIs(target, name).toString('base64'), target, { ...rest, ...names }];
  if (before === undefined) return [row(remote_user, { remote_user: null })];
  return [
    row(remote_user, { remote_user: null, remote_user_before: '?' }),
    row(before, { remote_user: '?', remote_user_before: null }),
  ];
}

/** What the ledger tells of one user: rows of `chatelaine.history`, and open answers by target. */
export function historyIn(
  remote_user: string,
  rows: unknown,
  answers: ReadonlyMap<string, OpenAnswer>,
): HistoryEntry[] {
  const all: readonly unknown[] = Array.isArray(rows) ? rows : [];
  const told = all.flatMap((stored): HistoryEntry[] => {
    if (!isObject(stored)) return [];
    const entry = Object.fromEntries(Object.entries(stored).map(([name, value]) => [name, value ?? remote_user]));
    return isEntry(entry, 'remote_user') ? [entry] : [];
  });
  const isTold = ({ key_end }: OpenAnswer) => told.some(({ license_code_end }) => license_code_end === key_end);
  const open = [...answers].flatMap(([target, answer]): HistoryEntry[] => {
    if (isTold(answer)) return [];
    const [origin = '', app_code] = target.split(' ');
    const who = { run: '', account: '', computer: '', command: '', origin, app_code: Number(app_code), remote_user };
    return [{ ...who, event: 'unknown', time: new Date(answer.time).toISOString(), license_code_end: answer.key_end }];
  });
  return [...told, ...open];
}
