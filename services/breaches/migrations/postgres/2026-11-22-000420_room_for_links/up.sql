-- Room in each page for the lists that further breaches make longer: an account that moves to another page
-- gets new entries in both indexes. Pages that are full stay as they are.
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
