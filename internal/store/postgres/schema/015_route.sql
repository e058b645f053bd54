-- seen is a sum of something that a router looked at. It differs once that changed: what
-- can change in place has a version that grows.
--   s  the open subscriptions with a type and a match
--   k  the events that are kept with a type and a match
--   t  all events that are kept
--   e  an event by its seq
--   i  the subscriptions of an instance by its id
--   o  the instances that own a key
--   g  the gatherings of a definition's content with a key or none
--   h  the shapes
CREATE OR REPLACE FUNCTION seen(p_ns integer, p_what text, p_a bigint, p_b bigint, p_c text, p_d text) RETURNS bigint LANGUAGE plpgsql
SET search_path FROM CURRENT SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_bitmapscan = off SET jit = off SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
	t text;
BEGIN
	CASE p_what
	WHEN 's' THEN
		SELECT string_agg(concat(inst, '/', ticket, '/', ver), ',' ORDER BY inst, ticket) INTO t FROM subs WHERE ns = p_ns AND typ = p_a AND match = p_b AND NOT busy;
	WHEN 'k' THEN
		SELECT string_agg(concat(e.seq, '/', e.ver), ',' ORDER BY e.seq) INTO t FROM event_keys k CROSS JOIN LATERAL (SELECT x.seq, x.ver FROM events x WHERE x.ns = k.ns AND x.gen = k.gen AND x.seq = k.event AND x.over > (SELECT purged(p_ns)) OFFSET 0) e WHERE k.ns = p_ns AND k.typ = p_a AND k.match = p_b;
	WHEN 't' THEN
		SELECT string_agg(concat(seq, '/', ver), ',' ORDER BY seq) INTO t FROM events WHERE 0 + ns = p_ns AND over > (SELECT purged(p_ns));
	WHEN 'e' THEN
		SELECT ver INTO t FROM events WHERE ns = p_ns AND seq = p_a AND over > purged(p_ns);
	WHEN 'i' THEN
		SELECT string_agg(concat(s.inst, '/', s.ticket, '/', s.ver), ',' ORDER BY s.ticket) INTO t FROM instances i CROSS JOIN LATERAL (SELECT x.inst, x.ticket, x.ver FROM subs x WHERE x.inst = i.seq OFFSET 0) s WHERE i.id = p_c AND i.ns + 0 = p_ns;
	WHEN 'o' THEN
		SELECT string_agg(inst::text, ',' ORDER BY inst) INTO t FROM owners WHERE ns = p_ns AND key = p_a;
	WHEN 'g' THEN
		SELECT string_agg(concat(seq, '/', ver), ',' ORDER BY seq) INTO t FROM gatherings WHERE ns + 0 = p_ns AND definition = p_c AND digest = p_d AND fits IN (0, p_a);
	WHEN 'h' THEN
		SELECT count(*) INTO t FROM shapes WHERE ns = p_ns;
	END CASE;
	RETURN hashtextextended(coalesce(t, ''), 0);
END $$;

-- start makes an instance that is yet to take its start, unless it is there.
CREATE OR REPLACE FUNCTION start(
	p_ns integer, p_seq bigint, p_id text, p_kind integer, p_status smallint, p_created bigint, p_updated bigint, p_ended bigint, p_wake bigint, p_more boolean, p_aside boolean,
	p_parent text, p_error bigint, p_client text, p_state text, p_grp text, p_labels bigint, p_owns bigint, p_shard smallint, p_rest bytea, p_message bigint, p_input bytea
) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO instances (ns, seq, rev, created, updated, ended, wake, told, labels, owns, error, kind, status, shard, more, aside, id, parent, client, state, grp, rest)
	VALUES (p_ns, p_seq, 1, p_created, p_updated, p_ended, p_wake, 0, p_labels, p_owns, p_error, p_kind, p_status, p_shard, p_more, p_aside, p_id, p_parent, p_client, p_state, p_grp, p_rest)
	ON CONFLICT DO NOTHING;
	IF NOT FOUND THEN
		RETURN false;
	END IF;
	INSERT INTO inbox (ns, inst, seq, at, event, ticket, input) VALUES (p_ns, p_seq, p_message, p_created, 0, 0, p_input);
	IF NOT p_aside THEN
		INSERT INTO ready (ns, inst, turn, shard, queued, due, id) VALUES (p_ns, p_seq, p_message, p_shard, true, NULL, p_id);
	END IF;
	IF p_wake IS NOT NULL THEN
		INSERT INTO wakes (ns, inst, wake, shard, id, turn) VALUES (p_ns, p_seq, p_wake, p_shard, p_id, p_message);
	END IF;
	RETURN true;
