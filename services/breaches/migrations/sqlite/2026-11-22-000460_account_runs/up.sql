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

-- Accounts in key order, starting with the key `first`.
CREATE TABLE account_block (
    run BIGINT NOT NULL,
    first BIGINT NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (run, first)
) WITHOUT ROWID;

-- The index of a run by domain: domain and upper half of the key, in this order.
CREATE TABLE domain_block (
    run BIGINT NOT NULL,
    first BIGINT NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (run, first)
) WITHOUT ROWID;
