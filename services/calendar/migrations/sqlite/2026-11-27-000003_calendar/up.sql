-- Instants are Unix seconds. Columns named *_local are local times as if they were UTC.
CREATE TABLE entities (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    kind INTEGER NOT NULL
);

CREATE TABLE users (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    login TEXT NOT NULL UNIQUE,
    display_name TEXT NOT NULL,
    role TEXT NOT NULL
);

CREATE TABLE images (
    id INTEGER PRIMARY KEY REFERENCES entities (id),
    url TEXT NOT NULL,
    file TEXT,
    mime TEXT,
    extension TEXT NOT NULL,
    width BIGINT,
    height BIGINT,
    filesize BIGINT,
    author_id BIGINT NOT NULL REFERENCES users (id),
    created_utc BIGINT NOT NULL
);
CREATE INDEX images_url ON images (url);
CREATE INDEX images_file ON images (file);

CREATE TABLE events (
    id INTEGER PRIMARY KEY REFERENCES entities (id),
    author_id BIGINT NOT NULL REFERENCES users (id),
    status TEXT NOT NULL,
    prev_status TEXT,
    title TEXT NOT NULL,
    description TEXT NOT NULL,
    excerpt TEXT NOT NULL,
    slug TEXT NOT NULL,
    published_utc BIGINT NOT NULL,
    published_local BIGINT NOT NULL,
    modified_utc BIGINT NOT NULL,
    start_local BIGINT NOT NULL,
    end_local BIGINT NOT NULL,
    start_utc BIGINT NOT NULL,
    end_utc BIGINT NOT NULL,
    timezone TEXT NOT NULL,
    all_day BOOLEAN NOT NULL,
    cost TEXT NOT NULL,
    website TEXT NOT NULL,
    show_map BOOLEAN NOT NULL,
    show_map_link BOOLEAN NOT NULL,
    listed BOOLEAN NOT NULL,
    sticky BOOLEAN NOT NULL,
    featured BOOLEAN NOT NULL,
    image_id BIGINT REFERENCES images (id),
    parent_id BIGINT REFERENCES events (id),
    password TEXT,
    ical_uid TEXT,
    sequence BIGINT NOT NULL,
    search_ci TEXT NOT NULL,
    pub INTEGER NOT NULL,
    is_long INTEGER NOT NULL
);
CREATE UNIQUE INDEX events_slug ON events (slug);
CREATE UNIQUE INDEX events_ical_uid ON events (ical_uid);
-- Covering index of the default list.
CREATE INDEX events_list ON events (pub, start_local, published_utc, id, end_local, start_utc, end_utc);
-- Order of lists that include unpublished events.
CREATE INDEX events_order ON events (start_local, published_utc, id);
CREATE INDEX events_status ON events (status, start_local, id);
CREATE INDEX events_due ON events (status, published_utc);
CREATE INDEX events_author ON events (author_id, status);
CREATE INDEX events_parent ON events (parent_id);
-- Who may see an image.
CREATE INDEX events_image ON events (image_id) WHERE image_id IS NOT NULL;

-- Events that do not take place as announced: cancelled, postponed or rescheduled.
CREATE TABLE event_statuses (
    event_id BIGINT PRIMARY KEY NOT NULL REFERENCES events (id) ON DELETE CASCADE,
    status TEXT NOT NULL,
    reason TEXT NOT NULL
);

-- The starts in UTC that events had before they were last moved.
CREATE TABLE event_moves (
    event_id BIGINT PRIMARY KEY NOT NULL REFERENCES events (id) ON DELETE CASCADE,
    previous_start BIGINT NOT NULL
);

-- State that imports keep for events that they created, and for other events that they wrote if it
-- differs from the default.
CREATE TABLE imported_events (
    event_id BIGINT PRIMARY KEY NOT NULL REFERENCES events (id) ON DELETE CASCADE,
    -- Start of the first event of a series in its file, even if an override replaces it.
    moment TEXT,
    -- True if it is private in the file.
    is_private BOOLEAN NOT NULL,
    -- True if an import, rather than a user, moved it to the trash.
    is_trashed BOOLEAN NOT NULL,
    -- True if the file cancelled it. A later file that does not cancel it clears its status then.
    is_cancelled BOOLEAN NOT NULL DEFAULT FALSE,
    -- The same for a postponed event. Only files of this software announce that.
    is_postponed BOOLEAN NOT NULL DEFAULT FALSE,
    -- True if an import created it. Subscriptions adopt only such events.
    is_created BOOLEAN NOT NULL DEFAULT FALSE
);

