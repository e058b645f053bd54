-- Which subscriptions an event may match is in memory (waits.go), and read from subs at the start.
DROP INDEX subs_match;

-- The instance whose step took the event in its own transaction; deliveries has the others that got it.
ALTER TABLE events ADD COLUMN inst INTEGER;
