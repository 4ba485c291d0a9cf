-- AUTOINCREMENT prevents the reuse of numbers that another table, a log or a user may remember.
CREATE TABLE breach (
    id INTEGER PRIMARY KEY CHECK (id BETWEEN 1 AND 65535),
    name TEXT NOT NULL,
    title TEXT NOT NULL UNIQUE,
    domain TEXT NOT NULL,
    breach_date TEXT NOT NULL,
    added_date BIGINT NOT NULL,
    modified_date BIGINT NOT NULL CHECK (modified_date >= added_date),
    pwn_count BIGINT NOT NULL,
    loaded_count BIGINT NOT NULL,
    description TEXT NOT NULL,
    logo_path TEXT NOT NULL,
    attribution TEXT,
    disclosure_url TEXT,
    data_classes TEXT NOT NULL,
    is_verified BOOLEAN NOT NULL,
    is_fabricated BOOLEAN NOT NULL,
    is_sensitive BOOLEAN NOT NULL,
    is_retired BOOLEAN NOT NULL,
    is_spam_list BOOLEAN NOT NULL,
    is_malware BOOLEAN NOT NULL,
    is_subscription_free BOOLEAN NOT NULL,
    is_stealer_log BOOLEAN NOT NULL,
    active BOOLEAN NOT NULL
);
CREATE UNIQUE INDEX breach_name ON breach (lower(name));

CREATE TABLE data_class (name TEXT NOT NULL PRIMARY KEY) WITHOUT ROWID;

CREATE TABLE mail_domain (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE,
    rname TEXT NOT NULL
);
CREATE INDEX mail_domain_rname ON mail_domain (rname);

-- k: first 8 bytes of the SHA-1 with the top bit flipped; breaches: ids, 2 bytes little-endian each.
CREATE TABLE account (
    k BIGINT NOT NULL,
    seq SMALLINT NOT NULL,
    domain_id INTEGER NOT NULL,
    local TEXT NOT NULL,
    breaches BLOB NOT NULL,
    PRIMARY KEY (k, seq)
) WITHOUT ROWID;

-- Accounts by domain. An index would be filled row by row in the order of `account`; each transaction fills
-- this table in its own order.
CREATE TABLE domain_account (
    domain_id INTEGER NOT NULL,
    k BIGINT NOT NULL,
    seq SMALLINT NOT NULL,
    PRIMARY KEY (domain_id, k, seq)
) WITHOUT ROWID;

CREATE TRIGGER account_removed AFTER DELETE ON account BEGIN
    DELETE FROM domain_account WHERE domain_id = OLD.domain_id AND k = OLD.k AND seq = OLD.seq;
END;

CREATE TABLE stealer_log (
    k BIGINT NOT NULL,
    seq SMALLINT NOT NULL,
    website_id INTEGER NOT NULL,
    breach_id INTEGER NOT NULL,
    PRIMARY KEY (k, seq, website_id, breach_id)
) WITHOUT ROWID;
CREATE INDEX stealer_log_website ON stealer_log (website_id);

CREATE TABLE paste_source (
    id SMALLINT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
) WITHOUT ROWID;

CREATE TABLE paste (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    source SMALLINT NOT NULL,
    paste_id TEXT NOT NULL,
    title TEXT,
    date BIGINT,
    email_count BIGINT NOT NULL,
    UNIQUE (source, paste_id)
);

CREATE TABLE paste_account (
    k BIGINT NOT NULL,
    seq SMALLINT NOT NULL,
    paste_id INTEGER NOT NULL,
    PRIMARY KEY (k, seq, paste_id)
) WITHOUT ROWID;

CREATE TABLE opt_out (
    hash BLOB NOT NULL PRIMARY KEY,
    kind SMALLINT NOT NULL,
    created_at BIGINT NOT NULL
) WITHOUT ROWID;

CREATE TABLE plan_feature (
    plan_code TEXT NOT NULL PRIMARY KEY,
    family TEXT NOT NULL,
    kanon_cost INTEGER,
    max_domain_size INTEGER NOT NULL,
    max_domains INTEGER NOT NULL,
    stealer_logs BOOLEAN NOT NULL,
    bulk_domain_add BOOLEAN NOT NULL,
    auto_subdomain BOOLEAN NOT NULL,
    customer_domains BOOLEAN NOT NULL,
    kanon BOOLEAN NOT NULL,
    bulk_check BOOLEAN NOT NULL,
    description TEXT NOT NULL
);