END $$;

-- deliver puts events into inboxes and closes the subscriptions to others: all of them with the same few
-- statements, because an event may be for thousands. The numbers of the messages are the offsets d_seq of b.
-- What is for an instance or of an event that is not there is left out.
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
	UPDATE subs s SET busy = true, ver = b[1] FROM unnest(v_inst, d_ticket) u(inst, ticket) WHERE s.inst = u.inst AND s.ticket = u.ticket AND NOT s.busy;
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

-- route does what a router decided, unless something that it looked at (x_) changed since.
-- n_ is the event that is taken, if n_seq is not 0. The result is 0, or why nothing happened:
-- 1 something changed, 2 the event is known, 3 a content is not there.
CREATE OR REPLACE FUNCTION route(
	p_ns integer, p_numbers integer, p_emit bigint,
	x_what text[], x_a bigint[], x_b bigint[], x_c text[], x_d text[], x_sum bigint[],
	n_seq bigint, n_key bytea, n_typ bigint, n_received bigint, n_until bigint, n_started boolean, n_producer text, n_origin text, n_fors text[], n_fate bytea, n_event bytea, n_typs bigint[], n_matches bigint[],
	v_seq bigint[], v_until bigint[], v_started boolean[], v_fate bytea[], f_event bigint[], f_id text[],
	d_event bigint[], d_id text[], d_at bigint[], d_ticket bigint[], d_seq integer[], d_input bytea[],
	g_seq bigint[], g_off integer[], g_until bigint[], g_fits bigint[], g_key bytea[], g_definition text[], g_digest text[], g_rest bytea[],
	p_drop bigint[], p_again bigint[], p_checked text[],
	r_id text[], r_kind integer[], r_need text[], r_status smallint[], r_created bigint[], r_updated bigint[], r_ended bigint[], r_wake bigint[], r_more boolean[], r_aside boolean[],
	r_parent text[], r_error bigint[], r_client text[], r_state text[], r_grp text[], r_labels bigint[], r_owns bigint[], r_shard smallint[], r_rest bytea[], r_seq integer[], r_message integer[], r_input bytea[],
	l_row integer[], l_label bigint[], l_kind integer[], l_state text[], o_row integer[], o_key bigint[]
) RETURNS smallint LANGUAGE plpgsql
SET search_path FROM CURRENT SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_bitmapscan = off SET jit = off SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
DECLARE
	b bigint[]; s bigint; w_purged bigint; w_gen smallint; w_until bigint; w_fors text[]; w_insts bigint[]; w_made boolean;
	w_starts bigint[] := array_fill(0::bigint, ARRAY[cardinality(r_id)]); -- of those that were not there
