import { isObject } from '../../core/json.ts';
import type { Milliseconds } from '../../core/duration.ts';
import type { WriteLine } from '../record/run-record.ts';
import type { WritingRun } from '../record/writes.ts';

/** The version that this program works with. */
export const ledgerVersion = 6;

/** Milliseconds since 1970, or undefined. */
const moment = (when: string): string => `extract(epoch FROM ${when}) * 1000`;

/**
 * The tables of a ledger. Who holds a user, and which run lives, is in no table: it is whoever holds the advisory
 * lock of that number (docs/exactly-once.md, The shared ledger).
 */
export const schemaSql = `-- The ledger of chatelaine, version ${ledgerVersion}. One transaction at a time makes it.
SELECT pg_advisory_xact_lock(hashtext('chatelaine'));
CREATE SCHEMA IF NOT EXISTS chatelaine;

-- The runs of a licensing server. A run lives while its connection holds the advisory lock of its key.
CREATE TABLE chatelaine.run (
  key bigint PRIMARY KEY,
  token text NOT NULL,
  origin text NOT NULL,        -- the licensing server
  name text NOT NULL,          -- as in the history
  command text NOT NULL,
  host text NOT NULL,
  pid integer NOT NULL,
  time_limit float8 NOT NULL,  -- so many milliseconds after its line a request has ended at the latest
  since timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- What runs sent that is under way, pending or open, as in the files of a machine: users are salted hashes.
CREATE TABLE chatelaine.line (
  seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  run bigint NOT NULL,
  number integer NOT NULL,     -- the write that it is about
  at timestamptz NOT NULL,
  line json NOT NULL
);
CREATE INDEX line_run ON chatelaine.line (run, seq);

-- What runs did, for people: a row for each name of the user, the new one and the old one.
CREATE TABLE chatelaine.event (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  exact text NOT NULL,         -- the salted hash of the user
  entry json NOT NULL          -- an entry of the history, without names
);
CREATE INDEX event_exact ON chatelaine.event (exact);

-- The advisory locks, and the process of the database that holds each.
CREATE VIEW chatelaine.held AS SELECT (l.classid::bigint << 32) | l.objid::bigint AS key, l.pid FROM pg_locks l
  WHERE l.locktype = 'advisory' AND l.objsubid = 1 AND l.granted
  AND l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database());

-- Records lines and entries, gives locks back, takes others, and then reports what was done for their users, and what other runs have
-- recorded since the last call. A write begins only while this very connection holds its user: one that a pooler lent sends nothing.
CREATE FUNCTION chatelaine.exchange(me bigint, server text, lines json, told json, given bigint[], wanted bigint[], users text[], known json)
RETURNS json LANGUAGE plpgsql AS $$
DECLARE
  mine bigint[] := CASE WHEN json_array_length(lines) > 0 THEN
    (SELECT array_agg(h.key) FROM chatelaine.held h WHERE h.pid = pg_backend_pid()) END;
  written integer;
  taken text[];
BEGIN
  INSERT INTO chatelaine.line (run, number, at, line) SELECT me, u.number, clock_timestamp(), u.line
    FROM json_to_recordset(lines) AS u (number integer, keys bigint[], line json)
    WHERE u.keys IS NULL OR u.keys <@ mine AND EXISTS (SELECT FROM chatelaine.ledger l WHERE l.version = ${ledgerVersion});
  GET DIAGNOSTICS written = ROW_COUNT;
  INSERT INTO chatelaine.event (exact, entry) SELECT u.exact, u.entry FROM json_to_recordset(told) AS u (exact text, entry json);
  PERFORM pg_advisory_unlock(g.key) FROM unnest(given) AS g (key);
  SELECT array_agg(w.key) INTO taken FROM unnest(wanted) AS w (key) WHERE pg_try_advisory_lock(w.key);
  RETURN json_build_object('written', written, 'taken', taken, 'now', ${moment('clock_timestamp()')},
    'told', (SELECT json_agg(json_build_array(e.exact, e.entry) ORDER BY e.id) FROM chatelaine.event e WHERE e.exact = ANY (users)),
    'runs', (SELECT json_agg(json_build_object('token', r.token, 'run', r.name, 'command', r.command, 'limit', r.time_limit,
      'isGone', h.key IS NULL, 'lines', (SELECT json_agg(json_build_array(l.seq, ${moment('l.at')}, l.line) ORDER BY l.seq)
        FROM chatelaine.line l WHERE l.run = r.key AND l.seq > coalesce((known->>r.token)::bigint, 0))))
      FROM chatelaine.run r LEFT JOIN chatelaine.held h ON h.key = r.key WHERE r.origin = server AND r.key <> me));
END $$;

-- Where the tables are: another server, a replica that took over, a restore to a moment and a dump that was read again are each another place.
CREATE FUNCTION chatelaine.place() RETURNS text LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN concat_ws('/', (SELECT c.system_identifier FROM pg_control_system() c), left(pg_walfile_name(pg_current_wal_insert_lsn()), 8),
    'chatelaine.line'::regclass::oid);
EXCEPTION WHEN OTHERS THEN
  RETURN 'chatelaine.line'::regclass::oid;  -- a provider that keeps these functions from its customers
END $$;

CREATE TABLE chatelaine.ledger (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  version integer NOT NULL,
  place text NOT NULL DEFAULT chatelaine.place(),
  restored timestamptz DEFAULT clock_timestamp(),  -- when it was found at another place, or made: what was written last may be missing
  salt bytea NOT NULL DEFAULT sha256(convert_to(gen_random_uuid()::text || gen_random_uuid()::text, 'UTF8'))
);
INSERT INTO chatelaine.ledger (version) VALUES (${ledgerVersion});
`;

