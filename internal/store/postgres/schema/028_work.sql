-- work looks for all kinds of work at once. Its rows are those of turns, and one more with an empty id, whose inst has a bit
-- for each other list that may have something and above them, from 256 on, the count of deployments, and whose turn is, where there is nothing at all, when something will be
-- due first. h_: the parts whose calls are the node's.
CREATE FUNCTION work(
	p_ns integer, p_now bigint, p_batch integer, p_shards smallint[], p_insts bigint[], p_turns bigint[], p_after bigint, p_new integer, p_low bigint, p_seen bigint,
	p_emit bigint, p_out bigint, h_shard smallint[], h_epoch bigint[]
) RETURNS TABLE (inst bigint, turn bigint, id text) LANGUAGE plpgsql
SET search_path FROM CURRENT SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_bitmapscan = off SET jit = off SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
DECLARE
	v_lists bigint; v_next bigint; v_low bigint; v_seen bigint; v_ready boolean := false; r record;
BEGIN
	FOR r IN SELECT t.inst, t.turn, t.id FROM turns(p_ns, p_now, p_batch, p_shards, p_insts, p_turns, p_after, p_new, p_low, p_seen) t LOOP
		IF r.id IS NULL THEN
			v_low := r.inst;
			v_seen := r.turn;
		ELSE
			v_ready := true;
		END IF;
		RETURN QUERY SELECT r.inst, r.turn, r.id;
	END LOOP;
	-- After the newest position was read: what is not found here has a greater number.
	SELECT 0
		+ CASE WHEN EXISTS (SELECT 1 FROM schedules WHERE ns = p_ns AND next <= p_now) THEN 1 ELSE 0 END
		+ CASE WHEN EXISTS (SELECT 1 FROM gatherings WHERE ns + 0 = p_ns AND until <= p_now AND (p_shards IS NULL OR (seq + (seq >> 10)) & 63 = ANY (p_shards))) THEN 2 ELSE 0 END
		+ CASE WHEN EXISTS (SELECT 1 FROM events WHERE ns = p_ns AND again AND over > purged(p_ns) AND (p_shards IS NULL OR (seq + (seq >> 10)) & 63 = ANY (p_shards))) THEN 4 ELSE 0 END
		+ CASE WHEN EXISTS (SELECT 1 FROM subs WHERE ns = p_ns AND fresh AND NOT busy AND (p_shards IS NULL OR shard = ANY (p_shards))) THEN 8 ELSE 0 END
		+ CASE WHEN EXISTS (SELECT 1 FROM emits WHERE ns = p_ns AND NOT sink AND seq >= p_emit AND (p_shards IS NULL OR shard = ANY (p_shards))) THEN 16 ELSE 0 END
		+ CASE WHEN EXISTS (SELECT 1 FROM emits WHERE ns = p_ns AND sink AND seq >= p_out AND (p_shards IS NULL OR shard = ANY (p_shards))) THEN 32 ELSE 0 END
		+ CASE WHEN EXISTS (
			SELECT 1 FROM unnest(h_shard, h_epoch) h(shard, epoch)
			CROSS JOIN LATERAL (SELECT 1 FROM calls x WHERE x.ns = p_ns AND x.shard = h.shard AND x.epoch < h.epoch OFFSET 0) c
		) THEN 64 ELSE 0 END
	INTO v_lists;
	IF v_lists = 0 AND NOT v_ready THEN
		v_next := next_due(p_ns, p_now, v_low, v_seen);
	END IF;
	RETURN QUERY SELECT v_lists + 256 * n.deployments, v_next, ''::text FROM namespaces n WHERE n.ns = p_ns;
END $$;
