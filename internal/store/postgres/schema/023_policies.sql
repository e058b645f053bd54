-- What operators decided about definitions, and the last fire times of their schedules, both as the engine writes
-- them. An instance whose definition is paused is aside like one in quarantine; its row says that it is in none.
CREATE TABLE policies (
	ns         integer NOT NULL,
	definition text NOT NULL,
	rev        bigint NOT NULL,
	data       text NOT NULL,
	PRIMARY KEY (ns, definition)
);
ALTER TABLE schedules ADD COLUMN fires text NOT NULL DEFAULT '';

-- advance_schedule moves a schedule from one fire time to the next; NULL: there is none. It tells whether the schedule was
-- as the caller knew it.
CREATE OR REPLACE FUNCTION advance_schedule(p_ns integer, p_token uuid, p_definition text, p_digest text, p_from bigint, p_was text, p_next bigint, p_fires text) RETURNS boolean LANGUAGE plpgsql
SET search_path FROM CURRENT SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan
AS $$
BEGIN
	IF p_next IS NULL THEN
		DELETE FROM schedules WHERE ns = p_ns AND definition = p_definition AND digest = p_digest AND next = p_from AND fires = p_was;
	ELSE
		UPDATE schedules SET next = p_next, fires = p_fires WHERE ns = p_ns AND definition = p_definition AND digest = p_digest AND next = p_from AND fires = p_was;
	END IF;
	IF FOUND THEN
		INSERT INTO outcomes (token, result) VALUES (p_token, '{0}');
		RETURN true;
	END IF;
	RETURN false;
END $$;
