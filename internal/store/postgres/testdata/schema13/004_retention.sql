-- remove_instances forgets instances whose rows are locked. What the feed tells of them stays, and
-- ends with the records of their deletion.
CREATE FUNCTION remove_instances(p_ns integer, p_ids text[], p_at bigint, p_records bytea) RETURNS void LANGUAGE plpgsql
SET search_path FROM CURRENT SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_bitmapscan = off SET jit = off SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
DECLARE
	b bigint[]; v_inst bigint[]; s bigint; r record;
BEGIN
	PERFORM exclusive(p_ns);
	b := blocks(cardinality(p_ids) + 1);
	SELECT array_agg(x.seq ORDER BY u.o) INTO v_inst FROM unnest(p_ids) WITH ORDINALITY u(id, o) CROSS JOIN LATERAL (SELECT seq FROM instances WHERE id = u.id AND ns + 0 = p_ns OFFSET 0) x;
	FOR r IN SELECT x.inst, i.id, x.event, x.ticket FROM inbox x CROSS JOIN LATERAL (SELECT id FROM instances WHERE ns = x.ns AND seq = x.inst OFFSET 0) i
		WHERE x.ns = p_ns AND x.inst = ANY (v_inst) AND x.event <> 0 ORDER BY x.seq
	LOOP
		PERFORM refuse(p_ns, r.inst, r.id, r.event, r.ticket, b[1]);
	END LOOP;
	PERFORM let_go(p_ns, p_ids, b[1]);
	INSERT INTO history (ns, gen, pos, inst, at, told, kind, status, instance, client, records)
	SELECT p_ns, (SELECT current FROM rings WHERE ring = 0), b[1 + (u.o >> 10)] + (u.o & 1023), x.seq, p_at, x.told + 1, x.kind, x.status, x.id, x.client, p_records
	FROM unnest(v_inst) WITH ORDINALITY n(inst, i) CROSS JOIN LATERAL (SELECT n.i::integer AS o) u CROSS JOIN LATERAL (SELECT * FROM instances WHERE ns = p_ns AND seq = n.inst OFFSET 0) x;
	-- With each revision at most one row came, and with the deletion one.
	INSERT INTO gone SELECT p_ns, n.inst, b[1 + (u.o >> 10)] + (u.o & 1023), x.rev + 1
	FROM unnest(v_inst) WITH ORDINALITY n(inst, i) CROSS JOIN LATERAL (SELECT n.i::integer AS o) u CROSS JOIN LATERAL (SELECT rev FROM instances WHERE ns = p_ns AND seq = n.inst OFFSET 0) x;
	INSERT INTO differences
	SELECT p_ns, b[1], array_agg(d.kind), array_agg(d.status), array_agg(d.state), array_agg(d.grp), array_agg(d.n) FROM (
		SELECT x.kind, x.status, coalesce(x.state, '') AS state, coalesce(x.grp, '') AS grp, -count(*) AS n
		FROM unnest(v_inst) n(inst) CROSS JOIN LATERAL (SELECT * FROM instances WHERE ns = p_ns AND seq = n.inst OFFSET 0) x GROUP BY 1, 2, 3, 4
	) d HAVING count(*) > 0;
	DELETE FROM subs WHERE inst = ANY (v_inst);
	DELETE FROM calls WHERE inst = ANY (v_inst);
	DELETE FROM ready WHERE inst = ANY (v_inst);
	DELETE FROM wakes WHERE inst = ANY (v_inst);
	DELETE FROM labels WHERE inst = ANY (v_inst);
	DELETE FROM owners WHERE inst = ANY (v_inst);
	FOREACH s IN ARRAY v_inst LOOP
		DELETE FROM inbox WHERE ns = p_ns AND inst = s;
		DELETE FROM pages WHERE ns = p_ns AND inst = s;
		DELETE FROM instances WHERE ns = p_ns AND seq = s;
	END LOOP;
END $$;

