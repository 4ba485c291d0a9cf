-- Lists of changes, for mirrors.
CREATE INDEX events_modified ON events (modified_utc, id, pub);
-- Events that are hidden from callers who saw them in lists. Everyone gets those that were public,
-- editors all of them, and authors their own.
CREATE TABLE event_tombstones (
    event_id BIGINT PRIMARY KEY NOT NULL REFERENCES events (id) ON DELETE CASCADE,
    withdrawn_utc BIGINT NOT NULL,
    was_public BOOLEAN NOT NULL,
    author_id BIGINT NOT NULL
);
CREATE INDEX event_tombstones_order ON event_tombstones (withdrawn_utc, event_id);
INSERT INTO event_tombstones (event_id, withdrawn_utc, was_public, author_id)
SELECT id, modified_utc, prev_status = 'publish', author_id FROM events WHERE status = 'trash' AND listed;

-- URLs that are notified of changes.
CREATE TABLE webhooks (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    url TEXT NOT NULL UNIQUE,
    secret TEXT NOT NULL,
    created_utc BIGINT NOT NULL
);
-- Pending messages, and finished ones.
CREATE TABLE webhook_outbox (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    webhook_id BIGINT NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
    payload TEXT NOT NULL,
    created_utc BIGINT NOT NULL,
    next_try BIGINT NOT NULL,
    tries INTEGER NOT NULL,
    over_utc BIGINT,
    error TEXT
);
CREATE INDEX webhook_outbox_due ON webhook_outbox (webhook_id, over_utc, next_try, id);
CREATE INDEX webhook_outbox_over ON webhook_outbox (over_utc);

-- A number that every change of an event, or of a resource that events show, increases.
CREATE TABLE content_version (
    n BIGINT NOT NULL
);
INSERT INTO content_version (n) VALUES (1);
CREATE TRIGGER content_events_insert AFTER INSERT ON events BEGIN
    UPDATE content_version SET n = n + 1;
END;
CREATE TRIGGER content_events_update AFTER UPDATE ON events BEGIN
    UPDATE content_version SET n = n + 1;
END;
CREATE TRIGGER content_events_delete AFTER DELETE ON events BEGIN
    UPDATE content_version SET n = n + 1;
END;
CREATE TRIGGER content_venues_update AFTER UPDATE ON venues BEGIN
    UPDATE content_version SET n = n + 1;
END;
CREATE TRIGGER content_venues_delete AFTER DELETE ON venues BEGIN
    UPDATE content_version SET n = n + 1;
END;
CREATE TRIGGER content_organizers_update AFTER UPDATE ON organizers BEGIN
    UPDATE content_version SET n = n + 1;
END;
CREATE TRIGGER content_organizers_delete AFTER DELETE ON organizers BEGIN
    UPDATE content_version SET n = n + 1;
END;
CREATE TRIGGER content_terms_update AFTER UPDATE ON terms BEGIN
    UPDATE content_version SET n = n + 1;
END;
CREATE TRIGGER content_terms_delete AFTER DELETE ON terms BEGIN
    UPDATE content_version SET n = n + 1;
END;
CREATE TRIGGER content_images_update AFTER UPDATE ON images BEGIN
    UPDATE content_version SET n = n + 1;
END;
CREATE TRIGGER content_images_delete AFTER DELETE ON images BEGIN
    UPDATE content_version SET n = n + 1;
END;
