-- Up to where the feed of a namespace is published as lifecycle events; NULL: it never was. Only the
-- publisher writes it, now and then.
ALTER TABLE namespaces ADD COLUMN published bigint;
