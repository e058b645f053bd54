-- heartbeat lets a node of a namespace be heard of. It renews the parts that the node has, gives
-- back others (p_back), and takes free ones up to the node's fair share if p_take says so. A node's
-- number is drawn anew whenever it joins: what has it as its owner, nobody took since. One call is one
-- transaction, on the clock of the database alone. Of rows that others lock it waits only for its own,
-- which another one takes.
CREATE FUNCTION heartbeat(
	p_ns integer, p_node uuid, p_name text, p_version text, p_address text, p_calls integer, p_lease interval, p_parts integer, p_back smallint[], p_take boolean,
	OUT o_now timestamptz, OUT o_nodes integer, OUT o_shard smallint[], OUT o_epoch bigint[], OUT o_wait double precision
) LANGUAGE plpgsql
SET search_path FROM CURRENT SET jit = off
AS $$
DECLARE
	v_now timestamptz := clock_timestamp();
	v_share integer; v_have integer;
BEGIN
	INSERT INTO nodes AS x (node, ns, name, version, address, calls, since, seen) VALUES (p_node, p_ns, p_name, p_version, p_address, p_calls, v_now, v_now)
	ON CONFLICT (node) DO UPDATE SET calls = excluded.calls, seen = excluded.seen;
	IF (SELECT count(*) FROM shards WHERE ns = p_ns) < p_parts THEN
		INSERT INTO shards SELECT p_ns, g, NULL, 0, '-infinity' FROM generate_series(0, p_parts - 1) g ON CONFLICT DO NOTHING;
	END IF;
	UPDATE shards s SET until = v_now + p_lease WHERE s.ns = p_ns AND s.owner = p_node AND NOT s.shard = ANY (p_back);
	UPDATE shards s SET owner = NULL, until = '-infinity' WHERE s.ns = p_ns AND s.owner = p_node AND s.shard = ANY (p_back);
	SELECT count(*) INTO o_nodes FROM nodes WHERE ns = p_ns AND seen > v_now - p_lease;
	v_share := (p_parts + o_nodes - 1) / greatest(o_nodes, 1);
	SELECT count(*) INTO v_have FROM shards WHERE ns = p_ns AND owner = p_node;
	IF p_take AND v_have < v_share THEN
		UPDATE shards s SET owner = p_node, epoch = s.epoch + 1, until = v_now + p_lease FROM (
			SELECT shard FROM shards WHERE ns = p_ns AND until < v_now AND owner IS DISTINCT FROM p_node ORDER BY shard LIMIT v_share - v_have FOR UPDATE SKIP LOCKED
		) f WHERE s.ns = p_ns AND s.shard = f.shard;
	END IF;
	SELECT coalesce(array_agg(shard), '{}'), coalesce(array_agg(epoch), '{}') INTO o_shard, o_epoch FROM shards WHERE ns = p_ns AND owner = p_node;
	-- In how many seconds the first part of others will be free, unless it is renewed.
	SELECT extract(epoch FROM min(until) - v_now) INTO o_wait FROM shards WHERE ns = p_ns AND owner IS DISTINCT FROM p_node AND until >= v_now;
	o_now := clock_timestamp();
END $$;

-- hand_over makes the calls of the parts that a node has its own, and lists those that were
-- another's. A call that was decided on under an earlier epoch is found, however late it comes; one
-- of an instance in quarantine when that is over.
CREATE FUNCTION hand_over(p_ns integer, h_shard smallint[], h_epoch bigint[]) RETURNS TABLE (seq bigint, id text, created bigint, parked boolean, call bytea) LANGUAGE plpgsql
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
		UPDATE calls c SET epoch = l.epoch FROM late l WHERE c.inst = l.inst AND c.ticket = l.ticket RETURNING c.seq, c.inst, c.parked, c.call
	)
	SELECT m.seq, i.id, i.created, m.parked, m.call FROM mine m CROSS JOIN LATERAL (SELECT x.id, x.created FROM instances x WHERE x.ns = p_ns AND x.seq = m.inst OFFSET 0) i ORDER BY m.seq;
END $$;
