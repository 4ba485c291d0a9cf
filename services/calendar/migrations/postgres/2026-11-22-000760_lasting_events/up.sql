-- Events of a day and more are few, and a month shows them apart: by this index it does not look
-- through all others.
CREATE INDEX events_lasting ON events (end_local, start_local) WHERE pub = 1 AND end_local - start_local >= 86400;
