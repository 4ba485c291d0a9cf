-- Public events per block of 256 hours, summed up from hour_counts. Shifting right rounds down
-- before 1970 too; dividing would not.
CREATE TABLE block_counts (
    kind INTEGER NOT NULL,
    block BIGINT NOT NULL,
    n BIGINT NOT NULL,
    PRIMARY KEY (kind, block)
) WITHOUT ROWID;

INSERT INTO block_counts (kind, block, n)
SELECT kind, hour >> 8, CAST(sum(n) AS BIGINT) FROM hour_counts GROUP BY kind, hour >> 8;
