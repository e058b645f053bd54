-- Instances are listed with and without those that others spawned: each is in one of two indexes, so that a list
-- of the others passes over no children.
--
-- Beside the rows of labels and clients, the table labels has terms (package store), without a name as those of
-- clients: "#n": its name is n; "%k": its key, or the value of a correlation attribute, is k; "*v": a label has the value v.

DROP INDEX instances_status;
CREATE INDEX instances_root ON instances (ns, kind, status) WHERE parent IS NULL;
CREATE INDEX instances_child ON instances (ns, kind, status) WHERE parent IS NOT NULL;
