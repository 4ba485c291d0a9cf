-- Accounts by domain. An index would be filled row by row in the order of `account`; each transaction fills
-- this table in its own order.
CREATE TABLE domain_account (
    domain_id INTEGER NOT NULL,
    k BIGINT NOT NULL,
    seq SMALLINT NOT NULL,
    PRIMARY KEY (domain_id, k, seq)
) WITHOUT ROWID;
INSERT INTO domain_account SELECT domain_id, k, seq FROM account ORDER BY domain_id, k, seq;
DROP INDEX account_domain;

CREATE TRIGGER account_removed AFTER DELETE ON account BEGIN
    DELETE FROM domain_account WHERE domain_id = OLD.domain_id AND k = OLD.k AND seq = OLD.seq;
END;
