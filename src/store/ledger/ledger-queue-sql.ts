/** The first number of each advisory lock ("CHtL"); the second is a session's, or 0 while the schema changes. */
export const lockSpace = 0x4348744c;

/**
 * A plan for the users that are given: one for any number compares each with each. So users are looked up by `who`
 * alone, and `session` is compared without an index: that would lead to every user that the session holds.
 */
export const definer = `LANGUAGE plpgsql SECURITY DEFINER SET plan_cache_mode = force_custom_plan SET search_path = pg_catalog, chatelaine, pg_temp`;

/** `first`: what is done with the claims of dead sessions before they are given back. */
export const sweepSql = (create: string, first: string): string => `\
-- Gives back what sessions held whose connection has ended; removes no row, since a claim may be about to be taken on it.
${create} FUNCTION chatelaine.sweep(me integer) RETURNS void
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
${first}  UPDATE claim c SET session = NULL, since = NULL, posted = greatest(c.posted, c.sending), sending = NULL,
    forget = CASE WHEN coalesce(c.posted, c.sending) IS NULL THEN clock_timestamp()
      ELSE greatest(c.forget, coalesce(c.sending, clock_timestamp()) + s.remember) END
    FROM session s WHERE s.id = c.session AND c.session = ANY (dead);
  DELETE FROM session s WHERE s.id = ANY (dead);
END $$;
`;

/** Step 2: the requests that a server may still carry out (docs/exactly-once.md, A server has a queue). */
export const queueSql = `
-- A ledger that was dropped and made again has forgotten the POSTs on their way, as after a restore, and sessions of before live on.
UPDATE chatelaine.ledger SET restored = clock_timestamp();
SELECT setval(pg_get_serial_sequence('chatelaine.session', 'id'), (extract(epoch FROM clock_timestamp()) * 1000)::bigint % 2000000000 + 1);

ALTER TABLE chatelaine.session ADD COLUMN width integer NOT NULL DEFAULT 1;  -- how many POSTs it has under way at most

CREATE TABLE chatelaine.queue (
  origin text PRIMARY KEY,  -- a licensing server
  state json,               -- what sessions keep of it
  dead jsonb NOT NULL DEFAULT '[]'   -- what ended sessions left: their number, how many POSTs, and when the last one will have ended
);

${sweepSql(
  'CREATE OR REPLACE',
  `\
  INSERT INTO queue AS q (origin, dead) SELECT o.origin, jsonb_agg(o.dead ORDER BY o.id) FROM (
    SELECT regexp_replace(t.name, ' [^ ]*$', '') AS origin, s.id,
      jsonb_build_array(s.id, least(s.width, count(*)), extract(epoch FROM max(c.sending)) * 1000) AS dead
      FROM session s JOIN claim c ON c.session = s.id JOIN target t ON t.id = c.target
      WHERE s.id = ANY (dead) AND c.sending IS NOT NULL GROUP BY 1, s.id) o GROUP BY o.origin ORDER BY o.origin
    ON CONFLICT (origin) DO UPDATE SET dead = q.dead || excluded.dead;
`,
)}
-- What is known of a server's queue, once \`next\` is in the place of what was known: not where another session was faster.
CREATE FUNCTION chatelaine.queued(asked_version integer, me integer, server text, wide integer, known text, next text) RETURNS json
${definer} AS $$
DECLARE written integer := 0;
BEGIN
  PERFORM enter(asked_version, me, '', 0, 0), sweep(me);
  UPDATE session s SET width = wide WHERE s.id = me AND s.width < wide;
  IF next IS NOT NULL THEN
    INSERT INTO queue (origin) VALUES (server) ON CONFLICT DO NOTHING;
    UPDATE queue q SET state = next::json, dead = '[]' WHERE q.origin = server AND concat(q.state, q.dead) = known;
    GET DIAGNOSTICS written = ROW_COUNT;
  END IF;
  RETURN (SELECT json_build_object('now', extract(epoch FROM clock_timestamp()) * 1000, 'written', written > 0, 'state', q.state,
    'dead', coalesce(q.dead, '[]'), 'known', concat(q.state, coalesce(q.dead, '[]')))
    FROM (SELECT) one LEFT JOIN queue q ON q.origin = server);
END $$;

-- Takes the turn to send a POST to a server, or gives it back; false: another session has it.
CREATE FUNCTION chatelaine.turn(asked_version integer, me integer, server text, wanted boolean) RETURNS boolean
${definer} AS $$
BEGIN
  PERFORM enter(asked_version, me, '', 0, 0);
  RETURN CASE WHEN wanted THEN pg_try_advisory_lock(${lockSpace + 1}, hashtext(server)) ELSE pg_advisory_unlock(${lockSpace + 1}, hashtext(server)) END;
END $$;
`;
