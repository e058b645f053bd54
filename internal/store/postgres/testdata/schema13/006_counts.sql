-- How many instances there are, without counting them. A transaction that changes it inserts
-- one row with the differences; now and then they are added up. A row that every
-- transaction updates would leave a dead version each, and whoever reads it would pass all
-- that were left since the oldest transaction of the server began.

CREATE TABLE counts ( -- as of the last time that differences were added up
	ns     integer NOT NULL,
	kind   integer NOT NULL,
	status smallint NOT NULL,
	state  text NOT NULL, -- of jobs; else ''
	grp    text NOT NULL,
	n      bigint NOT NULL,
	PRIMARY KEY (ns, kind, status, state, grp)
) WITH (fillfactor = 20);

CREATE TABLE differences ( -- one row of a transaction; the arrays belong together
	ns     integer NOT NULL,
	pos    bigint NOT NULL, -- a number of the transaction: they become visible in order
	kind   integer[] NOT NULL,
	status smallint[] NOT NULL,
	state  text[] NOT NULL,
	grp    text[] NOT NULL,
	n      bigint[] NOT NULL,
	PRIMARY KEY (ns, pos)
);

CREATE TABLE folds ( -- up to which difference counts has them; the last one holds
	ns  integer NOT NULL,
	pos bigint NOT NULL,
	PRIMARY KEY (ns, pos)
);

-- fold adds differences up, at most so many, and tells how many.
CREATE FUNCTION fold(p_ns integer, p_limit integer) RETURNS integer LANGUAGE plpgsql
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
	INSERT INTO folds VALUES (p_ns, v_to);
	RETURN v_n;
END $$;