CREATE TABLE subscriber (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    email TEXT NOT NULL UNIQUE,
    k BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    notify BOOLEAN NOT NULL,
    confirmed_at BIGINT
);
CREATE INDEX subscriber_k ON subscriber (k);

-- One row a subscriber: a renewal changes it.
CREATE TABLE subscription (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    subscriber_id BIGINT NOT NULL UNIQUE REFERENCES subscriber (id) ON DELETE CASCADE,
    plan_code TEXT NOT NULL,
    started_at BIGINT NOT NULL,
    until BIGINT NOT NULL,
    renewed_at BIGINT NOT NULL
);

CREATE TABLE domain_control (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    subscriber_id BIGINT NOT NULL REFERENCES subscriber (id) ON DELETE CASCADE,
    domain TEXT NOT NULL,
    code TEXT NOT NULL,
    state TEXT NOT NULL,
    method TEXT,
    verified_at BIGINT,
    parent_id BIGINT,
    customer BOOLEAN NOT NULL,
    detached BOOLEAN NOT NULL,
    -- Whether its controller gets mails about it.
    notify BOOLEAN NOT NULL DEFAULT TRUE,
    -- Whether its controller gets a monthly mail, and the number of the last month that was reported.
    monthly BOOLEAN NOT NULL DEFAULT FALSE,
    reported BIGINT,
    pwn_count BIGINT,
    pwn_count_no_spam BIGINT,
    pwn_count_no_spam_at_renewal BIGINT,
    size_now BIGINT,
    counted_at BIGINT,
    -- The number of addresses in stealer logs at the last count.
    captured BIGINT,
    UNIQUE (subscriber_id, domain)
);
CREATE INDEX domain_control_domain ON domain_control (domain);

CREATE TABLE job (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    params TEXT NOT NULL,
    state TEXT NOT NULL,
    cursor BLOB,
    read BIGINT NOT NULL,
    accepted BIGINT NOT NULL,
    skipped BIGINT NOT NULL,
    added BIGINT NOT NULL,
    started_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    skips TEXT NOT NULL,
    error TEXT,
    removed BLOB
);

CREATE TABLE block (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    cidr TEXT,
    user_agent TEXT,
    until BIGINT,
    created_at BIGINT NOT NULL
);

CREATE TABLE admin_event (
    id INTEGER PRIMARY KEY,
    at BIGINT NOT NULL,
    actor TEXT NOT NULL,
    action TEXT NOT NULL,
    subject TEXT NOT NULL,
    detail TEXT NOT NULL
);

CREATE TABLE meta (
    key TEXT NOT NULL PRIMARY KEY,
    value BIGINT NOT NULL
) WITHOUT ROWID;

-- Mail links with purpose and expiry. Only their digests are stored.
CREATE TABLE mail_token (
    digest BLOB NOT NULL PRIMARY KEY,
    purpose TEXT NOT NULL,
    subscriber_id BIGINT REFERENCES subscriber (id) ON DELETE CASCADE,
    subject TEXT NOT NULL,
    expires_at BIGINT NOT NULL,
    used_at BIGINT
) WITHOUT ROWID;
CREATE INDEX mail_token_expires ON mail_token (expires_at);
CREATE INDEX mail_token_subscriber ON mail_token (subscriber_id);

-- Sent mails, counted for limits. The party is the digest of an address or a client.
CREATE TABLE mail_count (
    id INTEGER PRIMARY KEY,
    party BLOB NOT NULL,
    at BIGINT NOT NULL
);
CREATE INDEX mail_count_party ON mail_count (party, at);
CREATE INDEX mail_count_at ON mail_count (at);

CREATE TABLE session (
    digest BLOB NOT NULL PRIMARY KEY,
    subscriber_id BIGINT NOT NULL REFERENCES subscriber (id) ON DELETE CASCADE,
    expires_at BIGINT NOT NULL
) WITHOUT ROWID;
CREATE INDEX session_subscriber ON session (subscriber_id);
CREATE INDEX session_expires ON session (expires_at);

