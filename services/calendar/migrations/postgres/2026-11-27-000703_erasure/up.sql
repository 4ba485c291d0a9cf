-- Tombstones outlive erased events, so that mirrors remove them too.
ALTER TABLE event_tombstones DROP CONSTRAINT event_tombstones_event_id_fkey;

-- Files of erased images, until they are removed from the media folder.
CREATE TABLE erased_files (
    file TEXT PRIMARY KEY NOT NULL,
    erased_utc BIGINT NOT NULL
);
