-- An event that was on its way to a standing subscription twice, and refused once, stayed in the inbox when the
-- subscription went.

-- put_back refuses the events that are on their way to a standing subscription which goes, unless its instance is
-- over: then those are refused elsewhere. An event may be on its way twice, and refused once before. Its transaction
-- has the lock of the namespace.
CREATE OR REPLACE FUNCTION put_back() RETURNS trigger LANGUAGE plpgsql
SET search_path FROM CURRENT SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_bitmapscan = off SET jit = off SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
	r record;
BEGIN
	IF EXISTS (SELECT 1 FROM instances i WHERE i.ns = OLD.ns AND i.seq = OLD.inst AND i.status < 4) THEN
		FOR r IN SELECT x.seq, x.event FROM inbox x WHERE x.ns = OLD.ns AND x.inst = OLD.inst AND x.event <> 0 AND x.ticket = OLD.ticket ORDER BY x.seq
		LOOP
			PERFORM refuse(OLD.ns, OLD.inst, OLD.id, r.event, OLD.ticket, nextval('seqs'));
			DELETE FROM inbox x WHERE x.ns = OLD.ns AND x.inst = OLD.inst AND x.seq = r.seq;
		END LOOP;
	END IF;
	RETURN NULL;
END $$;

-- remove_instances forgets instances whose rows are locked. What the feed tells of them stays, and
-- ends with the records of their deletion. The messages of each are found by its key, as let_go does.
CREATE OR REPLACE FUNCTION remove_instances(p_ns integer, p_ids text[], p_at bigint, p_records bytea) RETURNS void LANGUAGE plpgsql
SET search_path FROM CURRENT SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_bitmapscan = off SET jit = off SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
DECLARE
	b bigint[]; v_inst bigint[]; s bigint; r record;
BEGIN
	PERFORM exclusive(p_ns);
	b := blocks(cardinality(p_ids) + 1);
	SELECT array_agg(x.seq ORDER BY u.o) INTO v_inst FROM unnest(p_ids) WITH ORDINALITY u(id, o) CROSS JOIN LATERAL (SELECT seq FROM instances WHERE id = u.id AND ns + 0 = p_ns OFFSET 0) x;
	FOR r IN SELECT n.inst, i.id, x.event, x.ticket
		FROM unnest(v_inst) n(inst) CROSS JOIN LATERAL (SELECT seq, event, ticket FROM inbox WHERE ns = p_ns AND inst = n.inst AND event <> 0 OFFSET 0) x
			CROSS JOIN LATERAL (SELECT id FROM instances WHERE ns = p_ns AND seq = n.inst OFFSET 0) i
		ORDER BY x.seq
	LOOP
		PERFORM refuse(p_ns, r.inst, r.id, r.event, r.ticket, b[1]);
	END LOOP;
	PERFORM let_go(p_ns, p_ids, b[1]);
	INSERT INTO history (ns, gen, pos, inst, at, told, kind, status, instance, client, records)
	SELECT p_ns, (SELECT current FROM rings WHERE ring = 0), b[1 + (u.o >> 10)] + (u.o & 1023), x.seq, p_at, x.told + 1, x.kind, x.status, x.id, x.client, p_records
	FROM unnest(v_inst) WITH ORDINALITY n(inst, i) CROSS JOIN LATERAL (SELECT n.i::integer AS o) u CROSS JOIN LATERAL (SELECT * FROM instances WHERE ns = p_ns AND seq = n.inst OFFSET 0) x;
	-- With each revision at most one row came, and with the deletion one.
	INSERT INTO gone (ns, inst, last, rows) SELECT p_ns, n.inst, b[1 + (u.o >> 10)] + (u.o & 1023), x.rev + 1
	FROM unnest(v_inst) WITH ORDINALITY n(inst, i) CROSS JOIN LATERAL (SELECT n.i::integer AS o) u CROSS JOIN LATERAL (SELECT rev FROM instances WHERE ns = p_ns AND seq = n.inst OFFSET 0) x;
	INSERT INTO differences (ns, pos, kind, status, state, grp, n)
	SELECT p_ns, b[1], array_agg(d.kind), array_agg(d.status), array_agg(d.state), array_agg(d.grp), array_agg(d.n) FROM (
		SELECT x.kind, x.status, coalesce(x.state, '') AS state, coalesce(x.grp, '') AS grp, -count(*) AS n
		FROM unnest(v_inst) n(inst) CROSS JOIN LATERAL (SELECT * FROM instances WHERE ns = p_ns AND seq = n.inst OFFSET 0) x GROUP BY 1, 2, 3, 4
	) d HAVING count(*) > 0;
	FOREACH s IN ARRAY v_inst LOOP
		DELETE FROM inbox WHERE ns = p_ns AND inst = s; -- before put_back finds it
	END LOOP;
	DELETE FROM subs WHERE inst = ANY (v_inst);
	DELETE FROM calls WHERE inst = ANY (v_inst);
	DELETE FROM ready WHERE inst = ANY (v_inst);
	DELETE FROM wakes WHERE inst = ANY (v_inst);
	DELETE FROM labels WHERE inst = ANY (v_inst);
	DELETE FROM owners WHERE inst = ANY (v_inst);
	FOREACH s IN ARRAY v_inst LOOP
		DELETE FROM pages WHERE ns = p_ns AND inst = s;
		DELETE FROM instances WHERE ns = p_ns AND seq = s;
	END LOOP;
END $$;
