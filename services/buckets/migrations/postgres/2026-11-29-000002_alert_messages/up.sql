-- The files of the run have ids up to last_id, which is null in older messages. Files that the package did not show yet
-- have a message of their own, which is_delayed marks. The package showed buckets that were first indexed by shown_until,
-- which is null if it has no delay.
ALTER TABLE alert_message
    ADD COLUMN last_id BIGINT,
    ADD COLUMN is_delayed BOOLEAN NOT NULL DEFAULT FALSE,
    ADD COLUMN shown_until BIGINT,
    DROP CONSTRAINT alert_message_alert_id_run_id_key,
    ADD UNIQUE (alert_id, run_id, is_delayed);