BEGIN
	PERFORM exclusive(p_ns);
	w_purged := purged(p_ns);
	FOR i IN 1..cardinality(x_what) LOOP
		IF seen(p_ns, x_what[i], x_a[i], x_b[i], x_c[i], x_d[i]) <> x_sum[i] THEN
			RETURN 1;
		END IF;
	END LOOP;
	IF n_seq <> 0 THEN
		SELECT until INTO w_until FROM events WHERE key = n_key AND ns + 0 = p_ns AND over + 0 > w_purged;
		IF FOUND THEN
			RETURN CASE WHEN w_until > n_received THEN 2 ELSE 1 END;
		END IF;
	END IF;
	IF absent(p_ns, r_need || g_digest) IS NOT NULL THEN
		RETURN 3;
	END IF;
	b := blocks(p_numbers);
	IF n_seq <> 0 THEN
		SELECT current INTO w_gen FROM rings WHERE ring = 1;
		INSERT INTO events (ns, gen, seq, typ, received, until, over, ver, again, started, key, producer, origin, fors, fate, event)
		VALUES (p_ns, w_gen, n_seq, n_typ, n_received, n_until, CASE WHEN n_until > w_purged THEN n_until ELSE 9223372036854775807 END, b[1], false, n_started, n_key, n_producer, n_origin, n_fors, n_fate, n_event);
		INSERT INTO event_keys (ns, gen, typ, match, event) SELECT p_ns, w_gen, t, m, n_seq FROM unnest(n_typs, n_matches) u(t, m);
		INSERT INTO kept_for (ns, id, event) SELECT DISTINCT p_ns, f, n_seq FROM unnest(n_fors) f;
	END IF;
	IF p_emit <> 0 THEN
		DELETE FROM emits WHERE ns = p_ns AND NOT sink AND seq = p_emit;
	END IF;
	FOR i IN 1..cardinality(v_seq) LOOP
		SELECT fors, gen INTO w_fors, w_gen FROM events WHERE ns = p_ns AND seq = v_seq[i] AND over > w_purged;
		CONTINUE WHEN NOT FOUND;
		DELETE FROM kept_for WHERE ns = p_ns AND id = ANY (w_fors) AND event = v_seq[i];
		SELECT coalesce(array_agg(u.id ORDER BY u.o), '{}') INTO w_fors FROM unnest(f_event, f_id) WITH ORDINALITY u(event, id, o) WHERE u.event = v_seq[i];
		INSERT INTO kept_for (ns, id, event) SELECT DISTINCT p_ns, f, v_seq[i] FROM unnest(w_fors) f;
		UPDATE events SET until = v_until[i], over = CASE WHEN v_until[i] > w_purged THEN v_until[i] ELSE 9223372036854775807 END, started = v_started[i], fate = v_fate[i], fors = w_fors, again = false, ver = b[1]
		WHERE ns = p_ns AND gen = w_gen AND seq = v_seq[i];
	END LOOP;
	IF cardinality(d_event) > 0 THEN
		PERFORM deliver(p_ns, b => b, d_event => d_event, d_id => d_id, d_at => d_at, d_ticket => d_ticket, d_seq => d_seq, d_input => d_input);
	END IF;
	FOR i IN 1..cardinality(g_seq) LOOP
		INSERT INTO gatherings AS x (ns, seq, ver, until, fits, key, definition, digest, rest)
		VALUES (
			p_ns, CASE WHEN g_seq[i] = 0 THEN b[1 + (g_off[i] >> 10)] + (g_off[i] & 1023) ELSE g_seq[i] END, b[1],
			-- Where another content is the current one, its time is up.
			CASE WHEN EXISTS (SELECT 1 FROM aliases a WHERE a.ns = p_ns AND a.id = g_definition[i] AND a.current AND a.digest <> g_digest[i]) THEN 0 ELSE g_until[i] END,
			g_fits[i], g_key[i], g_definition[i], g_digest[i], g_rest[i]
		)
		ON CONFLICT (ns, seq) DO UPDATE SET ver = excluded.ver, until = excluded.until, fits = excluded.fits, key = excluded.key, definition = excluded.definition, digest = excluded.digest, rest = excluded.rest;
	END LOOP;
	FOREACH s IN ARRAY p_drop LOOP
		DELETE FROM gatherings WHERE ns = p_ns AND seq = s;
	END LOOP;
	FOREACH s IN ARRAY p_again LOOP
		UPDATE events SET again = true, ver = b[1] WHERE ns = p_ns AND seq = s AND over > w_purged;
	END LOOP;
	FOR i IN 1..cardinality(r_id) LOOP
		s := b[1 + (r_seq[i] >> 10)] + (r_seq[i] & 1023);
		w_made := start(
			p_ns => p_ns, p_seq => s, p_id => r_id[i], p_kind => r_kind[i], p_status => r_status[i], p_created => r_created[i], p_updated => r_updated[i],
			p_ended => r_ended[i], p_wake => r_wake[i], p_more => r_more[i], p_aside => r_aside[i], p_parent => r_parent[i], p_error => r_error[i],
			p_client => r_client[i], p_state => r_state[i], p_grp => r_grp[i], p_labels => r_labels[i], p_owns => r_owns[i], p_shard => r_shard[i],
			p_rest => r_rest[i], p_message => b[1 + (r_message[i] >> 10)] + (r_message[i] & 1023), p_input => r_input[i]
		);
		IF w_made THEN
			w_starts[i] := s;
			INSERT INTO labels (ns, label, kind, state, inst) SELECT p_ns, u.label, u.kind, u.state, s FROM unnest(l_row, l_label, l_kind, l_state) u(r, label, kind, state) WHERE u.r = i ON CONFLICT DO NOTHING;
			INSERT INTO owners (ns, key, inst) SELECT p_ns, u.key, s FROM unnest(o_row, o_key) u(r, key) WHERE u.r = i ON CONFLICT DO NOTHING;
		END IF;
	END LOOP;
	IF cardinality(r_id) > 0 THEN
		INSERT INTO differences (ns, pos, kind, status, state, grp, n)
		SELECT p_ns, b[1], array_agg(d.kind), array_agg(d.status), array_agg(d.state), array_agg(d.grp), array_agg(d.n) FROM (
			SELECT u.kind, u.status, coalesce(u.state, '') AS state, coalesce(u.grp, '') AS grp, count(*) AS n
			FROM unnest(w_starts, r_kind, r_status, r_state, r_grp) u(inst, kind, status, state, grp) WHERE u.inst <> 0 GROUP BY 1, 2, 3, 4
		) d HAVING count(*) > 0;
	END IF;
	IF cardinality(p_checked) > 0 THEN
		SELECT array_agg(seq) INTO w_insts FROM instances WHERE id = ANY (p_checked) AND ns + 0 = p_ns;
		UPDATE subs SET fresh = false, ver = b[1] WHERE inst = ANY (w_insts) AND fresh;
	END IF;
	RETURN 0;
