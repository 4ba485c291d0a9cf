-- Links of verified domains' addresses that loads made without notices: nobody is told of them.
CREATE TABLE suppressed_link (
    domain TEXT NOT NULL,
    breach_id INTEGER NOT NULL,
    addresses BIGINT NOT NULL,
    PRIMARY KEY (domain, breach_id)
) WITHOUT ROWID;
