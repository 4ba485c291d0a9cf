-- Capabilities and limits of plans, in addition to their rates.
CREATE TABLE package (
    code TEXT PRIMARY KEY NOT NULL REFERENCES plan (code),
    depth BIGINT NOT NULL CHECK (depth >= 0),
    scrolling BOOLEAN NOT NULL,
    sorting BOOLEAN NOT NULL,
    regexp BOOLEAN NOT NULL,
    filters BOOLEAN NOT NULL,
    delay_days BIGINT NOT NULL CHECK (delay_days >= 0),
    -- Files of a download as CSV or NDJSON; 0 allows none.
    download_files BIGINT NOT NULL DEFAULT 100000 CHECK (download_files >= 0),
    -- Crawls of a key; 0 allows none.
    crawls BIGINT NOT NULL DEFAULT 0 CHECK (crawls >= 0),
    -- Alerts of a key; 0 allows none.
    alerts BIGINT NOT NULL DEFAULT 0 CHECK (alerts >= 0),
    -- Whether a key sees the crawls of the operator and of other keys.
    all_crawls BOOLEAN NOT NULL DEFAULT FALSE
);

-- Buckets. A bucket without first_indexed is not listed.
CREATE TABLE bucket (
    id INTEGER PRIMARY KEY NOT NULL,
    address TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    first_indexed BIGINT,
    last_listed BIGINT,
    -- The last publish that could remove files of it.
    last_replaced BIGINT,
    truncated BOOLEAN NOT NULL DEFAULT FALSE,
    -- Since when it is hidden, because a crawl was refused for days.
    hidden_at BIGINT
);

-- Load runs: running, published, failed. The journal of the index is authoritative. The loader assigns ids above
-- those in the journal.
CREATE TABLE load_run (
    id INTEGER PRIMARY KEY NOT NULL,
    state TEXT NOT NULL,
    mode TEXT NOT NULL,
    options TEXT NOT NULL,
    started_at BIGINT NOT NULL,
    ended_at BIGINT,
    progress TEXT NOT NULL DEFAULT '{}',
    report TEXT NOT NULL DEFAULT '{}',
    error TEXT
);
CREATE INDEX load_run_state ON load_run (state, ended_at);

CREATE TABLE rejected (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    run_id BIGINT NOT NULL REFERENCES load_run (id),
    source TEXT NOT NULL,
    position BIGINT NOT NULL,
    reason TEXT NOT NULL,
    excerpt TEXT NOT NULL
);
CREATE INDEX rejected_run ON rejected (run_id);

-- Takedowns: pending until applied, in force until lifted.
CREATE TABLE removal (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    address TEXT NOT NULL,
    prefix TEXT NOT NULL DEFAULT '',
    reason TEXT NOT NULL,
    operator TEXT NOT NULL,
    requested_at BIGINT NOT NULL,
    applied_at BIGINT,
    files BIGINT NOT NULL DEFAULT 0,
    lifted_at BIGINT,
    lifted_reason TEXT,
    lifted_by TEXT
);
CREATE INDEX removal_address ON removal (address);

-- A single row: the current generation, and the number of changes of this database. The index also records its id
-- and the number of its publishes and removals, which identify copies of another time.
CREATE TABLE index_state (
    id INTEGER PRIMARY KEY NOT NULL,
    generation BIGINT NOT NULL,
    version BIGINT NOT NULL,
    index_id TEXT NOT NULL DEFAULT '',
    publishes BIGINT NOT NULL DEFAULT 0,
    -- The last file that was compared with the alerts.
    judged_generation BIGINT NOT NULL DEFAULT 1,
    judged_id BIGINT NOT NULL DEFAULT 0
);
INSERT INTO index_state (id, generation, version) VALUES (1, 1, 0);

