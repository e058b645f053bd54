-- The namespace leads every key. Times are nanoseconds since 1970. Seqs, positions
-- and the numbers of instances (inst) come from one counter.

CREATE TABLE meta (
	name  TEXT PRIMARY KEY,
	value INTEGER NOT NULL
) WITHOUT ROWID;

INSERT INTO meta VALUES ('seq', 0); -- none above it was given out

CREATE TABLE namespaces (
	ns     INTEGER PRIMARY KEY,
	name   TEXT NOT NULL UNIQUE,
	oldest INTEGER NOT NULL DEFAULT 0 -- items of the feed up to here are forgotten
);

-- Definitions: programs by content, and the names that lead to them.

CREATE TABLE contents (
	ns      INTEGER NOT NULL,
	digest  TEXT NOT NULL,
	edition INTEGER NOT NULL,
	info    TEXT NOT NULL, -- the definition without what has a column, as JSON
	program BLOB NOT NULL,
	source  BLOB,
	PRIMARY KEY (ns, digest, edition)
);

CREATE TABLE aliases (
	ns      INTEGER NOT NULL,
	id      TEXT NOT NULL,
	version TEXT NOT NULL,
	seq     INTEGER NOT NULL, -- order of the first deployment
	current INTEGER NOT NULL,
	digest  TEXT NOT NULL,
	edition INTEGER NOT NULL,
	info    TEXT NOT NULL,
	source  BLOB,
	PRIMARY KEY (ns, id, version)
);
CREATE INDEX aliases_digest ON aliases (ns, digest);

CREATE TABLE schedules (
	ns         INTEGER NOT NULL,
	definition TEXT NOT NULL,
	digest     TEXT NOT NULL,
	next       INTEGER NOT NULL,
	PRIMARY KEY (ns, definition)
) WITHOUT ROWID;

-- Instances.

CREATE TABLE kinds ( -- what instances are instances of
	kind       INTEGER PRIMARY KEY,
	ns         INTEGER NOT NULL,
	definition TEXT NOT NULL,
	version    TEXT NOT NULL,
	digest     TEXT NOT NULL,
	UNIQUE (ns, definition, version, digest)
);

CREATE TABLE counts ( -- of instances
	ns     INTEGER NOT NULL,
	kind   INTEGER NOT NULL,
	status INTEGER NOT NULL,
	n      INTEGER NOT NULL,
	PRIMARY KEY (ns, kind, status)
) WITHOUT ROWID;

CREATE TABLE instances (
	seq     INTEGER PRIMARY KEY,
	ns      INTEGER NOT NULL,
	id      TEXT NOT NULL,
	rev     INTEGER NOT NULL,
	kind    INTEGER NOT NULL,
	status  INTEGER NOT NULL, -- 4 and above are final
	created INTEGER NOT NULL,
	updated INTEGER NOT NULL,
	ended   INTEGER NOT NULL,
	wake    INTEGER, -- when it is to be woken; none in quarantine
	more    INTEGER, -- 1: a step ran out of fuel
	aside   INTEGER, -- 1: in quarantine
	parent  TEXT,
	error   TEXT, -- name of the fault
	last    INTEGER NOT NULL, -- its newest position in history
	told    INTEGER NOT NULL, -- how many records its history has
	rest    BLOB NOT NULL
);
CREATE UNIQUE INDEX instances_id ON instances (ns, id);
CREATE INDEX instances_status ON instances (ns, kind, status);
CREATE INDEX instances_wake ON instances (ns, wake) WHERE wake IS NOT NULL;
CREATE INDEX instances_more ON instances (ns) WHERE more IS NOT NULL;
CREATE INDEX instances_parent ON instances (ns, parent) WHERE parent IS NOT NULL;
CREATE INDEX instances_error ON instances (ns, error) WHERE error IS NOT NULL;
CREATE INDEX instances_ended ON instances (ns, ended) WHERE status >= 4;

CREATE TABLE pages (
	ns    INTEGER NOT NULL,
	inst  INTEGER NOT NULL,
	frame INTEGER NOT NULL,
	part  INTEGER NOT NULL,
	data  BLOB NOT NULL,
	PRIMARY KEY (ns, inst, frame, part)
) WITHOUT ROWID;

-- Pages of large values, those with part -1. To compare rows of the other kind of table SQLite
-- reads the whole of them, so that every search that passes a large one would take its time.
CREATE TABLE bulk (
	ns    INTEGER NOT NULL,
	inst  INTEGER NOT NULL,
	frame INTEGER NOT NULL,
	part  INTEGER NOT NULL,
	data  BLOB NOT NULL,
	PRIMARY KEY (ns, inst, frame, part)
);

CREATE TABLE labels (
	ns   INTEGER NOT NULL,
	name TEXT NOT NULL,
	text TEXT NOT NULL, -- "": it has the label; "=v": with the value v
	inst INTEGER NOT NULL,
	PRIMARY KEY (ns, name, text, inst)
) WITHOUT ROWID;

CREATE TABLE owners ( -- correlation keys of instances that are not over
	ns         INTEGER NOT NULL,
	definition TEXT NOT NULL,
	name       TEXT NOT NULL,
	value      TEXT NOT NULL,
	inst       INTEGER NOT NULL,
	PRIMARY KEY (ns, definition, name, value, inst)
) WITHOUT ROWID;

-- What commits did, in their order: the feed, and by prev the history of an instance.

