-- What operators decided about definitions, and the last fire times of their schedules, both as the engine
-- writes them. An instance whose definition is paused is aside like one in quarantine.
CREATE TABLE policies (
	ns         INTEGER NOT NULL,
	definition TEXT NOT NULL,
	rev        INTEGER NOT NULL,
	data       TEXT NOT NULL,
	PRIMARY KEY (ns, definition)
) WITHOUT ROWID;
ALTER TABLE schedules ADD COLUMN fires TEXT NOT NULL DEFAULT '';
CREATE INDEX instances_aside ON instances (ns, kind) WHERE aside IS NOT NULL;
