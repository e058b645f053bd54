-- Values and pages have checksums (package codec). Tables stay as they are: the version alone keeps programs
-- from the file that cannot read them.
SELECT 1;
