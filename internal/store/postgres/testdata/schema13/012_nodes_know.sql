-- Which schema a node knows; NULL: one before this. What it could not live with waits until it is gone.
ALTER TABLE nodes ADD COLUMN knows integer;
