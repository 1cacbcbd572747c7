import { historySql } from './ledger-history.ts';
import { definer, lockSpace, sweepSql } from './ledger-queue-sql.ts';

/**
 * Who creates licenses for which users, on any number of machines. Sessions call the functions alone, which run with
 * the rights of the role that created them: a role needs only USAGE (docs/exactly-once.md, The shared ledger).
 * Why there is no deadlock: a transaction waits only while it inserts missing users, in the order of `who`, and until
 * then it has locked nothing but such users. Every other row that it locks is of its own session, of an ended session
 * that it alone sweeps, or free and skipped where another one has it.
 */
export const ledgerSql = `
CREATE SCHEMA IF NOT EXISTS chatelaine;

-- Where the claims are. Another server, a replica that took over, a restore to a moment and a dump that was read again are each another place.
CREATE FUNCTION chatelaine.place() RETURNS text
LANGUAGE plpgsql SET search_path = pg_catalog, chatelaine, pg_temp AS $$
BEGIN
  RETURN concat_ws('/', (SELECT c.system_identifier FROM pg_control_system() c), left(pg_walfile_name(pg_current_wal_insert_lsn()), 8), 'claim'::regclass::oid);
EXCEPTION WHEN OTHERS THEN
  RETURN 'claim'::regclass::oid;  -- a provider that keeps these functions from its customers
END $$;

CREATE TABLE chatelaine.ledger (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  version integer NOT NULL,
  place text NOT NULL DEFAULT chatelaine.place(),
  restored timestamptz,     -- when a session found it at another place: what was committed last may be missing
  salt bytea NOT NULL DEFAULT sha256(convert_to(gen_random_uuid()::text || gen_random_uuid()::text, 'UTF8'))
);

-- A session is valid while its connection holds the advisory lock (${lockSpace}, id).
CREATE TABLE chatelaine.session (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  backend integer NOT NULL,
  host text NOT NULL,
  pid integer NOT NULL,
  remember interval NOT NULL,
  opened timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- A licensing server with the code of an application.
CREATE TABLE chatelaine.target (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text NOT NULL UNIQUE
);

CREATE TABLE chatelaine.claim (
  who bytea PRIMARY KEY,    -- the salted hash of a user of a target
  target integer NOT NULL,
  session integer,          -- who holds it; null: nobody
  since timestamptz,
  posted timestamptz,       -- when the last POST ended
  sending timestamptz,      -- a POST is recorded without its end: when it will have ended at the latest
  forget timestamptz,       -- when posted may be forgotten
  answer json               -- what a POST was answered whose license no list has shown
);
CREATE INDEX claim_session ON chatelaine.claim (session) WHERE session IS NOT NULL;
CREATE INDEX claim_forget ON chatelaine.claim (forget) WHERE session IS NULL;

${historySql}
${sweepSql('CREATE', '')}
-- Opens a session for this connection. Returns its number, the salt with which it hashes users, the time, and when the ledger was restored.
CREATE FUNCTION chatelaine.open(asked_version integer, host text, pid integer, remember_ms float8) RETURNS json
${definer} AS $$
DECLARE
  me integer;
BEGIN
  me := enter(asked_version, NULL, host, pid, remember_ms);
  -- The server hears within 30 s that a machine has vanished, also where it has sent it an answer.
  PERFORM set_config(s.name, v.value, false) FROM pg_settings s JOIN (VALUES ('tcp_user_timeout', '30000'), ('idle_session_timeout', '0'),
    ('default_transaction_isolation', 'read committed')) AS v (name, value) USING (name);
  RETURN (SELECT json_build_object('session', me, 'salt', encode(l.salt, 'hex'), 'now', extract(epoch FROM clock_timestamp()) * 1000,
    'restored', extract(epoch FROM l.restored) * 1000) FROM ledger l);
END $$;

CREATE FUNCTION chatelaine.refuse_other(asked_version integer) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, chatelaine, pg_temp AS $$
DECLARE
  known integer;
BEGIN
  SELECT l.version INTO STRICT known FROM ledger l;
  IF known <> asked_version THEN
    RAISE EXCEPTION 'the ledger has version %, and this chatelaine needs version %', known, asked_version
      USING ERRCODE = CASE WHEN known < asked_version THEN 'CH001' ELSE 'CH003' END;
  END IF;
END $$;

-- Users that a session opened and gave back before anything was sent are removed here.
CREATE FUNCTION chatelaine.enter(asked_version integer, me integer, host text, pid integer, remember_ms float8) RETURNS integer
LANGUAGE plpgsql SET search_path = pg_catalog, chatelaine, pg_temp AS $$
BEGIN
  IF current_setting('synchronous_commit') = 'off' THEN PERFORM set_config('synchronous_commit', 'on', true); END IF;
  PERFORM refuse_other(asked_version);
  IF me IS NULL THEN
    UPDATE ledger l SET place = place(), restored = clock_timestamp() WHERE l.place <> place();
    PERFORM set_config('tcp_keepalives_idle', '15', false), set_config('tcp_keepalives_interval', '5', false), set_config('tcp_keepalives_count', '3', false);
    INSERT INTO session (backend, host, pid, remember)
      VALUES (pg_backend_pid(), host, pid, remember_ms * interval '1 millisecond') RETURNING id INTO me;
    PERFORM pg_advisory_lock(${lockSpace}, me);
    DELETE FROM claim c WHERE c.who IN (SELECT o.who FROM claim o
      WHERE o.session IS NULL AND o.answer IS NULL AND o.forget < clock_timestamp() LIMIT 5000 FOR UPDATE SKIP LOCKED);
  ELSIF NOT EXISTS (SELECT FROM session s WHERE s.id = me AND s.backend = pg_backend_pid()) THEN
    RAISE EXCEPTION 'session % does not belong to this connection', me USING ERRCODE = 'CH002';
  END IF;
  RETURN me;
END $$;

-- Claims those of the users that nobody else holds. Returns the time, the users that others hold with one of the holders, and for claimed users
-- what is known of earlier POSTs: when the last one ended (later than now: it may run until then) and its open answer.
CREATE FUNCTION chatelaine.take(asked_version integer, me integer, target_name text, users bytea[]) RETURNS json
${definer} AS $$
DECLARE
  here integer;
  answer json;
BEGIN
  PERFORM enter(asked_version, me, '', 0, 0);
  INSERT INTO target (name) VALUES (target_name) ON CONFLICT DO NOTHING;
  SELECT t.id INTO STRICT here FROM target t WHERE t.name = target_name;
  INSERT INTO claim (who, target, forget) SELECT u.who, here, clock_timestamp() FROM unnest(users) AS u (who)
    WHERE NOT EXISTS (SELECT FROM claim c WHERE c.who = u.who) ORDER BY u.who ON CONFLICT DO NOTHING;
  PERFORM sweep(me);
  WITH free AS MATERIALIZED (
    SELECT c.who FROM claim c WHERE c.who = ANY (users) AND (c.session IS NULL OR c.session = me) ORDER BY c.who FOR UPDATE SKIP LOCKED
  ), taken AS (
    UPDATE claim c SET session = me, since = clock_timestamp() FROM free f WHERE c.who = f.who RETURNING c.who, c.posted, c.answer
  ), held AS (
    SELECT u.who FROM unnest(users) AS u (who) WHERE u.who NOT IN (SELECT t.who FROM taken t)
  )
  SELECT json_build_object(
    'now', extract(epoch FROM clock_timestamp()) * 1000,
    'past', (SELECT coalesce(json_agg(json_build_array(encode(t.who, 'base64'), extract(epoch FROM t.posted) * 1000, t.answer)), '[]')
      FROM taken t WHERE t.posted IS NOT NULL OR t.answer IS NOT NULL),
    'held', (SELECT coalesce(json_agg(encode(h.who, 'base64')), '[]') FROM held h),
    'holder', (SELECT json_build_object('host', s.host, 'pid', s.pid)
      FROM held h JOIN claim c ON c.who = h.who JOIN session s ON s.id = c.session LIMIT 1)
  ) INTO answer;
  RETURN answer;
END $$;

-- For how many of the users another session may still send a POST, with one of those sessions; the time is before that look.
CREATE FUNCTION chatelaine.busy(asked_version integer, me integer, users bytea[]) RETURNS json
${definer} AS $$
DECLARE
  before timestamptz := clock_timestamp();
  others integer[];
BEGIN
  PERFORM enter(asked_version, me, '', 0, 0);
  PERFORM sweep(me);
  others := ARRAY(SELECT c.session FROM claim c WHERE c.who = ANY (users) AND c.session <> me AND c.answer IS NULL);
  RETURN (SELECT json_build_object('now', extract(epoch FROM before) * 1000, 'count', cardinality(others), 'holder',
    (SELECT json_build_object('host', s.host, 'pid', s.pid) FROM session s WHERE s.id = others[1])));
END $$;

-- The users of the session, or an error where it does not hold one of them.
CREATE FUNCTION chatelaine.refuse_unless(written integer, users bytea[], me integer) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, chatelaine, pg_temp AS $$
BEGIN
  IF written <> cardinality(users) THEN
    RAISE EXCEPTION 'session % holds % of % users', me, written, cardinality(users) USING ERRCODE = 'CH002';
  END IF;
END $$;

-- Records, right before it is sent, that a POST for each of the users will have ended in so many milliseconds.
CREATE FUNCTION chatelaine.sending(asked_version integer, me integer, within_ms float8, users bytea[]) RETURNS void
${definer} AS $$
DECLARE
  written integer;
BEGIN
  PERFORM enter(asked_version, coalesce(me, 0), '', 0, 0);
  UPDATE claim c SET sending = greatest(c.sending, clock_timestamp() + within_ms * interval '1 millisecond')
    WHERE c.who = ANY (users) AND c.session IS NOT DISTINCT FROM me;
  GET DIAGNOSTICS written = ROW_COUNT;
  PERFORM refuse_unless(written, users, me);
END $$;

-- Records what POSTs were answered; kept until a list has shown the license.
CREATE FUNCTION chatelaine.answered(asked_version integer, me integer, users bytea[], answers text[]) RETURNS void
${definer} AS $$
DECLARE
  written integer;
BEGIN
  PERFORM enter(asked_version, me, '', 0, 0);
  UPDATE claim c SET answer = u.answer::json FROM unnest(users, answers) AS u (who, answer)
    WHERE c.who = u.who AND c.who = ANY (users) AND c.session IS NOT DISTINCT FROM me;
  GET DIAGNOSTICS written = ROW_COUNT;
  PERFORM refuse_unless(written, users, me);
END $$;

-- Gives users back. Where a POST was sent, it counts as ended now; an answer whose license a list has shown is forgotten.
CREATE FUNCTION chatelaine.release(asked_version integer, me integer, users bytea[], sent bytea[], shown bytea[], told json) RETURNS void
${definer} AS $$
BEGIN
  PERFORM enter(asked_version, me, '', 0, 0);
  PERFORM tell(asked_version, told);
  DELETE FROM claim c WHERE c.who IN (SELECT unnest(users) EXCEPT SELECT unnest(sent)) AND c.session IS NOT DISTINCT FROM me
    AND c.posted IS NULL AND (c.answer IS NULL OR c.who = ANY (shown));
  UPDATE claim c SET session = NULL, since = NULL, sending = NULL, answer = CASE WHEN u.is_shown THEN NULL ELSE c.answer END,
    posted = CASE WHEN u.was_sent THEN greatest(c.posted, u.now) ELSE c.posted END,
    forget = greatest(c.posted, u.now) + (SELECT s.remember FROM session s WHERE s.id = me)
    FROM (SELECT a.who, b.who IS NOT NULL AS was_sent, d.who IS NOT NULL AS is_shown, clock_timestamp() AS now FROM unnest(users) AS a (who)
      LEFT JOIN unnest(sent) AS b (who) USING (who) LEFT JOIN unnest(shown) AS d (who) USING (who)) u
    WHERE c.who = u.who AND c.session IS NOT DISTINCT FROM me;
END $$;

-- The version, the clock of the database in milliseconds, and what a reader hashes users with: the salt, and the targets.
CREATE FUNCTION chatelaine.about() RETURNS json
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, chatelaine, pg_temp AS $$
  SELECT json_build_object('version', l.version, 'now', extract(epoch FROM clock_timestamp()) * 1000, 'salt', encode(l.salt, 'hex'),
    'targets', (SELECT coalesce(json_agg(t.name ORDER BY t.name), '[]') FROM target t)) FROM ledger l
$$;

-- What each session holds, without the users; until: when the last of its recorded requests will have ended.
CREATE FUNCTION chatelaine.status() RETURNS TABLE (target text, host text, pid integer, state text, since timestamptz, users bigint, sending bigint, until timestamptz)
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, chatelaine, pg_temp AS $$
  SELECT t.name, s.host, s.pid,
    CASE WHEN EXISTS (SELECT FROM pg_locks l WHERE l.locktype = 'advisory' AND l.classid = ${lockSpace} AND l.objid = s.id AND l.objsubid = 2
      AND l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())) THEN 'active' ELSE 'ended' END,
    min(c.since), count(*), count(c.sending), max(c.sending)
  FROM session s JOIN claim c ON c.session = s.id JOIN target t ON t.id = c.target
  GROUP BY t.name, s.id, s.host, s.pid ORDER BY min(c.since), s.id
$$;
`;
