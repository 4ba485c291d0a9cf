-- The unique constraint of a table cannot be changed.
CREATE TABLE alert_message_new (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    alert_id BIGINT NOT NULL REFERENCES alert (id),
    run_id BIGINT NOT NULL,
    generation BIGINT NOT NULL,
    -- The files of the run have larger ids.
    after_id BIGINT NOT NULL,
    -- The files of the run have ids up to this one. Null in older messages.
    last_id BIGINT,
    -- Files that the package did not show yet have a message of their own.
    is_delayed BOOLEAN NOT NULL DEFAULT FALSE,
    -- The package showed buckets that were first indexed by this time. Null if it has no delay.
    shown_until BIGINT,
    count BIGINT NOT NULL,
    -- Ids of the first files as a JSON array.
    files TEXT NOT NULL,
    published_at BIGINT NOT NULL,
    -- Null while the files of the run are being compared.
    next_try BIGINT,
    tries INTEGER NOT NULL DEFAULT 0,
    over_at BIGINT,
    error TEXT,
    UNIQUE (alert_id, run_id, is_delayed)
);
-- Receivers recognise repeated messages by their ids, so ids are not used again.
INSERT INTO sqlite_sequence (name, seq)
SELECT 'alert_message_new', seq FROM sqlite_sequence WHERE name = 'alert_message';
INSERT INTO alert_message_new (
    id, alert_id, run_id, generation, after_id, count, files, published_at, next_try, tries, over_at, error
)
SELECT id, alert_id, run_id, generation, after_id, count, files, published_at, next_try, tries, over_at, error
FROM alert_message;
DROP TABLE alert_message;
ALTER TABLE alert_message_new RENAME TO alert_message;
CREATE INDEX alert_message_due ON alert_message (over_at, next_try);
