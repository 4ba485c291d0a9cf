-- SQLite itself tells a connection whether others have committed, so only PostgreSQL needs the
-- version of the keys.
SELECT 1;
