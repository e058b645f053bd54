-- migration: online
-- Lists of instances leave out those that others spawned. Nothing that changes while an instance runs is in the index
-- but the status, as in instances_status.
DROP INDEX CONCURRENTLY IF EXISTS ~.instances_root;
CREATE INDEX CONCURRENTLY instances_root ON ~.instances (kind, status, seq) WHERE parent IS NULL;
