-- What is rarely done, each as one call: nobody who stops in the middle holds a lock. The token is inserted last,
-- where something happened; see outcomes.

-- delete_instance forgets an instance. The verdict is 0, or why it did not happen: 1 it has another revision (0: any
-- will do), 2 it is not there, 3 it is not over.
CREATE FUNCTION delete_instance(p_ns integer, p_token uuid, p_id text, p_rev bigint, p_live boolean, p_at bigint, p_records bytea, OUT o_verdict smallint, OUT o_rev bigint, OUT o_status smallint) LANGUAGE plpgsql
SET search_path FROM CURRENT SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan
AS $$
BEGIN
	SELECT rev, status INTO o_rev, o_status FROM instances WHERE id = p_id AND ns + 0 = p_ns FOR UPDATE;
	o_verdict := CASE WHEN NOT FOUND THEN 2 WHEN p_rev <> 0 AND p_rev <> o_rev THEN 1 WHEN NOT p_live AND o_status < 4 THEN 3 ELSE 0 END;
	o_rev := coalesce(o_rev, 0);
	o_status := coalesce(o_status, 0);
	IF o_verdict = 0 THEN
		PERFORM remove_instances(p_ns, ARRAY[p_id], p_at, p_records);
		INSERT INTO outcomes VALUES (p_token, '{0}');
	END IF;
END $$;

-- purge_instances forgets instances that ended before an instant and have no message left, and tells how many. Others
-- may lock rows in the order of ids: what is taken is left for later. The outcome has an element for each.
CREATE FUNCTION purge_instances(p_ns integer, p_token uuid, p_before bigint, p_limit integer, p_at bigint, p_records bytea) RETURNS integer LANGUAGE plpgsql
SET search_path FROM CURRENT SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_bitmapscan = off SET jit = off SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
DECLARE
	v_ids text[];
BEGIN
	SELECT array_agg(x.id) INTO v_ids FROM (
		SELECT i.id FROM instances i WHERE 0 + i.ns = p_ns AND i.status >= 4 AND i.ended < p_before
			AND NOT EXISTS (SELECT 1 FROM inbox b WHERE b.ns = i.ns AND b.inst = i.seq OFFSET 0) ORDER BY i.ended, i.seq LIMIT p_limit FOR UPDATE OF i SKIP LOCKED
	) x;
	IF v_ids IS NULL THEN
		RETURN 0;
	END IF;
	PERFORM remove_instances(p_ns, v_ids, p_at, p_records);
	INSERT INTO outcomes VALUES (p_token, array_fill(0::smallint, ARRAY[cardinality(v_ids)]));
	RETURN cardinality(v_ids);
END $$;

-- advance moves a schedule from one fire time to the next; NULL: there is none. It tells whether it was there.
CREATE FUNCTION advance(p_ns integer, p_token uuid, p_definition text, p_from bigint, p_next bigint) RETURNS boolean LANGUAGE plpgsql
SET search_path FROM CURRENT SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan
AS $$
BEGIN
	IF p_next IS NULL THEN
		DELETE FROM schedules WHERE ns = p_ns AND definition = p_definition AND next = p_from;
	ELSE
		UPDATE schedules SET next = p_next WHERE ns = p_ns AND definition = p_definition AND next = p_from;
	END IF;
	IF FOUND THEN
		INSERT INTO outcomes VALUES (p_token, '{0}');
		RETURN true;
	END IF;
	RETURN false;
END $$;