CREATE TABLE history (
	pos     INTEGER PRIMARY KEY,
	ns      INTEGER NOT NULL,
	inst    INTEGER NOT NULL,
	prev    INTEGER NOT NULL, -- the position before it of the same instance
	at      INTEGER NOT NULL,
	status  INTEGER NOT NULL,
	told    INTEGER NOT NULL, -- how many records of the instance there are up to here
	records BLOB -- none: only the status changed
);
CREATE INDEX history_told ON history (inst, told);

CREATE TABLE gone ( -- deleted instances that the feed still tells of
	inst       INTEGER PRIMARY KEY,
	ns         INTEGER NOT NULL,
	id         TEXT NOT NULL,
	definition TEXT NOT NULL,
	last       INTEGER NOT NULL
);
CREATE INDEX gone_last ON gone (ns, last);

-- What is yet to be done.

CREATE TABLE inbox (
	ns    INTEGER NOT NULL,
	inst  INTEGER NOT NULL,
	seq   INTEGER NOT NULL,
	at    INTEGER NOT NULL,
	event INTEGER NOT NULL, -- 0: it carries none
	input BLOB NOT NULL,
	PRIMARY KEY (ns, inst, seq)
) WITHOUT ROWID;

CREATE TABLE calls (
	ns     INTEGER NOT NULL,
	inst   INTEGER NOT NULL,
	ticket INTEGER NOT NULL,
	seq    INTEGER NOT NULL,
	call   BLOB NOT NULL,
	PRIMARY KEY (ns, inst, ticket)
) WITHOUT ROWID;

CREATE TABLE emits (
	ns         INTEGER NOT NULL,
	sink       INTEGER NOT NULL, -- 1: it goes out to the sink; 0: it is to be ingested
	seq        INTEGER NOT NULL,
	instance   TEXT NOT NULL,
	definition TEXT NOT NULL,
	event      BLOB NOT NULL,
	PRIMARY KEY (ns, sink, seq)
) WITHOUT ROWID;

-- Events. A shape is where events have what a filter fixes. Events and subscriptions
-- meet by type and by a hash of the values of a shape.

CREATE TABLE shapes (
	ns     INTEGER NOT NULL,
	type   TEXT NOT NULL,
	places TEXT NOT NULL, -- a JSON array
	PRIMARY KEY (ns, type, places)
) WITHOUT ROWID;

CREATE TABLE subs (
	ns     INTEGER NOT NULL,
	inst   INTEGER NOT NULL,
	ticket INTEGER NOT NULL,
	type   TEXT NOT NULL,
	match  INTEGER NOT NULL, -- 0: nothing can match
	fresh  INTEGER NOT NULL, -- 1: not compared with kept events yet
	busy   INTEGER NOT NULL, -- 1: an event is on its way to it
	name   TEXT NOT NULL,
	filter BLOB NOT NULL,
	PRIMARY KEY (ns, inst, ticket)
) WITHOUT ROWID;
CREATE INDEX subs_match ON subs (ns, type, match) WHERE busy = 0;
CREATE INDEX subs_fresh ON subs (ns, inst) WHERE fresh = 1 AND busy = 0;

CREATE TABLE events (
	seq      INTEGER PRIMARY KEY,
	ns       INTEGER NOT NULL,
	source   TEXT NOT NULL,
	id       TEXT NOT NULL,
	type     TEXT NOT NULL,
	received INTEGER NOT NULL,
	until    INTEGER NOT NULL,
	producer TEXT NOT NULL,
	origin   TEXT NOT NULL,
	again    INTEGER, -- 1: to be routed again
	fate     BLOB NOT NULL, -- for, used, why
	event    BLOB NOT NULL
);
CREATE UNIQUE INDEX events_id ON events (ns, source, id);
CREATE INDEX events_type ON events (ns, type); -- then by seq, as every index
CREATE INDEX events_until ON events (ns, until);
CREATE INDEX events_again ON events (ns) WHERE again IS NOT NULL;

CREATE TABLE event_keys (
	ns    INTEGER NOT NULL,
	type  TEXT NOT NULL, -- "": of shapes of any type
	match INTEGER NOT NULL,
	event INTEGER NOT NULL,
	PRIMARY KEY (ns, type, match, event)
) WITHOUT ROWID;

CREATE TABLE deliveries ( -- who got an event
	ns      INTEGER NOT NULL,
	event   INTEGER NOT NULL,
	inst    INTEGER NOT NULL,
	ticket  INTEGER NOT NULL,
	refused INTEGER NOT NULL, -- 1: the instance did not wait for it any more
	PRIMARY KEY (ns, event, inst, ticket)
) WITHOUT ROWID;

CREATE TABLE kept_for ( -- events that belong to instances
	ns    INTEGER NOT NULL,
	id    TEXT NOT NULL, -- of the instance
	event INTEGER NOT NULL,
	PRIMARY KEY (ns, id, event)
) WITHOUT ROWID;

CREATE TABLE gatherings (
	seq        INTEGER PRIMARY KEY,
	ns         INTEGER NOT NULL,
	definition TEXT NOT NULL,
	digest     TEXT NOT NULL,
	key        TEXT NOT NULL, -- what an event must have to fit; "": it may fit any
	until      INTEGER NOT NULL, -- 0: of a content that is not the current one
	rest       BLOB NOT NULL
);
CREATE INDEX gatherings_definition ON gatherings (ns, definition, digest, key);
CREATE INDEX gatherings_until ON gatherings (ns, until);
