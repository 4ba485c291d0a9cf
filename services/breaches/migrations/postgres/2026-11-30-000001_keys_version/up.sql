-- The version of the API keys and everything that they depend on. Servers cache keys until it
-- changes.
INSERT INTO meta (key, value) VALUES ('keys_version', 0) ON CONFLICT DO NOTHING;

CREATE FUNCTION count_keys() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    -- Once per transaction is enough. Unlike a counter, a time is not repeated after a failover
    -- that loses transactions.
    IF current_setting('breaches.keys_counted', TRUE) IS DISTINCT FROM 'yes' THEN
        PERFORM set_config('breaches.keys_counted', 'yes', TRUE);
        UPDATE meta SET value = greatest(value + 1, extract(epoch FROM clock_timestamp()) * 1000000)
            WHERE key = 'keys_version';
    END IF;
    RETURN NULL;
END $$;

-- Triggers that run at the end of a transaction lock the version only for a moment, and can't be
-- part of a deadlock. Only existing keys with a subscriber are cached, so new ones don't matter.
CREATE CONSTRAINT TRIGGER keys_of_api_key
    AFTER UPDATE OF digest, owner, expires_at, revoked_at OR DELETE ON api_key
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION count_keys();
CREATE CONSTRAINT TRIGGER keys_of_subscriber
    AFTER UPDATE OF id, email OR DELETE ON subscriber
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION count_keys();
CREATE CONSTRAINT TRIGGER keys_of_subscription
    AFTER INSERT OR UPDATE OR DELETE ON subscription
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION count_keys();
CREATE CONSTRAINT TRIGGER keys_of_plan
    AFTER INSERT OR UPDATE OR DELETE ON plan
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION count_keys();
CREATE CONSTRAINT TRIGGER keys_of_plan_feature
    AFTER INSERT OR UPDATE OR DELETE ON plan_feature
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION count_keys();

-- Row triggers don't fire on TRUNCATE.
CREATE TRIGGER truncated_keys_of_api_key
    AFTER TRUNCATE ON api_key FOR EACH STATEMENT EXECUTE FUNCTION count_keys();
CREATE TRIGGER truncated_keys_of_subscriber
    AFTER TRUNCATE ON subscriber FOR EACH STATEMENT EXECUTE FUNCTION count_keys();
CREATE TRIGGER truncated_keys_of_subscription
    AFTER TRUNCATE ON subscription FOR EACH STATEMENT EXECUTE FUNCTION count_keys();
CREATE TRIGGER truncated_keys_of_plan
    AFTER TRUNCATE ON plan FOR EACH STATEMENT EXECUTE FUNCTION count_keys();
CREATE TRIGGER truncated_keys_of_plan_feature
    AFTER TRUNCATE ON plan_feature FOR EACH STATEMENT EXECUTE FUNCTION count_keys();
