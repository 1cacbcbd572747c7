/** The version that this program works with. */
export const ledgerVersion = 4;

/** Writes the ends of what runs that have ended had under way, once, with the n of now. */
const sweep = (
  me: string,
  server: string,
): string => `UPDATE chatelaine.write w SET ended = greatest(clock_timestamp(), w.latest),
    what = json_build_object('is', 'no answer', 'n', (SELECT count(DISTINCT c.id) FROM chatelaine.write c WHERE c.origin = ${server} AND chatelaine.counts(c)))
    FROM (SELECT d.id, d.exact FROM chatelaine.write d WHERE d.origin = ${server} AND d.what IS NULL AND d.run <> ${me}
      AND chatelaine.holder(d.run) IS NULL FOR UPDATE SKIP LOCKED) AS dead WHERE w.id = dead.id AND w.exact = dead.exact`;

/** Milliseconds since 1970, or undefined. */
const moment = (when: string): string => `extract(epoch FROM ${when}) * 1000`;

/**
 * The tables of a ledger. Who holds a user, and which run lives, is in no table: it is whoever holds the advisory
 * lock of that number (docs/exactly-once.md, The shared ledger).
 */
export const schemaSql = `-- The ledger of chatelaine, version ${ledgerVersion}.
CREATE SCHEMA IF NOT EXISTS chatelaine;

-- What runs sent that is under way, pending or open: a row for each name of a write.
CREATE TABLE chatelaine.write (
  id text NOT NULL,
  key bigint NOT NULL,         -- the lock of the user: a salted hash of server, application and the form of all similar names
  exact text NOT NULL,         -- the salted hash of the user
  origin text NOT NULL,        -- the licensing server
  app_code integer NOT NULL,
  run bigint NOT NULL,         -- the run that sent it
  seq bigint GENERATED ALWAYS AS IDENTITY,   -- its place among all attempts
  asked json NOT NULL,
  latest timestamptz NOT NULL, -- when it will have ended at the latest
  what json,                   -- how it ended; NULL: it is under way. What is settled has no row
  ended timestamptz,
  PRIMARY KEY (id, exact)
);
CREATE INDEX write_key ON chatelaine.write (key);
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
  exact text NOT NULL,
  entry json NOT NULL          -- an entry of the history, without names
);
CREATE INDEX event_exact ON chatelaine.event (exact);

CREATE VIEW chatelaine.recorded AS SELECT w.id, w.key, w.exact, w.origin, w.app_code, r.name AS run, r.command, r.host, w.asked, w.what,
  ${moment('w.ended')} AS ended, ${moment('clock_timestamp()')} AS now FROM chatelaine.write w JOIN chatelaine.run r ON r.key = w.run;

-- The process of the database that holds an advisory lock.
CREATE FUNCTION chatelaine.holder(key bigint) RETURNS integer LANGUAGE sql AS $$
  SELECT l.pid FROM pg_locks l WHERE l.locktype = 'advisory' AND l.objsubid = 1 AND l.granted
    AND l.classid = ((key >> 32) & 4294967295)::oid AND l.objid = (key & 4294967295)::oid
    AND l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())
$$;

-- Whether the server may still carry a write out: while its run lives, and then until n times --settle after its end.
CREATE FUNCTION chatelaine.counts(w chatelaine.write) RETURNS boolean LANGUAGE sql AS $$
  SELECT w.what IS NULL OR (w.what->>'is' = 'no answer' AND (chatelaine.holder(w.run) IS NOT NULL
    OR clock_timestamp() < w.ended + (w.what->>'n')::integer * (w.asked->>'settle')::float8 * interval '1 millisecond'))
$$;

-- What is known of these users. A connection that is gone leaves open whether its process, and the request, live on.
CREATE FUNCTION chatelaine.known(me bigint, server text, keys bigint[], users text[])
RETURNS TABLE (at bigint, writes json, told json) LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
  IF EXISTS (SELECT FROM chatelaine.write w WHERE w.key = ANY (keys) AND w.what IS NULL AND w.run <> me AND chatelaine.holder(w.run) IS NULL) THEN
    ${sweep('me', 'server')};
  END IF;
  RETURN QUERY SELECT u.at, (SELECT json_agg(w) FROM chatelaine.recorded w WHERE w.key = u.key),
    (SELECT json_agg(e.entry ORDER BY e.id) FROM chatelaine.event e WHERE e.exact = u.exact)
    FROM unnest(keys, users) WITH ORDINALITY AS u (key, exact, at);
END $$;

-- Gives locks back, and takes others: then what is known of their users. Each statement of it sees what was committed before it.
CREATE FUNCTION chatelaine.take(me bigint, server text, given bigint[], wanted bigint[], keys bigint[], users text[])
RETURNS TABLE (key bigint, at bigint, writes json, told json) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE taken bigint[];
BEGIN
  PERFORM pg_advisory_unlock(g.key) FROM unnest(given) AS g (key);
  SELECT array_agg(w.key) INTO taken FROM unnest(wanted) AS w (key) WHERE pg_try_advisory_lock(w.key);
  RETURN QUERY SELECT keys[k.at], k.* FROM chatelaine.known(me, server, keys, users) AS k WHERE keys[k.at] = ANY (taken);
END $$;

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

/** What runs ask the ledger: each is prepared once in a connection, under its name. */
export const statements = {
  about: `SELECT l.version, l.salt, ${moment('l.restored')} AS restored, ${moment('clock_timestamp()')} AS now FROM chatelaine.ledger l`,

  // A machine that vanished is noticed within 30 s, also where the server has sent it an answer.
  enter: `WITH moved AS (
      UPDATE chatelaine.ledger l SET place = chatelaine.place(), restored = clock_timestamp() WHERE l.place <> chatelaine.place()
    ) SELECT set_config(s.name, v.value, false) FROM pg_settings s JOIN (VALUES ('tcp_user_timeout', '30000'),
    ('tcp_keepalives_idle', '15'), ('tcp_keepalives_interval', '5'), ('tcp_keepalives_count', '3'), ('idle_session_timeout', '0'),
    ('default_transaction_isolation', 'read committed'), ('synchronous_commit', 'on')) AS v (name, value) USING (name)
    WHERE s.name <> 'synchronous_commit' OR s.setting = 'off'`,

  // A name that was given is shown by then; what was not processed, and not sent again, counts for a day. Of runs that
  // have ended and left nothing only those of the last hour tell what passed.
  open: `WITH forgotten AS (
      DELETE FROM chatelaine.write w WHERE clock_timestamp() > w.ended + CASE
      WHEN w.what->>'is' = 'answered' AND w.asked->>'kind' = 'change' THEN (w.asked->>'settle')::float8 * interval '1 millisecond'
      WHEN w.what->>'n' = '0' THEN interval '1 day' END
    ), cleaned AS (
      DELETE FROM chatelaine.run r WHERE r.since < clock_timestamp() - interval '1 hour' AND chatelaine.holder(r.key) IS NULL
      AND NOT EXISTS (SELECT FROM chatelaine.write w WHERE w.run = r.key)
    ), swept AS (${sweep('$1', '$2')})
    INSERT INTO chatelaine.run (key, origin, name, command, host, pid, backend) SELECT $1, $2, $3, $4, $5, $6, pg_backend_pid()
    WHERE pg_try_advisory_lock($1)`,

  take: 'SELECT * FROM chatelaine.take($1, $2, $3, $4, $5, $6)',

  known: 'SELECT * FROM chatelaine.known($1, $2, $3, $4)',

  holder: `SELECT r.command, r.host, r.pid, ${moment('r.since')} AS since, r.written::text AS progress FROM chatelaine.run r
    WHERE r.backend = ANY (SELECT chatelaine.holder(k.key) FROM unnest($1::bigint[]) AS k (key)) AND chatelaine.holder(r.key) = r.backend`,

  // A write begins only while this very connection holds its user: one that a pooler lent sends nothing.
  note: `WITH begun AS (
      INSERT INTO chatelaine.write AS w (id, key, exact, origin, app_code, run, asked, latest)
      SELECT u.id, u.key, u.exact, $2, u.app_code, $1, u.asked, clock_timestamp() + $3 * interval '1 millisecond'
      FROM json_to_recordset($4) AS u (id text, key bigint, exact text, app_code integer, asked json)
      WHERE chatelaine.holder(u.key) = pg_backend_pid() AND EXISTS (SELECT FROM chatelaine.ledger l WHERE l.version = ${ledgerVersion})
      ON CONFLICT (id, exact) DO UPDATE SET seq = DEFAULT, latest = excluded.latest, what = NULL RETURNING w.seq
    ), ended AS (
      UPDATE chatelaine.write w SET what = u.what, ended = clock_timestamp() FROM json_to_recordset($5) AS u (id text, what json)
      WHERE w.id = u.id AND u.what->>'is' IN ('answered', 'no answer') AND (u.what->>'is' = 'answered' OR w.what IS NULL OR u.what->>'n' = '0')
      RETURNING w.seq, u.what->>'is' AS how
    ), settled AS (
      DELETE FROM chatelaine.write w USING json_to_recordset($5) AS u (id text, what json)
      WHERE w.id = u.id AND u.what->>'is' NOT IN ('answered', 'no answer') RETURNING w.seq, u.what->>'is' AS how
    ), told AS (
      INSERT INTO chatelaine.event (exact, entry) SELECT u.exact, u.entry FROM json_to_recordset($6) AS u (exact text, entry json)
    ) UPDATE chatelaine.run r SET begun = greatest(r.begun, (SELECT max(b.seq) FROM begun b)), written = clock_timestamp(), passed = greatest(r.passed,
        (SELECT max(p.seq) FROM (SELECT * FROM ended UNION ALL SELECT * FROM settled) AS p WHERE p.how IN ('answered', 'shown')))
      WHERE r.key = $1 RETURNING (SELECT count(*)::integer FROM begun) AS written`,

  underWay: `WITH swept AS (${sweep('$1', '$2')}) SELECT max(r.begun) AS begun, max(r.passed) AS passed,
    (SELECT json_object_agg(w.id, (w.asked->>'settle')::float8) FROM chatelaine.write w WHERE w.origin = $2 AND w.run <> $1 AND chatelaine.counts(w)) AS counted
    FROM chatelaine.run r WHERE r.origin = $2 AND r.key <> $1`,

  firsts: `SELECT to_json(w) AS write FROM chatelaine.recorded w WHERE w.origin = $1 AND w.what->>'is' = 'answered'
    AND (w.asked->>'isFirst')::boolean AND w.now - w.ended < 86400000`,

  close: 'DELETE FROM chatelaine.run r WHERE r.key = $1 AND r.begun = 0',

  told: `SELECT u.at, e.entry FROM unnest($1::text[]) WITH ORDINALITY AS u (exact, at) JOIN chatelaine.event e USING (exact) ORDER BY e.id`,

  status: `SELECT r.origin, r.command, r.host, r.pid, CASE WHEN chatelaine.holder(r.key) IS NULL THEN 'ended' ELSE 'active' END AS state,
    to_char(r.since AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS since,
    count(DISTINCT w.id) FILTER (WHERE w.what IS NULL)::integer AS under_way,
    count(DISTINCT w.id) FILTER (WHERE w.what->>'is' = 'no answer')::integer AS pending,
    count(DISTINCT w.id) FILTER (WHERE w.what->>'is' = 'answered' AND w.asked->>'kind' = 'creation')::integer AS open
    FROM chatelaine.run r LEFT JOIN chatelaine.write w ON w.run = r.key
    GROUP BY r.key HAVING count(w.id) > 0 OR chatelaine.holder(r.key) IS NOT NULL ORDER BY r.since, r.key`,
} as const;

const names: ReadonlyMap<string, string> = new Map(Object.entries(statements).map(([name, text]) => [text, name]));

/** The name of one of those. */
export function nameOf(text: string): string | undefined {
  return names.get(text);
}
