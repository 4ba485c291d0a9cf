-- The words of a text, parted by white space of ASCII alone: blanks of other kinds may stay inside
-- a word, because what is looked up (a part of a query without any blank) still lies in one word.
-- Words of more than 200 characters become pieces of 200 that overlap by 100: keys of an index
-- have a longest length, and any 100 characters in a row still lie inside one piece.
CREATE FUNCTION search_words(text TEXT) RETURNS TEXT[]
LANGUAGE plpgsql IMMUTABLE STRICT COST 500 AS $$
DECLARE
    blanked CONSTANT TEXT := translate(text, E'\t\n\x0b\x0c\r', '     ');
    words TEXT[] := array_remove(string_to_array(blanked, ' '), '');
BEGIN
    -- Two conditions: the first alone is cheap, and it is all that most texts need.
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

-- Every word that an event has or once had. None is taken out: one that no event has any more
-- leads to no event.
CREATE TABLE search_vocabulary (
    word TEXT PRIMARY KEY
);
INSERT INTO search_vocabulary (word)
SELECT DISTINCT unnest(search_words(search_ci)) AS word FROM events ORDER BY word;

CREATE FUNCTION learn_search_words() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    -- The order keeps two writers from waiting for each other.
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

-- Without the right to make the extension, the vocabulary is read as a whole.
DO $$
BEGIN
    CREATE EXTENSION IF NOT EXISTS pg_trgm;
    CREATE INDEX search_vocabulary_parts ON search_vocabulary
        USING gin (word gin_trgm_ops) WITH (fastupdate = off);
EXCEPTION WHEN OTHERS THEN
    RAISE NOTICE 'pg_trgm is not available: %', SQLERRM;
END
$$;
