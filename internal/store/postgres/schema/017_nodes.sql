-- heartbeat lets a node of a namespace be heard of, which is what keeps its parts: only its own row is
-- written. It gives back some (p_back), and takes free ones up to the node's fair share if p_take says
-- so. A node's number is drawn anew whenever it joins: what has it as its owner, nobody took since. One
-- call is one transaction, on the clock of the database alone. Whoever takes the parts of a node that is
-- not heard of locks that node's row: if it comes late, it waits and then sees that they are gone. Other rows
-- that are locked are left alone. o_since is the oldest schema that a node must know.
CREATE OR REPLACE FUNCTION heartbeat(
	p_ns integer, p_node uuid, p_name text, p_version text, p_address text, p_calls integer, p_lease interval, p_parts integer, p_back smallint[], p_take boolean,
	OUT o_now timestamptz, OUT o_nodes integer, OUT o_shard smallint[], OUT o_epoch bigint[], OUT o_wait double precision, OUT o_since integer
) LANGUAGE plpgsql
SET search_path FROM CURRENT SET jit = off
AS $$
DECLARE
	v_now timestamptz := clock_timestamp();
	v_share integer; v_have integer; v_gone uuid[];
BEGIN
	INSERT INTO nodes AS x (node, ns, name, version, address, calls, since, seen, until) VALUES (p_node, p_ns, p_name, p_version, p_address, p_calls, v_now, v_now, v_now + p_lease)
	ON CONFLICT (node) DO UPDATE SET calls = excluded.calls, seen = excluded.seen, until = excluded.until;
	IF (SELECT count(*) FROM shards WHERE ns = p_ns) < p_parts THEN
		INSERT INTO shards (ns, shard, owner, epoch) SELECT p_ns, g, NULL, 0 FROM generate_series(0, p_parts - 1) g ON CONFLICT DO NOTHING;
	END IF;
	IF cardinality(p_back) > 0 THEN
		UPDATE shards s SET owner = NULL WHERE s.ns = p_ns AND s.owner = p_node AND s.shard = ANY (p_back);
	END IF;
	-- o_wait: in how many seconds the first other node's parts will be free, unless it is heard of.
	SELECT count(*) FILTER (WHERE n.until >= v_now), extract(epoch FROM min(n.until) FILTER (WHERE n.until >= v_now AND n.node <> p_node AND n.node IN (SELECT owner FROM shards WHERE ns = p_ns)) - v_now)
	INTO o_nodes, o_wait FROM nodes n WHERE n.ns = p_ns;
	v_share := (p_parts + o_nodes - 1) / greatest(o_nodes, 1);
	SELECT count(*) INTO v_have FROM shards WHERE ns = p_ns AND owner = p_node;
	IF p_take AND v_have < v_share AND EXISTS (SELECT 1 FROM shards s LEFT JOIN nodes n ON n.node = s.owner WHERE s.ns = p_ns AND (s.owner IS NULL OR n.until < v_now)) THEN
		SELECT array_agg(g.node) INTO v_gone FROM (SELECT node FROM nodes WHERE ns = p_ns AND until < v_now AND node <> p_node FOR UPDATE SKIP LOCKED) g;
		UPDATE shards s SET owner = p_node, epoch = s.epoch + 1 FROM (
			SELECT shard FROM shards WHERE ns = p_ns AND (owner IS NULL OR owner = ANY (v_gone)) ORDER BY shard LIMIT v_share - v_have FOR UPDATE SKIP LOCKED
		) f WHERE s.ns = p_ns AND s.shard = f.shard;
	END IF;
	SELECT coalesce(array_agg(shard), '{}'), coalesce(array_agg(epoch), '{}') INTO o_shard, o_epoch FROM shards WHERE ns = p_ns AND owner = p_node;
	SELECT max(since) INTO o_since FROM schema_versions;
	o_now := clock_timestamp();
END $$;

-- hand_over makes the calls of the parts that a node has its own, and lists those that were
-- another's. A call that was decided on under an earlier epoch is found, however late it comes; one
-- of an instance in quarantine when that is over.
CREATE OR REPLACE FUNCTION hand_over(p_ns integer, h_shard smallint[], h_epoch bigint[]) RETURNS TABLE (seq bigint, id text, created bigint, parked boolean, shard smallint, call bytea) LANGUAGE plpgsql
SET search_path FROM CURRENT SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_bitmapscan = off SET jit = off SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
BEGIN
	RETURN QUERY
	WITH late AS MATERIALIZED (
		SELECT c.inst, c.ticket, h.epoch FROM unnest(h_shard, h_epoch) h(shard, epoch)
		CROSS JOIN LATERAL (SELECT x.inst, x.ticket FROM calls x WHERE x.ns = p_ns AND x.shard = h.shard AND x.epoch < h.epoch OFFSET 0) c
		CROSS JOIN LATERAL (SELECT 1 FROM instances i WHERE i.ns = p_ns AND i.seq = c.inst AND NOT i.aside OFFSET 0) i
	), mine AS (
		UPDATE calls c SET epoch = l.epoch FROM late l WHERE c.inst = l.inst AND c.ticket = l.ticket RETURNING c.seq, c.inst, c.parked, c.shard, c.call
	)
	SELECT m.seq, i.id, i.created, m.parked, m.shard, m.call FROM mine m CROSS JOIN LATERAL (SELECT x.id, x.created FROM instances x WHERE x.ns = p_ns AND x.seq = m.inst OFFSET 0) i ORDER BY m.seq;
END $$;

-- fold adds differences up, at most so many, and tells how many.
CREATE OR REPLACE FUNCTION fold(p_ns integer, p_limit integer) RETURNS integer LANGUAGE plpgsql
SET search_path FROM CURRENT SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_bitmapscan = off SET jit = off SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
DECLARE
	v_from bigint; v_to bigint; v_n integer;
BEGIN
	PERFORM exclusive(p_ns);
	SELECT pos INTO v_from FROM folds WHERE ns = p_ns ORDER BY pos DESC LIMIT 1;
	SELECT max(d.pos), count(*) INTO v_to, v_n FROM (SELECT pos FROM differences WHERE ns = p_ns AND pos > coalesce(v_from, 0) ORDER BY pos LIMIT p_limit) d;
	IF v_n = 0 THEN
		RETURN 0;
	END IF;
	INSERT INTO counts AS x (ns, kind, status, state, grp, n)
	SELECT p_ns, u.kind, u.status, u.state, u.grp, sum(u.n) FROM differences d CROSS JOIN LATERAL unnest(d.kind, d.status, d.state, d.grp, d.n) u(kind, status, state, grp, n)
	WHERE d.ns = p_ns AND d.pos > coalesce(v_from, 0) AND d.pos <= v_to GROUP BY 2, 3, 4, 5 HAVING sum(u.n) <> 0
	ON CONFLICT (ns, kind, status, state, grp) DO UPDATE SET n = x.n + excluded.n;
	DELETE FROM differences WHERE ns = p_ns AND pos > coalesce(v_from, 0) AND pos <= v_to;
	DELETE FROM folds WHERE ns = p_ns AND pos = v_from;
	INSERT INTO folds (ns, pos) VALUES (p_ns, v_to);
	RETURN v_n;
END $$;
