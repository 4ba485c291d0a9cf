-- Runs: the accounts of further breaches, sorted, in blocks beside `account`. What an address is in is
-- the union of its row there and of its entries here.
CREATE TABLE account_run (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    accounts BIGINT NOT NULL,
    low BIGINT NOT NULL,
    high BIGINT NOT NULL,
    breaches BLOB NOT NULL
);

-- Which keys a run may have; apart, because it is large and its run's row is changed now and then.
CREATE TABLE run_filter (
    run INTEGER PRIMARY KEY,
    data BLOB NOT NULL
);

-- Some accounts in key order, from the one with the key `first` on.
CREATE TABLE account_block (
    run BIGINT NOT NULL,
    first BIGINT NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (run, first)
) WITHOUT ROWID;

-- Where a run has accounts of a domain: domain and upper half of the key, in this order.
CREATE TABLE domain_block (
    run BIGINT NOT NULL,
    first BIGINT NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (run, first)
) WITHOUT ROWID;
