-- An event and the step of the one instance that waits for it are one transaction: nothing is put into the inbox.

-- lock_instances locks rows in the order of the ids, before anything takes the lock of the namespace.
CREATE FUNCTION lock_instances(p_ns integer, p_ids text[]) RETURNS void LANGUAGE plpgsql
SET search_path FROM CURRENT SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_bitmapscan = off SET jit = off SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
	v_id text;
BEGIN
	FOREACH v_id IN ARRAY p_ids LOOP
		PERFORM 1 FROM instances WHERE id = v_id AND ns + 0 = p_ns FOR UPDATE;
	END LOOP;
END $$;

-- take_event stores an event that an instance gets with the step that commit_one writes behind it. The row of the
-- instance is locked. The result is 0, or why nothing happened: 1 something changed that the router looked at (x_), 2 the
-- event is known, 4 something was deployed since (p_deployed), 5 the instance has another revision, or something in an
-- inbox that was not read (p_unread), 6 it is not there. With 0, commit_one finds what it needs.
CREATE FUNCTION take_event(
	p_ns integer, p_id text, p_rev bigint, p_created bigint, p_unread boolean, p_deployed bigint, p_ticket bigint, p_emit bigint,
	x_what text[], x_a bigint[], x_b bigint[], x_c text[], x_d text[], x_sum bigint[],
	n_seq bigint, n_key bytea, n_typ bigint, n_received bigint, n_until bigint, n_started boolean, n_producer text, n_origin text, n_fors text[], n_fate bytea, n_event bytea, n_typs bigint[], n_matches bigint[]
) RETURNS smallint LANGUAGE plpgsql
SET search_path FROM CURRENT SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_bitmapscan = off SET jit = off SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
DECLARE
	v_inst bigint; v_same boolean; v_until bigint; v_purged bigint; v_gen smallint;
BEGIN
	PERFORM exclusive(p_ns);
	SELECT seq, rev = p_rev AND created = p_created INTO v_inst, v_same FROM instances WHERE id = p_id AND ns + 0 = p_ns;
	IF NOT FOUND THEN
		RETURN 6;
	END IF;
	IF NOT v_same OR p_unread AND EXISTS (SELECT 1 FROM inbox WHERE ns = p_ns AND inst = v_inst) THEN
		RETURN 5;
	END IF;
	IF p_deployed <> 0 AND p_deployed <> (SELECT deployments FROM namespaces WHERE ns = p_ns) THEN
		RETURN 4;
	END IF;
	FOR i IN 1..cardinality(x_what) LOOP
		IF seen(p_ns, x_what[i], x_a[i], x_b[i], x_c[i], x_d[i]) <> x_sum[i] THEN
			RETURN 1;
		END IF;
	END LOOP;
	v_purged := purged(p_ns);
	SELECT until INTO v_until FROM events WHERE key = n_key AND ns + 0 = p_ns AND over + 0 > v_purged;
	IF FOUND THEN
		RETURN CASE WHEN v_until > n_received THEN 2 ELSE 1 END;
	END IF;
	SELECT current INTO v_gen FROM rings WHERE ring = 1;
	INSERT INTO events (ns, gen, seq, typ, received, until, over, ver, again, started, key, producer, origin, fors, fate, event)
	VALUES (p_ns, v_gen, n_seq, n_typ, n_received, n_until, CASE WHEN n_until > v_purged THEN n_until ELSE 9223372036854775807 END, nextval('seqs'), false, n_started, n_key, n_producer, n_origin, n_fors, n_fate, n_event);
	INSERT INTO event_keys (ns, gen, typ, match, event) SELECT p_ns, v_gen, t, m, n_seq FROM unnest(n_typs, n_matches) u(t, m);
	INSERT INTO deliveries (ns, gen, event, inst, ticket, refused) VALUES (p_ns, v_gen, n_seq, v_inst, p_ticket, false);
	IF cardinality(n_fors) > 0 THEN
		INSERT INTO kept_for (ns, id, event) SELECT DISTINCT p_ns, f, n_seq FROM unnest(n_fors) f;
	END IF;
	IF p_emit <> 0 THEN
		DELETE FROM emits WHERE ns = p_ns AND NOT sink AND seq = p_emit;
	END IF;
	RETURN 0;
