-- Instances whose step does not end. Their names outlive the process that wrote them.

CREATE TABLE suspects (
	ns    integer NOT NULL,
	id    text NOT NULL, -- the instance, which need not be there
	shard smallint NOT NULL, -- the part that it is in
	PRIMARY KEY (ns, id)
);
