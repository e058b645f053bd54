-- migration: online
-- Instances that are aside, by definition: resuming a paused one finds what it held.
DROP INDEX CONCURRENTLY IF EXISTS ~.instances_aside;
CREATE INDEX CONCURRENTLY instances_aside ON ~.instances (kind, seq) WHERE aside;
