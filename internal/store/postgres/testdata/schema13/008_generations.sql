-- How space is given back without deleting rows: deleted rows stay where they are until no
-- transaction is older, everybody passes over them, and a table never gets smaller. So what is
-- forgotten only counts as garbage, and whole generations are emptied at once.
--
-- A generation is the current one, then closed. Once enough of it is garbage (half of history, seven
-- eighths of events, which end in the order in which they came), what is none is moved to the current
-- one, a little at a time; then it rests, and then it is emptied. Where no table is empty when the
-- current one should be closed, the one is chosen of which the least is to be moved.
--
-- A generation is closed when it has the 6th part of all rows, of 8 tables (of events half of them, of 4): then
-- the least of the others has less than what came since. So for each row that comes less than one is moved to
-- make room, and for each that is forgotten at most one more: on average a row is written less than three
-- times, and about once where rows are forgotten in the order in which they came. Of history, there is
-- about as much garbage as there is else, at most; of events seven times as much, if few stay very
-- long, and usually once or twice as much. What became garbage during a rest comes on top.
--
-- The rest is for those who read with an old view: emptying a table does not wait for them, and they would
-- find a row neither where it was nor where it is. Who reads the tables already is
-- waited for, or rather let be; a backup takes its view a moment before it locks the tables.
--
-- All of this is done by any node, at most by one at a time, and each call is a transaction: whoever
-- stops in the middle leaves the next step to the others.

-- feed lists items of the feed in order. All generations are read in the order of positions at once: where a
-- table was not analyzed yet, the planner would rather sort all that is in it.
CREATE FUNCTION feed(p_ns integer, p_after bigint, p_limit integer) RETURNS TABLE (pos bigint, at bigint, kind integer, status smallint, instance text, client text, records bytea) LANGUAGE plpgsql STABLE
SET search_path FROM CURRENT SET enable_seqscan = off SET enable_sort = off SET enable_bitmapscan = off SET jit = off SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
BEGIN
	RETURN QUERY SELECT h.pos, h.at, h.kind, h.status, h.instance, h.client, h.records FROM history h WHERE h.ns = p_ns AND h.pos > p_after ORDER BY h.pos LIMIT p_limit;
END $$;

-- changed lists of the feed who ended, was set aside (a pause counts) or was deleted.
CREATE FUNCTION changed(p_ns integer, p_after bigint, p_limit integer) RETURNS TABLE (pos bigint, instance text) LANGUAGE plpgsql STABLE
SET search_path FROM CURRENT SET enable_seqscan = off SET enable_sort = off SET enable_bitmapscan = off SET jit = off SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
BEGIN
	RETURN QUERY SELECT h.pos, h.instance FROM history h
	WHERE h.ns = p_ns AND h.pos > p_after AND (h.status >= 3 OR EXISTS (SELECT 1 FROM gone g WHERE g.ns = p_ns AND g.inst = h.inst AND g.last = h.pos))
	ORDER BY h.pos LIMIT p_limit;
END $$;

-- purged is the instant up to which events are forgotten.
CREATE FUNCTION purged(p_ns integer) RETURNS bigint LANGUAGE plpgsql STABLE AS $$
BEGIN
	RETURN coalesce((SELECT over FROM purges WHERE ns = p_ns ORDER BY over DESC LIMIT 1), -9223372036854775808);
END $$;

-- arrived finds an event that is kept by the hash of its source and id.
CREATE FUNCTION arrived(p_ns integer, p_key bytea)
RETURNS TABLE (seq bigint, received bigint, until bigint, producer text, origin text, fors text[], fate bytea, event bytea, taken boolean) LANGUAGE plpgsql STABLE
SET search_path FROM CURRENT SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_bitmapscan = off SET jit = off SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
BEGIN
	RETURN QUERY SELECT e.seq, e.received, e.until, e.producer, e.origin, e.fors, e.fate, e.event,
		e.started OR EXISTS (SELECT 1 FROM deliveries d WHERE d.ns = e.ns AND d.gen = e.gen AND d.event = e.seq AND NOT d.refused OFFSET 0)
	FROM events e WHERE e.key = p_key AND e.ns + 0 = p_ns AND e.over + 0 > purged(p_ns);
