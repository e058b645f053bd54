-- let_go as before, by one key at a time. Where the server had counted the table while it was small,
-- a list of keys made it read all rows of the namespace.
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
