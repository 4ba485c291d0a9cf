-- Public buckets that are listed again and again. A stopped crawl is recognised by the options of its run.
CREATE TABLE crawl (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    url TEXT NOT NULL,
    bucket TEXT NOT NULL,
    format TEXT,
    kind TEXT,
    prefix TEXT NOT NULL,
    every_seconds BIGINT NOT NULL CHECK (every_seconds > 0),
    ends_at BIGINT,
    paused BOOLEAN NOT NULL DEFAULT FALSE,
    due_at BIGINT NOT NULL,
    last_at BIGINT,
    outcome TEXT NOT NULL DEFAULT ''
);
CREATE UNIQUE INDEX crawl_bucket ON crawl (bucket, prefix);
