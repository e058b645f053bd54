-- Standing subscriptions, whose tickets have the bit 2147483648: a delivery does not close them to other events.

-- deliver puts events into inboxes and closes the subscriptions to others, unless they are standing: all of them
-- with the same few statements, because an event may be for thousands. The numbers of the messages are the offsets
-- d_seq of b. What is for an instance or of an event that is not there is left out.
CREATE OR REPLACE FUNCTION deliver(p_ns integer, b bigint[], d_event bigint[], d_id text[], d_at bigint[], d_ticket bigint[], d_seq integer[], d_input bytea[]) RETURNS void LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
	v_ns integer[] := array_fill(p_ns, ARRAY[cardinality(d_event)]);
	v_inst bigint[]; v_shard smallint[]; v_aside boolean[]; -- of each delivery; NULL: it is left out
	v_there bigint[]; v_gens smallint[]; -- events
BEGIN
	SELECT array_agg(x.seq ORDER BY u.i), array_agg(x.shard ORDER BY u.i), array_agg(x.aside ORDER BY u.i) INTO v_inst, v_shard, v_aside
	FROM unnest(d_event, d_id) WITH ORDINALITY u(event, id, i)
	LEFT JOIN LATERAL (SELECT seq, shard, aside FROM instances WHERE id = u.id AND ns + 0 = p_ns OFFSET 0) x ON true;
	WITH told AS (
		UPDATE events e SET ver = b[1], fors = CASE WHEN cardinality(e.fors) = 0 THEN e.fors ELSE (
			SELECT coalesce(array_agg(f.id ORDER BY f.o) FILTER (WHERE NOT f.got), '{}') FROM (
				SELECT l.id, l.o, bool_or(l.o IS NULL) OVER (PARTITION BY l.id) AS got
				FROM (SELECT id, o FROM unnest(e.fors) WITH ORDINALITY k(id, o) UNION ALL SELECT unnest(u.ids), NULL) l
			) f
		) END
		FROM (SELECT ns, event, array_agg(id) AS ids FROM unnest(v_ns, d_event, d_id, v_inst) d(ns, event, id, inst) WHERE inst IS NOT NULL GROUP BY ns, event) u
		WHERE e.ns = u.ns AND e.seq = u.event AND e.over > (SELECT purged(p_ns)) RETURNING e.seq, e.gen
	) SELECT array_agg(seq), array_agg(gen) INTO v_there, v_gens FROM told;
	IF EXISTS (SELECT 1 FROM unnest(d_event, v_inst) d(event, inst) WHERE inst IS NOT NULL AND event <> ALL (coalesce(v_there, '{}'))) THEN
		SELECT array_agg(CASE WHEN d.event = ANY (v_there) THEN d.inst END ORDER BY d.i) INTO v_inst FROM unnest(d_event, v_inst) WITH ORDINALITY d(event, inst, i);
	END IF;
	DELETE FROM kept_for k USING unnest(v_ns, d_event, d_id, v_inst) u(ns, event, id, inst) WHERE u.inst IS NOT NULL AND k.ns = u.ns AND k.id = u.id AND k.event = u.event;
	UPDATE subs s SET busy = true, ver = b[1] FROM unnest(v_inst, d_ticket) u(inst, ticket) WHERE u.ticket & 2147483648 = 0 AND s.inst = u.inst AND s.ticket = u.ticket AND NOT s.busy;
	INSERT INTO deliveries (ns, gen, event, inst, ticket, refused)
	SELECT DISTINCT p_ns, v_gens[array_position(v_there, u.event)], u.event, u.inst, u.ticket, false FROM unnest(d_event, v_inst, d_ticket) u(event, inst, ticket) WHERE u.inst IS NOT NULL
	ON CONFLICT (ns, event, inst, ticket, gen) DO UPDATE SET refused = false;
	INSERT INTO inbox (ns, inst, seq, at, event, ticket, input) SELECT p_ns, u.inst, b[1 + (u.o >> 10)] + (u.o & 1023), u.at, u.event, u.ticket, u.input
	FROM unnest(v_inst, d_seq, d_at, d_event, d_ticket, d_input) u(inst, o, at, event, ticket, input) WHERE u.inst IS NOT NULL;
	INSERT INTO ready (ns, inst, turn, shard, queued, id)
	SELECT DISTINCT ON (u.inst) p_ns, u.inst, b[1 + (u.o >> 10)] + (u.o & 1023), u.shard, true, u.id
	FROM unnest(v_inst, d_seq, v_shard, v_aside, d_id) u(inst, o, shard, aside, id) WHERE u.inst IS NOT NULL AND NOT u.aside ORDER BY u.inst, u.o
	ON CONFLICT (inst) DO UPDATE SET queued = true WHERE NOT ready.queued;
END $$;

-- put_back refuses the events that are on their way to a standing subscription which goes, unless its instance is
-- over or is being removed: then those are refused elsewhere. Its transaction has the lock of the namespace.
CREATE FUNCTION put_back() RETURNS trigger LANGUAGE plpgsql
SET search_path FROM CURRENT SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_bitmapscan = off SET jit = off SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
	r record;
BEGIN
	IF EXISTS (SELECT 1 FROM instances i WHERE i.ns = OLD.ns AND i.seq = OLD.inst AND i.status < 4) THEN
		FOR r IN SELECT x.seq, x.event FROM inbox x WHERE x.ns = OLD.ns AND x.inst = OLD.inst AND x.event <> 0 AND x.ticket = OLD.ticket
			AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.ns = OLD.ns AND d.event = x.event AND d.inst = OLD.inst AND d.ticket = OLD.ticket AND d.refused) ORDER BY x.seq
		LOOP
			PERFORM refuse(OLD.ns, OLD.inst, OLD.id, r.event, OLD.ticket, nextval('seqs'));
			DELETE FROM inbox x WHERE x.ns = OLD.ns AND x.inst = OLD.inst AND x.seq = r.seq;
		END LOOP;
	END IF;
	RETURN NULL;
END $$;

CREATE TRIGGER put_back AFTER DELETE ON subs FOR EACH ROW WHEN (OLD.ticket & 2147483648 <> 0) EXECUTE FUNCTION put_back();

-- waiting_subs lists the subscriptions with these types and matches that no event is on its way to, and of standing
-- ones whether events that came before are yet to be delivered to their wait.
CREATE FUNCTION waiting_subs(p_ns integer, p_typs bigint[], p_matches bigint[]) RETURNS TABLE (id text, inst bigint, ticket bigint, name bytea, filter bytea, fresh boolean) LANGUAGE plpgsql STABLE
SET search_path FROM CURRENT SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_bitmapscan = off SET jit = off SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
BEGIN
	RETURN QUERY SELECT s.id, s.inst, s.ticket, s.name, s.filter,
		CASE WHEN s.ticket & 2147483648 = 0 THEN false ELSE EXISTS (SELECT 1 FROM subs f WHERE f.inst = s.inst AND f.fresh AND NOT f.busy AND f.ticket & 2147483648 <> 0 AND f.ticket >> 32 = s.ticket >> 32 OFFSET 0) END
	FROM unnest(p_typs, p_matches) k(typ, match)
	CROSS JOIN LATERAL (SELECT x.id, x.inst, x.ticket, x.name, x.filter FROM subs x WHERE x.ns = p_ns AND x.typ = k.typ AND x.match = k.match AND NOT x.busy OFFSET 0) s;
END $$;
