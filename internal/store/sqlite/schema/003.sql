-- Instances whose step does not end. Their names outlive the process that wrote them.

CREATE TABLE suspects (
	ns INTEGER NOT NULL,
	id TEXT NOT NULL, -- the instance, which need not be there
	PRIMARY KEY (ns, id)
) WITHOUT ROWID;