-- The latest imported revision of each entry, so that an older file changes nothing.
CREATE TABLE imported_revisions (
    -- The UID, or the external id of the overridden occurrence.
    name TEXT PRIMARY KEY NOT NULL,
    sequence BIGINT,
    -- LAST-MODIFIED and DTSTAMP.
    modified BIGINT,
    stamped BIGINT
);

-- Slugs that public rows had before, whose addresses redirect.
CREATE TABLE former_slugs (
    -- events, venues, organizers, categories or tags; series that were renamed; or series_dates, the
    -- first events of series that were removed.
    collection TEXT NOT NULL,
    slug TEXT NOT NULL,
    item_id BIGINT NOT NULL,
    PRIMARY KEY (collection, slug)
);
-- Of a row that is erased.
CREATE INDEX former_slugs_item ON former_slugs (item_id, collection);

-- The identity of this calendar. Its feeds contain it, so that an import recognises its own events.
CREATE TABLE calendar_identity (
    id TEXT PRIMARY KEY NOT NULL
);
INSERT INTO calendar_identity (id) VALUES (lower(hex(randomblob(16))));

CREATE TABLE venues (
    id INTEGER PRIMARY KEY REFERENCES entities (id),
    author_id BIGINT NOT NULL REFERENCES users (id),
    status TEXT NOT NULL,
    prev_status TEXT,
    name TEXT NOT NULL,
    name_ci TEXT NOT NULL,
    search_ci TEXT NOT NULL,
    description TEXT NOT NULL,
    excerpt TEXT NOT NULL,
    slug TEXT NOT NULL,
    published_utc BIGINT NOT NULL,
    published_local BIGINT NOT NULL,
    modified_utc BIGINT NOT NULL,
    image_id BIGINT REFERENCES images (id),
    phone TEXT NOT NULL,
    website TEXT NOT NULL,
    address TEXT NOT NULL,
    city TEXT NOT NULL,
    country TEXT NOT NULL,
    province TEXT NOT NULL,
    state TEXT NOT NULL,
    stateprovince TEXT NOT NULL,
    zip TEXT NOT NULL,
    show_map BOOLEAN NOT NULL,
    show_map_link BOOLEAN NOT NULL,
    geo_lat DOUBLE,
    geo_lng DOUBLE
);
CREATE UNIQUE INDEX venues_slug ON venues (slug);
CREATE INDEX venues_list ON venues (status, published_utc, id);
CREATE INDEX venues_name ON venues (name_ci);
CREATE INDEX venues_image ON venues (image_id) WHERE image_id IS NOT NULL;
CREATE INDEX venues_geo ON venues (geo_lat, geo_lng);

CREATE TABLE organizers (
    id INTEGER PRIMARY KEY REFERENCES entities (id),
    author_id BIGINT NOT NULL REFERENCES users (id),
    status TEXT NOT NULL,
    prev_status TEXT,
    name TEXT NOT NULL,
    name_ci TEXT NOT NULL,
    search_ci TEXT NOT NULL,
    description TEXT NOT NULL,
    excerpt TEXT NOT NULL,
    slug TEXT NOT NULL,
    published_utc BIGINT NOT NULL,
    published_local BIGINT NOT NULL,
    modified_utc BIGINT NOT NULL,
    image_id BIGINT REFERENCES images (id),
    phone TEXT NOT NULL,
    website TEXT NOT NULL,
    email TEXT NOT NULL
);
CREATE UNIQUE INDEX organizers_slug ON organizers (slug);
CREATE INDEX organizers_list ON organizers (status, published_utc, id);
CREATE INDEX organizers_name ON organizers (name_ci);
CREATE INDEX organizers_image ON organizers (image_id) WHERE image_id IS NOT NULL;

