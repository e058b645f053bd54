-- Records, states and outputs may refer to large values that are stored once, with records of the history
-- (internal/core/chunk.go). Tables stay as they are: the version alone keeps programs from the file that
-- cannot read them.
SELECT 1;
