-- What a transaction of the store is: one call of one function, so that nobody who stops in
-- the middle holds a lock. Statements find rows by keys only, and keep their plans: nothing
-- here depends on what the statistics of a growing table say. Where a table is joined with
-- an array, its namespace comes from an array, too, or from a subquery with OFFSET 0: with a
-- constant the planner may look at the whole namespace and then at the array. Where rows are
-- found by another index than the primary key's, ns + 0 keeps that one out.

-- exclusive begins the part of a transaction that gives out numbers. It is the last part,
-- and held until the commit: then numbers become visible in order. Rows of instances are
-- locked before it, never after.
CREATE OR REPLACE FUNCTION exclusive(p_ns integer) RETURNS void LANGUAGE sql AS $$
	SELECT pg_advisory_xact_lock('namespaces'::regclass::oid::integer, p_ns)
$$;

-- blocks gives out numbers: the one with the offset o is b[1 + (o >> 10)] + (o & 1023).
CREATE OR REPLACE FUNCTION blocks(p_n integer) RETURNS bigint[] LANGUAGE plpgsql AS $$
DECLARE
	b bigint[] := ARRAY[nextval('seqs')];
BEGIN
	FOR i IN 1..(p_n - 1) >> 10 LOOP
		b := b || nextval('seqs');
	END LOOP;
	RETURN b;
END $$;

-- absent lists the digests that no content has; NULL: none.
CREATE OR REPLACE FUNCTION absent(p_ns integer, p_digests text[]) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
	a text[];
BEGIN
	SELECT array_agg(d) INTO a FROM unnest(p_digests) d WHERE d <> '' AND (SELECT count(*) FROM contents c WHERE c.ns = p_ns AND c.digest = d) = 0;
	RETURN a;
END $$;