-- Taxonomy 1 has categories, 2 tags. parent_id is 0 at the root. count has published events only.
CREATE TABLE terms (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    taxonomy INTEGER NOT NULL,
    name TEXT NOT NULL,
    name_ci TEXT NOT NULL,
    slug TEXT NOT NULL,
    description TEXT NOT NULL,
    parent_id BIGINT NOT NULL,
    count BIGINT NOT NULL,
    search_ci TEXT NOT NULL
);
CREATE UNIQUE INDEX terms_slug ON terms (taxonomy, slug);
CREATE INDEX terms_name ON terms (taxonomy, name_ci, id);
CREATE INDEX terms_parent ON terms (taxonomy, parent_id);

CREATE TABLE event_terms (
    event_id BIGINT NOT NULL REFERENCES events (id),
    other_id BIGINT NOT NULL REFERENCES terms (id),
    position INTEGER NOT NULL,
    -- Copied from the event.
    start_utc BIGINT NOT NULL,
    PRIMARY KEY (event_id, other_id)
) WITHOUT ROWID;
CREATE INDEX event_terms_list ON event_terms (other_id, start_utc, event_id);

CREATE TABLE event_venues (
    event_id BIGINT NOT NULL REFERENCES events (id),
    other_id BIGINT NOT NULL REFERENCES venues (id),
    position INTEGER NOT NULL,
    -- Copied from the event.
    start_utc BIGINT NOT NULL,
    PRIMARY KEY (event_id, other_id)
) WITHOUT ROWID;
CREATE INDEX event_venues_list ON event_venues (other_id, start_utc, event_id);

CREATE TABLE event_organizers (
    event_id BIGINT NOT NULL REFERENCES events (id),
    other_id BIGINT NOT NULL REFERENCES organizers (id),
    position INTEGER NOT NULL,
    -- Copied from the event.
    start_utc BIGINT NOT NULL,
    PRIMARY KEY (event_id, other_id)
) WITHOUT ROWID;
CREATE INDEX event_organizers_list ON event_organizers (other_id, start_utc, event_id);

-- Change log that the index in memory follows.
CREATE TABLE event_changes (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    event_id BIGINT NOT NULL,
    -- Running total of the bytes of all texts in the log, used for pruning.
    bytes BIGINT NOT NULL,
    -- The searched text before the change; null if it did not change.
    was TEXT
);
-- The texts of an event that is erased.
CREATE INDEX event_changes_texts ON event_changes (event_id) WHERE was IS NOT NULL;

-- Lists of changes, for mirrors.
CREATE INDEX events_modified ON events (modified_utc, id, pub);
-- Events that are hidden from callers who saw them in lists. Everyone gets those that were public,
-- editors all of them, and authors their own. They outlive erased events.
CREATE TABLE event_tombstones (
    event_id BIGINT PRIMARY KEY NOT NULL,
    withdrawn_utc BIGINT NOT NULL,
    was_public BOOLEAN NOT NULL,
    author_id BIGINT NOT NULL
);
CREATE INDEX event_tombstones_order ON event_tombstones (withdrawn_utc, event_id);

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
    error TEXT,
    traceparent TEXT
);
CREATE INDEX webhook_outbox_due ON webhook_outbox (webhook_id, over_utc, next_try, id);
CREATE INDEX webhook_outbox_over ON webhook_outbox (over_utc);

-- A number that every change of what an answer shows increases: events, the resources that they show,
-- and the roles of callers. Links change together with their event, term, venue or organizer.
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
CREATE TRIGGER content_venues_insert AFTER INSERT ON venues BEGIN
    UPDATE content_version SET n = n + 1;
END;
CREATE TRIGGER content_venues_update AFTER UPDATE ON venues BEGIN
    UPDATE content_version SET n = n + 1;
END;
CREATE TRIGGER content_venues_delete AFTER DELETE ON venues BEGIN
    UPDATE content_version SET n = n + 1;
END;
CREATE TRIGGER content_organizers_insert AFTER INSERT ON organizers BEGIN
    UPDATE content_version SET n = n + 1;
END;
CREATE TRIGGER content_organizers_update AFTER UPDATE ON organizers BEGIN
    UPDATE content_version SET n = n + 1;
END;
CREATE TRIGGER content_organizers_delete AFTER DELETE ON organizers BEGIN
    UPDATE content_version SET n = n + 1;
END;
CREATE TRIGGER content_terms_insert AFTER INSERT ON terms BEGIN
    UPDATE content_version SET n = n + 1;