END $$;

-- settle is called with the results of what a transaction does, and so after all of it: it keeps them for whoever loses
-- the answer. Where nothing was done nothing is kept: it can be done again. A result below 0 is a step that commit_one
-- refused after take_event: then nothing must stay.
CREATE OR REPLACE FUNCTION settle(p_token uuid, p_results smallint[]) RETURNS smallint[] LANGUAGE plpgsql
SET search_path FROM CURRENT
AS $$
BEGIN
	IF 0 > ANY (p_results) THEN
		RAISE EXCEPTION 'the step of an event was refused with %', p_results;
	END IF;
	IF 0 = ANY (p_results) THEN
		INSERT INTO outcomes (token, result) VALUES (p_token, p_results);
	END IF;
	RETURN p_results;
END $$;

-- commit_one is as before, and keeps no outcome where it has no token: with an event settle does that.
CREATE OR REPLACE FUNCTION commit_one(
	p_ns integer, p_token uuid,
	r_id text, r_rev bigint, r_unread boolean, r_deployed bigint, r_kind integer, r_need text, r_status smallint, r_created bigint, r_updated bigint, r_ended bigint,
	r_wake bigint, r_more boolean, r_aside boolean, r_parent text, r_error bigint, r_client text, r_state text, r_grp text,
	r_labels bigint, r_owns bigint, r_shard smallint, r_rest bytea, r_records bytea, r_count integer, r_turn integer,
	p_frame bigint[], p_part integer[], p_data bytea[],
	a_ticket bigint[],
	k_ticket bigint[], k_seq integer[], k_shard smallint[], k_epoch bigint[], k_call bytea[],
	d_frame bigint[] = '{}', d_part integer[] = '{}', -- pages that go
	l_label bigint[] = '{}', l_kind integer[] = '{}', l_state text[] = '{}',
	o_key bigint[] = '{}',
	t_seq bigint[] = '{}',
	u_ticket bigint[] = '{}',
	s_ticket bigint[] = '{}', s_typ bigint[] = '{}', s_match bigint[] = '{}', s_late boolean[] = '{}', s_name bytea[] = '{}', s_filter bytea[] = '{}',
	OUT o_verdict smallint, OUT o_rev bigint
) LANGUAGE plpgsql
SET search_path FROM CURRENT SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_bitmapscan = off SET jit = off SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
DECLARE
	v_inst bigint; v_told bigint := r_count; v_wake bigint; v_aside boolean := false; v_labels bigint := 0; v_owns bigint := 0;
	v_kind integer; v_status smallint; v_state text; v_grp text;
	v_due bigint; v_queued boolean := r_more AND NOT r_aside; b bigint;
