-- New addresses of verified domains in pastes, until the load that found them ends and tells of them.
CREATE TABLE untold_paste (
    domain TEXT NOT NULL,
    paste_id INTEGER NOT NULL,
    addresses BIGINT NOT NULL,
    PRIMARY KEY (domain, paste_id)
) WITHOUT ROWID;
