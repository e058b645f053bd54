-- migration: since=34
-- Records, states and outputs may refer to large values that are stored once, with records of the history
-- (internal/core/chunk.go). Tables stay as they are: the version alone keeps programs away that cannot read them. What
-- follows this file waits for them, too: put what new programs need before it.
SELECT 1;
