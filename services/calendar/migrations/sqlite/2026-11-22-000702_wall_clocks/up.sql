-- Lists compare days with the local times of events, so indexes use them.
UPDATE events SET is_long = 1 WHERE is_long = 0 AND end_local - start_local >= 2592000;
DROP INDEX events_list;
CREATE INDEX events_list ON events (pub, start_local, published_utc, id, end_local, start_utc, end_utc);

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