END $$;

-- settle is called with the results of the calls of route that are a transaction together, and
-- so after all of them: it keeps them for whoever loses the answer. Of calls of which none did
-- anything nothing is kept: they can be made again.
CREATE OR REPLACE FUNCTION settle(p_token uuid, p_results smallint[]) RETURNS smallint[] LANGUAGE plpgsql
SET search_path FROM CURRENT
AS $$
BEGIN
	IF 0 = ANY (p_results) THEN
		INSERT INTO outcomes (token, result) VALUES (p_token, p_results);
	END IF;
	RETURN p_results;
END $$;

-- newest is a position of which holds: whatever becomes visible later has greater numbers.
CREATE OR REPLACE FUNCTION newest(p_ns integer) RETURNS bigint LANGUAGE plpgsql STABLE AS $$
BEGIN
	RETURN coalesce((SELECT pos FROM history WHERE ns = p_ns ORDER BY pos DESC LIMIT 1), 0);
END $$;

-- turns lists those that are ready: of those that the caller knows (p_insts, p_turns) the ones that
-- still are, and p_new that became so after a turn. Turns become visible in order, so that
-- nobody is passed over. To begin at the first would mean to look at all that were ready
-- since the oldest transaction began, which may be a long one of somebody else.
-- Whose wake time has come becomes ready now; whom a clock that stepped back says otherwise
-- sleeps on. For the same reason wake times are not looked at from the first: of all that
-- were written up to p_seen (-1: nothing is known), none is before p_low. Shards: NULL are all.
-- The first row has, as inst and turn, p_low and p_seen for the next call.
CREATE OR REPLACE FUNCTION turns(p_ns integer, p_now bigint, p_batch integer, p_shards smallint[], p_insts bigint[], p_turns bigint[], p_after bigint, p_new integer, p_low bigint, p_seen bigint)
RETURNS TABLE (inst bigint, turn bigint, id text) LANGUAGE plpgsql
SET search_path FROM CURRENT SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_bitmapscan = off SET jit = off SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
DECLARE
	v_inst bigint[]; v_wake bigint[]; v_shard smallint[]; v_id text[]; b bigint[];
	v_new bigint; v_low bigint := p_low; v_seen bigint; v_first bigint;