END;
CREATE TRIGGER content_terms_update AFTER UPDATE ON terms BEGIN
    UPDATE content_version SET n = n + 1;
END;
CREATE TRIGGER content_terms_delete AFTER DELETE ON terms BEGIN
    UPDATE content_version SET n = n + 1;
END;
CREATE TRIGGER content_images_insert AFTER INSERT ON images BEGIN
    UPDATE content_version SET n = n + 1;
END;
CREATE TRIGGER content_images_update AFTER UPDATE ON images BEGIN
    UPDATE content_version SET n = n + 1;
END;
CREATE TRIGGER content_images_delete AFTER DELETE ON images BEGIN
    UPDATE content_version SET n = n + 1;
END;
CREATE TRIGGER content_event_statuses_insert AFTER INSERT ON event_statuses BEGIN
    UPDATE content_version SET n = n + 1;
END;
CREATE TRIGGER content_event_statuses_update AFTER UPDATE ON event_statuses BEGIN
    UPDATE content_version SET n = n + 1;
END;
CREATE TRIGGER content_event_statuses_delete AFTER DELETE ON event_statuses BEGIN
    UPDATE content_version SET n = n + 1;
END;
CREATE TRIGGER content_users_update AFTER UPDATE ON users BEGIN
    UPDATE content_version SET n = n + 1;
END;
CREATE TRIGGER content_users_delete AFTER DELETE ON users BEGIN
    UPDATE content_version SET n = n + 1;
END;

-- The month page shows the few events that last at least a day separately. This index finds them
-- without a scan of all events.
CREATE INDEX events_lasting ON events (end_local, start_local) WHERE pub = 1 AND end_local - start_local >= 86400;

-- A load finds existing events by title and start, even if many events start together. The searched
-- text begins with the folded title.
CREATE INDEX events_title ON events (start_local, substr(search_ci, 1, min(200, instr(search_ci || char(10), char(10)) - 1)));

-- The month page shows events that continue after midnight on the next day too. This index finds
-- those shorter than a day without a scan of all events of the day before. The sum is the time of
-- day of the start, also before 1970, plus the duration.
CREATE INDEX events_overnight ON events (start_local, published_utc, id)
WHERE pub = 1 AND end_local - start_local < 86400
    AND (start_local % 86400 + 86400) % 86400 + end_local - start_local > 86400;

-- Files of erased images, until they are removed from the media folder.
CREATE TABLE erased_files (
    file TEXT PRIMARY KEY NOT NULL,
    erased_utc BIGINT NOT NULL
);

-- The load of an export that has not finished, and the number of its last loaded line.
CREATE TABLE unfinished_load (
    export_id TEXT PRIMARY KEY NOT NULL,
    line BIGINT NOT NULL
);

-- Items of other sites that `import-site` took over.
CREATE TABLE site_items (
    -- The address of the site and the name of its list.
    source TEXT NOT NULL,
    their_id BIGINT NOT NULL,
    our_id BIGINT NOT NULL,
    -- Of the fields there.
    digest TEXT NOT NULL,
    PRIMARY KEY (source, their_id)
);
-- Of a row that is erased.
CREATE INDEX site_items_ours ON site_items (our_id);

-- Subscriptions to calendars at other addresses.
CREATE TABLE subscriptions (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    url TEXT NOT NULL UNIQUE,
    interval_minutes BIGINT NOT NULL,
    -- Author, status, category and venue of the events that it creates.
    author_id BIGINT NOT NULL REFERENCES users (id),
    status TEXT NOT NULL,
    category_id BIGINT REFERENCES terms (id) ON DELETE SET NULL,
    venue_id BIGINT REFERENCES venues (id) ON DELETE SET NULL,
    -- True if it takes over events that an import created.
    adopts BOOLEAN NOT NULL,
    -- active, paused, stopped (an editor must look at it) or removing (its events move to the trash).
    state TEXT NOT NULL,
    created_utc BIGINT NOT NULL,
    -- When it is due, and the number of failed runs in a row.
    next_utc BIGINT NOT NULL,
    failures BIGINT NOT NULL,
    -- The run in progress, and when another replica may take over.
    lease TEXT,
    lease_until BIGINT NOT NULL,
    -- The number of requests to run. If it rises during a run, another one follows.
    requests BIGINT NOT NULL,
    -- Validators of the last imported file, and when it was imported.
    etag TEXT,
    last_modified TEXT,
    imported_utc BIGINT NOT NULL,
    -- The number of future events that the next imported file may lack, even if they are more than
    -- half.
    accepted_loss BIGINT NOT NULL,
    -- The last event that existed when the missing ones were counted.
    counted_event BIGINT NOT NULL,
    -- The last run, as JSON.
    last_run TEXT
);
CREATE INDEX subscriptions_due ON subscriptions (next_utc, id);

