-- Lists by time are read in the order in which instances were created, again with and without those that others spawned.
CREATE INDEX instances_created_root ON instances (ns, created) WHERE parent IS NULL;
CREATE INDEX instances_created_child ON instances (ns, created) WHERE parent IS NOT NULL;

-- Where an instance rests: a hash of its state; 0: it is in several, or was written before; NULL: in none, or it is a job, or runs.
-- What runs moves too often for an index, and is soon elsewhere. None that completed (4) is in a state.
ALTER TABLE instances ADD COLUMN place INTEGER DEFAULT 0;
CREATE INDEX instances_place ON instances (ns, place, kind, status) WHERE place IS NOT NULL AND status <> 4;
