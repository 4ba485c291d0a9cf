-- The state of events after an import of an override along with its series. If a later file lacks
-- the override and the event has not changed since, its date returns to the series.
CREATE TABLE imported_overrides (
    event_id BIGINT PRIMARY KEY NOT NULL REFERENCES events (id) ON DELETE CASCADE,
    -- SEQUENCE and modification time of the event.
    sequence BIGINT NOT NULL,
    modified BIGINT NOT NULL
);

-- The state of events after an import of an edited file that this calendar wrote. The same file can
-- be edited and imported again until someone changes the event here.
CREATE TABLE imported_edits (
    event_id BIGINT PRIMARY KEY NOT NULL REFERENCES events (id) ON DELETE CASCADE,
    -- SEQUENCE and modification time of the event.
    sequence BIGINT NOT NULL,
    modified BIGINT NOT NULL,
    -- Fingerprint of the content before the first edit, if the event existed.
    original BIGINT,
    -- Revision of the entry in the file.
    file_sequence BIGINT,
    file_modified BIGINT,
    file_stamped BIGINT
);
