-- Splits a text into words at ASCII white space. Other white space may stay inside a word: a part of
-- a query has no white space at all, so it is still within one word. Words of more than 200
-- characters are split into pieces of 200 that overlap by 100, because index keys have a maximum
-- length. Any 100 consecutive characters are within one piece.
CREATE FUNCTION search_words(text TEXT) RETURNS TEXT[]
LANGUAGE plpgsql IMMUTABLE STRICT COST 500 AS $$
DECLARE
    blanked CONSTANT TEXT := translate(text, E'\t\n\x0b\x0c\r', '     ');
    words TEXT[] := array_remove(string_to_array(blanked, ' '), '');
BEGIN
    -- The first condition is cheap and false for most texts.
    IF length(text) > 200 THEN
        IF (SELECT max(length(word)) FROM unnest(words) AS word) > 200 THEN
            words := ARRAY(
                SELECT substr(word, start, 200)
                FROM unnest(words) AS word,
                    generate_series(1, greatest(length(word) - 100, 1), 100) AS start
            );
        END IF;
    END IF;
    RETURN words;
END
$$;

-- Every word that an event has or once had. Words are never removed: an unused one finds no event.
CREATE TABLE search_vocabulary (
    word TEXT PRIMARY KEY
);
INSERT INTO search_vocabulary (word)
SELECT DISTINCT unnest(search_words(search_ci)) AS word FROM events ORDER BY word;

CREATE FUNCTION learn_search_words() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    -- The order prevents deadlocks between two writers.
    INSERT INTO search_vocabulary (word)
    SELECT DISTINCT unnest(search_words(search_ci)) AS word FROM written ORDER BY word
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;
CREATE TRIGGER events_inserted AFTER INSERT ON events
    REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION learn_search_words();
CREATE TRIGGER events_updated AFTER UPDATE ON events
    REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION learn_search_words();

DROP INDEX IF EXISTS events_search;
CREATE INDEX events_words ON events USING gin (search_words(search_ci)) WITH (fastupdate = off);

-- Without permission to create the extension, look-ups scan the vocabulary.
DO $$
BEGIN
    CREATE EXTENSION IF NOT EXISTS pg_trgm;
    CREATE INDEX search_vocabulary_parts ON search_vocabulary
        USING gin (word gin_trgm_ops) WITH (fastupdate = off);
EXCEPTION WHEN OTHERS THEN
    RAISE NOTICE 'pg_trgm is not available: %', SQLERRM;
END
$$;