BEGIN
	o_verdict := 0;
	o_rev := 0;
	IF r_rev <> 0 THEN
		UPDATE instances x SET rev = x.rev + 1, kind = r_kind, status = r_status, updated = r_updated, ended = r_ended, wake = r_wake,
			more = r_more, aside = r_aside, parent = r_parent, error = r_error, client = r_client, state = r_state, grp = r_grp, labels = r_labels, owns = r_owns,
			told = x.told + r_count, rest = r_rest
		FROM (SELECT ns, seq, wake, aside, labels, owns, kind, status, state, grp FROM instances WHERE id = r_id AND ns + 0 = p_ns OFFSET 0) o
		WHERE x.ns = o.ns AND x.seq = o.seq AND x.rev = r_rev AND x.created = r_created
			AND NOT (r_unread AND EXISTS (SELECT 1 FROM inbox y WHERE y.ns = p_ns AND y.inst = x.seq OFFSET 0))
		RETURNING x.seq, x.told, o.wake, o.aside, o.labels, o.owns, o.kind, o.status, o.state, o.grp
		INTO v_inst, v_told, v_wake, v_aside, v_labels, v_owns, v_kind, v_status, v_state, v_grp;
		IF v_inst IS NULL THEN
			SELECT rev INTO o_rev FROM instances WHERE id = r_id AND ns + 0 = p_ns;
			o_verdict := CASE WHEN o_rev IS NULL THEN 2 ELSE 1 END;
			o_rev := coalesce(o_rev, 0);
		END IF;
	END IF;
	IF o_verdict = 0 THEN
		PERFORM exclusive(p_ns);
		b := nextval('seqs');
	END IF;
	IF r_rev = 0 THEN
		IF r_deployed <> 0 AND r_deployed <> (SELECT deployments FROM namespaces WHERE ns = p_ns) THEN
			o_verdict := 4;
		ELSIF r_need <> '' AND NOT EXISTS (SELECT 1 FROM contents WHERE ns = p_ns AND digest = r_need) THEN
			o_verdict := 3;
		ELSE
			INSERT INTO instances (ns, seq, rev, created, updated, ended, wake, told, labels, owns, error, kind, status, shard, more, aside, id, parent, client, state, grp, rest)
			VALUES (p_ns, b, 1, r_created, r_updated, r_ended, r_wake, r_count, r_labels, r_owns, r_error, r_kind, r_status, r_shard, r_more, r_aside, r_id, r_parent, r_client, r_state, r_grp, r_rest)
			ON CONFLICT DO NOTHING RETURNING seq INTO v_inst;
			IF v_inst IS NULL THEN
				o_verdict := 1;
			END IF;
		END IF;
	END IF;
	IF o_verdict <> 0 THEN
		IF p_token IS NOT NULL THEN
			INSERT INTO outcomes (token, result) VALUES (p_token, ARRAY[o_verdict]);
		END IF;
		RETURN;
	END IF;

	IF cardinality(d_frame) > 0 THEN
		DELETE FROM pages x USING unnest(d_frame, d_part) u(frame, part) WHERE x.ns = p_ns AND x.inst = v_inst AND x.frame = u.frame AND x.part = u.part;
	END IF;
	IF cardinality(p_frame) > 0 THEN
		INSERT INTO pages (ns, inst, frame, part, data) SELECT p_ns, v_inst, u.frame, u.part, u.data FROM unnest(p_frame, p_part, p_data) u(frame, part, data)
		ON CONFLICT (ns, inst, frame, part) DO UPDATE SET data = excluded.data;
	END IF;
	IF r_rev = 0 THEN
		INSERT INTO differences (ns, pos, kind, status, state, grp, n) VALUES (p_ns, b, ARRAY[r_kind], ARRAY[r_status], ARRAY[coalesce(r_state, '')], ARRAY[coalesce(r_grp, '')], ARRAY[1]);
	ELSIF v_status <> r_status OR v_kind <> r_kind OR v_state IS DISTINCT FROM r_state OR v_grp IS DISTINCT FROM r_grp THEN
		INSERT INTO differences (ns, pos, kind, status, state, grp, n)
		VALUES (p_ns, b, ARRAY[r_kind, v_kind], ARRAY[r_status, v_status], ARRAY[coalesce(r_state, ''), coalesce(v_state, '')], ARRAY[coalesce(r_grp, ''), coalesce(v_grp, '')], ARRAY[1, -1]);
	END IF;
	IF v_labels <> r_labels THEN
		IF v_labels <> 0 THEN
			DELETE FROM labels WHERE inst = v_inst;
		END IF;
		INSERT INTO labels (ns, label, kind, state, inst) SELECT p_ns, u.label, u.kind, u.state, v_inst FROM unnest(l_label, l_kind, l_state) u(label, kind, state) ON CONFLICT DO NOTHING;
	END IF;
	IF v_owns <> r_owns THEN
		IF v_owns <> 0 THEN
			DELETE FROM owners WHERE inst = v_inst;
		END IF;
		INSERT INTO owners (ns, key, inst) SELECT p_ns, u.key, v_inst FROM unnest(o_key) u(key) ON CONFLICT DO NOTHING;
	END IF;
	IF r_rev = 0 OR r_records IS NOT NULL OR v_status <> r_status THEN
		INSERT INTO history (ns, gen, pos, inst, at, told, kind, status, instance, client, records)
		VALUES (p_ns, (SELECT current FROM rings WHERE ring = 0), b + 1, v_inst, r_updated, v_told, r_kind, r_status, r_id, r_client, r_records);
	END IF;
	IF cardinality(t_seq) > 0 THEN
		DELETE FROM inbox WHERE ns = p_ns AND inst = v_inst AND seq = ANY (t_seq);
	END IF;
	IF r_status >= 4 THEN
		DELETE FROM subs WHERE inst = v_inst;
		DELETE FROM calls WHERE inst = v_inst;
		IF EXISTS (SELECT 1 FROM kept_for WHERE ns = p_ns AND id = r_id) THEN
			PERFORM let_go(p_ns, ARRAY[r_id], b);
		END IF;
	ELSE
		IF cardinality(a_ticket) > 0 THEN
			DELETE FROM calls WHERE inst = v_inst AND ticket = ANY (a_ticket);
		END IF;
		IF cardinality(k_ticket) > 0 THEN
			INSERT INTO calls (ns, inst, ticket, seq, epoch, shard, call)
			SELECT p_ns, v_inst, u.ticket, b + u.o, u.epoch, u.shard, u.call FROM unnest(k_ticket, k_seq, k_shard, k_epoch, k_call) u(ticket, o, shard, epoch, call)
			ON CONFLICT (inst, ticket) DO UPDATE SET seq = excluded.seq, shard = excluded.shard, epoch = excluded.epoch, parked = false, call = excluded.call;
		END IF;
		IF cardinality(u_ticket) > 0 THEN
			DELETE FROM subs WHERE inst = v_inst AND ticket = ANY (u_ticket);
		END IF;
		IF cardinality(s_ticket) > 0 THEN -- fresh as in commit_batch
			INSERT INTO subs (ns, inst, ticket, typ, match, ver, shard, fresh, busy, id, name, filter)
			SELECT p_ns, v_inst, u.ticket, u.typ, u.match, b, r_shard,
				EXISTS (
					SELECT 1 FROM event_keys k CROSS JOIN LATERAL (SELECT 1 FROM events e WHERE e.ns = k.ns AND e.gen = k.gen AND e.seq = k.event AND e.over > (SELECT purged(p_ns)) OFFSET 0) e
					WHERE u.match <> 0 AND k.ns = p_ns AND k.typ = u.typ AND k.match = u.match AND k.event > CASE WHEN u.late THEN v_inst ELSE 0 END
				),
				false, r_id, u.name, u.filter
			FROM unnest(s_ticket, s_typ, s_match, s_late, s_name, s_filter) u(ticket, typ, match, late, name, filter)
			ON CONFLICT (inst, ticket) DO UPDATE SET typ = excluded.typ, match = excluded.match, ver = excluded.ver, fresh = excluded.fresh, name = excluded.name, filter = excluded.filter;
		END IF;
	END IF;

	-- Who still has something to do does it behind the others. Who has messages is ready, unless it is aside.
	IF r_rev <> 0 THEN
		DELETE FROM ready WHERE inst = v_inst RETURNING due, queued INTO v_due, v_queued;
		IF v_queued OR v_aside THEN
			v_queued := EXISTS (SELECT 1 FROM inbox WHERE ns = p_ns AND inst = v_inst);
		END IF;
		v_queued := NOT r_aside AND (r_more OR coalesce(v_queued, false));
	END IF;
	IF v_queued THEN
		INSERT INTO ready (ns, inst, turn, shard, queued, id) VALUES (p_ns, v_inst, b + r_turn, r_shard, true, r_id);
	END IF;
	IF r_wake IS NULL THEN
		IF v_wake IS NOT NULL THEN
			DELETE FROM wakes WHERE inst = v_inst;
		END IF;
	ELSIF r_wake IS DISTINCT FROM v_wake OR v_due IS NOT NULL THEN
		INSERT INTO wakes AS x (ns, inst, wake, shard, id, turn) VALUES (p_ns, v_inst, r_wake, r_shard, r_id, b)
		ON CONFLICT (inst) DO UPDATE SET wake = excluded.wake, turn = excluded.turn;
	END IF;
	IF p_token IS NOT NULL THEN
		INSERT INTO outcomes (token, result) VALUES (p_token, ARRAY[o_verdict]); -- the last thing: see outcomes
	END IF;
END $$;