-- refuse puts an event back that came when nobody waited for it any more. It stays with the
-- instance: another wait may take it, and when none does, it is routed again.
CREATE OR REPLACE FUNCTION refuse(p_ns integer, p_inst bigint, p_id text, p_event bigint, p_ticket bigint, p_ver bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	UPDATE subs SET busy = false, ver = p_ver WHERE inst = p_inst AND ticket = p_ticket AND busy;
	UPDATE subs SET fresh = true, ver = p_ver WHERE inst = p_inst AND NOT fresh;
	UPDATE deliveries SET refused = true WHERE ns = p_ns AND event = p_event AND inst = p_inst AND ticket = p_ticket;
	UPDATE events SET fors = CASE WHEN p_id = ANY (fors) THEN fors ELSE fors || p_id END, ver = p_ver WHERE ns = p_ns AND seq = p_event AND over > purged(p_ns);
	IF FOUND THEN
		INSERT INTO kept_for (ns, id, event) VALUES (p_ns, p_id, p_event) ON CONFLICT DO NOTHING;
	END IF;
END $$;

-- let_go has the events routed again that are kept for instances. By one key at a time: where the server had
-- counted the table while it was small, a list of keys made it read all rows of the namespace.
CREATE OR REPLACE FUNCTION let_go(p_ns integer, p_ids text[], p_ver bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	v_id text;
	r record;
BEGIN
	FOREACH v_id IN ARRAY coalesce(p_ids, '{}') LOOP
		FOR r IN DELETE FROM kept_for WHERE ns = p_ns AND id = v_id RETURNING event LOOP
			UPDATE events SET fors = array_remove(fors, v_id), again = true, ver = p_ver WHERE ns = p_ns AND seq = r.event AND over > purged(p_ns);
		END LOOP;
	END LOOP;
END $$;

-- commit_batch writes the outcomes of steps of different instances. The rows (r_) are those of the
-- instances with r_of 0, ordered by id, and of their children, whose r_of is the place of the
-- parent's row. A row's verdict is 0, or why its commit did not happen: 1 it has another
-- revision or there is something in an inbox that nobody looked into (r_unread), 2 it is not
-- there, 3 a content is not there, 4 something was deployed since (r_deployed). Most of what a statement costs is that it begins and ends:
-- those that have nothing to do are left out, which simple expressions decide (NULL counts as no).
CREATE OR REPLACE FUNCTION commit_batch(
	p_ns integer, p_token uuid, p_numbers integer, p_needs text[],
	r_of integer[], r_id text[], r_rev bigint[], r_unread boolean[], r_deployed bigint[], r_kind integer[], r_need text[], r_status smallint[], r_created bigint[], r_updated bigint[], r_ended bigint[],
	r_wake bigint[], r_more boolean[], r_aside boolean[], r_parent text[], r_error bigint[], r_client text[], r_state text[], r_grp text[],
	r_labels bigint[], r_owns bigint[], r_shard smallint[], r_rest bytea[], r_records bytea[], r_count integer[], r_seq integer[], r_pos integer[], r_turn integer[],
	p_row integer[], p_frame bigint[], p_part integer[], p_data bytea[],
	a_row integer[], a_ticket bigint[],
	k_row integer[], k_ticket bigint[], k_seq integer[], k_shard smallint[], k_epoch bigint[], k_call bytea[],
	-- What most have nothing of: to read an empty argument costs something, too.
	l_row integer[] = '{}', l_label bigint[] = '{}', l_kind integer[] = '{}', l_state text[] = '{}',
	o_row integer[] = '{}', o_key bigint[] = '{}',
	t_row integer[] = '{}', t_seq bigint[] = '{}', t_back boolean[] = '{}',
	e_row integer[] = '{}', e_sink boolean[] = '{}', e_seq integer[] = '{}', e_definition text[] = '{}', e_event bytea[] = '{}',
	u_row integer[] = '{}', u_ticket bigint[] = '{}',
	s_row integer[] = '{}', s_ticket bigint[] = '{}', s_typ bigint[] = '{}', s_match bigint[] = '{}', s_late boolean[] = '{}', s_name bytea[] = '{}', s_filter bytea[] = '{}',
	m_row integer[] = '{}', m_child integer[] = '{}', m_to text[] = '{}', m_at bigint[] = '{}', m_event bigint[] = '{}', m_ticket bigint[] = '{}', m_seq integer[] = '{}', m_input bytea[] = '{}',
	OUT o_verdict smallint[], OUT o_rev bigint[], OUT o_absent text[]
) LANGUAGE plpgsql
SET search_path FROM CURRENT SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_bitmapscan = off SET jit = off SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
DECLARE
	n integer := cardinality(r_id);
	olds boolean := 0 < ANY (r_rev);
	news boolean := 0 = ANY (r_rev); -- children, too
	children boolean := 0 < ANY (r_of);
	sleepers boolean := -9223372036854775808 <= ANY (r_wake);
	ends boolean := 4 <= ANY (r_status);
	needs boolean := cardinality(p_needs) > 0;
	all_won boolean;
	v_ns integer[] := array_fill(p_ns, ARRAY[n]);
	v_inst bigint[] := array_fill(0::bigint, ARRAY[n]); -- of each row; 0: nothing is written
	v_old_seq bigint[] := v_inst; v_old_wake bigint[] := array_fill(NULL::bigint, ARRAY[n]); v_old_told bigint[] := v_inst; v_old_labels bigint[] := v_inst; v_old_owns bigint[] := v_inst;
	v_old_status smallint[]; v_old_kind integer[]; v_old_state text[]; v_old_grp text[]; v_old_created bigint[]; v_met boolean[];
	v_told bigint[] := array_fill(0::bigint, ARRAY[n]);
	v_due boolean[] := array_fill(false, ARRAY[n]);
	v_made bigint[]; v_own bigint[]; v_over bigint[]; v_over_ids text[];
	v_deployments bigint; b bigint[]; s bigint; j integer; r record;
BEGIN
	IF NOT olds THEN
		PERFORM exclusive(p_ns);
	END IF;
	IF needs THEN
		o_absent := absent(p_ns, p_needs);
	END IF;
	IF 0 < ANY (r_deployed) THEN
		SELECT deployments INTO v_deployments FROM namespaces WHERE ns = p_ns;
	END IF;
	o_rev := v_inst;
	IF olds THEN
		SELECT array_agg(coalesce(seq, 0)), array_agg(coalesce(rev, 0)), array_agg(coalesce(status, 0::smallint)), array_agg(wake), array_agg(coalesce(told, 0)),
			array_agg(coalesce(labels, 0)), array_agg(coalesce(owns, 0)), array_agg(kind), array_agg(state), array_agg(grp), array_agg(created), array_agg(met)
		INTO v_old_seq, o_rev, v_old_status, v_old_wake, v_old_told, v_old_labels, v_old_owns, v_old_kind, v_old_state, v_old_grp, v_old_created, v_met
		FROM (
			SELECT x.*, u.unread AND EXISTS (SELECT 1 FROM inbox y WHERE y.ns = p_ns AND y.inst = x.seq AND y.seq > u.i * 0) AS met FROM unnest(r_of, r_rev, r_id, r_unread) WITH ORDINALITY u(of, rev, id, unread, i)
			LEFT JOIN LATERAL (SELECT seq, rev, status, wake, told, labels, owns, kind, state, grp, created FROM instances WHERE id = u.id AND ns + 0 = p_ns AND u.of = 0 AND u.rev <> 0 FOR UPDATE) x ON true ORDER BY u.i
		) q;
	END IF;
	o_verdict := array_fill(0::smallint, ARRAY[n]);
	FOR i IN 1..n LOOP
		IF r_of[i] <> 0 THEN
			j := r_of[i];
			IF needs AND r_need[i] = ANY (o_absent) AND o_verdict[j] = 0 THEN
				o_verdict[j] := 3;
			END IF;
		ELSIF r_deployed[i] <> 0 AND r_deployed[i] <> v_deployments THEN
			o_verdict[i] := 4;
		ELSIF r_rev[i] = 0 THEN -- whether it is there will be seen
			IF needs AND r_need[i] = ANY (o_absent) THEN
				o_verdict[i] := 3;
			END IF;
		ELSIF v_old_seq[i] = 0 THEN
			o_verdict[i] := 2;
		ELSIF o_rev[i] <> r_rev[i] OR v_old_created[i] <> r_created[i] OR v_met[i] THEN
			o_verdict[i] := 1;
		ELSIF needs AND r_need[i] = ANY (o_absent) THEN
			o_verdict[i] := 3;
		END IF;
	END LOOP;
	FOR i IN 1..n LOOP
		IF r_of[i] = 0 AND o_verdict[i] = 0 THEN
			v_inst[i] := v_old_seq[i];
			v_told[i] := v_old_told[i] + r_count[i];
		END IF;
	END LOOP;

	IF olds THEN
		UPDATE instances x SET rev = x.rev + 1, kind = u.kind, status = u.status, updated = u.updated, ended = u.ended, wake = u.wake,
			more = u.more, aside = u.aside, parent = u.parent, error = u.error, client = u.client, state = u.state, grp = u.grp, labels = u.labels, owns = u.owns,
			told = v_told[u.i], rest = u.rest
		FROM unnest(r_kind, r_status, r_updated, r_ended, r_wake, r_more, r_aside, r_parent, r_error, r_client, r_state, r_grp, r_labels, r_owns, r_rest)
			WITH ORDINALITY u(kind, status, updated, ended, wake, more, aside, parent, error, client, state, grp, labels, owns, rest, i)
		WHERE v_inst[u.i] <> 0 AND x.ns = v_ns[u.i] AND x.seq = v_inst[u.i];
		IF cardinality(p_row) > 0 THEN -- of instances that were there
			IF array_position(p_data, NULL) IS NOT NULL THEN
				DELETE FROM pages x USING unnest(p_row, p_frame, p_part, p_data) u(r, frame, part, data)
				WHERE u.data IS NULL AND v_inst[u.r] <> 0 AND x.ns = v_ns[u.r] AND x.inst = v_inst[u.r] AND x.frame = u.frame AND x.part = u.part;
			END IF;
			INSERT INTO pages AS x (ns, inst, frame, part, data)
			SELECT p_ns, v_inst[u.r], u.frame, u.part, u.data FROM unnest(p_row, p_frame, p_part, p_data) u(r, frame, part, data) WHERE u.data IS NOT NULL AND v_inst[u.r] <> 0
			ON CONFLICT (ns, inst, frame, part) DO UPDATE SET data = excluded.data;
		END IF;
		PERFORM exclusive(p_ns);
		IF needs AND absent(p_ns, p_needs) IS DISTINCT FROM o_absent THEN
			RAISE EXCEPTION 'a definition was deleted meanwhile' USING ERRCODE = 'LK001';
		END IF;
	END IF;
	b := blocks(p_numbers);

	-- New instances, then the children of those that won.
	IF news THEN
		FOR pass IN 1..CASE WHEN children THEN 2 ELSE 1 END LOOP
			WITH made AS (
				INSERT INTO instances (ns, seq, rev, created, updated, ended, wake, told, labels, owns, error, kind, status, shard, more, aside, id, parent, client, state, grp, rest)
				SELECT p_ns, b[1 + (u.o >> 10)] + (u.o & 1023), 1, u.created, u.updated, u.ended, u.wake, v_told[u.i], u.labels, u.owns, u.error, u.kind, u.status, u.shard,
					u.more, u.aside, u.id, u.parent, u.client, u.state, u.grp, u.rest
				FROM unnest(r_of, r_rev, r_seq, r_created, r_updated, r_ended, r_wake, r_labels, r_owns, r_error, r_kind, r_status, r_shard, r_more, r_aside, r_id, r_parent, r_client, r_state, r_grp, r_rest)
					WITH ORDINALITY u(of, rev, o, created, updated, ended, wake, labels, owns, error, kind, status, shard, more, aside, id, parent, client, state, grp, rest, i)
				WHERE u.rev = 0 AND CASE WHEN pass = 1 THEN u.of = 0 AND o_verdict[u.i] = 0 ELSE u.of <> 0 AND v_inst[u.of] <> 0 END
				ORDER BY u.i
				ON CONFLICT DO NOTHING RETURNING seq
			) SELECT array_agg(seq) INTO v_made FROM made;
			j := 1;
			FOR i IN 1..n LOOP
				IF r_rev[i] = 0 AND (r_of[i] = 0) = (pass = 1) THEN
					s := b[1 + (r_seq[i] >> 10)] + (r_seq[i] & 1023);
					IF v_made[j] = s THEN
						v_inst[i] := s;
						j := j + 1;
					ELSIF pass = 1 AND o_verdict[i] = 0 THEN
						o_verdict[i] := 1;
					END IF;
				END IF;
			END LOOP;
		END LOOP;
		IF cardinality(p_row) > 0 THEN
			INSERT INTO pages (ns, inst, frame, part, data)
			SELECT p_ns, v_inst[u.r], u.frame, u.part, u.data FROM unnest(p_row, p_frame, p_part, p_data) u(r, frame, part, data)
			WHERE u.data IS NOT NULL AND v_inst[u.r] <> 0 AND r_rev[u.r] = 0;
		END IF;
		IF children AND sleepers THEN
			INSERT INTO wakes (ns, inst, wake, shard, id, turn) SELECT p_ns, v_inst[u.i], u.wake, u.shard, u.id, b[1] FROM unnest(r_of, r_wake, r_shard, r_id) WITH ORDINALITY u(of, wake, shard, id, i)
			WHERE u.of <> 0 AND u.wake IS NOT NULL AND v_inst[u.i] <> 0;
		END IF;
	END IF;

	IF news OR v_old_status <> r_status OR v_old_kind <> r_kind OR v_old_state IS DISTINCT FROM r_state OR v_old_grp IS DISTINCT FROM r_grp THEN
		INSERT INTO differences (ns, pos, kind, status, state, grp, n)
		SELECT p_ns, b[1], array_agg(d.kind), array_agg(d.status), array_agg(d.state), array_agg(d.grp), array_agg(d.n) FROM (
			SELECT c.kind, c.status, c.state, c.grp, sum(c.n)::bigint AS n FROM (
				SELECT u.kind, u.status, coalesce(u.state, '') AS state, coalesce(u.grp, '') AS grp, 1 AS n
				FROM unnest(v_inst, r_kind, r_status, r_state, r_grp) u(inst, kind, status, state, grp) WHERE u.inst <> 0
				UNION ALL
				SELECT u.kind, u.status, coalesce(u.state, ''), coalesce(u.grp, ''), -1
				FROM unnest(v_inst, v_old_seq, v_old_kind, v_old_status, v_old_state, v_old_grp) u(inst, was, kind, status, state, grp) WHERE u.inst <> 0 AND u.was <> 0
			) c GROUP BY 1, 2, 3, 4 HAVING sum(c.n) <> 0
		) d HAVING count(*) > 0;
	END IF;
	IF v_old_labels <> r_labels THEN
		DELETE FROM labels x USING unnest(r_labels) WITH ORDINALITY u(labels, i)
		WHERE v_inst[u.i] <> 0 AND v_old_labels[u.i] <> 0 AND v_old_labels[u.i] <> u.labels AND x.inst = v_inst[u.i];
		INSERT INTO labels (ns, label, kind, state, inst) SELECT p_ns, u.label, u.kind, u.state, v_inst[u.r] FROM unnest(l_row, l_label, l_kind, l_state) u(r, label, kind, state)
		WHERE v_inst[u.r] <> 0 AND v_old_labels[u.r] <> r_labels[u.r] ON CONFLICT DO NOTHING;
	END IF;
	IF v_old_owns <> r_owns THEN
		DELETE FROM owners x USING unnest(r_owns) WITH ORDINALITY u(owns, i)
		WHERE v_inst[u.i] <> 0 AND v_old_owns[u.i] <> 0 AND v_old_owns[u.i] <> u.owns AND x.inst = v_inst[u.i];
		INSERT INTO owners (ns, key, inst) SELECT p_ns, u.key, v_inst[u.r] FROM unnest(o_row, o_key) u(r, key) WHERE v_inst[u.r] <> 0 AND v_old_owns[u.r] <> r_owns[u.r] ON CONFLICT DO NOTHING;
	END IF;

	INSERT INTO history (ns, gen, pos, inst, at, told, kind, status, instance, client, records)
	SELECT p_ns, (SELECT current FROM rings WHERE ring = 0), b[1 + (u.o >> 10)] + (u.o & 1023), v_inst[u.i], u.updated, v_told[u.i], u.kind, u.status, u.id, u.client, u.records
	FROM unnest(r_of, r_rev, r_pos, r_updated, r_kind, r_status, r_id, r_client, r_records) WITH ORDINALITY u(of, rev, o, updated, kind, status, id, client, records, i)
	WHERE u.of = 0 AND v_inst[u.i] <> 0 AND (u.rev = 0 OR u.records IS NOT NULL OR v_old_status[u.i] <> u.status);

	IF cardinality(t_row) > 0 THEN
		FOR r IN SELECT x.inst, r_id[u.r] AS id, x.event, x.ticket FROM unnest(t_row, t_seq, t_back) WITH ORDINALITY u(r, seq, back, i)
			JOIN inbox x ON x.ns = v_ns[u.r] AND x.inst = v_inst[u.r] AND x.seq = u.seq WHERE u.back AND x.event <> 0 ORDER BY u.i
		LOOP
			PERFORM refuse(p_ns, r.inst, r.id, r.event, r.ticket, b[1]);
		END LOOP;
		DELETE FROM inbox x USING unnest(t_row, t_seq) u(r, seq) WHERE x.ns = v_ns[u.r] AND x.inst = v_inst[u.r] AND x.seq = u.seq;
	END IF;
	IF cardinality(a_row) > 0 THEN
		DELETE FROM calls x USING unnest(a_row, a_ticket) u(r, ticket) WHERE v_inst[u.r] <> 0 AND x.inst = v_inst[u.r] AND x.ticket = u.ticket;
	END IF;
	IF cardinality(k_row) > 0 THEN
		INSERT INTO calls AS x (ns, inst, ticket, seq, epoch, shard, call)
		SELECT p_ns, v_inst[u.r], u.ticket, b[1 + (u.o >> 10)] + (u.o & 1023), u.epoch, u.shard, u.call FROM unnest(k_row, k_ticket, k_seq, k_shard, k_epoch, k_call) u(r, ticket, o, shard, epoch, call) WHERE v_inst[u.r] <> 0
		ON CONFLICT (inst, ticket) DO UPDATE SET seq = excluded.seq, shard = excluded.shard, epoch = excluded.epoch, parked = false, call = excluded.call;
	END IF;
	IF cardinality(e_row) > 0 THEN
		INSERT INTO emits (ns, sink, seq, shard, instance, definition, event)
		SELECT p_ns, u.sink, b[1 + (u.o >> 10)] + (u.o & 1023), r_shard[u.r], r_id[u.r], u.definition, u.event FROM unnest(e_row, e_sink, e_seq, e_definition, e_event) u(r, sink, o, definition, event)
		WHERE v_inst[u.r] <> 0;
	END IF;
	IF cardinality(u_row) > 0 THEN
		DELETE FROM subs x USING unnest(u_row, u_ticket) u(r, ticket) WHERE v_inst[u.r] <> 0 AND x.inst = v_inst[u.r] AND x.ticket = u.ticket;
	END IF;
	IF cardinality(s_row) > 0 THEN
		-- Fresh only where an event is kept that it may get: most waits begin before their event comes.
		INSERT INTO subs AS x (ns, inst, ticket, typ, match, ver, shard, fresh, busy, id, name, filter)
		SELECT p_ns, v_inst[u.r], u.ticket, u.typ, u.match, b[1], r_shard[u.r],
			EXISTS (
				SELECT 1 FROM event_keys k CROSS JOIN LATERAL (SELECT 1 FROM events e WHERE e.ns = k.ns AND e.gen = k.gen AND e.seq = k.event AND e.over > (SELECT purged(p_ns)) OFFSET 0) e
				WHERE u.match <> 0 AND k.ns = p_ns AND k.typ = u.typ AND k.match = u.match AND k.event > CASE WHEN u.late THEN v_inst[u.r] ELSE 0 END
			),
			false, r_id[u.r], u.name, u.filter
		FROM unnest(s_row, s_ticket, s_typ, s_match, s_late, s_name, s_filter) u(r, ticket, typ, match, late, name, filter) WHERE v_inst[u.r] <> 0
		ON CONFLICT (inst, ticket) DO UPDATE SET typ = excluded.typ, match = excluded.match, ver = excluded.ver, fresh = excluded.fresh, name = excluded.name, filter = excluded.filter;
	END IF;
	IF cardinality(m_row) > 0 THEN
		WITH posted AS (
			INSERT INTO inbox (ns, inst, seq, at, event, ticket, input)
			SELECT p_ns, x.seq, b[1 + (u.o >> 10)] + (u.o & 1023), u.at, u.event, u.ticket, u.input
			FROM unnest(m_row, m_child, m_to, m_at, m_event, m_ticket, m_seq, m_input) u(r, child, id, at, event, ticket, o, input)
			JOIN LATERAL (SELECT seq FROM instances WHERE id = u.id AND ns + 0 = p_ns) x ON true
			WHERE v_inst[u.r] <> 0 AND (u.child = 0 OR v_inst[u.child] <> 0)
			RETURNING ns, inst, seq
		)
		INSERT INTO ready (ns, inst, turn, shard, queued, id)
		SELECT DISTINCT ON (p.inst) p_ns, p.inst, p.seq, x.shard, true, x.id FROM posted p JOIN instances x ON x.ns = p.ns AND x.seq = p.inst WHERE NOT x.aside ORDER BY p.inst, p.seq
		ON CONFLICT (inst) DO UPDATE SET queued = true WHERE NOT ready.queued;
	END IF;

	all_won := NOT children AND 0 < ALL (v_inst);
	IF ends AND all_won AND 4 <= ALL (r_status) THEN
		v_over := v_inst;
		v_over_ids := r_id;
	ELSIF ends THEN
		SELECT array_agg(v_inst[u.i]), array_agg(u.id) INTO v_over, v_over_ids FROM unnest(r_of, r_status, r_id) WITH ORDINALITY u(of, status, id, i) WHERE u.of = 0 AND u.status >= 4 AND v_inst[u.i] <> 0;
	END IF;
	IF v_over IS NOT NULL THEN
		DELETE FROM subs WHERE inst = ANY (v_over);
		DELETE FROM calls WHERE inst = ANY (v_over);
		IF EXISTS (SELECT 1 FROM unnest(v_over_ids) u(id) CROSS JOIN LATERAL (SELECT 1 FROM kept_for k WHERE k.ns = p_ns AND k.id = u.id OFFSET 0) k) THEN
			PERFORM let_go(p_ns, v_over_ids, b[1]);
		END IF;
	END IF;

	-- Who still has something to do does it behind the others.
	-- Queues are not joined: where statistics say that they are empty, the planner looks at all that is dead in them.
	IF olds OR cardinality(m_row) > 0 THEN
		v_own := v_inst;
		IF NOT all_won THEN
			SELECT array_agg(v_inst[u.i]) INTO v_own FROM unnest(r_of) WITH ORDINALITY u(of, i) WHERE u.of = 0 AND v_inst[u.i] <> 0;
		END IF;
		FOR r IN DELETE FROM ready WHERE inst = ANY (v_own) RETURNING inst, due LOOP
			v_due[array_position(v_inst, r.inst)] := r.due IS NOT NULL;
		END LOOP;
	END IF;
	IF sleepers THEN
		INSERT INTO wakes AS x (ns, inst, wake, shard, id, turn)
		SELECT p_ns, v_inst[u.i], u.wake, u.shard, u.id, b[1] FROM unnest(r_of, r_wake, r_shard, r_id) WITH ORDINALITY u(of, wake, shard, id, i)
		WHERE u.of = 0 AND v_inst[u.i] <> 0 AND u.wake IS NOT NULL AND (u.wake IS DISTINCT FROM v_old_wake[u.i] OR v_due[u.i])
		ON CONFLICT (inst) DO UPDATE SET wake = excluded.wake, turn = excluded.turn;
	END IF;
	IF -9223372036854775808 <= ANY (v_old_wake) THEN
		SELECT array_agg(v_inst[u.i]) INTO v_own FROM unnest(r_of, r_wake) WITH ORDINALITY u(of, wake, i) WHERE u.of = 0 AND v_inst[u.i] <> 0 AND u.wake IS NULL AND v_old_wake[u.i] IS NOT NULL;
		FOREACH s IN ARRAY coalesce(v_own, '{}') LOOP
			DELETE FROM wakes WHERE inst = s;
		END LOOP;
	END IF;
	IF olds OR true = ANY (r_more) OR cardinality(m_row) > 0 THEN
		-- u.i * 0 keeps the planner from hashing all inboxes.
		INSERT INTO ready (ns, inst, turn, shard, queued, id)
		SELECT p_ns, v_inst[u.i], b[1 + (u.o >> 10)] + (u.o & 1023), u.shard, true, u.id FROM unnest(r_of, r_more, r_aside, r_turn, r_shard, r_id) WITH ORDINALITY u(of, more, aside, o, shard, id, i)
		WHERE u.of = 0 AND v_inst[u.i] <> 0 AND NOT u.aside AND (u.more OR EXISTS (SELECT 1 FROM inbox x WHERE x.ns = v_ns[u.i] AND x.inst = v_inst[u.i] AND x.seq > u.i * 0));
	END IF;
	INSERT INTO outcomes (token, result) VALUES (p_token, o_verdict); -- the last thing: see outcomes
END $$;