-- purge_feed forgets items that are older than an instant, up to the first that is not, and
-- tells how many. What history is left of deleted instances is garbage once the last item is forgotten.
-- It is counted, and nobody commits meanwhile: where there are more than p_rows it ends early, and o_more
-- tells so. Of one instance with very many, some are not counted: their space is given back later.
-- Nobody keeps house meanwhile: what is counted is not moved.
CREATE FUNCTION purge_feed(p_ns integer, p_before bigint, p_limit integer, p_rows integer, OUT o_n integer, OUT o_more boolean) LANGUAGE plpgsql
SET search_path FROM CURRENT SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_bitmapscan = off SET jit = off SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
DECLARE
	v_was bigint; v_oldest bigint; v_cut bigint; v_over bigint[]; r record;
BEGIN
	o_n := 0;
	o_more := false;
	PERFORM pg_advisory_xact_lock('generations'::regclass::oid::integer, 0);
	PERFORM exclusive(p_ns);
	SELECT oldest INTO v_was FROM namespaces WHERE ns = p_ns;
	FOR r IN SELECT pos, at FROM history WHERE ns = p_ns AND pos > v_was ORDER BY pos LIMIT p_limit LOOP
		EXIT WHEN r.at >= p_before;
		v_oldest := r.pos;
		o_n := o_n + 1;
	END LOOP;
	IF o_n = 0 THEN
		RETURN;
	END IF;
	SELECT min(x.last) INTO v_cut FROM (SELECT last, sum(rows) OVER (ORDER BY last) AS total FROM gone WHERE 0 + ns = p_ns AND last <= v_oldest) x WHERE x.total >= p_rows;
	IF v_cut < v_oldest THEN
		v_oldest := v_cut;
		o_more := true;
		SELECT count(*) INTO o_n FROM history WHERE ns = p_ns AND pos > v_was AND pos <= v_oldest;
	END IF;
	UPDATE namespaces SET oldest = v_oldest WHERE ns = p_ns;
	WITH over AS (DELETE FROM gone WHERE 0 + ns = p_ns AND last <= v_oldest RETURNING inst) SELECT array_agg(inst) INTO v_over FROM over;
	IF v_over IS NOT NULL THEN
		FOR r IN SELECT x.gen, count(*) AS n FROM (SELECT gen FROM history WHERE inst = ANY (v_over) LIMIT 10 * p_rows) x GROUP BY x.gen ORDER BY x.gen LOOP
			PERFORM note_garbage(0, r.gen, r.n);
		END LOOP;
	END IF;
END $$;

-- forget_outcomes empties the tables of outcomes that have nothing but old tokens, and tells how
-- many. Whom it would have to wait for, it leaves alone; it is called often. Times are
-- nanoseconds; of the caller's clock and the database's, the one that is behind counts.
CREATE FUNCTION forget_outcomes(p_now bigint, p_kept bigint) RETURNS integer LANGUAGE plpgsql
SET search_path FROM CURRENT SET enable_seqscan = off SET lock_timeout = '50ms'
AS $$
DECLARE
	t text; v_newest uuid; v_old uuid; n integer := 0;
BEGIN
	v_old := (lpad(to_hex(least(p_now, (extract(epoch FROM clock_timestamp()) * 1000000000)::bigint) - p_kept), 16, '0') || repeat('0', 16))::uuid;
	FOREACH t IN ARRAY ARRAY['outcomes_0', 'outcomes_1', 'outcomes_2', 'outcomes_3'] LOOP
		EXECUTE format('SELECT token FROM %I ORDER BY token DESC LIMIT 1', t) INTO v_newest;
		CONTINUE WHEN v_newest IS NULL OR v_newest >= v_old;
		BEGIN
			EXECUTE format('LOCK TABLE %I IN ACCESS EXCLUSIVE MODE', t);
			EXECUTE format('SELECT token FROM %I ORDER BY token DESC LIMIT 1', t) INTO v_newest;
			IF v_newest < v_old THEN
				EXECUTE format('TRUNCATE %I', t);
				n := n + 1;
			END IF;
		EXCEPTION WHEN lock_not_available THEN
			NULL; -- a backup reads it
		END;
	END LOOP;
	RETURN n;
END $$;
