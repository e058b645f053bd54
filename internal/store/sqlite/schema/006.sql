-- Small documents that servers share beside instances, and the audit log.

CREATE TABLE notes (
	ns INTEGER NOT NULL,
	kind TEXT NOT NULL,
	key TEXT NOT NULL,
	value TEXT NOT NULL,
	until INTEGER NOT NULL, -- 0: for ever
	PRIMARY KEY (ns, kind, key)
) WITHOUT ROWID;

CREATE INDEX notes_by_until ON notes (ns, until) WHERE until > 0;

CREATE TABLE audit (
	seq INTEGER PRIMARY KEY AUTOINCREMENT, -- never used again
	ns INTEGER NOT NULL,
	id TEXT NOT NULL,
	at INTEGER NOT NULL,
	who TEXT NOT NULL,
	operation TEXT NOT NULL,
	target TEXT NOT NULL,
	detail TEXT NOT NULL
);

CREATE UNIQUE INDEX audit_by_id ON audit (ns, id);
CREATE INDEX audit_by_seq ON audit (ns, seq);
CREATE INDEX audit_by_at ON audit (ns, at);