-- Public buckets that are listed again and again. The pages of a listing are stored until they are published.
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
    outcome TEXT NOT NULL DEFAULT '',
    -- The key that added it; null: an operator.
    key_id BIGINT REFERENCES api_key (id),
    -- The process that lists it, and the time until which it need not give a sign of life.
    holder TEXT,
    lease_until BIGINT NOT NULL DEFAULT 0,
    -- After a failure that may pass, not before this time.
    not_before BIGINT NOT NULL DEFAULT 0,
    -- The current listing: its number, its stored pages, the place of the next one, the times of its last page
    -- and of its beginning, and whether it has ended.
    listing BIGINT NOT NULL DEFAULT 0,
    pages BIGINT NOT NULL DEFAULT 0,
    place TEXT NOT NULL DEFAULT '',
    page_at BIGINT NOT NULL DEFAULT 0,
    begun_at BIGINT NOT NULL DEFAULT 0,
    -- A generation of the index, and a file of it. Files with larger ids were added since the listing began.
    begun_generation BIGINT NOT NULL DEFAULT 0,
    begun_id BIGINT NOT NULL DEFAULT 0,
    is_listed BOOLEAN NOT NULL DEFAULT FALSE,
    -- Why the listing is incomplete.
    broken TEXT,
    -- Days of refusals after which the bucket is hidden, and the first refusal.
    gone_after_days BIGINT CHECK (gone_after_days > 0),
    gone_since BIGINT,
    -- The last listing that was published completely. ETags are compared with its ETags.
    etags_listing BIGINT NOT NULL DEFAULT 0
);
-- Each key has its own crawls, and so has the operator.
CREATE UNIQUE INDEX crawl_bucket ON crawl (bucket, prefix, (coalesce(key_id, 0)));
CREATE INDEX crawl_key ON crawl (key_id);
-- When the crawls of each key were last claimed, including those removed since. Each claim deletes rows older than a
-- day.
CREATE TABLE crawl_turn (
    key_id BIGINT NOT NULL REFERENCES api_key (id) ON DELETE CASCADE,
    bucket TEXT NOT NULL,
    prefix TEXT NOT NULL,
    last_at BIGINT NOT NULL,
    PRIMARY KEY (key_id, bucket, prefix)
);
CREATE INDEX crawl_turn_last ON crawl_turn (last_at);
-- Files that other runs found unchanged since the current listing of a crawl began: ranges of ids as a JSON array, in
-- its begun_generation.
CREATE TABLE crawl_confirmation (
    crawl_id BIGINT PRIMARY KEY NOT NULL REFERENCES crawl (id),
    files TEXT NOT NULL
);
CREATE TABLE crawl_page (
    crawl_id BIGINT NOT NULL REFERENCES crawl (id),
    listing BIGINT NOT NULL,
    number BIGINT NOT NULL,
    -- Compressed with zstd.
    body BLOB NOT NULL,
    PRIMARY KEY (crawl_id, listing, number)
);
-- Fingerprints of the ETags in a page. Those of the current listing and of etags_listing are stored.
CREATE TABLE crawl_etag (
    crawl_id BIGINT NOT NULL REFERENCES crawl (id),
    listing BIGINT NOT NULL,
    number BIGINT NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (crawl_id, listing, number)
);

-- Searches that keys have saved. New files are those of larger ids in a generation of the index.
CREATE TABLE alert (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    key_id BIGINT NOT NULL REFERENCES api_key (id),
    name TEXT NOT NULL,
    -- Parameters of the search for files.
    query TEXT NOT NULL,
    webhook TEXT,
    secret TEXT,
    since_generation BIGINT NOT NULL,
    since_id BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    -- Number of changes of the search or the webhook.
    version BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX alert_key ON alert (key_id);

-- Messages to webhooks: one for each alert and run. They name files by their ids only.
CREATE TABLE alert_message (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    alert_id BIGINT NOT NULL REFERENCES alert (id),
    run_id BIGINT NOT NULL,
    generation BIGINT NOT NULL,
    -- The files of the run have larger ids.
    after_id BIGINT NOT NULL,
    -- The files of the run have ids up to this one.
    last_id BIGINT NOT NULL,
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
CREATE INDEX alert_message_due ON alert_message (over_at, next_try);