-- Events of subscriptions. A row outlives its erased event, so that the event is not created again.
CREATE TABLE subscribed_events (
    subscription_id BIGINT NOT NULL REFERENCES subscriptions (id) ON DELETE CASCADE,
    -- The external id of the event.
    name TEXT NOT NULL,
    event_id BIGINT REFERENCES events (id) ON DELETE SET NULL,
    -- True if the event was trashed because the file lacked it.
    is_vanished BOOLEAN NOT NULL,
    -- The parts of the event that a user changed, separated by commas.
    changed TEXT NOT NULL,
    -- When a user removed the event, if it was erased and had not begun then; otherwise 0.
    removed_utc BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (subscription_id, name)
);
CREATE UNIQUE INDEX subscribed_events_event ON subscribed_events (event_id);

-- Events that repeat by a rule (RFC 5545). Their occurrences are events.
CREATE TABLE series (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    -- The UID in calendar files. The external ids of the events begin with it.
    uid TEXT NOT NULL UNIQUE,
    -- The beginning of the slugs of the events.
    slug TEXT NOT NULL,
    -- The zone in which the series repeats; UTC for whole days.
    timezone TEXT NOT NULL,
    all_day BOOLEAN NOT NULL,
    -- Of the first occurrence.
    start_local BIGINT NOT NULL,
    end_local BIGINT NOT NULL,
    -- The value of DURATION if a file has that instead of an end; otherwise empty.
    duration TEXT NOT NULL,
    -- The value of RRULE; empty if all dates are listed.
    rule TEXT NOT NULL,
    -- Added and excluded dates, separated by commas: times in UTC, or days.
    rdates TEXT NOT NULL,
    exdates TEXT NOT NULL,
    -- Maximum number of occurrences from the current day on.
    most BIGINT NOT NULL,
    -- The occurrences up to this moment exist as events.
    made_until BIGINT NOT NULL,
    -- When further events must be created; null if all exist.
    due_utc BIGINT,
    -- Number of changes, for calendar files.
    sequence BIGINT NOT NULL,
    -- The latest change of its events, including those that have left it.
    modified_utc BIGINT NOT NULL,
    -- The event that the series began with, which parts of a split series share. The negated id of the
    -- series if unknown.
    origin BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX series_origin ON series (origin);
CREATE INDEX series_due ON series (due_utc);
CREATE INDEX series_slug ON series (slug);

CREATE TABLE series_events (
    event_id BIGINT PRIMARY KEY NOT NULL REFERENCES events (id) ON DELETE CASCADE,
    series_id BIGINT NOT NULL REFERENCES series (id) ON DELETE CASCADE,
    -- The start by the rule: Unix seconds, or for whole days the day as if in UTC.
    occurrence BIGINT NOT NULL,
    -- The fields that were changed for this event only, separated by commas.
    changed TEXT NOT NULL
);
CREATE UNIQUE INDEX series_events_order ON series_events (series_id, occurrence);
CREATE TRIGGER content_series_insert AFTER INSERT ON series BEGIN
    UPDATE content_version SET n = n + 1;
END;
CREATE TRIGGER content_series_update AFTER UPDATE ON series BEGIN
    UPDATE content_version SET n = n + 1;
END;
CREATE TRIGGER content_series_delete AFTER DELETE ON series BEGIN
    UPDATE content_version SET n = n + 1;
END;
CREATE TRIGGER content_series_events_insert AFTER INSERT ON series_events BEGIN
    UPDATE content_version SET n = n + 1;
END;
CREATE TRIGGER content_series_events_update AFTER UPDATE ON series_events BEGIN
    UPDATE content_version SET n = n + 1;
END;
CREATE TRIGGER content_series_events_delete AFTER DELETE ON series_events BEGIN
    UPDATE content_version SET n = n + 1;
END;
