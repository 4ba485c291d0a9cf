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
CREATE INDEX account_domain ON account (domain_id);

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
    pwn_count BIGINT,
    pwn_count_no_spam BIGINT,
    pwn_count_no_spam_at_renewal BIGINT,
    size_now BIGINT,
    counted_at BIGINT,
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
    error TEXT
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
