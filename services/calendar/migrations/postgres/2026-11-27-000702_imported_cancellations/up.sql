-- True if the file cancelled the event. A later file that does not cancel it clears its status then.
ALTER TABLE imported_events ADD COLUMN is_cancelled BOOLEAN NOT NULL DEFAULT FALSE;
