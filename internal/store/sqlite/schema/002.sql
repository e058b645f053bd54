-- Jobs are found by where they are. A lane is a state of a kind; whatever is found by a
-- label, or by the client of a job, is found by its lane too, so that a list of those in
-- some states reads no others.

CREATE TABLE lanes (
	lane  INTEGER PRIMARY KEY,
	ns    INTEGER NOT NULL,
	kind  INTEGER NOT NULL,
	state TEXT NOT NULL,
	grp   TEXT NOT NULL, -- the group of the state; "": none
	n     INTEGER NOT NULL, -- how many jobs are in it
	UNIQUE (ns, kind, state, grp)
);

ALTER TABLE instances ADD COLUMN lane INTEGER; -- none: it is no job
ALTER TABLE instances ADD COLUMN client TEXT;
CREATE INDEX instances_lane ON instances (ns, lane) WHERE lane IS NOT NULL;

ALTER TABLE gone ADD COLUMN client TEXT;

ALTER TABLE labels RENAME TO labels_before;

CREATE TABLE labels (
	ns   INTEGER NOT NULL,
	name TEXT NOT NULL,
	text TEXT NOT NULL, -- "": it has the label; "=v": with the value v; "@c", without a name: its client is c
	lane INTEGER NOT NULL, -- 0: it is no job
	inst INTEGER NOT NULL,
	PRIMARY KEY (ns, name, text, lane, inst)
) WITHOUT ROWID;

INSERT INTO labels SELECT ns, name, text, 0, inst FROM labels_before ORDER BY ns, name, text, inst;

DROP TABLE labels_before;
