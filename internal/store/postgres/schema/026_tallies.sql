-- What happened in each hour, by definition: one row per hour, so that a week is read with few pages.
CREATE TABLE tallies (
	ns   integer NOT NULL,
	hour bigint NOT NULL,
	data bytea NOT NULL,
	PRIMARY KEY (ns, hour)
);
