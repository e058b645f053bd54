-- migration: online
-- Lists by time are read in the order in which instances were created, again with and without those that others spawned.
-- Only who writes 0 + ns finds by it. Nothing that changes while an instance runs is in these indexes.
DROP INDEX CONCURRENTLY IF EXISTS ~.instances_created_root;
CREATE INDEX CONCURRENTLY instances_created_root ON ~.instances ((0 + ns), created, seq) WHERE parent IS NULL;
DROP INDEX CONCURRENTLY IF EXISTS ~.instances_created_child;
CREATE INDEX CONCURRENTLY instances_created_child ON ~.instances ((0 + ns), created, seq) WHERE parent IS NOT NULL;