/** The SQL of a new ledger, to run by hand. */
export const ledgerScript = `BEGIN;\n${schemaSql}COMMIT;\n`;

/** What runs ask the ledger. */
export const statements = {
  about: `SELECT l.version, l.salt, ${moment('clock_timestamp()')} - ${moment('l.restored')} AS age FROM chatelaine.ledger l`,

  // A machine that vanished is noticed within 30 s, also where the server has sent it an answer.
  enter: `WITH moved AS (
      UPDATE chatelaine.ledger l SET place = chatelaine.place(), restored = clock_timestamp() WHERE l.place <> chatelaine.place()
    ) SELECT set_config(s.name, v.value, false) FROM pg_settings s JOIN (VALUES ('tcp_user_timeout', '30000'),
    ('tcp_keepalives_idle', '15'), ('tcp_keepalives_interval', '5'), ('tcp_keepalives_count', '3'), ('idle_session_timeout', '0'),
    ('default_transaction_isolation', 'read committed'), ('synchronous_commit', 'on')) AS v (name, value) USING (name)
    WHERE s.name <> 'synchronous_commit' OR s.setting = 'off'`,

  open: `INSERT INTO chatelaine.run (key, token, origin, name, command, host, pid, time_limit) SELECT $1, $2, $3, $4, $5, $6, $7, $8
    WHERE pg_try_advisory_lock($1)`,

  exchange: 'SELECT chatelaine.exchange($1, $2, $3, $4, $5, $6, $7, $8)',

  holder: `SELECT r.command, r.host, r.pid, ${moment('r.since')} AS since, (SELECT max(l.seq) FROM chatelaine.line l WHERE l.run = r.key) AS progress
    FROM chatelaine.held h JOIN chatelaine.held own ON own.pid = h.pid JOIN chatelaine.run r ON r.key = own.key WHERE h.key = $1`,

  // A connection that is gone leaves open whether its process, and the request, live on.
  ended: `INSERT INTO chatelaine.line (run, number, at, line)
    SELECT r.key, u.number, greatest(clock_timestamp(), to_timestamp(u.latest / 1000)), u.line
    FROM chatelaine.run r, json_to_recordset($2) AS u (number integer, latest float8, line json) WHERE r.token = $1`,

  remove: `WITH settled AS (DELETE FROM chatelaine.line l USING chatelaine.run r WHERE r.token = $1 AND l.run = r.key)
    DELETE FROM chatelaine.run r WHERE r.token = $1`,

  told: 'SELECT e.entry FROM chatelaine.event e WHERE e.exact = $1 ORDER BY e.id',

  status: `SELECT r.origin, r.command, r.host, r.pid, CASE WHEN h.key IS NULL THEN 'ended' ELSE 'active' END AS state,
    to_char(r.since AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS since,
    count(*) FILTER (WHERE w.last->>'begin' IS NOT NULL)::integer AS under_way,
    count(*) FILTER (WHERE w.last->>'is' = 'no answer')::integer AS pending,
    count(*) FILTER (WHERE w.last->>'is' = 'answered' AND w.is_creation)::integer AS open
    FROM chatelaine.run r LEFT JOIN chatelaine.held h ON h.key = r.key LEFT JOIN LATERAL (
      SELECT (array_agg(l.line ORDER BY l.seq DESC))[1] AS last, bool_or(l.line->'asked'->>'kind' = 'creation') AS is_creation
      FROM chatelaine.line l WHERE l.run = r.key GROUP BY l.number
    ) AS w ON true GROUP BY r.key, h.key
    HAVING h.key IS NOT NULL OR bool_or(w.last->>'begin' IS NOT NULL OR w.last->>'is' IN ('answered', 'no answer')) ORDER BY r.since, r.key`,
} as const;

export type LedgerRow = Readonly<Record<string, unknown>>;

/** What the statement `exchange` returns. */
interface Exchanged {
  readonly written: number;
  readonly taken: readonly string[] | null;
  readonly told: readonly (readonly [exact: string, entry: unknown])[] | null;
  readonly now: Milliseconds;
  readonly runs: readonly RecordedLines[] | null;
}

export interface RecordedLines extends WritingRun {
  readonly token: string;
  readonly limit: Milliseconds;
  readonly isGone: boolean;
  readonly lines: readonly (readonly [seq: number, at: Milliseconds, line: WriteLine])[] | null;
}

export function isExchanged(value: unknown): value is Exchanged {
  return isObject(value) && typeof value['now'] === 'number';
}

/** The number of an advisory lock. */
export function keyOf(hash: string): string {
  return BigInt.asIntN(64, BigInt(`0x${hash.slice(0, 16)}`)).toString();
}