CREATE TABLE webhook (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    subscriber_id BIGINT NOT NULL REFERENCES subscriber (id) ON DELETE CASCADE,
    url TEXT NOT NULL,
    secret TEXT NOT NULL,
    enabled BOOLEAN NOT NULL,
    created_at BIGINT NOT NULL,
    UNIQUE (subscriber_id, url)
);

-- Messages to deliver. The unique key prevents that a repeated job posts one twice.
CREATE TABLE outbox (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    key TEXT NOT NULL UNIQUE,
    subscriber_id BIGINT NOT NULL REFERENCES subscriber (id) ON DELETE CASCADE,
    -- Null for mails.
    webhook_id BIGINT REFERENCES webhook (id) ON DELETE CASCADE,
    -- The verified domain that it is about; null for the subscriber's own address.
    domain TEXT,
    payload TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    next_try BIGINT NOT NULL,
    -- The process that claimed it; it postpones next_try as long as it works on the message.
    owner BIGINT,
    tries INTEGER NOT NULL,
    sent_at BIGINT,
    failed_at BIGINT,
    error TEXT
);
CREATE INDEX outbox_due ON outbox (webhook_id, sent_at, failed_at, next_try);
CREATE INDEX outbox_subscriber ON outbox (subscriber_id, domain);
CREATE INDEX outbox_sent ON outbox (sent_at);
CREATE INDEX outbox_failed ON outbox (failed_at);

-- Breaches and pastes about which a subscriber was notified, or that existed when notices began.
CREATE TABLE notified (
    subscriber_id BIGINT NOT NULL REFERENCES subscriber (id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    reference BIGINT NOT NULL,
    PRIMARY KEY (subscriber_id, kind, reference)
) WITHOUT ROWID;

-- The number of addresses of a verified domain in each breach at the last count.
CREATE TABLE domain_counted (
    domain TEXT NOT NULL PRIMARY KEY,
    at BIGINT NOT NULL
) WITHOUT ROWID;
CREATE TABLE domain_breach (
    domain TEXT NOT NULL,
    breach_id INTEGER NOT NULL,
    addresses BIGINT NOT NULL,
    PRIMARY KEY (domain, breach_id)
) WITHOUT ROWID;

-- Secrets of the service that all replicas share: the key of form tokens.
CREATE TABLE server_key (
    name TEXT NOT NULL PRIMARY KEY,
    secret BLOB NOT NULL
) WITHOUT ROWID;

-- Runs: sorted blocks with the accounts of further breaches. The breaches of an address are the union of
-- its row in `account` and its entries in runs.
CREATE TABLE account_run (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    accounts BIGINT NOT NULL,
    low BIGINT NOT NULL,
    high BIGINT NOT NULL,
    breaches BLOB NOT NULL
);

-- The keys that a run may have; a separate table because it is large and rows of `account_run` change.
CREATE TABLE run_filter (
    run INTEGER PRIMARY KEY,
    data BLOB NOT NULL
);

-- Accounts in key order. The number of a block is that of its run and 40 bits of its first key. Without a
-- rowid, inner pages would contain whole blocks, so a look-up would pass more of them.
CREATE TABLE account_block (
    id INTEGER PRIMARY KEY,
    data BLOB NOT NULL
);

-- The index of a run by domain: domain and upper half of the key, in this order.
CREATE TABLE domain_block (
    run BIGINT NOT NULL,
    first BIGINT NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (run, first)
) WITHOUT ROWID;

-- New addresses of verified domains in pastes, until the load ends and posts notices.
CREATE TABLE untold_paste (
    domain TEXT NOT NULL,
    paste_id INTEGER NOT NULL,
    addresses BIGINT NOT NULL,
    PRIMARY KEY (domain, paste_id)
) WITHOUT ROWID;

-- Links at verified domains that loads made without notices, less those that were removed since; notices leave
-- them out.
CREATE TABLE suppressed_link (
    domain TEXT NOT NULL,
    breach_id INTEGER NOT NULL,
    addresses BIGINT NOT NULL,
    PRIMARY KEY (domain, breach_id)
) WITHOUT ROWID;
