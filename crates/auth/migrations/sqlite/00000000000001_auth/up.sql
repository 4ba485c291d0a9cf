-- What a key may do and how often.
CREATE TABLE plan (
    code TEXT PRIMARY KEY NOT NULL,
    name TEXT NOT NULL,
    per_minute BIGINT NOT NULL CHECK (per_minute BETWEEN 1 AND 10000000),
    burst BIGINT NOT NULL CHECK (burst BETWEEN 1 AND 10000000),
    position BIGINT NOT NULL CHECK (position BETWEEN 0 AND 4294967295),
    hidden BOOLEAN NOT NULL DEFAULT FALSE
);

-- Instants are Unix seconds. The key itself is nowhere, only its SHA-256. Quotas and logs remember the
-- number: it is never given twice.
CREATE TABLE api_key (
    id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    digest BLOB NOT NULL UNIQUE,
    hint TEXT NOT NULL,
    owner TEXT NOT NULL,
    plan_code TEXT REFERENCES plan (code),
    created_at BIGINT NOT NULL,
    expires_at BIGINT,
    revoked_at BIGINT,
    last_used_at BIGINT
);
CREATE INDEX api_key_owner ON api_key (owner);
