-- Up to where the feed of a namespace is passed on, by receiver. The cursor of lifecycle events begins where the column
-- published of namespaces is, which servers of the version before still write.
CREATE TABLE cursors (
	ns integer NOT NULL,
	name text NOT NULL,
	pos bigint NOT NULL,
	PRIMARY KEY (ns, name)
);
INSERT INTO cursors (ns, name, pos) SELECT ns, 'lifecycle', published FROM namespaces WHERE published IS NOT NULL;
