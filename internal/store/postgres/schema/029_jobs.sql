-- migration: online
-- All jobs in order, whichever their workflows and states are. Only who writes 0 + ns finds by it.
DROP INDEX CONCURRENTLY IF EXISTS ~.instances_jobs;
CREATE INDEX CONCURRENTLY instances_jobs ON ~.instances ((0 + ns), seq) WHERE state IS NOT NULL;
