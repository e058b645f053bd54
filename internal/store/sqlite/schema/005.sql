-- How far the feed is passed on has a name for each receiver; until now there were lifecycle events only.
UPDATE meta SET name = 'cursor' || substr(name, 10) || ' lifecycle' WHERE name LIKE 'published %';
