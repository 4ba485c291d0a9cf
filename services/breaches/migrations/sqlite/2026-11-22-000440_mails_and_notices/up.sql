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
