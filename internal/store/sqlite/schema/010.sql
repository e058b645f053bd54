-- The pages of a small state are in the row of their instance, all of them as one value; NULL: they are in the tables pages
-- and bulk.
ALTER TABLE instances ADD COLUMN pages BLOB;
