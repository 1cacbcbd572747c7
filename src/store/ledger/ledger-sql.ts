/** The first number of every advisory lock of a ledger ("CHtL"); the second is that of a session, or 0 while the schema changes. */
export const lockSpace = 0x4348744c;

/**
 * The first step of a ledger: who creates licenses for which users, on any number of machines. Sessions call the functions alone, which run with the rights of the role that
 * created them, so a role needs no more than USAGE on the schema (docs/exactly-once.md, The shared ledger).
 */
export const firstLedgerSql = `
CREATE SCHEMA IF NOT EXISTS chatelaine;

CREATE TABLE IF NOT EXISTS chatelaine.ledger (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  version integer NOT NULL,
  salt bytea NOT NULL DEFAULT sha256(convert_to(gen_random_uuid()::text || gen_random_uuid()::text, 'UTF8'))
);

-- A session is valid while its connection holds the advisory lock (${lockSpace}, id).
CREATE TABLE IF NOT EXISTS chatelaine.session (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  backend integer NOT NULL,
  host text NOT NULL,
  pid integer NOT NULL,
  remember interval NOT NULL,
  opened timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- A licensing server with the code of an application.
CREATE TABLE IF NOT EXISTS chatelaine.target (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text NOT NULL UNIQUE
);

CREATE TABLE IF NOT EXISTS chatelaine.claim (
  who bytea PRIMARY KEY,    -- the salted hash of a user of a target
  target integer NOT NULL,
  session integer,          -- who holds it; null: nobody
  since timestamptz,
  posted timestamptz,       -- when the last POST ended
  sending timestamptz,      -- a POST is recorded without its end: when it will have ended at the latest
  forget timestamptz        -- when posted may be forgotten
);
CREATE INDEX IF NOT EXISTS claim_session ON chatelaine.claim (session) WHERE session IS NOT NULL;
CREATE INDEX IF NOT EXISTS claim_forget ON chatelaine.claim (forget) WHERE session IS NULL;

-- Gives back what sessions held whose connection has ended. A session that is just being opened is not visible before it holds its lock.
CREATE OR REPLACE FUNCTION chatelaine.sweep(me integer) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, chatelaine, pg_temp AS $$
DECLARE
  dead integer[];
BEGIN
  -- A connection is granted a lock again that it holds itself: that its other session lives is in pg_locks.
  SELECT array_agg(s.id) INTO dead FROM session s WHERE s.id <> me AND CASE
    WHEN s.backend = pg_backend_pid() AND EXISTS (SELECT FROM pg_locks l WHERE l.locktype = 'advisory' AND l.pid = pg_backend_pid()
      AND l.classid = ${lockSpace} AND l.objid = s.id AND l.objsubid = 2) THEN false
    ELSE pg_try_advisory_xact_lock(${lockSpace}, s.id) END;
  IF dead IS NULL THEN RETURN; END IF;
  DELETE FROM claim c WHERE c.session = ANY (dead) AND c.posted IS NULL AND c.sending IS NULL;
  UPDATE claim c SET session = NULL, since = NULL, posted = greatest(c.posted, c.sending), sending = NULL,
    forget = greatest(c.forget, coalesce(c.sending, clock_timestamp()) + s.remember)
    FROM session s WHERE s.id = c.session AND c.session = ANY (dead);
  DELETE FROM session s WHERE s.id = ANY (dead);
END $$;

-- Opens a session for this connection, or makes sure that the connection is still that of the session.
CREATE OR REPLACE FUNCTION chatelaine.enter(asked_version integer, me integer, host text, pid integer, remember_ms float8) RETURNS integer
LANGUAGE plpgsql SET search_path = pg_catalog, chatelaine, pg_temp AS $$
DECLARE
  known integer;
BEGIN
  IF current_setting('synchronous_commit') = 'off' THEN PERFORM set_config('synchronous_commit', 'on', true); END IF;
  SELECT l.version INTO STRICT known FROM ledger l;
  IF known <> asked_version THEN
    RAISE EXCEPTION 'the ledger has version %, and this chatelaine needs version %', known, asked_version
      USING ERRCODE = CASE WHEN known < asked_version THEN 'CH001' ELSE 'CH003' END;
  END IF;
  IF me IS NULL THEN
    PERFORM set_config('tcp_keepalives_idle', '15', false), set_config('tcp_keepalives_interval', '5', false), set_config('tcp_keepalives_count', '3', false);
    INSERT INTO session (backend, host, pid, remember)
      VALUES (pg_backend_pid(), host, pid, remember_ms * interval '1 millisecond') RETURNING id INTO me;
    PERFORM pg_advisory_lock(${lockSpace}, me);
    DELETE FROM claim c WHERE c.who IN
      (SELECT o.who FROM claim o WHERE o.session IS NULL AND o.forget < clock_timestamp() LIMIT 5000 FOR UPDATE SKIP LOCKED);
  ELSIF NOT EXISTS (SELECT FROM session s WHERE s.id = me AND s.backend = pg_backend_pid()) THEN
    RAISE EXCEPTION 'session % does not belong to this connection', me USING ERRCODE = 'CH002';
  END IF;
  RETURN me;
END $$;

-- Claims those of the users that no other session holds. Returns the session, the places of users that others hold with one of the
-- holders, the time, and for claimed users when their last POST ended (later than now: it may run until then), in milliseconds.
CREATE OR REPLACE FUNCTION chatelaine.take(asked_version integer, me integer, host text, pid integer, remember_ms float8, target_name text, users bytea[]) RETURNS json
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, chatelaine, pg_temp AS $$
DECLARE
  salt bytea;
  here integer;
  answer json;
BEGIN
  me := enter(asked_version, me, host, pid, remember_ms);
  PERFORM sweep(me);
  SELECT l.salt INTO STRICT salt FROM ledger l;
  INSERT INTO target (name) VALUES (target_name) ON CONFLICT DO NOTHING;
  SELECT t.id INTO STRICT here FROM target t WHERE t.name = target_name;
  WITH wanted AS MATERIALIZED (
    SELECT u.place - 1 AS place, sha256(salt || u.hash) AS who FROM unnest(users) WITH ORDINALITY AS u (hash, place)
  ), taken AS (
    INSERT INTO claim AS c (who, target, session, since) SELECT w.who, here, me, clock_timestamp() FROM wanted w ORDER BY w.who
    ON CONFLICT (who) DO UPDATE SET session = me, since = clock_timestamp() WHERE c.session IS NULL OR c.session = me
    RETURNING c.who, c.posted
  ), held AS (
    SELECT w.place, w.who FROM wanted w WHERE w.who NOT IN (SELECT t.who FROM taken t)
  )
  SELECT json_build_object(
    'session', me,
    'now', extract(epoch FROM clock_timestamp()) * 1000,
    'posted', (SELECT coalesce(json_agg(json_build_array(w.place, extract(epoch FROM t.posted) * 1000)), '[]')
      FROM wanted w JOIN taken t ON t.who = w.who WHERE t.posted IS NOT NULL),
    'held', (SELECT coalesce(json_agg(h.place), '[]') FROM held h),
    'holder', (SELECT json_build_object('host', s.host, 'pid', s.pid)
      FROM held h JOIN claim c ON c.who = h.who JOIN session s ON s.id = c.session LIMIT 1)
  ) INTO answer;
  RETURN answer;
END $$;

-- Records, right before it is sent, that a POST for each of the users will have ended in so many milliseconds.
CREATE OR REPLACE FUNCTION chatelaine.sending(asked_version integer, me integer, within_ms float8, users bytea[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, chatelaine, pg_temp AS $$
DECLARE
  salt bytea;
  written integer;
BEGIN
  PERFORM enter(asked_version, coalesce(me, 0), '', 0, 0);
  SELECT l.salt INTO STRICT salt FROM ledger l;
  UPDATE claim c SET sending = greatest(c.sending, clock_timestamp() + within_ms * interval '1 millisecond')
    WHERE c.session = me AND c.who IN (SELECT sha256(salt || u.hash) FROM unnest(users) AS u (hash));
  GET DIAGNOSTICS written = ROW_COUNT;
  IF written <> cardinality(users) THEN
    RAISE EXCEPTION 'session % holds % of % users', me, written, cardinality(users) USING ERRCODE = 'CH002';
  END IF;
END $$;

-- Gives users back. A POST that was sent for a user counts as ended now; false: none was sent, or it was refused.
CREATE OR REPLACE FUNCTION chatelaine.release(asked_version integer, me integer, users bytea[], were_sent boolean[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, chatelaine, pg_temp AS $$
DECLARE
  salt bytea;
BEGIN
  PERFORM enter(asked_version, coalesce(me, 0), '', 0, 0);
  SELECT l.salt INTO STRICT salt FROM ledger l;
  WITH back AS MATERIALIZED (
    SELECT sha256(salt || u.hash) AS who, CASE WHEN u.was_sent THEN clock_timestamp() END AS ended
    FROM unnest(users, were_sent) AS u (hash, was_sent)
  )
  UPDATE claim c SET session = NULL, since = NULL, sending = NULL, posted = greatest(c.posted, b.ended),
    forget = greatest(c.posted, b.ended, clock_timestamp()) + (SELECT s.remember FROM session s WHERE s.id = me)
    FROM back b WHERE c.who = b.who AND c.session = me;
  DELETE FROM claim c WHERE c.session IS NULL AND c.posted IS NULL
    AND c.who IN (SELECT sha256(salt || u.hash) FROM unnest(users) AS u (hash));
END $$;

-- The version, and the clock of the database in milliseconds.
CREATE OR REPLACE FUNCTION chatelaine.about() RETURNS json
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, chatelaine, pg_temp AS $$
  SELECT json_build_object('version', l.version, 'now', extract(epoch FROM clock_timestamp()) * 1000) FROM ledger l
$$;

-- What each session holds, without the users.
CREATE OR REPLACE FUNCTION chatelaine.status() RETURNS TABLE (target text, host text, pid integer, state text, since timestamptz, users bigint, sending bigint)
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, chatelaine, pg_temp AS $$
  SELECT t.name, s.host, s.pid,
    CASE WHEN EXISTS (SELECT FROM pg_locks l WHERE l.locktype = 'advisory' AND l.classid = ${lockSpace} AND l.objid = s.id AND l.objsubid = 2
      AND l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())) THEN 'active' ELSE 'ended' END,
    min(c.since), count(*), count(c.sending)
  FROM session s JOIN claim c ON c.session = s.id JOIN target t ON t.id = c.target
  GROUP BY t.name, s.id, s.host, s.pid ORDER BY min(c.since), s.id
$$;
`;
