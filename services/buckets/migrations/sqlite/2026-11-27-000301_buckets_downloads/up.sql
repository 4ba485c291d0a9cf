-- The number of files that a download as CSV or NDJSON has at most; 0 allows none.
ALTER TABLE package ADD COLUMN download_files BIGINT NOT NULL DEFAULT 100000 CHECK (download_files >= 0);
