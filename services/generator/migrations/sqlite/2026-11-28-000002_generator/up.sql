-- Schemas of records that a key has saved. Instants are Unix seconds.
CREATE TABLE record_schema (
    key_id INTEGER NOT NULL REFERENCES api_key (id),
    name TEXT NOT NULL,
    body TEXT NOT NULL,
    changed_at BIGINT NOT NULL,
    PRIMARY KEY (key_id, name)
);