BEGIN
	IF EXISTS (SELECT 1 FROM ready WHERE ns + 0 = p_ns AND due > p_now AND (p_shards IS NULL OR shard = ANY (p_shards))) THEN
		PERFORM exclusive(p_ns);
		b := blocks(1);
		INSERT INTO wakes (ns, inst, wake, shard, id, turn) SELECT ns, inst, due, shard, id, b[1] FROM ready WHERE ns + 0 = p_ns AND due > p_now AND (p_shards IS NULL OR shard = ANY (p_shards)) ON CONFLICT DO NOTHING;
		DELETE FROM ready WHERE ns + 0 = p_ns AND due > p_now AND NOT queued AND (p_shards IS NULL OR shard = ANY (p_shards));
		UPDATE ready SET due = NULL WHERE ns + 0 = p_ns AND due > p_now AND (p_shards IS NULL OR shard = ANY (p_shards));
	END IF;
	IF p_seen < 0 THEN
		v_seen := newest(p_ns);
	ELSE
		-- In the order of turns: else the planner may look for the first wake time that has such a turn.
		SELECT min(w.wake), greatest(p_seen, max(w.turn), newest(p_ns)) INTO v_new, v_seen
		FROM (SELECT wake, turn FROM wakes WHERE ns = p_ns AND turn > p_seen AND (p_shards IS NULL OR shard = ANY (p_shards)) ORDER BY turn OFFSET 0) w;
		v_low := least(v_low, v_new);
	END IF;
	SELECT wake INTO v_first FROM wakes WHERE ns = p_ns AND wake >= v_low AND (p_shards IS NULL OR shard = ANY (p_shards)) ORDER BY wake LIMIT 1;
	v_low := coalesce(v_first, 9223372036854775807);
	IF v_first <= p_now THEN
		PERFORM exclusive(p_ns);
		SELECT array_agg(inst), array_agg(wake), array_agg(shard), array_agg(id) INTO v_inst, v_wake, v_shard, v_id FROM (
			SELECT inst, wake, shard, id FROM wakes WHERE ns = p_ns AND wake >= v_low AND wake <= p_now AND (p_shards IS NULL OR shard = ANY (p_shards)) ORDER BY wake, inst LIMIT p_batch
		) w;
		IF v_inst IS NOT NULL THEN
			v_low := v_wake[cardinality(v_wake)];
			b := blocks(cardinality(v_inst));
			FOREACH v_first IN ARRAY v_inst LOOP
				DELETE FROM wakes WHERE inst = v_first;
			END LOOP;
			INSERT INTO ready (ns, inst, turn, shard, queued, due, id) SELECT p_ns, u.inst, b[1 + ((u.i - 1) >> 10)::integer] + ((u.i - 1) & 1023), u.shard, false, u.wake, u.id
			FROM unnest(v_inst, v_wake, v_shard, v_id) WITH ORDINALITY u(inst, wake, shard, id, i) ON CONFLICT (inst) DO UPDATE SET due = excluded.due;
		END IF;
	END IF;
	RETURN QUERY SELECT v_low, v_seen, NULL::text;
	FOR i IN 1..cardinality(p_insts) LOOP -- each by its key; + 0 keeps the index of turns out, which does not begin with them
		RETURN QUERY SELECT x.inst, x.turn, x.id FROM ready x WHERE x.inst = p_insts[i] AND x.turn + 0 = p_turns[i];
	END LOOP;
	RETURN QUERY SELECT x.inst, x.turn, x.id FROM ready x WHERE x.ns = p_ns AND x.turn > p_after AND (p_shards IS NULL OR x.shard = ANY (p_shards)) ORDER BY x.turn LIMIT p_new;
END $$;

-- next_due is the first instant after another one at which something is due; p_low and p_seen as
-- turns has them.
CREATE OR REPLACE FUNCTION next_due(p_ns integer, p_after bigint, p_low bigint, p_seen bigint) RETURNS bigint LANGUAGE plpgsql
SET search_path FROM CURRENT SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_bitmapscan = off SET jit = off SET plan_cache_mode = force_generic_plan
AS $$
BEGIN
	RETURN least(
		(SELECT wake FROM wakes WHERE ns = p_ns AND wake > p_after AND wake >= p_low ORDER BY wake LIMIT 1),
		(SELECT min(w.wake) FROM (SELECT wake FROM wakes WHERE ns = p_ns AND turn > p_seen AND wake > p_after ORDER BY turn OFFSET 0) w),
		(SELECT min(due) FROM ready WHERE ns + 0 = p_ns AND due > p_after),
		(SELECT min(until) FROM gatherings WHERE ns + 0 = p_ns AND until > p_after),
		(SELECT min(next) FROM schedules WHERE ns = p_ns AND next > p_after)
	);
END $$;

-- open_subs lists the subscriptions with these types and matches that no event is on its way to.
CREATE OR REPLACE FUNCTION open_subs(p_ns integer, p_typs bigint[], p_matches bigint[]) RETURNS TABLE (id text, inst bigint, ticket bigint, name bytea, filter bytea) LANGUAGE plpgsql STABLE
SET search_path FROM CURRENT SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_bitmapscan = off SET jit = off SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
BEGIN
	RETURN QUERY SELECT s.id, s.inst, s.ticket, s.name, s.filter FROM unnest(p_typs, p_matches) k(typ, match)
	CROSS JOIN LATERAL (SELECT x.id, x.inst, x.ticket, x.name, x.filter FROM subs x WHERE x.ns = p_ns AND x.typ = k.typ AND x.match = k.match AND NOT x.busy OFFSET 0) s;
END $$;
