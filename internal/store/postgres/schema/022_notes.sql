-- Small documents that servers share beside instances, and the audit log.

CREATE TABLE notes (
	ns integer NOT NULL,
	kind text COLLATE "C" NOT NULL,
	key text COLLATE "C" NOT NULL,
	value text NOT NULL,
	until bigint NOT NULL, -- 0: for ever
	PRIMARY KEY (ns, kind, key)
);

CREATE INDEX notes_by_until ON notes (ns, until) WHERE until > 0;

CREATE TABLE audit (
	seq bigint GENERATED ALWAYS AS IDENTITY,
	ns integer NOT NULL,
	id text COLLATE "C" NOT NULL,
	at bigint NOT NULL,
	who text NOT NULL,
	operation text NOT NULL,
	target text NOT NULL,
	detail text NOT NULL,
	PRIMARY KEY (ns, seq)
);

CREATE UNIQUE INDEX audit_by_id ON audit (ns, id);
CREATE INDEX audit_by_at ON audit (ns, at);

-- append_audit appends an entry unless it is there, and forgets some that are older than an instant. What another
-- transaction is about to forget is left to it.
CREATE FUNCTION append_audit(p_ns integer, p_id text, p_at bigint, p_who text, p_operation text, p_target text, p_detail text, p_oldest bigint, p_most integer) RETURNS void LANGUAGE sql
SET search_path FROM CURRENT SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_bitmapscan = off SET jit = off SET plan_cache_mode = force_generic_plan
AS $$
	INSERT INTO audit (ns, id, at, who, operation, target, detail) VALUES (p_ns, p_id, p_at, p_who, p_operation, p_target, p_detail) ON CONFLICT (ns, id) DO NOTHING;
	DELETE FROM audit WHERE ctid = ANY (ARRAY(
		SELECT ctid FROM audit WHERE ns = p_ns AND at < p_oldest ORDER BY at LIMIT p_most FOR UPDATE SKIP LOCKED
	));
$$;

-- put_note stores a note in place of the one before, and forgets some whose time is up.
CREATE FUNCTION put_note(p_ns integer, p_kind text, p_key text, p_value text, p_until bigint, p_now bigint, p_most integer) RETURNS void LANGUAGE sql
SET search_path FROM CURRENT SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_bitmapscan = off SET jit = off SET plan_cache_mode = force_generic_plan
AS $$
	INSERT INTO notes (ns, kind, key, value, until) VALUES (p_ns, p_kind, p_key, p_value, p_until)
	ON CONFLICT (ns, kind, key) DO UPDATE SET value = excluded.value, until = excluded.until;
	DELETE FROM notes WHERE ctid = ANY (ARRAY(
		SELECT ctid FROM notes WHERE ns = p_ns AND until > 0 AND until < p_now ORDER BY until LIMIT p_most FOR UPDATE SKIP LOCKED
	));
$$;
