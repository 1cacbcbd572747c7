/** The version that this program works with; 1 and 2 were claims and queues. */
export const ledgerVersion = 3;

/**
 * The tables of a ledger. Who holds a user, and which run lives, is in no table: it is whoever holds the advisory
 * lock of that number (docs/exactly-once.md, The shared ledger).
 */
export const schemaSql = `-- The ledger of chatelaine, version ${ledgerVersion}.
CREATE SCHEMA IF NOT EXISTS chatelaine;

-- What runs sent that is under way, pending or open: a row for each name of a write.
CREATE TABLE chatelaine.write (
  id text NOT NULL,
  exact bytea NOT NULL,        -- the salted hash of the user
  folded bytea NOT NULL,       -- the same of the form that all similar names share
  origin text NOT NULL,        -- the licensing server
  app_code integer NOT NULL,
  run bigint NOT NULL,         -- the run that sent it
  seq bigint GENERATED ALWAYS AS IDENTITY,   -- its place among all attempts
  asked json NOT NULL,
  begun timestamptz NOT NULL DEFAULT clock_timestamp(),
  latest timestamptz NOT NULL, -- when it will have ended at the latest
  state text NOT NULL DEFAULT 'begun',       -- then 'no answer' or 'answered'; what is settled has no row
  ended timestamptz,
  n integer,
  status integer,
  key_end text,
  PRIMARY KEY (id, exact)
);
CREATE INDEX write_folded ON chatelaine.write (folded);
CREATE INDEX write_exact ON chatelaine.write (exact);
CREATE INDEX write_run ON chatelaine.write (run);

-- The runs of a licensing server. A run lives while its connection holds the advisory lock of its key.
CREATE TABLE chatelaine.run (
  key bigint PRIMARY KEY,
  origin text NOT NULL,
  name text NOT NULL,          -- as in the history
  command text NOT NULL,
  host text NOT NULL,
  pid integer NOT NULL,
  backend integer NOT NULL,
  since timestamptz NOT NULL DEFAULT clock_timestamp(),
  begun bigint NOT NULL DEFAULT 0,           -- the seq of its last attempt
  passed bigint NOT NULL DEFAULT 0,          -- the highest seq of what it was answered, or saw carried out
  written timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- What runs did, for people: a row for each name of the user, the new one and the old one.
CREATE TABLE chatelaine.event (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  exact bytea NOT NULL,
  entry json NOT NULL          -- an entry of the history, without names
);
CREATE INDEX event_exact ON chatelaine.event (exact);

-- The process of the database that holds an advisory lock.
CREATE FUNCTION chatelaine.holder(key bigint) RETURNS integer LANGUAGE sql AS $$
  SELECT l.pid FROM pg_locks l WHERE l.locktype = 'advisory' AND l.objsubid = 1 AND l.granted
    AND l.classid = ((key >> 32) & 4294967295)::oid AND l.objid = (key & 4294967295)::oid
    AND l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())
$$;

-- Whether the server may still carry a write out: while its run lives, and then until n times --settle after its end.
CREATE FUNCTION chatelaine.counts(w chatelaine.write) RETURNS boolean LANGUAGE sql AS $$
  SELECT w.state = 'begun' OR (w.state = 'no answer' AND (chatelaine.holder(w.run) IS NOT NULL
    OR clock_timestamp() < w.ended + w.n * (w.asked->>'settle')::float8 * interval '1 millisecond'))
$$;

-- Where the tables are: another server, a replica that took over, a restore to a moment and a dump that was read again are each another place.
CREATE FUNCTION chatelaine.place() RETURNS text LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN concat_ws('/', (SELECT c.system_identifier FROM pg_control_system() c), left(pg_walfile_name(pg_current_wal_insert_lsn()), 8),
    'chatelaine.write'::regclass::oid);
EXCEPTION WHEN OTHERS THEN
  RETURN 'chatelaine.write'::regclass::oid;  -- a provider that keeps these functions from its customers
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

/** One transaction at a time changes the schema. */
export const lockSchemaSql = `SELECT pg_advisory_xact_lock(hashtext('chatelaine'))`;

const now = 'extract(epoch FROM clock_timestamp()) * 1000 AS now';
/** Milliseconds since 1970, or undefined. */
const moment = (column: string): string => `extract(epoch FROM ${column}) * 1000 AS ${column}`;

/** What runs ask the ledger; the simulation knows each by its text. */
export const statements = {
  about: `SELECT l.version, l.salt, ${moment('restored')}, ${now} FROM chatelaine.ledger l`,

  // A machine that vanished is noticed within 30 s, also where the server has sent it an answer.
  settings: `SELECT set_config(s.name, v.value, false) FROM pg_settings s JOIN (VALUES ('tcp_user_timeout', '30000'),
    ('tcp_keepalives_idle', '15'), ('tcp_keepalives_interval', '5'), ('tcp_keepalives_count', '3'), ('idle_session_timeout', '0'),
    ('default_transaction_isolation', 'read committed'), ('synchronous_commit', 'on')) AS v (name, value) USING (name)
    WHERE s.name <> 'synchronous_commit' OR s.setting = 'off'`,

  moved:
    'UPDATE chatelaine.ledger l SET place = chatelaine.place(), restored = clock_timestamp() WHERE l.place <> chatelaine.place()',

  // A name that was given is shown by then; what was not processed, and not sent again, counts for a day.
  forget: `DELETE FROM chatelaine.write w WHERE clock_timestamp() > w.ended + CASE
    WHEN w.state = 'answered' AND w.asked->>'kind' = 'change' THEN (w.asked->>'settle')::float8 * interval '1 millisecond'
    WHEN w.state = 'no answer' AND w.n = 0 THEN interval '1 day' END`,

  // Of runs that have ended and left nothing only those of the last hour tell what passed.
  clean: `DELETE FROM chatelaine.run r WHERE r.since < clock_timestamp() - interval '1 hour' AND chatelaine.holder(r.key) IS NULL
    AND NOT EXISTS (SELECT FROM chatelaine.write w WHERE w.run = r.key)`,

  open: `INSERT INTO chatelaine.run (key, origin, name, command, host, pid, backend) SELECT $1, $2, $3, $4, $5, $6, pg_backend_pid()
    WHERE pg_try_advisory_lock($1)`,

  lock: 'SELECT k.key, pg_try_advisory_lock(k.key) AS taken FROM unnest($1::bigint[]) AS k (key)',

  unlock: 'SELECT pg_advisory_unlock(k.key) FROM unnest($1::bigint[]) AS k (key)',

  holder: `SELECT r.command, r.host, r.pid, ${moment('since')}, r.written::text AS progress FROM chatelaine.run r
    WHERE r.backend = ANY (SELECT chatelaine.holder(k.key) FROM unnest($1::bigint[]) AS k (key)) AND chatelaine.holder(r.key) = r.backend`,

  known: `SELECT u.at, w.id, w.state, w.asked, ${moment('ended')}, w.n, w.status, w.key_end, w.exact = u.exact AS is_exact,
    r.name AS run, r.command, w.run <> $2 AND chatelaine.holder(w.run) IS NULL AS is_dead, ${now}
    FROM unnest($3::integer[], $4::bytea[], $5::bytea[]) WITH ORDINALITY AS u (app_code, exact, folded, at)
    JOIN chatelaine.write w ON w.folded = u.folded AND w.app_code = u.app_code AND w.origin = $1
    JOIN chatelaine.run r ON r.key = w.run ORDER BY w.ended`,

  // Only while this very connection holds the users: one that was renewed, or lent by a pooler, sends nothing.
  begin: `WITH own AS (
      INSERT INTO chatelaine.write AS w (id, exact, folded, origin, app_code, run, asked, latest)
      SELECT u.id, decode(u.exact, 'hex'), decode(u.folded, 'hex'), $2, u.app_code, $1, u.asked, clock_timestamp() + $3 * interval '1 millisecond'
      FROM json_to_recordset($4) AS u (id text, exact text, folded text, app_code integer, asked json, key bigint)
      WHERE chatelaine.holder(u.key) = pg_backend_pid() AND EXISTS (SELECT FROM chatelaine.ledger l WHERE l.version = ${ledgerVersion})
      ON CONFLICT (id, exact) DO UPDATE SET seq = DEFAULT, begun = excluded.begun, latest = excluded.latest, state = 'begun' RETURNING w.seq
    ) UPDATE chatelaine.run r SET begun = greatest(r.begun, (SELECT max(o.seq) FROM own o)), written = clock_timestamp()
      WHERE r.key = $1 RETURNING (SELECT count(*)::integer FROM own) AS written`,

  end: `WITH ended AS (
      UPDATE chatelaine.write w SET state = u."is", ended = clock_timestamp(), n = u.n, status = u.status, key_end = u.key_end
      FROM json_to_recordset($2) AS u (id text, "is" text, n integer, status integer, key_end text)
      WHERE w.id = u.id AND (u."is" = 'answered' OR w.state = 'begun' OR u.n = 0) RETURNING w.seq, u."is"
    ) UPDATE chatelaine.run r SET passed = greatest(r.passed, (SELECT max(e.seq) FROM ended e WHERE e."is" = 'answered')),
      written = clock_timestamp() WHERE r.key = $1`,

  settled: `WITH gone AS (
      DELETE FROM chatelaine.write w USING json_to_recordset($2) AS u (id text, passed boolean) WHERE w.id = u.id RETURNING w.seq, u.passed
    ) UPDATE chatelaine.run r SET passed = greatest(r.passed, (SELECT max(g.seq) FROM gone g WHERE g.passed)), written = clock_timestamp()
      WHERE r.key = $1`,

  // A connection that is gone leaves open whether its process, and the request, live on.
  sweep: `WITH dead AS (
      SELECT w.id, w.exact FROM chatelaine.write w WHERE w.origin = $1 AND w.state = 'begun' AND w.run <> $2
      AND chatelaine.holder(w.run) IS NULL FOR UPDATE SKIP LOCKED
    ), counted AS (SELECT count(DISTINCT w.id) AS n FROM chatelaine.write w WHERE w.origin = $1 AND chatelaine.counts(w))
    UPDATE chatelaine.write w SET state = 'no answer', ended = greatest(clock_timestamp(), w.latest), n = c.n
    FROM dead d, counted c WHERE w.id = d.id AND w.exact = d.exact`,

  counted: `SELECT DISTINCT w.id, (w.asked->>'settle')::float8 AS settle FROM chatelaine.write w
    WHERE w.origin = $1 AND w.run <> $2 AND chatelaine.counts(w)`,

  latest:
    'SELECT max(r.begun) AS begun, max(r.passed) AS passed FROM chatelaine.run r WHERE r.origin = $1 AND r.key <> $2',

  firsts: `SELECT w.id, w.exact, w.app_code, w.status, w.key_end, ${moment('ended')}, r.name AS run, r.command, ${now}
    FROM chatelaine.write w JOIN chatelaine.run r ON r.key = w.run WHERE w.origin = $1 AND w.state = 'answered'
    AND (w.asked->>'isFirst')::boolean AND w.ended > clock_timestamp() - interval '1 day'`,

  close: 'DELETE FROM chatelaine.run r WHERE r.key = $1 AND r.begun = 0',

  tell: 'INSERT INTO chatelaine.event (exact, entry) SELECT u.exact, u.entry::json FROM unnest($1::bytea[], $2::text[]) AS u (exact, entry)',

  told: `SELECT u.at, e.entry FROM unnest($1::bytea[]) WITH ORDINALITY AS u (exact, at) JOIN chatelaine.event e USING (exact) ORDER BY e.id`,

  openAnswers: `SELECT w.origin, w.app_code, w.key_end, ${moment('ended')}, r.name AS run, r.command, r.host
    FROM chatelaine.write w JOIN chatelaine.run r ON r.key = w.run WHERE w.exact = $1 AND w.state = 'answered'
    AND w.asked->>'kind' = 'creation' ORDER BY w.ended`,

  status: `SELECT r.origin, r.command, r.host, r.pid, chatelaine.holder(r.key) IS NOT NULL AS is_active, r.since,
    count(DISTINCT w.id) FILTER (WHERE w.state = 'begun')::integer AS under_way,
    count(DISTINCT w.id) FILTER (WHERE w.state = 'no answer')::integer AS pending,
    count(DISTINCT w.id) FILTER (WHERE w.state = 'answered' AND w.asked->>'kind' = 'creation')::integer AS open
    FROM chatelaine.run r LEFT JOIN chatelaine.write w ON w.run = r.key
    GROUP BY r.key HAVING count(w.id) > 0 OR chatelaine.holder(r.key) IS NOT NULL ORDER BY r.since, r.key`,
} as const;