END $$;

-- note_garbage counts rows that became garbage. Who calls it several times does so in the order of
-- generations: then no two wait for each other.
CREATE FUNCTION note_garbage(p_ring integer, p_gen smallint, p_n bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	UPDATE generations SET garbage = garbage + p_n WHERE ring = p_ring AND gen = p_gen;
END $$;

-- purge_events forgets events whose time is up, and tells how many. Where there are more than the limit,
-- it forgets those up to an instant that is earlier. Nothing but what leads to them is deleted.
CREATE FUNCTION purge_events(p_ns integer, p_now bigint, p_limit integer) RETURNS integer LANGUAGE plpgsql
SET search_path FROM CURRENT SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_bitmapscan = off SET jit = off SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
	v_purged bigint := purged(p_ns);
	v_cut bigint; v_gens smallint[] := '{}'; r record;
BEGIN
	IF NOT EXISTS (SELECT 1 FROM events WHERE 0 + ns = p_ns AND over > v_purged AND over <= p_now)
		AND NOT EXISTS (SELECT 1 FROM events WHERE ns = p_ns AND over <> until AND until <= p_now) THEN
		RETURN 0;
	END IF;
	PERFORM exclusive(p_ns);
	v_purged := purged(p_ns);
	FOR r IN SELECT seq, gen, fors FROM events WHERE ns = p_ns AND over <> until AND until <= p_now LIMIT p_limit LOOP
		UPDATE events SET over = until, again = false WHERE ns = p_ns AND gen = r.gen AND seq = r.seq;
		DELETE FROM kept_for WHERE ns = p_ns AND id = ANY (r.fors) AND event = r.seq;
		v_gens := v_gens || r.gen;
	END LOOP;
	IF p_now > v_purged THEN
		SELECT over INTO v_cut FROM events WHERE 0 + ns = p_ns AND over > v_purged AND over <= p_now ORDER BY over OFFSET p_limit - 1 LIMIT 1;
		v_cut := coalesce(v_cut, p_now);
		FOR r IN SELECT seq, gen, fors, again FROM events WHERE 0 + ns = p_ns AND over > v_purged AND over <= v_cut LOOP
			v_gens := v_gens || r.gen;
			IF cardinality(r.fors) > 0 THEN
				DELETE FROM kept_for WHERE ns = p_ns AND id = ANY (r.fors) AND event = r.seq;
			END IF;
			IF r.again THEN
				UPDATE events SET again = false WHERE ns = p_ns AND gen = r.gen AND seq = r.seq;
			END IF;
		END LOOP;
		INSERT INTO purges VALUES (p_ns, v_cut);
		DELETE FROM purges WHERE ns = p_ns AND over < v_cut;
	END IF;
	FOR r IN SELECT u.gen, count(*) AS n FROM unnest(v_gens) u(gen) GROUP BY u.gen ORDER BY u.gen LOOP
		PERFORM note_garbage(1, r.gen, r.n);
	END LOOP;
	RETURN cardinality(v_gens);
END $$;

-- rows_of tells about how many rows a table has: it counts those of 128 pages.
CREATE FUNCTION rows_of(p_table text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	v_pages bigint := pg_relation_size(p_table::regclass) / current_setting('block_size')::bigint;
	v_from bigint; v_rows bigint; n bigint := 0;
BEGIN
	FOR i IN 0..7 LOOP
		v_from := CASE WHEN v_pages <= 128 THEN i * 16 ELSE i * (v_pages - 16) / 7 END;
		EXECUTE format('SELECT count(*) FROM %I WHERE ctid >= $1 AND ctid < $2', p_table) INTO v_rows USING format('(%s,0)', v_from)::tid, format('(%s,0)', v_from + 16)::tid;
		n := n + v_rows;
	END LOOP;
	RETURN CASE WHEN v_pages <= 128 THEN n ELSE n * v_pages / 128 END;
END $$;

-- left_over tells whether there is something in a generation that is no garbage. In history, rows of
-- a namespace come in their order: what came after the move, from a commit that began before the generation was
-- closed, is behind all that was seen then.
CREATE FUNCTION left_over(p_ring smallint, p_gen smallint) RETURNS boolean LANGUAGE plpgsql
SET search_path FROM CURRENT SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_bitmapscan = off SET jit = off SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
	v_ns integer := 0; v_pos bigint;
BEGIN
	LOOP
		IF p_ring = 0 THEN
			SELECT ns INTO v_ns FROM history WHERE gen = p_gen AND ns > v_ns ORDER BY ns, pos LIMIT 1;
			EXIT WHEN NOT FOUND;
			SELECT pos INTO v_pos FROM walked WHERE gen = p_gen AND ns = v_ns;
			IF EXISTS (SELECT 1 FROM history WHERE gen = p_gen AND ns = v_ns AND pos > coalesce(v_pos, 0)) THEN
				RETURN true;
			END IF;
		ELSE
			SELECT ns INTO v_ns FROM events WHERE gen = p_gen AND 0 + ns > v_ns ORDER BY 0 + ns, over LIMIT 1;
			EXIT WHEN NOT FOUND;
			v_pos := purged(v_ns);
			IF EXISTS (SELECT 1 FROM events WHERE gen = p_gen AND 0 + ns = v_ns AND over > v_pos) THEN
				RETURN true;
			END IF;
		END IF;
	END LOOP;
	RETURN false;
END $$;

-- empty_generation empties a generation that has rested, and tells whether there is more to do.
CREATE FUNCTION empty_generation(p_ring smallint, p_gen smallint) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
	v_tables text := CASE p_ring WHEN 0 THEN format('history_%s', p_gen) ELSE format('events_%s, event_keys_%1$s, deliveries_%1$s', p_gen) END;
BEGIN
	BEGIN
		EXECUTE format('LOCK TABLE %s IN ACCESS EXCLUSIVE MODE', v_tables);
		IF left_over(p_ring, p_gen) THEN
			UPDATE generations SET state = 3, at_ns = 0, at_pos = -9223372036854775808, moved = NULL WHERE ring = p_ring AND gen = p_gen;
			RETURN true;
		END IF;
		EXECUTE format('TRUNCATE %s', v_tables);
	EXCEPTION WHEN lock_not_available THEN
		RETURN false; -- somebody reads it for long, a backup perhaps
	END;
	UPDATE generations SET state = 0, rows = 0, garbage = 0, moved = NULL WHERE ring = p_ring AND gen = p_gen;
	IF p_ring = 0 THEN
		DELETE FROM walked WHERE gen = p_gen;
	END IF;
	RETURN true;
END $$;

-- move_history looks at the next rows of a generation and moves those that are no garbage to the
-- current one, and tells how many it looked at. A large one counts as one for each 4 KiB.
CREATE FUNCTION move_history(p_gen smallint, p_ns integer, p_batch integer) RETURNS integer LANGUAGE plpgsql
SET search_path FROM CURRENT SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_bitmapscan = off SET jit = off SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
	v_ns integer := p_ns; v_next integer; v_from bigint; v_to bigint; v_left integer := p_batch; n integer;
BEGIN
	LOOP
		v_from := coalesce((SELECT pos FROM walked WHERE gen = p_gen AND ns = v_ns), 0);
		SELECT max(x.pos), coalesce(sum(x.size), 0) INTO v_to, n FROM (
			SELECT y.pos, y.size, sum(y.size) OVER (ORDER BY y.pos) - y.size AS before
			FROM (SELECT pos, 1 + (coalesce(octet_length(records), 0) >> 12) AS size FROM history WHERE gen = p_gen AND ns = v_ns AND pos > v_from ORDER BY pos LIMIT v_left) y
		) x WHERE x.before < v_left;
		IF n > 0 THEN
			-- Counted, not joined: else the planner may hash all instances.
			UPDATE history h SET gen = (SELECT current FROM rings WHERE ring = 0) WHERE h.gen = p_gen AND h.ns = v_ns AND h.pos > v_from AND h.pos <= v_to
				AND (SELECT count(*) FROM instances i WHERE i.ns = h.ns AND i.seq = h.inst) + (SELECT count(*) FROM gone o WHERE o.ns = h.ns AND o.inst = h.inst) > 0;
			INSERT INTO walked AS w VALUES (p_gen, v_ns, v_to) ON CONFLICT (gen, ns) DO UPDATE SET pos = excluded.pos;
			v_left := v_left - n;
		END IF;
		EXIT WHEN v_left <= 0;
		SELECT ns INTO v_next FROM history WHERE gen = p_gen AND ns > v_ns ORDER BY ns, pos LIMIT 1;
		EXIT WHEN NOT FOUND;
		v_ns := v_next;
		v_left := v_left - 1;
	END LOOP;
	UPDATE generations SET at_ns = v_ns WHERE ring = 0 AND gen = p_gen;
	RETURN p_batch - v_left;
END $$;

-- move_events moves some events of a generation that are kept to the current one, and tells whether it
-- did or looked at something; 0: there are no more. Whoever changes an event or what belongs to it has the lock of its namespace; their
-- versions stay: to a router nothing changed. Nobody else commits there meanwhile, so the batch counts all rows, also those
-- of who got an event, and a large event as one for each 4 KiB. Only the last event may go beyond it: to move it takes less long than it took to deliver it.
-- For the lock it waits behind the others, long enough for a namespace that is busy: nobody waits for who waits.
CREATE FUNCTION move_events(p_gen smallint, p_ns integer, p_over bigint, p_batch integer) RETURNS integer LANGUAGE plpgsql
SET search_path FROM CURRENT SET lock_timeout = '2s' SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_bitmapscan = off SET jit = off SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
	v_ns integer := p_ns; v_from bigint := p_over; v_purged bigint; v_current smallint; n integer := 0;
	v_seqs bigint[]; v_overs bigint[]; v_sizes integer[]; v_rows integer := 0; v_moved integer;
BEGIN
	LOOP
		v_purged := purged(v_ns);
		EXIT WHEN EXISTS (SELECT 1 FROM events WHERE gen = p_gen AND 0 + ns = v_ns AND over > v_purged AND over >= v_from);
		SELECT ns INTO v_ns FROM events WHERE gen = p_gen AND 0 + ns > v_ns ORDER BY 0 + ns, over LIMIT 1;
		IF NOT FOUND THEN
			RETURN 0;
		END IF;
		v_from := -9223372036854775808;
		n := n + 1;
		EXIT WHEN n >= p_batch;
	END LOOP;
	PERFORM exclusive(v_ns);
	v_purged := purged(v_ns);
	SELECT array_agg(x.seq), array_agg(x.over), array_agg(x.size) INTO v_seqs, v_overs, v_sizes FROM (
		SELECT seq, over, 1 + (octet_length(event) >> 12) AS size FROM events WHERE gen = p_gen AND 0 + ns = v_ns AND over > v_purged AND over >= v_from ORDER BY over LIMIT p_batch
	) x;
	SELECT current INTO v_current FROM rings WHERE ring = 1;
	v_from := -9223372036854775808;
	FOR i IN 1..coalesce(cardinality(v_seqs), 0) LOOP
		EXIT WHEN v_rows >= p_batch;
		v_rows := v_rows + v_sizes[i];
		UPDATE event_keys SET gen = v_current WHERE gen = p_gen AND event = v_seqs[i];
		GET DIAGNOSTICS v_moved = ROW_COUNT;
		v_rows := v_rows + v_moved;
		UPDATE deliveries SET gen = v_current WHERE gen = p_gen AND ns = v_ns AND event = v_seqs[i];
		GET DIAGNOSTICS v_moved = ROW_COUNT;
		v_rows := v_rows + v_moved;
		UPDATE events SET gen = v_current WHERE gen = p_gen AND ns = v_ns AND seq = v_seqs[i];
		v_from := v_overs[i]; -- of those that have the same, the next step moves the others
	END LOOP;
	UPDATE generations SET at_ns = v_ns, at_pos = v_from WHERE ring = 1 AND gen = p_gen;
	RETURN n + 1;
END $$;

-- keep_house does one step, if there is one to do and nobody else is at it, and tells whether it
-- did. p_rows: so many a generation has at least; p_batch: so many rows are looked at; p_rest:
-- so long a generation rests, and a tenth of it more where somebody reads it.
CREATE FUNCTION keep_house(p_ring smallint, p_rows bigint, p_batch integer, p_rest interval) RETURNS boolean LANGUAGE plpgsql
SET search_path FROM CURRENT SET jit = off SET lock_timeout = '50ms'
AS $$
DECLARE
	g generations; v_current smallint; v_free smallint; v_rows bigint; v_due boolean; n integer;
BEGIN
	IF NOT pg_try_advisory_xact_lock('generations'::regclass::oid::integer, p_ring) THEN
		RETURN false;
	END IF;
	FOR g IN SELECT * FROM generations WHERE ring = p_ring AND state = 4 AND moved + p_rest <= clock_timestamp() ORDER BY moved LOOP
		IF empty_generation(p_ring, g.gen) THEN
			RETURN true;
		END IF;
		-- Who reads the one, as a backup does, reads the others, too. Everybody leaves them alone for a while; then another one is tried first.
		UPDATE generations SET moved = clock_timestamp() - 0.9 * p_rest - CASE WHEN gen = g.gen THEN interval '0' ELSE interval '1ms' END
		WHERE ring = p_ring AND state = 4 AND moved + p_rest <= clock_timestamp();
		EXIT;
	END LOOP;
	SELECT * INTO g FROM generations WHERE ring = p_ring AND state = 3 LIMIT 1;
	IF FOUND THEN
		BEGIN
			n := CASE p_ring WHEN 0 THEN move_history(g.gen, g.at_ns, p_batch) ELSE move_events(g.gen, g.at_ns, g.at_pos, p_batch) END;
		EXCEPTION WHEN lock_not_available THEN
			RETURN false; -- the namespace has far too much to do
		END;
		IF n = 0 THEN -- nor moved: what was, is committed
			UPDATE generations SET state = 4, moved = clock_timestamp() WHERE ring = p_ring AND gen = g.gen;
		END IF;
		RETURN true;
	END IF;

	SELECT current INTO v_current FROM rings WHERE ring = p_ring;
	v_rows := rows_of(format(CASE p_ring WHEN 0 THEN 'history_%s' ELSE 'events_%s' END, v_current));
	v_due := v_rows >= p_rows AND v_rows * CASE p_ring WHEN 0 THEN 6 ELSE 2 END >= v_rows + (SELECT coalesce(sum(rows), 0) FROM generations WHERE ring = p_ring AND state = 2);
	IF v_due THEN
		SELECT gen INTO v_free FROM generations WHERE ring = p_ring AND state = 0 ORDER BY gen LIMIT 1;
		IF FOUND THEN
			UPDATE generations SET state = 2, rows = v_rows WHERE ring = p_ring AND gen = v_current;
			UPDATE generations SET state = 1 WHERE ring = p_ring AND gen = v_free;
			UPDATE rings SET current = v_free WHERE ring = p_ring;
			RETURN true;
		END IF;
	END IF;
	SELECT * INTO g FROM generations WHERE ring = p_ring AND state = 2 AND garbage >= rows * CASE p_ring WHEN 0 THEN 0.5 ELSE 0.875 END ORDER BY garbage::float8 / greatest(rows, 1) DESC LIMIT 1;
	IF NOT FOUND AND v_due AND NOT EXISTS (SELECT 1 FROM generations WHERE ring = p_ring AND state = 4) THEN
		SELECT * INTO g FROM generations WHERE ring = p_ring AND state = 2 ORDER BY rows - garbage LIMIT 1;
	END IF;
	IF NOT FOUND THEN
		RETURN false;
	END IF;
	UPDATE generations SET state = 3, at_ns = 0, at_pos = -9223372036854775808 WHERE ring = p_ring AND gen = g.gen;
	RETURN true;
END $$;
