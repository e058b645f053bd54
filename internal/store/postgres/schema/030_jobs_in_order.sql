-- jobs_in_order lists the numbers of all jobs behind one, in order: where the table was not analyzed yet, the planner
-- would rather sort all of them.
CREATE FUNCTION jobs_in_order(p_ns integer, p_after bigint, p_newest boolean, p_limit bigint) RETURNS TABLE (seq bigint) LANGUAGE plpgsql STABLE
SET search_path FROM CURRENT SET enable_seqscan = off SET enable_sort = off SET enable_bitmapscan = off SET jit = off SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
BEGIN
	IF p_newest THEN
		RETURN QUERY SELECT i.seq FROM instances i WHERE 0 + i.ns = p_ns AND i.state IS NOT NULL AND i.seq < p_after ORDER BY i.seq DESC LIMIT p_limit;
	ELSE
		RETURN QUERY SELECT i.seq FROM instances i WHERE 0 + i.ns = p_ns AND i.state IS NOT NULL AND i.seq > p_after ORDER BY i.seq LIMIT p_limit;
	END IF;
END $$;
