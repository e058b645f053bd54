-- What happened in each hour, by definition: one row per hour. The key is 2^32 times the namespace plus the number of hours
-- since 1970: the hours of a week follow each other in the table itself, and are read with few pages.
CREATE TABLE tallies (
	id INTEGER PRIMARY KEY,
	data BLOB NOT NULL
);
