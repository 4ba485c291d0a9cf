-- Tombstones outlive erased events, so that mirrors remove them too.
CREATE TABLE lasting_tombstones (
    event_id BIGINT PRIMARY KEY NOT NULL,
    withdrawn_utc BIGINT NOT NULL,
    was_public BOOLEAN NOT NULL,
    author_id BIGINT NOT NULL
);
INSERT INTO lasting_tombstones (event_id, withdrawn_utc, was_public, author_id)
SELECT event_id, withdrawn_utc, was_public, author_id FROM event_tombstones;
DROP TABLE event_tombstones;
ALTER TABLE lasting_tombstones RENAME TO event_tombstones;
CREATE INDEX event_tombstones_order ON event_tombstones (withdrawn_utc, event_id);

-- Files of erased images, until they are removed from the media folder.
CREATE TABLE erased_files (
    file TEXT PRIMARY KEY NOT NULL,
    erased_utc BIGINT NOT NULL
);
