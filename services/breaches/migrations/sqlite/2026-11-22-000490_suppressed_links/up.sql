-- Links at verified domains that loads made without notices; notices leave them out.
CREATE TABLE suppressed_link (
    domain TEXT NOT NULL,
    breach_id INTEGER NOT NULL,
    addresses BIGINT NOT NULL,
    PRIMARY KEY (domain, breach_id)
) WITHOUT ROWID;
