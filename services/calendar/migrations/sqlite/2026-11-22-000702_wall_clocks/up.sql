-- Lists compare days with the local times of events, so copied columns, indexes and counts use them.
ALTER TABLE event_terms ADD COLUMN end_local BIGINT NOT NULL DEFAULT 0;
UPDATE event_terms SET end_local = (SELECT e.end_local FROM events e WHERE e.id = event_id);
DROP INDEX event_terms_list;
CREATE INDEX event_terms_list ON event_terms (other_id, pub, start_local, published_utc, event_id, end_local, start_utc, end_utc);
ALTER TABLE event_venues ADD COLUMN end_local BIGINT NOT NULL DEFAULT 0;
UPDATE event_venues SET end_local = (SELECT e.end_local FROM events e WHERE e.id = event_id);
DROP INDEX event_venues_list;
CREATE INDEX event_venues_list ON event_venues (other_id, pub, start_local, published_utc, event_id, end_local, start_utc, end_utc);
ALTER TABLE event_organizers ADD COLUMN end_local BIGINT NOT NULL DEFAULT 0;
UPDATE event_organizers SET end_local = (SELECT e.end_local FROM events e WHERE e.id = event_id);
DROP INDEX event_organizers_list;
CREATE INDEX event_organizers_list ON event_organizers (other_id, pub, start_local, published_utc, event_id, end_local, start_utc, end_utc);

UPDATE events SET is_long = 1 WHERE is_long = 0 AND end_local - start_local >= 2592000;
DROP INDEX events_list;
CREATE INDEX events_list ON events (pub, start_local, published_utc, id, end_local, start_utc, end_utc);
DROP INDEX events_start;
DROP INDEX events_end;
CREATE INDEX events_end ON events (pub, end_local, end_utc);
DROP INDEX events_long;
CREATE INDEX events_long ON events (pub, is_long, end_local, start_local, end_utc, start_utc);

-- Rounds down before 1970 too.
DELETE FROM hour_counts;
INSERT INTO hour_counts (kind, hour, n)
SELECT 0, (start_local - ((start_local % 3600) + 3600) % 3600) / 3600 AS hour, count(*)
FROM events WHERE pub = 1 GROUP BY 2;
INSERT INTO hour_counts (kind, hour, n)
SELECT 1, (end_local - ((end_local % 3600) + 3600) % 3600) / 3600 AS hour, count(*)
FROM events WHERE pub = 1 GROUP BY 2;
DELETE FROM block_counts;
INSERT INTO block_counts (kind, block, n)
SELECT kind, hour >> 8, CAST(sum(n) AS BIGINT) FROM hour_counts GROUP BY kind, hour >> 8;

-- Change log that the index in memory follows.
DROP TABLE events_fts;
CREATE TABLE event_changes (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    event_id BIGINT NOT NULL,
    -- Running total of the bytes of all texts in the log, used for pruning.
    bytes BIGINT NOT NULL,
    -- The searched text before the change; null if it did not change.
    was TEXT
);

-- Term names are searched in folded form. The program fills this column at its next start, like those
-- of venues and organizers.
ALTER TABLE terms ADD COLUMN search_ci TEXT NOT NULL DEFAULT '';
CREATE TABLE upgrades (
    name TEXT PRIMARY KEY
);
