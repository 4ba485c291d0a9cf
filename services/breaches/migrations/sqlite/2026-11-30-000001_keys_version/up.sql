-- Only PostgreSQL needs a version of the keys, because SQLite has data_version.
SELECT 1;
