-- Leaves space in each page for lists that further breaches make longer. An account that moves to another
-- page needs new entries in both indexes. Full pages are not rewritten.
DO $$
DECLARE
    part REGCLASS;
BEGIN
    FOR part IN
        SELECT inhrelid::REGCLASS FROM pg_inherits WHERE inhparent = 'account'::REGCLASS
        UNION ALL
        SELECT oid::REGCLASS FROM pg_class WHERE oid = 'account'::REGCLASS AND relkind = 'r'
    LOOP
        EXECUTE format('ALTER TABLE %s SET (fillfactor = 90)', part);
    END LOOP;
END $$;
